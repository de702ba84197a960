{#
    The weights of a JSON list of finite numbers of at least 0. A text that is no such list gives an empty list, which
    has the length of no text, so that the metrics that would use it say that it is missing.
#}
{% macro sentence_weights(text) -%}
    case
        when {{ are_weights(json_numbers(text)) }} then {{ json_numbers(text) }}
        when {{ text }} is not null then {{ json_numbers("'[]'") }}
    end
{%- endmacro %}
