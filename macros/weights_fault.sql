{# Says that weights of sentences could not be read: the macro sentence_weights left an empty list. #}
{% macro weights_fault(column) -%}
    {{ field_fault(column, 'a JSON list of finite numbers of at least 0', array_length(column) ~ ' = 0') }}
{%- endmacro %}
