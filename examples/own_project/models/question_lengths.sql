-- An own dimension: one row per interaction with the value by which weak segments are looked for. Often this is a table
-- of your own, for instance of customers.
select
    interaction_id,
    case when length(query_text) > 35 then 'long' else 'short' end as question_length
from {{ ref('hcat', 'int_interaction_attributes') }}
