{# A hook before a model that reads is_changed: deletes its rows of interactions that changed or are gone. #}
{% macro delete_changed_interactions() -%}
    {{ return(adapter.dispatch('delete_changed_interactions', 'hcat')()) }}
{%- endmacro %}

{% macro duckdb__delete_changed_interactions() -%}
    {#- outside of the condition, because dbt looks for references while it parses -#}
    {%- set keyed = ref('hcat', 'int_interactions_keyed') -%}
    {%- if is_incremental() -%}
        delete from {{ this }} as written
        where
            not exists (
                select 1 from {{ keyed }} as kept
                where kept.interaction_id = written.interaction_id and not kept.has_changed
            )
    {%- endif -%}
{%- endmacro %}

{% macro default__delete_changed_interactions() -%}
{%- endmacro %}
