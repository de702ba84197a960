{{ config(enabled=is_on('robustness')) }}
-- Equations (1) and (2) of GRAMMAR hold on the marts: R = correct / (all - gap), accuracy = R (all - gap) / all. The
-- test counts again from the groups; types, modules and answers add up.
with rates as (
    select * from {{ ref('hcat', 'fct_robustness_rates') }}
),

query_groups as (
    select * from {{ ref('hcat', 'fct_robustness_groups') }}
),

recounted as (
    select
        system,
        hypothesis,
        side,
        count(*) filter (where group_type is not null) as count_groups,
        count(*) filter (where group_type = 'gap') as count_gap_groups,
        count(*) filter (where group_type = 'robust') as count_robust_groups,
        sum(count_answers) as count_answers,
        sum(case when group_type = 'gap' then count_answers else 0 end) as count_gap_answers,
        sum(count_correct) as count_correct,
        sum(count_language_model_errors) as count_language_model_errors,
        sum(case when group_type = 'non_robust' then count_answers - count_correct else 0 end) as count_errors,
        sum(count_retrieval_errors + count_language_model_errors + count_unattributed_errors) as count_laid
    from query_groups
    group by system, hypothesis, side
)

select rates.robustness_rate_id as id, 'equation 1' as problem
from rates
where
    rates.robustness is not null
    and abs(rates.robustness * (rates.count_answers - rates.count_gap_answers) - rates.count_correct) > 1e-9
union all
select rates.robustness_rate_id as id, 'equation 2' as problem
from rates
where
    rates.robustness is not null
    and abs(rates.accuracy - rates.robustness * (1 - rates.gap_share)) > 1e-9
union all
select rates.robustness_rate_id as id, 'accuracy or gap share' as problem
from rates
where
    rates.count_answers > 0
    and (
        abs(rates.accuracy * rates.count_answers - rates.count_correct) > 1e-9
        or abs(rates.gap_share * rates.count_answers - rates.count_gap_answers) > 1e-9
    )
union all
select rates.robustness_rate_id as id, 'a rate that is not counted from its groups' as problem
from rates
left join recounted
    on
        rates.system = recounted.system
        and rates.hypothesis = recounted.hypothesis
        and rates.side = recounted.side
where
    recounted.count_groups is null
    or rates.count_groups <> recounted.count_groups
    or (
        rates.gap_rule = 'own_side'
        and (
            rates.count_gap_groups <> recounted.count_gap_groups
            or rates.count_robust_groups <> recounted.count_robust_groups
            or rates.count_gap_answers <> recounted.count_gap_answers
        )
    )
    or case rates.scope
        when 'all'
            then
            rates.count_answers <> recounted.count_answers or rates.count_correct <> recounted.count_correct
        when 'language_model_errors_removed'
            then
            rates.count_answers <> recounted.count_answers - recounted.count_language_model_errors
            or rates.count_correct <> recounted.count_correct
        else
            rates.count_answers <> recounted.count_answers
            or rates.count_correct <> recounted.count_correct + recounted.count_language_model_errors
    end
    or recounted.count_errors <> recounted.count_laid
union all
-- a side without groups, or groups without a rate
select
    concat_ws(' ', recounted.system, recounted.hypothesis, recounted.side) as id,
    'a side without rates' as problem
from recounted
anti join rates
    on
        recounted.system = rates.system
        and recounted.hypothesis = rates.hypothesis
        and recounted.side = rates.side
