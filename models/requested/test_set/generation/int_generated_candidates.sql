with requests as (
    select generation_key from {{ ref('hcat', 'int_generation_requests') }}
),

queries_generated as (
    select * from {{ ref('hcat', 'int_queries_generated') }}
    where query_id is not null
),

generated as (
    -- queries of earlier samples stay in the table but are no longer in the test set
    select
        queries_generated.query_id, queries_generated.generation_key, queries_generated.chunk_id,
        queries_generated.query_text, queries_generated.reference_answer, queries_generated.query_type,
        queries_generated.difficulty, queries_generated.answer_type, queries_generated.expected_behaviour,
        queries_generated.generator, queries_generated.generator_revision, queries_generated.pattern,
        queries_generated.source_chunk_ids
    from queries_generated
    inner join requests on queries_generated.generation_key = requests.generation_key
),

imported as (
    select
        query_id,
        null::string as generation_key,
        null::string as chunk_id,
        query_text,
        reference_answer,
        coalesce(query_type, 'unlabelled') as query_type,
        difficulty,
        answer_type,
        expected_behaviour,
        'imported' as generator,
        'imported' as generator_revision,
        null::string as pattern,
        source_chunk_ids
    from {{ ref('hcat', 'stg_queries') }} as queries_staged
    where
        variant_type = 'original'
        and parent_query_id is null
        and (reference_answer is not null or expected_behaviour = 'refuse')
        -- a generated query that was collected comes back with the logs
        and not exists (
            select 1 from queries_generated
            where queries_generated.query_id = queries_staged.query_id
        )
),

united as (
    select * from generated
    union all
    select * from imported
),

final as (
    select
        united.*,
        md5(united.query_text) as text_id,
        encoder.encoder_key,
        united.query_text as encoded_text,
        length(united.query_text) as count_characters
    from united
    cross join {{ ref('hcat', 'int_encoder') }} as encoder
)

select * from final
