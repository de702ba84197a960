{# The rows that `hcat forget` and `hcat prune` write, one per deletion. On Apache Spark nothing is deleted yet. #}
{% macro deletion_log() -%}
    {{ return(adapter.dispatch('deletion_log', 'hcat')()) }}
{%- endmacro %}

{% macro duckdb__deletion_log() -%}
    select * from "{{ this.schema }}".hcat_deletion_log
{%- endmacro %}

{% macro default__deletion_log() -%}
    {% set nothing = [] -%}
    {% for column, type in columns_of_deletions().items() -%}
        {% do nothing.append('null::' ~ type ~ ' as ' ~ column) -%}
    {% endfor -%}
    select {{ nothing | join(', ') }} where false
{%- endmacro %}
