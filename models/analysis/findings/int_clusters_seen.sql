-- Weak cells are searched in the release population alone, so a query that another version answered before is new
-- evidence. The table is a history: builds add rows and never change any, even with --full-refresh. What a finding was
-- found on is thereby known for ever.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}

with clusters as (
    select distinct cluster_id from {{ ref('hcat', 'fct_interactions') }}
    where is_in_release_population
),

known as (
    {% if is_incremental() %}
    select cluster_id from {{ this }}
    {% else %}
    select cluster_id from clusters
    where false
    {% endif %}
),

final as (
    select
        clusters.cluster_id,
        '{{ invocation_id }}' as run_id,
        {{ build_number() }} as build_number,
        timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' as first_seen_at
    from clusters
    left join known on clusters.cluster_id = known.cluster_id
    where known.cluster_id is null
)

select * from final
