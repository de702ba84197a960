select
    -- ids
    chunk_id,
    document_id,
    topic_id,

    -- numerics
    similarity_to_centre,
    x,
    y,

    -- booleans
    is_fitted
from {{ ref('hcat', 'int_chunk_topics') }}
