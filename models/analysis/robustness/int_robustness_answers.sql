-- Part answers: one row per (hypothesis, side, interaction) of a query group that has at least two queries under the
-- hypothesis, the input of hcat.robustness.groups. The value `all` is not a hypothesis but denotes the whole group.
-- Part verdicts: one row per (interaction of known correctness, metric that needs no reference), with the true
-- correctness and, if a threshold is decided, the verdict of the metric.
{{ config(materialized='table') }}
{%- set columns = ['language', 'customer_group', 'variant_type', 'query_type'] %}

with answers as (
    select * from {{ ref('hcat', 'int_answers_correct') }}
    where query_group is not null and expected_behaviour = 'answer'
),

contexts as (
    select interaction_id, role, position, passage_text from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'context'
),

described as (
    select
        answers.interaction_id, answers.system, answers.query_group, answers.is_correct, queries.tags,
        {%- for column in columns %}
        interactions.{{ column }},
        {%- endfor %}
        -- the same words are one query, whatever its id
        {{ hash_of_query('interactions.query_text') }} as query_key
    from answers
    inner join {{ ref('hcat', 'int_interactions') }} as interactions
        on answers.interaction_id = interactions.interaction_id
    left join {{ ref('hcat', 'dim_queries') }} as queries on answers.query_id = queries.query_id
),

from_columns as (
    {%- for column in columns %}
    select interaction_id, '{{ column }}' as field, {{ column }} as side from described
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

sided as (
    select interaction_id, 'all' as hypothesis, 'all' as side from described
    union all
    select from_columns.interaction_id, hypotheses.hypothesis, from_columns.side
    from from_columns
    inner join {{ seed('robustness_hypotheses') }} as hypotheses
        on hypotheses.source = 'column' and from_columns.field = hypotheses.field
    where from_columns.side is not null
    union all
    select
        described.interaction_id, hypotheses.hypothesis,
        {{ json_field('described.tags', 'hypotheses.field') }} as side
    from described
    inner join {{ seed('robustness_hypotheses') }} as hypotheses on hypotheses.source = 'query_tag'
    where {{ json_field('described.tags', 'hypotheses.field') }} is not null
),

counted as (
    select
        sided.hypothesis, described.system, described.query_group,
        count(distinct described.query_key) as count_queries,
        count(distinct case when described.is_correct is not null then described.query_key end)
            as count_decided_queries
    from sided
    inner join described on sided.interaction_id = described.interaction_id
    group by sided.hypothesis, described.system, described.query_group
),

-- a hypothesis with only one side has nothing to compare
compared as (
    select described.system, sided.hypothesis
    from sided
    inner join described on sided.interaction_id = described.interaction_id
    group by described.system, sided.hypothesis
    having sided.hypothesis = 'all' or count(distinct sided.side) > 1
),

kept as (
    select
        described.system as system_id,
        sided.hypothesis, sided.side,
        described.query_group as group_id,
        described.interaction_id,
        described.query_key as query,
        -- one decided query shows nothing about robustness: its group stays without a type
        case when counted.count_decided_queries > 1 then described.is_correct end as is_correct
    from sided
    inner join described on sided.interaction_id = described.interaction_id
    inner join counted
        on
            sided.hypothesis = counted.hypothesis
            and described.system = counted.system
            and described.query_group = counted.query_group
    inner join compared
        on described.system = compared.system and sided.hypothesis = compared.hypothesis
    where counted.count_queries > 1
),

-- memory holds whole lists: keep only those of compared groups, and texts only of chunks without ids
chunks_listed as (
    select
        interaction_id,
        array_sort(array_agg(distinct chunk_id)) as context_ids,
        count(*) = count(chunk_id) as is_named
    from {{ ref('hcat', 'stg_retrievals') }}
    where interaction_id in (select kept.interaction_id from kept)
    group by interaction_id
),

texts_listed as (
    select interaction_id, {{ ordered_array('passage_text', 'position') }} as context_texts
    from contexts
    where
        interaction_id in (select kept.interaction_id from kept)
        and not exists (
            select 1 from chunks_listed
            where chunks_listed.interaction_id = contexts.interaction_id and chunks_listed.is_named
        )
    group by interaction_id
),

metrics as (
    select metric_name
    from {{ ref('hcat', 'int_metric_catalog') }}
    where
        coalesce(requires, '') not like '%reference%'
        and coalesce(requires, '') not like '%relevance%'
        and coalesce(requires, '') like '%answer%'
        -- expected behaviour is a kind of reference, and harm to people does not show whether an answer is true
        and family not in ('behaviour', 'safety', 'privacy')
),

decided as (
    select distinct metric_name from {{ seed('threshold_decisions') }}
),

final as (
    select
        'answers' as part,
        kept.*,
        case when chunks_listed.is_named then chunks_listed.context_ids end as context_ids,
        texts_listed.context_texts,
        null as metric, null as cluster_id, null as is_accepted, null as has_threshold
    from kept
    left join chunks_listed on kept.interaction_id = chunks_listed.interaction_id
    left join texts_listed on kept.interaction_id = texts_listed.interaction_id
    union all
    select
        'verdicts' as part, answers.system as system_id, null as hypothesis, null as side, null as group_id,
        answers.interaction_id, null as query, answers.is_correct, null as context_ids, null as context_texts,
        evaluations.metric_name as metric, coalesce(answers.query_group, answers.cluster_id) as cluster_id,
        not evaluations.is_failing as is_accepted, decided.metric_name is not null as has_threshold
    from {{ ref('hcat', 'int_answers_correct') }} as answers
    inner join {{ ref('hcat', 'int_evaluations_decided') }} as evaluations
        on answers.interaction_id = evaluations.interaction_id
    inner join metrics on evaluations.metric_name = metrics.metric_name
    left join decided on evaluations.metric_name = decided.metric_name
    where answers.expected_behaviour = 'answer'
)

select * from final
