-- The model uses one join per window and no aggregate of vectors, because joins need no more memory than the engine
-- allows.
{%- set windows = range(topic_windows()) %}
{%- set elements = [] %}
{%- for number in windows %}
{%- do elements.append('coalesce(' ~ array_at('vector_' ~ number, 'each + 1') ~ '::double, 0)') %}
{%- endfor %}

with embeddings as (
    select embedded.text_id, embedded.encoder_key, embedded.embedding
    from {{ ref('hcat', 'int_chunks_embedded') }} as embedded
    inner join {{ ref('hcat', 'int_encoder') }} as encoder on embedded.encoder_key = encoder.encoder_key
),

chunks as (
    select
        chunk_id,
        {%- for number in windows %}
        max(case when window_index = {{ number }} then text_id end) as window_{{ number }},
        {%- endfor %}
        min(document_id) as document_id
    from {{ ref('hcat', 'int_chunk_windows') }}
    group by chunk_id
),

joined as (
    select
        chunks.*,
        {%- for number in windows %}
        embeddings_{{ number }}.embedding as vector_{{ number }},
        {%- endfor %}
        embeddings_0.encoder_key
    from chunks
    inner join embeddings as embeddings_0 on chunks.window_0 = embeddings_0.text_id
    {%- for number in windows if number %}
    left join embeddings as embeddings_{{ number }} on chunks.window_{{ number }} = embeddings_{{ number }}.text_id
    {%- endfor %}
),

summed as (
    select
        *,
        {{ array_map(number_series(array_length('vector_0')), elements | join(' + ')) }} as vector_sum
    from joined
),

measured as (
    select
        *,
        sqrt({{ dot_product('vector_sum', 'vector_sum') }}) as vector_length
    from summed
),

final as (
    select
        chunk_id,
        document_id,
        -- the content that the vector stands for: chunks of one text share it
        md5(
            concat_ws(
                '|'
                {%- for number in windows %},
                window_{{ number }}
                {%- endfor %}
            )
        ) as text_id,
        encoder_key,
        {{ array_map('vector_sum', '(each / vector_length)::float') }} as embedding
    from measured
)

select * from final
