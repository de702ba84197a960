{#- The content of a query: its text in lower case, with single blanks. Queries with the same content are equal. -#}
{% macro hash_of_query(query_text) -%}
    md5(lower({{ replace_pattern('trim(' ~ query_text ~ ')', '\\s+', ' ') }}))
{%- endmacro %}

{#- The key that pairs interactions with the same query: its id, else its content. `table` ends in a dot. -#}
{% macro query_key(table='') -%}
    coalesce({{ table }}query_id, 'text_' || {{ hash_of_query(table ~ 'query_text') }})
{%- endmacro %}
