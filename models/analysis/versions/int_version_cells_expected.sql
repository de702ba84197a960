with metrics as (
    select metric_name, range_high - range_low as score_range
    from {{ ref('hcat', 'int_metric_catalog') }}
    where is_primary
),

thresholds as (
    select metric_name, count(threshold) > 0 as has_threshold
    from {{ ref('hcat', 'int_primary_evaluations') }}
    group by metric_name
),

rules as (
    select * from {{ seed('metric_rules') }}
    where rule_for = 'version'
),

measurements as (
    select {{ explode(array_of(["'mean_score'", "'share_failing'", "'share_failing_of_all'"])) }} as measurement
),

-- two versions without a common query are a row as well
listed as (
    select version_pair_id, dimension, segment, query_key from {{ ref('hcat', 'int_version_segments_shared') }}
    union all
    select version_pair_id, 'all' as dimension, 'all' as segment, null as query_key
    from {{ ref('hcat', 'int_version_pairs_listed') }}
),

cells as (
    select version_pair_id, dimension, segment, count(query_key) as count_shared_queries from listed
    group by version_pair_id, dimension, segment
)

select
    cells.*, metrics.metric_name, measurements.measurement,
    coalesce(thresholds.has_threshold, false) as has_threshold,
    case when measurements.measurement = 'mean_score' then metrics.score_range else 1 end as value_range,
    rules.margin, rules.tolerated_loss, rules.target_difference, rules.is_lower_by_design,
    -- the headline decides alone; other metrics over all queries come next, then the segments
    case
        when rules.margin is null then null
        when cells.dimension = 'all' and rules.is_headline then 'headline'
        when cells.dimension = 'all' then 'metrics'
        else 'segments'
    end as family
from cells
cross join metrics
cross join measurements
left join thresholds on metrics.metric_name = thresholds.metric_name
left join rules
    on metrics.metric_name = rules.metric_name and measurements.measurement = rules.measurement
