-- One row per finding that was tested once on clusters newer than itself: in the first build in which they held as many
-- interactions as the finding said it needs. A second look would need a stricter level. The table is a history: builds
-- add rows and never change any, even with --full-refresh.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}

with tested as (
    select * from {{ ref('hcat', 'int_new_clusters_tested') }}
    where status = 'tested'
),

sums as (
    select * from {{ ref('hcat', 'int_new_clusters_summed') }}
),

sightings as (
    select * from {{ ref('hcat', 'int_findings_seen') }}
),

known as (
    {% if is_incremental() %}
    select cell_id from {{ this }}
    {% else %}
    select cell_id from tested
    where false
    {% endif %}
),

needs as (
    select cell_id, count_needed_to_confirm
    from sightings
    where retest_result = 'weak'
    qualify row_number() over (partition by cell_id order by build_number asc) = 1
),

counted as (
    select cell_id, sum(count_cell) as count_interactions, sum(count_clusters_cell) as count_clusters
    from sums
    group by cell_id
),

final as (
    select
        -- ids
        tested.cell_id,
        '{{ invocation_id }}' as run_id,

        -- numerics
        {{ build_number() }} as build_number,
        counted.count_interactions::bigint as count_interactions,
        counted.count_clusters::bigint as count_clusters,
        tested.difference,
        tested.p_value,

        -- booleans
        tested.p_value <= {{ var('hcat_weakness_error_rate') }} as is_confirmed,

        -- timestamps
        timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' as built_at
    from tested
    inner join counted on tested.cell_id = counted.cell_id
    inner join needs on tested.cell_id = needs.cell_id
    left join known on tested.cell_id = known.cell_id
    where known.cell_id is null and counted.count_interactions >= needs.count_needed_to_confirm
)

select * from final
