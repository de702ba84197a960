{# A hook behind a model that was cut into buckets (is_in_bucket): runs its query for each bucket but the first. #}
{% macro insert_other_buckets() -%}
    {{ return(adapter.dispatch('insert_other_buckets', 'hcat')()) }}
{%- endmacro %}

{# DuckDB keeps the lists of a group in memory until the last row has come. A bucket bounds them. #}
{% macro duckdb__insert_other_buckets() -%}
    {% if execute %}
        {% set buckets = run_query("select getvariable('hcat_buckets')").rows[0][0] %}
        {% for bucket in range(1, buckets | int) %}
            {% do run_query('set variable hcat_bucket = ' ~ bucket) %}
            {% do run_query('insert into ' ~ this ~ ' by name ' ~ model['compiled_code']) %}
        {% endfor %}
        {% do run_query('reset variable hcat_bucket; reset variable hcat_buckets') %}
    {% endif %}
{%- endmacro %}

{% macro default__insert_other_buckets() -%}
{%- endmacro %}
