-- The interactions behind the weakest cell of one metric, worst first. Each row shows the least grounded sentence of
-- the answer and what supports it too little. The weakest cell has the highest lower bound of the failure rate, so a
-- few failures in a few clusters do not win. Name a segment to examine another one. The dimension is a column of
-- fct_interactions.
{%- set metric_name = 'support_words' %}
{%- set dimension = 'topic' %}
{%- set segment = none %}

with weakest as (
    select metric_name, dimension, segment, share_failing, share_failing_lower, count_scored
    from {{ ref('hcat', 'fct_marginal_weaknesses') }}
    where
        metric_name = '{{ metric_name }}'
        and dimension = '{{ dimension }}'
        {%- if segment %}
        and segment = '{{ segment }}'
        {%- else %}
        and not is_small
        {%- endif %}
    order by share_failing_lower desc nulls last, segment asc
    limit 1
)

select
    weakest.segment,
    weakest.share_failing,
    weakest.count_scored,
    interactions.interaction_id,
    interactions.system,
    interactions.query_text,
    interactions.answer,
    evaluations.raw_score,
    evaluations.threshold,
    evidence.sentence_text,
    evidence.evidence_text,
    evidence.similarity,
    evidence.unsupported,
    evidence.contradicted,
    evidence.displaced
from weakest
inner join {{ ref('hcat', 'fct_interactions') }} as interactions on weakest.segment = interactions.{{ dimension }}
inner join {{ ref('hcat', 'fct_evaluations') }} as evaluations
    on interactions.interaction_id = evaluations.interaction_id and weakest.metric_name = evaluations.metric_name
left join {{ ref('hcat', 'fct_sentence_evidence') }} as evidence
    on interactions.interaction_id = evidence.interaction_id and evidence.is_least_grounded
where evaluations.is_failing and interactions.is_in_release_population
order by evaluations.raw_score, interactions.interaction_id
