with embeddings as (
    select * from {{ ref('hcat', 'int_chunk_embeddings') }}
),

windows as (
    select
        chunk_id,
        {{ joined_text('encoded_text', "' '", 'window_index') }} as topic_text
    from {{ ref('hcat', 'int_chunk_windows') }}
    group by chunk_id
),

distinct_texts as (
    select
        text_id,
        min(chunk_id) as chunk_id
    from embeddings
    group by text_id
),

numbered as (
    select
        text_id,
        chunk_id,
        row_number() over (order by md5('topics|{{ var("hcat_random_seed") }}|' || text_id), text_id) as draw_number
    from distinct_texts
),

final as (
    select
        numbered.text_id,
        embeddings.document_id,
        windows.topic_text,
        embeddings.embedding
    from numbered
    inner join embeddings on numbered.chunk_id = embeddings.chunk_id
    inner join windows on numbered.chunk_id = windows.chunk_id
    where numbered.draw_number <= {{ topic_fit_texts() }}
)

select * from final
