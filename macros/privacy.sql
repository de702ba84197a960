{#
    Replaces words, numbers and pairs like "Bern instead of Basel" by [masked] when a private value contains them. A private
    value inside a longer one, such as a name behind its title, is masked as in the sentence beside it.
#}
{% macro mask_words(words, private_values) -%}
    {%- set hidden = 'lower(' ~ array_join(array_map(private_values, 'each.value'), '\n') ~ ')' -%}
    {%- set first = "split_part(lower(each), ' instead of ', 1)" -%}
    {%- set second = "nullif(split_part(lower(each), ' instead of ', 2), '')" -%}
    {%- set masked = "case when contains(" ~ hidden ~ ", " ~ first ~ ") or contains(" ~ hidden ~ ", " ~ second ~ ")" -%}
    {{ array_map(words, masked ~ " then '[masked]' else " ~ mask_values('each', private_values) ~ " end") }}
{%- endmacro %}

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

{#
    One row per text with a value that the knowledge base publishes: its masked form and its places without these values,
    and the key of its reading with them. texts has text_id, reading_key and text; recognised is what was found in them.
    public_values is a query of entity_type and value.
#}
{% macro texts_with_public_values(texts, recognised, public_values) -%}
    with public_values as (
        {{ public_values }}
    ),

    spans as (
        select texts.text_id, texts.reading_key, texts.text, {{ explode('found.spans') }} as span
        from {{ texts }} as texts
        inner join {{ recognised }} as found
            on texts.text_id = found.text_id and texts.reading_key = found.reading_key
    ),

    placed as (
        select
            text_id,
            reading_key,
            text,
            span['start'] as span_start,
            span['end'] as span_end,
            span['entity_type'] as entity_type,
            span['rule'] as rule,
            span['masked'] as masked
        from spans
    ),

    compared as (
        select placed.*, public_values.value is not null as is_public
        from placed
        left join public_values
            on
                placed.entity_type = public_values.entity_type
                and {{ public_value(
                    'placed.entity_type',
                    'substring(placed.text, placed.span_start + 1, placed.span_end - placed.span_start)'
                ) }} = public_values.value
    ),

    shown as (
        select
            text_id,
            text,
            md5(concat_ws('|', reading_key, {{ array_join(
                ordered_array('span_start::string', 'span_start', 'is_public'), ' '
            ) }})) as reading_key,
            {{ ordered_array(record({
                'start': 'span_start', 'end': 'span_end', 'entity_type': 'entity_type', 'rule': 'rule',
                'masked': 'masked'
            }), 'span_start', 'not is_public') }} as spans
        from compared
        group by text_id, reading_key, text
        having bool_or(is_public)
    ),

    hidden as (
        select *, lag(span_end, 1, 0) over (partition by text_id order by span_start) as end_before
        from compared
        where not is_public and masked is not null
    ),

    masked as (
        select
            text_id,
            {{ joined_text(
                'substring(text, end_before + 1, span_start - end_before) || masked', "''", 'span_start'
            ) }} as opening,
            max(span_end) as last_end
        from hidden
        group by text_id
    )

    select
        shown.text_id,
        shown.reading_key,
        shown.spans,
        masked.opening || substring(shown.text, masked.last_end + 1) as masked_text
    from shown
    left join masked on shown.text_id = masked.text_id
{%- endmacro %}
