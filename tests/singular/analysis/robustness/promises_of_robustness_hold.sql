{{ config(enabled=is_on('robustness')) }}
-- What groups of queries that ask the same and their rates promise. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('robustness_groups_are_complete', ['fct_robustness_groups', 'fct_answer_correctness']) %}
-- Every group has at least two queries under its hypothesis. Its type follows from its counts, and its answers are
-- those of fct_answer_correctness. Every error of the language model had a document of a right answer in its context.
with query_groups as (
    select * from {{ ref('hcat', 'fct_robustness_groups') }}
),

answers as (
    select * from {{ ref('hcat', 'fct_answer_correctness') }}
    where query_group is not null and expected_behaviour = 'answer'
),

retrievals as (
    select interaction_id, chunk_id from {{ ref('hcat', 'stg_retrievals') }}
    where chunk_id is not null
),

counted as (
    select
        system,
        query_group,
        count(*) as count_answers,
        count(*) filter (where is_correct) as count_correct
    from answers
    group by system, query_group
),

-- documents of the right answers of each group
enough as (
    select distinct answers.system, answers.query_group, retrievals.chunk_id
    from answers
    inner join retrievals on answers.interaction_id = retrievals.interaction_id
    where answers.is_correct
),

with_enough as (
    select distinct answers.interaction_id
    from answers
    inner join retrievals on answers.interaction_id = retrievals.interaction_id
    inner join enough
        on
            answers.system = enough.system
            and answers.query_group = enough.query_group
            and retrievals.chunk_id = enough.chunk_id
)

select concat_ws(' ', system, hypothesis, query_group) as id, 'a group of one query' as problem
from query_groups
group by system, hypothesis, query_group
having sum(count_queries) < 2
union all
select robustness_group_id as id, 'a type that its counts contradict' as problem
from query_groups
where
    group_type is distinct from case
        when count_answers = 0 then null
        when count_correct = 0 then 'gap'
        when count_correct = count_answers then 'robust'
        else 'non_robust'
    end
union all
select query_groups.robustness_group_id as id, 'answers that were lost' as problem
from query_groups
left join counted
    on query_groups.system = counted.system and query_groups.query_group = counted.query_group
where
    query_groups.hypothesis = 'all'
    and (
        query_groups.count_answers + query_groups.count_undecided is distinct from counted.count_answers
        or (query_groups.group_type is not null and query_groups.count_correct <> counted.count_correct)
    )
union all
select answers.interaction_id as id, 'a module that the contexts contradict' as problem
from answers
left join with_enough on answers.interaction_id = with_enough.interaction_id
where
    answers.module_status = 'compared'
    -- contexts with a chunk that has no id are told apart by their texts
    and answers.interaction_id in (select retrievals.interaction_id from retrievals)
    and not exists (
        select 1 from {{ ref('hcat', 'stg_retrievals') }} as unnamed
        inner join answers as siblings on unnamed.interaction_id = siblings.interaction_id
        where
            unnamed.chunk_id is null
            and siblings.query_group = answers.query_group
            and siblings.system = answers.system
    )
    and (answers.faulty_module = 'language_model') <> (with_enough.interaction_id is not null)
{% endcall %}

{% call promise('robustness_equations_hold', ['fct_robustness_rates', 'fct_robustness_groups']) %}
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
{% endcall %}

{% call promise('robustness_rates_add_up', ['fct_robustness_rates']) %}
-- The kinds of groups add up, and no count exceeds what it is a part of.
select robustness_rate_id as id, 'kinds of groups that do not add up' as problem
from {{ ref('hcat', 'fct_robustness_rates') }}
where not coalesce(count_groups = count_gap_groups + count_robust_groups + count_non_robust_groups, true)
union all
select robustness_rate_id as id, 'more correct answers than answers beside gaps' as problem
from {{ ref('hcat', 'fct_robustness_rates') }}
where not coalesce(count_correct between 0 and count_answers - count_gap_answers, true)
{% endcall %}
