-- One row per landed retrieval record, with typed columns, and with the reason when it cannot be used.
{%- set columns = ['interaction_id', 'chunk_id', 'text', 'rank', 'retrieval_score', 'completeness_weight'] %}
{%- set folded = ['interaction_id', 'chunk_id', 'text', 'rank', 'retrieval_score'] %}

with source as (
    {{ landed_and_folded('retrievals', columns, folded) | indent(4) }}
),

interactions as (
    -- Staging looks at other sources only where a record is of no use without them. A record is an orphan while its
    -- interaction is not staged. It stops being an orphan when the interaction arrives in a later file.
    select interaction_id as known_interaction_id
    from {{ ref('hcat', 'base_interactions') }}
    where record_status = 'staged'
),

chunks as (
    select chunk_id as known_chunk_id
    from {{ ref('hcat', 'base_chunks') }}
    where record_status = 'staged'
),

-- A passage without text needs its chunk. Where no corpus was given, its id alone can still be graded.
corpus as (
    select
        (select count(*) from chunks) as count_chunks,
        (
            select count(chunk_id)
            from {{ ref_if_on('retrieval', 'landed_relevance_judgements', 'chunk_id string') }}
        )
        + (select count(source_chunk_ids) from {{ ref('hcat', 'base_queries') }}) as count_graded
),

renamed as (
    select
        -- ids
        record_id,
        source_file,
        {{ text_or_null('interaction_id') }} as interaction_id,
        {{ text_or_null('chunk_id') }} as chunk_id,

        -- strings
        text,
        {{ text_or_null('rank') }} as rank_text,
        {{ text_or_null('retrieval_score') }} as retrieval_score_text,
        {{ text_or_null('completeness_weight') }} as completeness_weight_text,

        -- numerics
        {{ integer_or_null(text_or_null('rank')) }} as rank,
        try_cast({{ text_or_null('retrieval_score') }} as double) as retrieval_score,
        try_cast({{ text_or_null('completeness_weight') }} as double) as completeness_weight,

        -- record
        record_hash,
        read_error,
        unread_record,
        source_row,
        landing_number
    from source
),

-- A left join replaces `not in`, for which Apache Spark compares every record with every interaction.
located as (
    select
        renamed.*,
        interactions.known_interaction_id is not null as is_known,
        chunks.known_chunk_id is not null
        or (corpus.count_chunks = 0 and corpus.count_graded > 0 and renamed.chunk_id is not null) as is_known_chunk
    from renamed
    left join interactions on renamed.interaction_id = interactions.known_interaction_id
    left join chunks on renamed.chunk_id = chunks.known_chunk_id
    cross join corpus
),

checked as (
    select
        *,
        case
            when read_error is not null then read_error
            when interaction_id is null then 'interaction_id is missing or blank'
            when rank is null or rank < 1
                then 'rank is not a positive integer: ' || left(coalesce(rank_text, 'null'), 80)
            when
                retrieval_score_text is not null
                and (retrieval_score is null or not {{ is_finite('retrieval_score') }})
                then 'retrieval_score is not a finite number: ' || left(retrieval_score_text, 80)
            when
                completeness_weight_text is not null
                and (
                    completeness_weight is null
                    or not {{ is_finite('completeness_weight') }}
                    or completeness_weight < 0
                )
                then 'completeness_weight is not a finite number of at least 0: ' || left(completeness_weight_text, 80)
            when not is_known then 'orphan: no staged interaction has this interaction_id'
            when {{ is_blank('text') }} and chunk_id is null then 'text and chunk_id are missing or blank'
            when {{ is_blank('text') }} and not is_known_chunk
                then 'text is missing or blank, and no staged chunk has the chunk_id: ' || left(chunk_id, 80)
        end as check_failure
    from located
),

{{ number_records(['interaction_id', 'rank']) }}

select * from final
