{# Replaces words, numbers and pairs like "Bern instead of Basel" by [masked] when a private value contains them. #}
{% macro mask_words(words, private_values) -%}
    {%- set hidden = 'lower(' ~ array_join(array_map(private_values, 'each.value'), '\n') ~ ')' -%}
    {%- set first = "split_part(lower(each), ' instead of ', 1)" -%}
    {%- set second = "nullif(split_part(lower(each), ' instead of ', 2), '')" -%}
    {%- set masked = "case when contains(" ~ hidden ~ ", " ~ first ~ ") or contains(" ~ hidden ~ ", " ~ second ~ ")" -%}
    {{ array_map(words, masked ~ " then '[masked]' else each end") }}
{%- endmacro %}
