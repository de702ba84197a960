{# Converts a JSON list of numbers to a list of doubles; null where the text is no list, null inside for no number. #}
{% macro json_numbers(text) -%}
    {{ array_map(json_texts(text), 'try_cast(each as double)') }}
{%- endmacro %}
