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
