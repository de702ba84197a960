{# Whether a row of an interaction is written by this build: every row, unless `hcat build` said that only interactions
   changed (int_interactions_keyed). Then the table keeps the rows of all others. #}
{% macro is_changed(key) -%}
    {{ return(adapter.dispatch('is_changed', 'hcat')(key)) }}
{%- endmacro %}

{% macro duckdb__is_changed(key) -%}
    {#- outside of the condition, because dbt looks for references while it parses -#}
    {%- set keyed = ref('hcat', 'int_interactions_keyed') -%}
    {%- if is_incremental() -%}
        {{ key }} in (select changed.interaction_id from {{ keyed }} as changed where changed.has_changed)
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{# A build on Spark writes everything. #}
{% macro default__is_changed(key) -%}
    true
{%- endmacro %}
