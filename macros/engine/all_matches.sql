{#
    What the first group of a regular expression matched, each time, as a list of texts. The pattern has no backslash:
    the engines read one differently.
#}
{% macro all_matches(text, pattern) -%}
    regexp_extract_all({{ text }}, '{{ pattern }}', 1)
{%- endmacro %}
