-- A stratum without accepted queries is represented by the stratum of the same topic whose chunks are most alike in
-- length. Without such a stratum it is not covered. Where all chunks of the corpus are taken, weights are 1 and nothing
-- represents anything else.
with accepted_chunks as (
    select chunk_id, count(*) as count_accepted
    from {{ ref('hcat', 'int_queries_checked') }}
    where check_status = 'accepted' and chunk_id is not null
    group by chunk_id
),

accepted_strata as (
    select
        chunks_sampled.stratum_id,
        sum(accepted_chunks.count_accepted) as count_accepted,
        count(*) as count_chunks_accepted,
        -- sum in a fixed order: the last bits depend on it, and a rerun must change nothing
        {{ ordered_sum('chunks_sampled.sampling_weight', 'chunks_sampled.chunk_id') }} as weight_accepted
    from accepted_chunks
    inner join {{ ref('hcat', 'fct_sampled_chunks') }} as chunks_sampled
        on accepted_chunks.chunk_id = chunks_sampled.chunk_id
    group by chunks_sampled.stratum_id
),

covered as (
    select
        strata_planned.*,
        coalesce(accepted_strata.count_accepted, 0) as count_accepted,
        coalesce(accepted_strata.count_chunks_accepted, 0) as count_chunks_accepted,
        accepted_strata.weight_accepted
    from {{ ref('hcat', 'int_strata_planned') }} as strata_planned
    left join accepted_strata on strata_planned.stratum_id = accepted_strata.stratum_id
),

neighbours as (
    select
        missing.stratum_id,
        neighbour.stratum_id as weighting_stratum_id
    from covered as missing
    inner join covered as neighbour on missing.topic_id = neighbour.topic_id
    where missing.count_accepted = 0 and neighbour.count_accepted > 0 and missing.plan_status <> 'all_chunks'
    qualify row_number() over (
            partition by missing.stratum_id
            order by
                abs(missing.mean_characters - neighbour.mean_characters) asc,
                neighbour.count_population desc,
                neighbour.stratum_id asc
        ) = 1
),

final as (
    select
        -- ids
        covered.stratum_id,
        case when covered.count_accepted > 0 then covered.stratum_id else neighbours.weighting_stratum_id end
            as weighting_stratum_id,

        -- strings
        covered.topic_id,
        case
            when covered.count_accepted > 0 then 'covered'
            when neighbours.weighting_stratum_id is not null then 'collapsed'
            else 'uncovered'
        end as weighting_status,

        -- numerics
        covered.count_population,
        covered.count_planned,
        covered.count_accepted::bigint as count_accepted,
        covered.count_chunks_accepted::bigint as count_chunks_accepted,
        covered.weight_accepted
    from covered
    left join neighbours on covered.stratum_id = neighbours.stratum_id
)

select * from final
