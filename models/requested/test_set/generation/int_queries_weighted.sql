-- Weights adjust for rejected queries inside the stratum (post-stratification): n_h sampled chunks over those with an
-- accepted query. With equal draws, the weights of a stratum then add up to its number of chunks, N_h. With unequal
-- draws, they do so on average. If every small sample were forced to the sum, shares of often drawn chunks would be
-- biased. Where all chunks of the corpus are taken there is no sample to weight: every query counts 1.
with queries_checked as (
    select * from {{ ref('hcat', 'int_queries_checked') }}
    where check_status = 'accepted'
),

chunks_sampled as (
    select chunk_id, stratum_id, sampling_status, sampling_weight from {{ ref('hcat', 'fct_sampled_chunks') }}
),

strata_weighted as (
    select * from {{ ref('hcat', 'int_strata_weighted') }}
),

-- strata without an accepted query lend their chunks to their neighbour
represented as (
    select
        weighting_stratum_id as stratum_id,
        sum(count_population) as count_represented,
        count(*) as count_strata
    from strata_weighted
    where weighting_stratum_id is not null
    group by weighting_stratum_id
),

final as (
    select
        -- ids
        queries_checked.query_id,
        queries_checked.chunk_id,
        chunks_sampled.stratum_id,

        -- strings
        case
            when chunks_sampled.stratum_id is null then 'not_sampled'
            when chunks_sampled.sampling_status = 'all_chunks_taken' then 'all_chunks_taken'
            when represented.count_strata > 1 then 'with_collapsed'
            else 'own_stratum'
        end as weighting_status,

        -- numerics
        case
            when chunks_sampled.sampling_status = 'all_chunks_taken' then 1
            else
                -- a chunk counts once, however many queries were made from it
                chunks_sampled.sampling_weight / count(*) over (partition by queries_checked.chunk_id)
                * strata_weighted.count_planned / strata_weighted.count_chunks_accepted
                * represented.count_represented / strata_weighted.count_population
        end::double as sampling_weight
    from queries_checked
    left join chunks_sampled on queries_checked.chunk_id = chunks_sampled.chunk_id
    left join strata_weighted on chunks_sampled.stratum_id = strata_weighted.stratum_id
    left join represented on chunks_sampled.stratum_id = represented.stratum_id
)

select * from final
