-- One row per distinct answer text.
{{ config(materialized='view') }}
select passage_id, min(passage_text) as passage_text
from {{ ref('hcat', 'int_interaction_passages') }}
where role = 'answer'
group by passage_id
