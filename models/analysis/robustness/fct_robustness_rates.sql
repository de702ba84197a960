with measured as (
    select * from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'rates'
),

-- a group of one answer is either right or a gap, so by the gaps of its own side R is always 1
marked as (
    select
        *,
        coalesce(gap_rule = 'own_side' and smallest_group <= 1, false) as is_single
    from measured
),

final as (
    select
        -- ids
        md5(concat_ws(chr(31), system_id, hypothesis, side, scope, gap_rule)) as robustness_rate_id,

        -- strings
        system_id as system,
        hypothesis,
        side,
        scope,
        gap_rule,
        if(is_single, 'groups_of_one', status) as status,
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
        if(is_single, null, robustness) as robustness,
        if(is_single, null, robustness_low) as robustness_lower,
        if(is_single, null, robustness_high) as robustness_upper,
        if(is_single, null, chance_robustness) as chance_robustness,
        accuracy,
        accuracy_low as accuracy_lower,
        accuracy_high as accuracy_upper
    from marked
)

select * from final
