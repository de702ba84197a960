{# A hook before a model that reads is_changed: deletes its rows of interactions, or of what else `key` names, that
   changed or are gone. #}
{% macro delete_changed(key='interaction_id', keyed='int_interactions_keyed') -%}
    {{ return(adapter.dispatch('delete_changed', 'hcat')(key, keyed)) }}
{%- endmacro %}

{% macro duckdb__delete_changed(key, keyed) -%}
    {#- outside of the condition, because dbt looks for references while it parses -#}
    {%- set relation = ref('hcat', keyed) -%}
    {%- if is_incremental() and has_keys_of_this_build(keyed) -%}
        delete from {{ this }} as written
        where
            not exists (
                select 1 from {{ relation }} as kept
                where kept.{{ key }} = written.{{ key }} and not kept.has_changed
            )
    {%- endif -%}
{%- endmacro %}

{% macro default__delete_changed(key, keyed) -%}
{%- endmacro %}
