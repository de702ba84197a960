{# The table that `hcat forget` and `hcat prune` write, one row per deletion. On Apache Spark nothing is deleted yet. #}
{% macro deletion_log() -%}
    {%- if target.type == 'duckdb' -%}
        {{ this.incorporate(path={'identifier': 'hcat_deletion_log'}, type='table') }}
    {%- else -%}
        (
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
        ) as hcat_deletion_log
    {%- endif -%}
{%- endmacro %}
