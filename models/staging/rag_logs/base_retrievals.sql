{{ config(materialized='table') }}
{%- set columns = [
    'interaction_id', 'chunk_id', 'text', 'rank', 'retrieval_score', 'completeness_weight', 'list_position'
] %}
{%- set folded = ['interaction_id', 'chunk_id', 'text', 'rank', 'retrieval_score'] %}

with source as (
    {{ landed_and_folded('retrievals', columns, folded) | indent(4) }}
),

interactions as (
    -- Staging looks at other sources only where a record is of no use without them. A record is an orphan while its
    -- interaction is not staged. It stops being an orphan when the interaction arrives in a later file.
    select
        interaction_id as known_interaction_id,
        source_file as interaction_file,
        source_row as interaction_row
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
            from {{ ref_if_on('retrieval', 'base_relevance_judgements', 'chunk_id') }}
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
        {{ integer_or_null(text_or_null('rank'), least=0) }} as rank,
        {{ finite_or_null(text_or_null('retrieval_score')) }} as retrieval_score,
        {{ finite_or_null(text_or_null('completeness_weight'), '>= 0') }} as completeness_weight,
        -- place in the list of a call, whose passages have one row of the file; it is the rank that the log leaves out
        {{ integer_or_null("coalesce(list_position, rank)") }} as list_position,

        {{ columns_of_record() }}
    from source
),

-- A left join replaces `not in`, for which Apache Spark compares every record with every interaction.
located as (
    select
        renamed.*,
        interactions.known_interaction_id is not null as is_known,
        -- the first call of an id stands, and passages of a later one are not added to its own
        coalesce(
            interactions.interaction_file = renamed.source_file and interactions.interaction_row <> renamed.source_row,
            false
        ) as is_of_other_call,
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
            when not is_known then 'orphan: no staged interaction has this interaction_id'
            when {{ is_blank('text') }} and chunk_id is null then 'text and chunk_id are missing or blank'
            when {{ is_blank('text') }} and not is_known_chunk
                then 'text is missing or blank, and no staged chunk has the chunk_id: ' || left(chunk_id, 80)
        end as check_failure
    from located
),

{#- Passages of one file and one rank are several, as two retrievers log them. -#}
{%- set is_tie = 'not is_of_other_call and (rank is null'
    ~ ' or (source_file = first_source_file and landing_number = first_landing_number))' -%}
{{ number_records(['interaction_id', 'rank'], [
    "case when rank is null then 'rank is not an integer from 0: ' || left(coalesce(rank_text, 'null'), 80) end",
    field_fault('retrieval_score', 'a finite number'),
    field_fault('completeness_weight', 'a finite number of at least 0')
], unless=is_tie, into='judged') }},

-- Ranks that repeat, start at 0 or are missing: others stay as they were logged, gaps included.
interactions_to_number as (
    select interaction_id
    from judged
    where record_status = 'staged'
    group by interaction_id
    having min(rank) < 1 or count(rank) < count(*) or max(occurrence) > 1
),

ordered as (
    select
        judged.record_id,
        judged.interaction_id,
        judged.rank,
        row_number() over (
            partition by judged.interaction_id
            order by
                judged.landing_number, judged.source_file, judged.source_row, judged.list_position, judged.record_id
        ) as file_position
    from judged
    inner join interactions_to_number on judged.interaction_id = interactions_to_number.interaction_id
    where judged.record_status = 'staged'
),

-- A passage without a rank takes its place in the file, and passages of one rank keep their order there.
ranked as (
    select
        record_id,
        row_number() over (partition by interaction_id order by coalesce(rank, file_position), file_position) as place
    from ordered
),

final as (
    select
        judged.{{ columns_except(['rank']) }},
        coalesce(ranked.place, judged.rank)::integer as rank
    from judged
    left join ranked on judged.record_id = ranked.record_id
)

select * from final
