-- One row per distinct passage. Contexts repeat across interactions, so each passage is split only once.
{{ config(materialized='table') }}

select
    passage_id,
    min(passage_text) as passage_text
from {{ ref('hcat', 'int_interaction_passages') }}
group by passage_id
