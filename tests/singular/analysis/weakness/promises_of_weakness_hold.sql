-- What cells and weaknesses promise. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('weaknesses_are_complete', ['fct_marginal_weaknesses', 'fct_bivariate_weaknesses']) %}
-- Every cell is in one of the marts, and the q-values of cells outside the headline are those of one family.
with weaknesses as (
    select
        marginal_weakness_id as weakness_id,
        metric_name, test_status, family, p_value,
        q_value
    from {{ ref('hcat', 'fct_marginal_weaknesses') }}
    union all
    select
        bivariate_weakness_id as weakness_id,
        metric_name, test_status, family, p_value,
        q_value
    from {{ ref('hcat', 'fct_bivariate_weaknesses') }}
),

descriptions as (
    select cell_id, metric_name from {{ ref('hcat', 'int_metric_cells') }}
),

-- Benjamini and Hochberg again: the least m P / rank of this or any larger P
family as (
    select
        weakness_id,
        q_value,
        min(count_tests * p_value / position) over (
            order by p_value desc, weakness_id desc rows between unbounded preceding and current row
        ) as expected_q_value
    from (
        select
            *,
            count(*) over () as count_tests,
            row_number() over (order by p_value, weakness_id) as position
        from weaknesses
        where family = 'other'
    ) as ranked
)

select descriptions.cell_id as id, 'a cell in neither mart, or in both' as problem
from descriptions
left join weaknesses on descriptions.cell_id = weaknesses.weakness_id
group by descriptions.cell_id
having count(weaknesses.weakness_id) <> 1
union all
select weakness_id as id, 'tested without a P-value, or not tested with one' as problem
from weaknesses
where (test_status = 'tested') <> (p_value is not null) or (p_value is null) <> (q_value is null)
union all
select weakness_id as id, 'a q-value of another family' as problem
from family
where abs(q_value - least(expected_q_value, 1)) > 1e-9
{% endcall %}

{% call promise('segments_add_up_to_the_whole', ['fct_marginal_weaknesses']) %}
-- Every dimension splits the interactions that have a value in it, so the scored counts of its segments add up to them.
with by_dimension as (
    select metric_name, dimension, sum(count_scored) as count_scored
    from {{ ref('hcat', 'fct_marginal_weaknesses') }}
    group by metric_name, dimension
),

expected as (
    select evaluations.metric_name, segments.dimension, count(evaluations.raw_score) as count_scored
    from {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
    inner join {{ ref('hcat', 'int_interaction_segments') }} as segments
        on evaluations.interaction_id = segments.interaction_id
    where evaluations.is_in_release_population
    group by evaluations.metric_name, segments.dimension
)

select
    concat_ws(' ', expected.metric_name, expected.dimension) as id,
    'segments that do not add up' as problem
from expected
left join by_dimension
    on expected.metric_name = by_dimension.metric_name and expected.dimension = by_dimension.dimension
where by_dimension.count_scored is distinct from expected.count_scored
{% endcall %}
