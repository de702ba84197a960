with verdicts_measured as (
    select * from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'reliability'
),

orders_measured as (
    select * from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'chunk_orders'
),

measured as (
    select
        system_id,
        metric,
        measure,
        status,
        value,
        low,
        high,
        chance_value,
        effective_n,
        count_hits,
        count_answers,
        count_groups,
        count_without_verdict,
        count_undecided,
        0::bigint as count_assumed
    from verdicts_measured
    union all
    select
        system_id,
        metric,
        measure,
        status,
        value,
        low,
        high,
        chance_value,
        effective_n,
        count_hits,
        count_pairs as count_answers,
        count_clusters as count_groups,
        count_unscored as count_without_verdict,
        count_undecided,
        count_assumed
    from orders_measured
),

final as (
    select
        -- ids
        md5(concat_ws(chr(31), system_id, metric, measure)) as metric_reliability_id,

        -- strings
        system_id as system,
        metric as metric_name,
        measure,
        status,

        -- numerics
        value as measured_value,
        low as value_lower,
        high as value_upper,
        chance_value,
        effective_n,
        count_hits,
        count_answers,
        count_groups,
        count_without_verdict,
        count_undecided,
        count_assumed
    from measured
)

select * from final
