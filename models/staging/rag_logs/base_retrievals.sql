-- One row per landed retrieval record, with typed columns, and with the reason when it cannot be used.
{%- set columns = ['interaction_id', 'chunk_id', 'text', 'rank', 'retrieval_score', 'completeness_weight'] %}
{%- set folded = ['interaction_id', 'chunk_id', 'text', 'rank', 'retrieval_score'] %}

with source as (
    {{ landed_and_folded('retrievals', columns, folded) | indent(4) }}
),

interactions as (
    -- Only here does staging look at another source. A record is an orphan while its interaction is not staged. It
    -- stops being an orphan when the interaction arrives in a later file.
    select interaction_id as known_interaction_id
    from {{ ref('base_interactions') }}
    where record_status = 'staged'
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
        interactions.known_interaction_id is not null as is_known
    from renamed
    left join interactions on renamed.interaction_id = interactions.known_interaction_id
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
        end as check_failure
    from located
),

{{ number_records(['interaction_id', 'rank']) }}

select * from final
