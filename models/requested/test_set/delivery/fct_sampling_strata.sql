with queries_weighted as (
    select * from {{ ref('hcat', 'int_queries_weighted') }}
),

-- sum in a fixed order: the last bits depend on it, and a rerun must change nothing
drawn as (
    select
        stratum_id,
        count(*) as count_sampled,
        {{ ordered_sum('sampling_weight', 'chunk_id') }} as weight_sampled,
        {{ ordered_sum('sampling_weight * sampling_weight', 'chunk_id') }} as squares_sampled
    from {{ ref('hcat', 'fct_sampled_chunks') }}
    group by stratum_id
),

accepted as (
    select
        stratum_id,
        {{ ordered_sum('sampling_weight', 'query_id') }} as weight_accepted,
        {{ ordered_sum('sampling_weight * sampling_weight', 'query_id') }} as squares_accepted
    from queries_weighted
    where stratum_id is not null
    group by stratum_id
),

final as (
    select
        strata_planned.{{ columns_except(['count_total']) }},
        strata_weighted.weighting_stratum_id,
        strata_weighted.weighting_status,
        strata_planned.count_population / sum(strata_planned.count_population) over ()::double as share_population,
        coalesce(drawn.count_sampled, 0)::bigint as count_sampled,
        drawn.weight_sampled,
        drawn.weight_sampled * drawn.weight_sampled / drawn.squares_sampled as count_effective,
        strata_weighted.count_accepted,
        strata_weighted.count_chunks_accepted,
        coalesce(accepted.weight_accepted, 0)::double as weight_accepted,
        accepted.weight_accepted * accepted.weight_accepted / accepted.squares_accepted as count_accepted_effective
    from {{ ref('hcat', 'int_strata_planned') }} as strata_planned
    left join drawn on strata_planned.stratum_id = drawn.stratum_id
    left join {{ ref('hcat', 'int_strata_weighted') }} as strata_weighted
        on strata_planned.stratum_id = strata_weighted.stratum_id
    left join accepted on strata_planned.stratum_id = accepted.stratum_id
)

select * from final
