-- The table is a history: builds add rows and never change any, even with --full-refresh.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}

with weaknesses as (
    select
        tested.*,
        -- a score that is shown and not admitted opens no finding
        tested.is_weak and metrics.is_deciding as is_found,
        metrics.is_deciding
    from {{ ref('hcat', 'int_weaknesses_tested') }} as tested
    inner join {{ ref('hcat', 'dim_metrics') }} as metrics on tested.metric_name = metrics.metric_name
),

-- as each finding was last seen
known as (
    {% if is_incremental() %}
    select
        cell_id, metric_name, first_dimension, first_segment, second_dimension, second_segment,
        difference as seen_difference
    from {{ this }}
    where retest_result = 'weak'
    qualify row_number() over (partition by cell_id order by build_number desc) = 1
    {% else %}
    select
        cell_id, metric_name, first_dimension, first_segment, second_dimension, second_segment,
        difference as seen_difference
    from weaknesses
    where false
    {% endif %}
),

listed as (
    select
        cell_id, metric_name, first_dimension, first_segment, second_dimension, second_segment
    from weaknesses
    where is_found
    union
    select
        cell_id, metric_name, first_dimension, first_segment, second_dimension, second_segment
    from known
),

final as (
    select
        -- ids
        md5('{{ invocation_id }}' || '|' || listed.cell_id) as finding_sighting_id,
        listed.cell_id,
        '{{ invocation_id }}' as run_id,

        -- strings
        listed.metric_name, listed.first_dimension, listed.first_segment, listed.second_dimension,
        listed.second_segment, weaknesses.measurement, weighed.severity, weighed.risk_rating,
        weighed.failed_answers_basis,
        case
            when not weaknesses.is_deciding then 'not_admitted'
            else coalesce(weaknesses.test_status, 'no_interactions')
        end as test_status,
        -- closing needs proof: the cell must not be flagged, and the difference must be shown to be smaller
        case
            when weaknesses.is_found then 'weak'
            when coalesce(weaknesses.test_status, '') <> 'tested' or not weaknesses.is_deciding then 'not_retested'
            when weaknesses.difference_upper < known.seen_difference then 'no_longer_weak'
            else 'not_shown'
        end as retest_result,

        -- numerics
        {{ build_number() }} as build_number,
        weaknesses.difference, weaknesses.difference_lower, weaknesses.difference_upper, weaknesses.margin,
        weighed.failed_answers_a_week,
        weaknesses.count_needed_to_confirm::bigint as count_needed_to_confirm,

        -- timestamps
        timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' as built_at
    from listed
    left join weaknesses on listed.cell_id = weaknesses.cell_id
    left join known on listed.cell_id = known.cell_id
    left join {{ ref('hcat', 'int_weak_cells_weighed') }} as weighed on listed.cell_id = weighed.cell_id
)

select * from final
