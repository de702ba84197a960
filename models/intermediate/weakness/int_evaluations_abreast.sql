-- One row per (interaction, block of metrics): the scores of up to hcat_metrics_abreast metrics side by side, so that
-- the cells of an interaction are looked up once for all of them.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('int_evaluations_numbered') }}
),

final as (
    select
        interaction_number,
        jackknife_group,
        metric_block
        {%- for position in range(var('hcat_metrics_abreast')) %},
        max(raw_score) filter (where metric_position = {{ position }}) as raw_score_{{ position }},
        max(whole_score) filter (where metric_position = {{ position }}) as whole_score_{{ position }},
        max(whole_score * whole_score) filter (where metric_position = {{ position }})
            as squared_score_{{ position }},
        max(failing) filter (where metric_position = {{ position }}) as failing_{{ position }},
        max(failing_of_all) filter (where metric_position = {{ position }}) as failing_of_all_{{ position }}
        {%- endfor %}
    from evaluations
    group by interaction_number, jackknife_group, metric_block
    -- what is summed together lies together: the sums of a group fit into the cache and into little memory
    order by jackknife_group, metric_block, interaction_number
)

select * from final
