with measured as (
    select * from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'reliability'
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
