-- One row per distinct answer text of the interactions whose logs name no language. The recognisers come first: they
-- check the model of languages, and say a fault in one line.
-- depends_on: {{ ref('hcat', 'int_privacy_recognisers') }}
{{ config(materialized='view') }}
select passages.passage_id, min(passages.passage_text) as passage_text
from {{ ref('hcat', 'int_interaction_passages') }} as passages
inner join {{ ref('hcat', 'int_interactions_joined') }} as interactions
    on passages.interaction_id = interactions.interaction_id
where passages.role = 'answer' and interactions.logged_language is null
group by passages.passage_id
