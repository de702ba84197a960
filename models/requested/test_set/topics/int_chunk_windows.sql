-- Windows have one length. They are spread evenly over a text that is longer than all of them together.
{%- set characters = window_characters() %}

with chunks as (
    select
        chunk_id,
        document_id,
        trim({{ replace_pattern('chunk_text', '\\s+', ' ') }}) as chunk_text
    from {{ ref('hcat', 'stg_chunks') }}
),

counted as (
    select
        *,
        least(greatest(ceil(length(chunk_text) / {{ characters }}), 1), {{ topic_windows() }})::integer
            as count_windows
    from chunks
),

numbered as (
    select
        *,
        {{ explode(number_series('count_windows')) }} as window_index
    from counted
),

-- the first window starts with the text, the last ends with it
started as (
    select
        *,
        floor(window_index * (length(chunk_text) - {{ characters }}) / greatest(count_windows - 1, 1))::integer
            as count_characters_before
    from numbered
),

cut as (
    select
        *,
        substring(chunk_text, count_characters_before + 1, {{ characters }}) as encoded_text
    from started
),

final as (
    select
        cut.chunk_id,
        cut.document_id,
        md5(cut.encoded_text) as text_id,
        encoder.encoder_key,
        cut.encoded_text,
        cut.window_index,
        length(cut.encoded_text) as count_characters
    from cut
    cross join {{ ref('hcat', 'int_encoder') }} as encoder
)

select * from final
