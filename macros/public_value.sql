{# A value of personal data in the form in which documents and other texts are compared; null where nothing is left. #}
{% macro public_value(entity_type, value) -%}
    nullif(
        case {{ entity_type }}
            -- Nine digits are the same telephone, with or without the code of its country.
            when 'phone' then
                right({{ replace_pattern(replace_pattern(value, '[eE]?[xX].*$', ''), '[^0-9]', '') }}, 9)
            when 'email' then lower({{ replace_pattern(value, '\\s+', '') }})
            when 'iban' then lower({{ replace_pattern(value, '[^0-9A-Za-z]', '') }})
            when 'sort_code' then {{ replace_pattern(value, '[^0-9]', '') }}
            else lower({{ replace_pattern(value, '[\\s.,;]+', ' ') }})
        end,
        ''
    )
{%- endmacro %}

{#
    The distinct (type, value) pairs of personal data that public texts hold: help lines, addresses and names of the own
    house. A card in a document is a leak there, and not public. texts has text_id, reading_key, text and is_public.
#}
{% macro public_values(texts, recognised) -%}
    select distinct entity_type, value
    from (
        select entity_type, {{ public_value('entity_type', 'written') }} as value
        from (
            select
                span['entity_type'] as entity_type,
                substring(text, span['start'] + 1, span['end'] - span['start']) as written
            from (
                select texts.text, {{ explode('found.spans') }} as span
                from {{ texts }} as texts
                inner join {{ recognised }} as found
                    on texts.text_id = found.text_id and texts.reading_key = found.reading_key
                where texts.is_public
            ) as spans
        ) as found
        where entity_type in ('phone', 'email', 'iban', 'sort_code', 'address', 'person', 'place')
    ) as compared
    where value is not null
{%- endmacro %}
