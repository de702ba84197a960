-- `cells` lists the cells whose dimensions the headline declares, by their keys. Cells are chosen from these pieces; no
-- score has a say in the choice.
{{ config(materialized='table') }}

with headline as (
    select headline_metric as metric_name, first_dimension, second_dimension, third_dimension
    from {{ seed('analysis_dimension_pairs') }}
    where headline_metric is not null
),

rules as (
    select * from {{ seed('metric_rules') }}
    where rule_for = 'weakness'
),

evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_in_release_population
),

-- a dimension that is made of the metric is no headline
declared as (
    select distinct
        headline.metric_name, headline.first_dimension,
        case
            when headline.third_dimension is null then headline.second_dimension
            else headline.second_dimension || ' x ' || headline.third_dimension
        end as second_dimension
    from headline
    inner join rules on headline.metric_name = rules.metric_name
    where
        instr('|' || coalesce(rules.excluded_dimensions, '') || '|', '|' || headline.first_dimension || '|') = 0
        and instr(
            '|' || coalesce(rules.excluded_dimensions, '') || '|',
            '|' || coalesce(headline.second_dimension, 'none') || '|'
        ) = 0
        and instr(
            '|' || coalesce(rules.excluded_dimensions, '') || '|',
            '|' || coalesce(headline.third_dimension, 'none') || '|'
        ) = 0
),

valued as (
    select
        evaluations.metric_name, evaluations.interaction_id, evaluations.whole_weight,
        case
            when rules.measurement = 'share_failing' then evaluations.is_failing::integer
            when rules.measurement = 'share_failing_of_all' then evaluations.is_failing_of_all::integer
            when catalog.direction = 'higher_is_better' then 0 - evaluations.raw_score
            else evaluations.raw_score
        end::double as value
    from evaluations
    inner join rules on evaluations.metric_name = rules.metric_name
    inner join {{ ref('hcat', 'int_metric_catalog') }} as catalog on evaluations.metric_name = catalog.metric_name
    where evaluations.metric_name in (select declared.metric_name from declared)
),

placed as (
    select
        cells.interaction_id,
        {{ joined_text(
            'case when declared.metric_name is not null then cells.cell_key::string end', "','", 'cells.cell_key'
        ) }} as cells,
        min(cells.cluster_id) as cluster_id,
        min(cells.jackknife_group) as jackknife_group,
        min(cells.second_group) as second_group
    from {{ ref('hcat', 'int_interaction_cells') }} as cells
    left join declared
        on
            cells.first_dimension = declared.first_dimension
            and coalesce(cells.second_dimension, '') = coalesce(declared.second_dimension, '')
    group by cells.interaction_id
),

final as (
    select
        valued.metric_name, placed.cluster_id, placed.jackknife_group, placed.second_group, valued.whole_weight,
        coalesce(placed.cells, '') as cells,
        count(*) as count_rows,
        {{ exact_sum('valued.value') }} as sum_values,
        {{ exact_sum('valued.value * valued.value') }} as sum_squares
    from valued
    inner join placed on valued.interaction_id = placed.interaction_id
    where valued.value is not null
    group by
        valued.metric_name, placed.cluster_id, placed.jackknife_group, placed.second_group, valued.whole_weight,
        placed.cells
)

select * from final
