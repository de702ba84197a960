-- `hcat prune` adds rows, and a build adds none.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}

select
    null::string as metric_name, null::string as dimension, null::string as segment, null::string as week_status,
    null::bigint as count_interactions, null::bigint as count_scored, null::bigint as count_clusters,
    null::double as sum_squared_counts, null::double as sum_scores, null::double as sum_squared_sums,
    null::double as sum_products, null::bigint as count_decided, null::double as sum_squared_decided,
    null::bigint as count_failing, null::double as weight_scored, null::double as weight_decided,
    null::double as weight_failing, null::bigint as deletion_number, null::date as week_start
where false
