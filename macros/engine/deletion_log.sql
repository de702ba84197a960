{# The rows that `hcat forget` and `hcat prune` write, one per deletion. On Apache Spark nothing is deleted yet. #}
{% macro deletion_log() -%}
    {{ return(adapter.dispatch('deletion_log', 'hcat')()) }}
{%- endmacro %}

{% macro duckdb__deletion_log() -%}
    select * from "{{ this.schema }}".hcat_deletion_log
{%- endmacro %}

{% macro default__deletion_log() -%}
    select
        null::bigint as deletion_number,
        null::string as command,
        null::string as reason,
        null::string as ids_sha256,
        null::bigint as count_ids,
        null::bigint as count_interactions,
        null::bigint as count_queries,
        null::bigint as count_texts,
        null::bigint as count_evaluations,
        null::date as weeks_before,
        null::timestamp as deleted_at,
        null::timestamp as finished_at
    where false
{%- endmacro %}
