with chunks_sampled as (
    select * from {{ ref('hcat', 'int_chunks_sampled') }}
),

chunk_strata as (
    select chunk_id, stratum_label, size_measure, importance from {{ ref('hcat', 'int_chunk_strata') }}
),

final as (
    select
        -- ids
        chunks_sampled.chunk_id,
        chunks_sampled.document_id,
        chunks_sampled.stratum_id,

        -- strings
        chunk_strata.stratum_label,
        chunks_sampled.topic_id,
        chunks_sampled.length_class,
        chunks_sampled.sampling_status,

        -- numerics
        chunk_strata.size_measure,
        chunk_strata.importance,
        chunks_sampled.draw_number,
        chunks_sampled.inclusion_probability,
        chunks_sampled.sampling_weight
    from chunks_sampled
    inner join chunk_strata on chunks_sampled.chunk_id = chunk_strata.chunk_id
)

select * from final
