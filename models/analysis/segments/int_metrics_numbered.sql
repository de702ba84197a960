-- One row per primary metric that applies to an interaction, with a whole number as its id and the unit of its scores
-- as whole numbers. Squares of these whole numbers must fit 64 bits: the unit is a billionth for scores within 3, and
-- ten times as large for every further digit.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

described as (
    select
        metric_name,
        max(abs(raw_score)) as largest_score,
        count(*) as count_interactions,
        bit_xor({{ hash_number('interaction_id') }}) as fingerprint,
        max(threshold) as threshold,
        count(threshold) = 0 or (count(threshold) = count(*) and min(threshold) = max(threshold)) as has_one_threshold
    from evaluations
    group by metric_name
),

numbered as (
    select
        metric_name,
        (row_number() over (order by metric_name))::integer as metric_number,
        count_interactions,
        fingerprint,
        threshold,
        has_one_threshold,
        case
            when largest_score > 3 then 1e9 / power(10, ceil(log10(largest_score / 3)))
            else 1e9
        end as scores_per_unit
    from described
),

final as (
    select
        metric_name,
        metric_number,
        -- metrics that apply to the same interactions share their counts of interactions and clusters
        min(metric_number) over (partition by count_interactions, fingerprint) as scope_number,
        scores_per_unit,
        threshold,
        has_one_threshold
    from numbered
)

select * from final
