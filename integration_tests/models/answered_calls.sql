select
    interaction_id,
    question as query_text,
    reply as answer,
    called_at as asked_at
from {{ ref('logged_calls') }}
where reply is not null
