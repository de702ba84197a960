{{ config(materialized='table') }}
{%- set allocations = ['proportional', 'proportional_to_size', 'equal', 'importance', 'neyman'] -%}
{%- set allocation = one_of('hcat_sampling_allocation', allocations) -%}
{%- set total = var('hcat_sampling_total') | int -%}
{%- set minimum = sampling_minimum() -%}
{%- set prior = sampling_prior() -%}
{%- if total < 1 -%}
    {{ exceptions.raise_compiler_error("hcat_sampling_total must be at least 1, got " ~ var('hcat_sampling_total')) }}
{%- endif %}

with strata_scored as (
    select * from {{ ref('hcat', 'int_strata_scored') }}
),

strata as (
    select
        stratum_id,
        min(stratum_label) as stratum_label,
        case when min(topic_id) = max(topic_id) then min(topic_id) else 'several' end as topic_id,
        case when min(length_class) = max(length_class) then min(length_class) else 'several' end as length_class,
        count(*) as count_population,
        sum(size_measure)::double as size_population,
        sum(characters)::double / count(*) as mean_characters,
        {{ exact_sum('importance') }} as importance_population
    from {{ ref('hcat', 'int_chunk_strata') }}
    group by stratum_id
),

-- within strata: the deviation of a stratum of which too little is known leans on it
pooled as (
    select
        sqrt(
            {{ ordered_sum('(count_scored - 1) * score_standard_deviation * score_standard_deviation', 'stratum_id') }}
            / nullif(sum(count_scored - 1), 0)
        ) as pooled_deviation
    from strata_scored
    where score_standard_deviation is not null
),

rated as (
    select
        strata.*,
        {{ total }}::bigint as count_asked,
        {{ minimum }}::bigint as count_minimum,
        '{{ allocation }}' as allocation_asked,
        coalesce(strata_scored.count_scored, 0) as count_scored,
        strata_scored.score_standard_deviation,
        case
            when '{{ allocation }}' <> 'neyman' then 'as_asked'
            when pooled.pooled_deviation is null then 'no_evaluations'
            when pooled.pooled_deviation = 0 then 'constant_scores'
            when strata_scored.score_standard_deviation is null then 'pooled_deviation'
            else 'own_deviation'
        end as allocation_basis,
        -- as many evaluations as the prior says are taken to vary as those of all strata do
        sqrt(
            (
                {{ prior }}::double * pooled.pooled_deviation * pooled.pooled_deviation
                + coalesce(
                    (strata_scored.count_scored - 1)
                    * strata_scored.score_standard_deviation * strata_scored.score_standard_deviation,
                    0
                )
            )
            / ({{ prior }}::double + greatest(coalesce(strata_scored.count_scored, 0) - 1, 0))
        ) as planning_deviation
    from strata
    cross join pooled
    left join strata_scored on strata.stratum_id = strata_scored.stratum_id
),

weighed as (
    select
        *,
        -- without scores that vary, Neyman's allocation is the proportional one, and says so
        case
            when allocation_basis in ('no_evaluations', 'constant_scores') then 'proportional' else allocation_asked
        end as allocation
    from rated
),

bounded as (
    select
        *,
        case allocation
            when 'proportional' then count_population
            when 'proportional_to_size' then size_population
            when 'equal' then 1
            when 'importance' then importance_population
            when 'neyman' then count_population * planning_deviation
        end::double as allocation_weight,
        least(count_minimum, count_population) as count_least,
        sum(count_population) over () as count_all,
        sum(least(count_minimum, count_population)) over () as count_all_least
    from weighed
),

-- the total that can be: at least the minima, at most all chunks
totalled as (
    select
        *,
        least(count_all, greatest(count_asked, count_all_least)) as count_total,
        case
            -- by the total, or by the minima of small strata
            when greatest(count_asked, count_all_least) >= count_all then 'all_chunks'
            when count_asked < count_all_least then 'minimum_above_total'
            else 'planned'
        end as plan_status
    from bounded
)

select * from totalled
