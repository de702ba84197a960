-- Every answer sentence of an interaction with context has its evidence. Each such answer has one suspect sentence.
select
    units.interaction_id,
    {{ array_length('units.answer_text_ids') }} as count_sentences,
    count(evidence.sentence_id) as count_evidence
from {{ ref('hcat', 'int_interaction_units') }} as units
left join {{ ref('hcat', 'fct_sentence_evidence') }} as evidence on units.interaction_id = evidence.interaction_id
where units.answer_text_ids is not null and units.context_text_ids is not null
group by units.interaction_id, units.answer_text_ids
having
    count(evidence.sentence_id) <> {{ array_length('units.answer_text_ids') }}
    or count(evidence.sentence_id) filter (where evidence.is_least_grounded) <> 1
