-- The interactions behind one cell of the weakness map, worst first, each with its least grounded sentence and what it
-- lacks.
select
    interactions.interaction_id,
    interactions.query_text,
    interactions.answer,
    evaluations.raw_score,
    evidence.sentence_text,
    evidence.evidence_text,
    evidence.similarity,
    evidence.unsupported,
    evidence.displaced
from {{ ref('fct_evaluations') }} as evaluations
inner join {{ ref('fct_interactions') }} as interactions on evaluations.interaction_id = interactions.interaction_id
left join {{ ref('fct_sentence_evidence') }} as evidence
    on evaluations.interaction_id = evidence.interaction_id and evidence.is_least_grounded
where
    evaluations.metric_name = 'support_words'
    and evaluations.is_failing
    and interactions.topic = 'mortgages'
    and interactions.query_type = 'simple_factual'
order by evaluations.raw_score, interactions.interaction_id
