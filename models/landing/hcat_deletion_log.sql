-- One row per call of `hcat forget` or `hcat prune`, with what it deleted: the proof behind fct_deletions. The commands
-- add rows, and a build adds none.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}

select
    null::string as command,
    null::string as reason,
    null::string as ids_sha256,
    null::bigint as deletion_number,
    null::bigint as count_ids,
    null::bigint as count_interactions,
    null::bigint as count_queries,
    null::bigint as count_texts,
    null::bigint as count_evaluations,
    null::date as weeks_before,
    null::timestamp as deleted_at,
    null::timestamp as finished_at
where false
