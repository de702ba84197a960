select
    interaction_id,
    question,
    reply,
    called_at
from {{ source('assistant', 'retrieved_passages') }}
where rank = 1
