-- One row per distinct passage: contexts repeat across interactions, so each is split once.
{{ config(materialized='table') }}

select
    passage_id,
    min(passage_text) as passage_text
from {{ ref('int_interaction_passages') }}
group by passage_id
