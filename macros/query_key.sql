{#- The content of a query: its text in lower case, with single blanks. Queries that differ in nothing else are one. -#}
{% macro hash_of_query(query_text) -%}
md5(lower({{ replace_pattern('trim(' ~ query_text ~ ')', '\\s+', ' ') }}))
{%- endmacro %}

{#- What pairs interactions with the same query: the id of the query, else its content. `table` ends in a dot. -#}
{% macro query_key(table='') -%}
coalesce({{ table }}query_id, 'text_' || {{ hash_of_query(table ~ 'query_text') }})
{%- endmacro %}
