-- Estimates and their errors are computed from these sums. Scores are added as whole numbers, so that no order of
-- adding matters. A row counts by its sampling weight; the squares of the weights tell how much less unequal ones say
-- (Kish).
{{ config(materialized='table') }}
{%- set values = {'scored': 'whole_score', 'decided': 'failing', 'decided_of_all': 'failing_of_all'} %}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_in_release_population
),

cells as (
    select interaction_id, cell_key, jackknife_group, false as is_second
    from {{ ref('hcat', 'int_interaction_cells') }}
    union all
    select interaction_id, cell_key, second_group as jackknife_group, true as is_second
    from {{ ref('hcat', 'int_interaction_cells') }}
),

-- squares of whole scores must fit 64 bits: the unit is a billionth for scores within 3, and ten times as large for
-- every further digit
units as (
    select
        metric_name,
        case
            when max(abs(raw_score)) > 3 then 1e9 / power(10, ceil(log10(max(abs(raw_score)) / 3)))
            else 1e9
        end as scores_per_unit
    from evaluations
    group by metric_name
),

counted as (
    select
        evaluations.interaction_id, evaluations.metric_name, {{ whole_number('evaluations.whole_weight') }} as weight,
        round(evaluations.raw_score * units.scores_per_unit)::bigint as whole_score,
        evaluations.is_failing::bigint as failing,
        evaluations.is_failing_of_all::bigint as failing_of_all
    from evaluations
    inner join units on evaluations.metric_name = units.metric_name
),

summed as (
    select
        counted.metric_name, cells.cell_key, cells.jackknife_group, cells.is_second,
        {%- for name, value in values.items() %}
        count(counted.{{ value }}) as count_{{ name }},
        sum(case when counted.{{ value }} is not null then counted.weight end) as weight_{{ name }},
        sum(case when counted.{{ value }} is not null then counted.weight * counted.weight end) as squares_{{ name }},
        sum(counted.weight * counted.{{ value }}) as sum_{{ name }},
        {%- endfor %}
        sum(counted.weight * counted.whole_score * counted.whole_score) as sum_squared_scores,
        sum(counted.failing) as count_failing
    from cells
    inner join counted on cells.interaction_id = counted.interaction_id
    group by counted.metric_name, cells.cell_key, cells.jackknife_group, cells.is_second
),

final as (
    select
        summed.metric_name, summed.cell_key, summed.jackknife_group, summed.is_second, units.scores_per_unit,
        {%- for name in values %}
        summed.count_{{ name }},
        {%- for kind in ['weight', 'squares', 'sum'] %}
        coalesce(summed.{{ kind }}_{{ name }}, 0) as {{ kind }}_{{ name }},
        {%- endfor %}
        {%- endfor %}
        coalesce(summed.sum_squared_scores, 0) as sum_squared_scores,
        coalesce(summed.count_failing, 0)::bigint as count_failing
    from summed
    inner join units on summed.metric_name = units.metric_name
    where summed.count_scored + summed.count_decided_of_all > 0
)

select * from final
