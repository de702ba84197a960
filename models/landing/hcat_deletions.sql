-- One row per id that was deleted on request: a tombstone, its SHA-256 and never the id. `hcat forget` and `hcat prune`
-- add rows, and a build adds none. Landing reads them, so that what was deleted stays deleted, even with --full-refresh.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}

select
    null::string as id_kind,
    null::string as hashed_id,
    null::bigint as deletion_number
where false
