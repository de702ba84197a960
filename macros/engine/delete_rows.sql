{# A hook that deletes the rows of a table for which the condition holds. #}
{% macro delete_rows(relation, condition) -%}
    {{ return(adapter.dispatch('delete_rows', 'hcat')(relation, condition)) }}
{%- endmacro %}

{% macro default__delete_rows(relation, condition) -%}
    delete from {{ relation }}
    where {{ condition }}
{%- endmacro %}

{# Parquet has no delete, so the table is rewritten when there is a row to delete. #}
{% macro spark__delete_rows(relation, condition) -%}
    {% if execute and run_query('select 1 from ' ~ relation ~ ' where ' ~ condition ~ ' limit 1').rows %}
        {% do replace_table(relation, 'select * from ' ~ relation ~ ' where not coalesce(' ~ condition ~ ', false)') %}
    {% endif %}
{%- endmacro %}
