{# Whether a row of an interaction, or of what else `key` names, is written by this build: every row, unless
   `hcat build` said that only interactions changed (int_interactions_keyed). Then the table keeps all other rows. #}
{% macro is_changed(column, key='interaction_id', keyed='int_interactions_keyed') -%}
    {{ return(adapter.dispatch('is_changed', 'hcat')(column, key, keyed)) }}
{%- endmacro %}

{% macro duckdb__is_changed(column, key, keyed) -%}
    {#- outside of the condition, because dbt looks for references while it parses -#}
    {%- set relation = ref('hcat', keyed) -%}
    {%- if is_incremental() and not has_keys_of_this_build(keyed) -%}
        false
    {%- elif is_incremental() -%}
        {{ column }} in (select changed.{{ key }} from {{ relation }} as changed where changed.has_changed)
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{# Whether this build compares keys. Where it does not, as after new labels, nothing that they are made of changed. #}
{% macro has_keys_of_this_build(keyed) -%}
    {{ return('model.hcat.' ~ keyed in selected_resources) }}
{%- endmacro %}

{# A build on Spark writes everything. #}
{% macro default__is_changed(column, key, keyed) -%}
    true
{%- endmacro %}
