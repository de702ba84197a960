-- One row per interaction that has both an answer and a reference answer.
{{ config(materialized='view') }}
select
    interactions.interaction_id,
    units.input_key,
    interactions.query_text,
    interactions.answer,
    interactions.reference_answer
from {{ ref('hcat', 'int_interactions_joined') }} as interactions
inner join {{ ref('hcat', 'int_interaction_units') }} as units on interactions.interaction_id = units.interaction_id
where units.reference_window_ids is not null and units.answer_window_ids is not null
