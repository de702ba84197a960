select {{ columns_except(['fit_id']) }}
from {{ ref('hcat', 'int_chunk_topics') }}
