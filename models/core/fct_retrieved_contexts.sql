{{ config(
    materialized='incremental',
    incremental_strategy='append',
    full_refresh=writes_all_interactions(),
    on_schema_change='append_new_columns',
    pre_hook="{{ delete_changed() }}"
) }}

with contexts as (
    select * from {{ ref('hcat', 'int_contexts_retrieved') }}
    where {{ is_changed('interaction_id') }}
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        -- ids
        md5(concat_ws('|', contexts.interaction_id, contexts.rank)) as retrieved_context_id,
        contexts.interaction_id,
        contexts.chunk_id,
        contexts.document_id,

        -- strings
        coalesce(masked.masked_text, contexts.passage_text) as context_text,

        -- numerics
        contexts.rank::integer as rank,
        contexts.retrieval_score,
        contexts.grade,

        -- booleans
        contexts.grade > 0 as is_relevant
    from contexts
    left join masked on md5(contexts.passage_text) = masked.text_id
)

select * from final
