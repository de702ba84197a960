-- The strata contain all chunks, the plan adds up to its total, and the sample equals the plan. Accepted queries
-- represent every chunk of the covered strata. Where all chunks are taken, each counts 1.
{{ config(enabled=var('hcat_test_set'), tags=['test_set']) }}

with strata as (
    select * from {{ ref('hcat', 'fct_sampling_strata') }}
),

planned as (
    select * from {{ ref('hcat', 'int_strata_planned') }}
),

checks as (
    select
        'chunks in strata' as quantity,
        (select count(*) from {{ ref('hcat', 'stg_chunks') }})::double as expected,
        (select sum(count_population) from strata)::double as found
    union all
    select
        'chunks planned' as quantity,
        (select max(count_total) from planned)::double as expected,
        (select sum(count_planned) from strata)::double as found
    union all
    select
        'chunks sampled' as quantity,
        (select sum(count_planned) from strata)::double as expected,
        (select count(*) from {{ ref('hcat', 'fct_sampled_chunks') }})::double as found
    {% if var('hcat_sampling_within') == 'equal' -%}
    -- drawn unequally, the weights add up on average only
    union all
    select
        'chunks that queries stand for' as quantity,
        (
            select
                sum(
                    case
                        when plan_status = 'all_chunks' then count_accepted
                        when weighting_status <> 'uncovered' then count_population
                    end
                )
            from strata
        )::double as expected,
        (select sum(sampling_weight) from {{ ref('hcat', 'int_queries_weighted') }})::double as found
    {%- endif %}
)

select * from checks
-- sums of doubles in any order; a relative billionth is rounding
where abs(coalesce(expected, 0) - coalesce(found, 0)) > 1e-9 * greatest(1, coalesce(expected, 0))
