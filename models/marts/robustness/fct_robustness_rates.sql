with measured as (
    select * from {{ ref('int_robustness_measured') }}
),

final as (
    select
        -- ids
        md5(concat_ws(chr(31), system_id, hypothesis, cluster, scope, gap_rule)) as robustness_rate_id,

        -- strings
        system_id as system,
        hypothesis,
        cluster,
        scope,
        gap_rule,
        status,
        interval_method,

        -- numerics
        count_groups,
        count_gap_groups,
        count_robust_groups,
        count_non_robust_groups,
        count_undecided_groups,
        count_answers,
        count_gap_answers,
        count_correct,
        count_retrieval_errors,
        count_language_model_errors,
        count_unattributed_errors,
        smallest_group,
        largest_group,
        gap_share,
        robustness,
        robustness_low as robustness_lower,
        robustness_high as robustness_upper,
        chance_robustness,
        accuracy,
        accuracy_low as accuracy_lower,
        accuracy_high as accuracy_upper
    from measured
)

select * from final
