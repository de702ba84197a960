-- One row per stratum, with the planned number of sampled chunks. hcat_sampling_allocation gives the shares of the
-- total. Each number is bounded by a minimum and by the chunks available. Rounding is by largest remainder, so the
-- total is met exactly.
{{ config(materialized='table') }}

{%- set allocations = ['proportional', 'proportional_to_size', 'equal', 'importance', 'neyman'] -%}
{%- set allocation = one_of('hcat_sampling_allocation', allocations) -%}
{%- set total = var('hcat_sampling_total') | int -%}
{%- set minimum = sampling_minimum() -%}
{%- set prior = sampling_prior() -%}
{%- if total < 1 -%}
    {{ exceptions.raise_compiler_error("hcat_sampling_total must be at least 1, got " ~ var('hcat_sampling_total')) }}
{%- endif %}

with chunk_strata as (
    select * from {{ ref('hcat', 'int_chunk_strata') }}
),

strata_scored as (
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
    from chunk_strata
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
),

-- With a level, a stratum takes level x weight, held between its bounds. The sum over strata rises with the level along
-- straight lines that bend where a stratum leaves its minimum or has been taken whole.
bends as (
    select
        stratum_id,
        count_least / allocation_weight as level,
        allocation_weight as change_of_slope,
        -count_least as change_of_constant,
        count_all_least,
        count_total
    from totalled
    union all
    select
        stratum_id,
        count_population / allocation_weight as level,
        -allocation_weight as change_of_slope,
        count_population as change_of_constant,
        count_all_least,
        count_total
    from totalled
),

-- strata that bend at the same level are one bend: between them there is no line
distinct_bends as (
    select
        level,
        {{ ordered_sum('change_of_slope', 'stratum_id, change_of_slope') }} as change_of_slope,
        sum(change_of_constant) as change_of_constant,
        min(count_all_least) as count_all_least,
        min(count_total) as count_total
    from bends
    group by level
),

reached as (
    select
        level,
        count_total,
        -- beyond billionths lies rounding noise, here and below: it must not decide where a line begins or who wins
        round(
            1e9 * (
                count_all_least
                + sum(change_of_constant) over so_far
                + level * sum(change_of_slope) over so_far
            )
        ) / 1e9 as count_reached
    from distinct_bends
    window so_far as (order by level rows between unbounded preceding and current row)
),

paired as (
    select
        level,
        count_reached,
        count_total,
        lead(level) over (order by level) as next_level,
        lead(count_reached) over (order by level) as next_count_reached
    from reached
),

-- The total lies on the line after the last bend below it. Where the line is level every stratum is held by a bound,
-- and its beginning will do.
levelled as (
    select
        level + coalesce(
            (count_total - count_reached) / nullif(next_count_reached - count_reached, 0) * (next_level - level), 0
        ) as level
    from paired
    where count_reached <= count_total
    order by count_reached desc, case when count_reached < count_total then -level else level end asc
    limit 1
),

shared as (
    select
        totalled.*,
        levelled.level * totalled.allocation_weight as share_of_total,
        round(
            1e9 * greatest(
                totalled.count_least, least(totalled.count_population, levelled.level * totalled.allocation_weight)
            )
        ) / 1e9 as count_exact
    from totalled
    cross join levelled
),

rounded as (
    select
        *,
        row_number() over (
            order by
                floor(count_exact) < count_population desc,
                round(1e9 * (count_exact - floor(count_exact))) desc,
                count_population desc,
                stratum_id asc
        ) as place,
        count_total - sum(floor(count_exact)) over () as count_left
    from shared
),

planned as (
    select
        *,
        (floor(count_exact) + case when place <= count_left then 1 else 0 end)::bigint as count_planned
    from rounded
),

final as (
    select
        -- ids
        stratum_id,

        -- strings
        stratum_label,
        topic_id,
        length_class,
        allocation_asked,
        allocation,
        allocation_basis,
        plan_status,
        case
            when count_planned = count_population then 'all_taken'
            when round(1e9 * share_of_total) < 1e9 * count_least then 'minimum'
            else 'as_allocated'
        end as allocation_status,

        -- numerics
        count_population::bigint as count_population,
        size_population,
        importance_population,
        mean_characters,
        count_scored::bigint as count_scored,
        score_standard_deviation,
        share_of_total::double as count_allocated,
        count_planned,
        count_total::bigint as count_total
    from planned
)

select * from final
