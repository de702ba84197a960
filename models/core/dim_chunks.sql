with documents as (
    select document_id, title from {{ ref('hcat', 'dim_documents') }}
),

recognised as (
    select text_id, text, masked_text from {{ ref('hcat', 'int_texts_masked') }}
)

{#- only a text that was searched for personal data is shown -#}
select {{ columns_of_contract({
    'title': 'documents.title',
    'topic': 'coalesce(topics.masked_text, chunks.topic)',
    'chunk_text': 'coalesce(texts.masked_text, texts.text)',
    'chunk_index': 'chunks.chunk_index::integer',
    'count_characters': 'length(chunks.chunk_text)::integer',
    'count_interactions': 'chunks.count_interactions::integer',
    'count_queries': 'chunks.count_queries::integer',
}, of='chunks') }}
from {{ ref('hcat', 'int_chunks_counted') }} as chunks
left join documents on chunks.document_id = documents.document_id
left join recognised as texts
    -- within the key: a condition on one side would make DuckDB compare all pairs of rows
    on if(chunks.count_interactions + chunks.count_queries > 0, md5(chunks.chunk_text), null) = texts.text_id
left join recognised as topics on md5(chunks.topic) = topics.text_id
