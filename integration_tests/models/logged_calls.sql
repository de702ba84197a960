select
    interaction_id,
    question,
    reply,
    called_at
from {{ source('assistant', 'retrieved_passages') }}
qualify row_number() over (partition by interaction_id order by rank) = 1
