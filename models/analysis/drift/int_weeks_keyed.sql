-- One row per week with a hash of all that its sums are made of, and whether it differs from that of the last build. A
-- week is closed once nothing of it changes any more, however late a record of it may come.
{{ config(materialized='table') }}

with weeks as (
    select * from {{ ref('hcat', 'int_interaction_weeks') }}
    where week_start is not null
),

evaluations as (
    select interaction_id, bit_xor(hash(metric_name, raw_score, is_failing)) as evaluated
    from {{ ref('hcat', 'int_primary_evaluations') }}
    group by interaction_id
),

segments as (
    select interaction_id, bit_xor(hash(dimension, segment)) as segmented
    from {{ ref('hcat', 'int_segments_monitored') }}
    group by interaction_id
),

keyed as (
    select
        weeks.week_start,
        bit_xor(
            hash(
                weeks.interaction_id, weeks.week_status, weeks.cluster_id, evaluations.evaluated, segments.segmented
            )
        ) as week_key
    from weeks
    left join evaluations on weeks.interaction_id = evaluations.interaction_id
    left join segments on weeks.interaction_id = segments.interaction_id
    group by weeks.week_start
),

final as (
    {{ compare_with_last_build('week_start', 'week_key') }}
)

select * from final
