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
