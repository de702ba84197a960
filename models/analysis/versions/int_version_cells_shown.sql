with measured as (
    select * from {{ ref('hcat', 'int_version_cells_measured') }}
),

tested as (
    select * from {{ ref('hcat', 'int_version_cells_tested') }}
),

-- of a pair of versions, a metric and a measurement: the segments without a verdict, by their reason
left_out as (
    select
        measured.version_pair_id, measured.metric_name, measured.measurement,
        count(case when tested.status in ('not_in_family', 'no_threshold') then 1 end) as count_without_rule,
        count(case when tested.status = 'too_few_clusters' then 1 end) as count_too_few_clusters,
        count(case when tested.status = 'no_scores' then 1 end) as count_without_scores
    from measured
    inner join tested on measured.version_comparison_id = tested.version_comparison_id
    where measured.dimension <> 'all'
    group by measured.version_pair_id, measured.metric_name, measured.measurement
),

shown as (
    select
        measured.*,
        tested.{{ columns_except(['version_comparison_id']) }},
        {%- for reason in ['without_rule', 'too_few_clusters', 'without_scores'] %}
        case when measured.dimension = 'all' then coalesce(left_out.count_{{ reason }}, 0) end::bigint
            as count_segments_{{ reason }},
        {%- endfor %}
        pairs.application, pairs.baseline_version, pairs.candidate_version, pairs.pair_kind, pairs.is_latest
    from measured
    inner join tested on measured.version_comparison_id = tested.version_comparison_id
    inner join {{ ref('hcat', 'int_version_pairs_listed') }} as pairs
        on measured.version_pair_id = pairs.version_pair_id
    left join left_out
        on
            measured.version_pair_id = left_out.version_pair_id
            and measured.metric_name = left_out.metric_name
            and measured.measurement = left_out.measurement
    where
        measured.dimension = 'all'
        or tested.verdict <> 'not_evaluated'
        -- a gate may ask about any segment of any metric
        or (pairs.is_latest and measured.measurement = 'share_failing_of_all' and tested.difference_lower is not null)
)

select * from shown
