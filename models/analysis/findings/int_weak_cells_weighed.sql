with cells as (
    select weaknesses.cell_id, weaknesses.metric_name, weaknesses.measurement, weaknesses.difference, described.cell_key
    from {{ ref('hcat', 'int_weaknesses_tested') }} as weaknesses
    inner join {{ ref('hcat', 'int_metric_cells') }} as described on weaknesses.cell_id = described.cell_id
    where weaknesses.is_weak
),

interactions as (
    select
        interaction_id, {{ named('application') }} as application, asked_week,
        case when version_role = 'candidate' and population = 'production' then sampling_weight end as weight_customers,
        case when is_in_release_population then sampling_weight end as weight_release
    from {{ ref('hcat', 'fct_interactions') }}
),

-- what was asked at unknown times counts as one week
wholes as (
    select
        application,
        sum(weight_release) as weight_release,
        sum(weight_customers) as weight_customers,
        greatest(1, count(distinct case when weight_customers > 0 then asked_week end)) as weeks_customers,
        greatest(1, count(distinct case when weight_release > 0 then asked_week end)) as weeks_release
    from interactions
    group by application
),

sizes as (
    select
        cells.cell_id, interactions.application,
        sum(interactions.weight_customers) as weight_customers,
        sum(interactions.weight_release) as weight_release
    from cells
    inner join {{ ref('hcat', 'int_interaction_cells') }} as members on cells.cell_key = members.cell_key
    inner join interactions on members.interaction_id = interactions.interaction_id
    group by cells.cell_id, interactions.application
),

-- where customers ask an application, but nothing of the cell, it has its share of the release population
weekly as (
    select
        sizes.cell_id,
        sum(sizes.weight_customers) > 0 as is_asked,
        sum(coalesce(
            nullif(sizes.weight_customers, 0) / wholes.weeks_customers,
            sizes.weight_release / wholes.weight_release * wholes.weight_customers / wholes.weeks_customers
        )) as answers_to_customers,
        sum(sizes.weight_release / wholes.weeks_release) as answers_released
    from sizes
    inner join wholes on sizes.application = wholes.application
    group by sizes.cell_id
),

-- low < medium < high; the verdict weighs every risk
rated as (
    select
        cells.cell_id,
        coalesce(max(case risks.rating when 'high' then 3 when 'medium' then 2 when 'low' then 1 end), 2) as rating
    from cells
    left join {{ seed('risks') }} as risks
        on cells.metric_name in ('verdict', risks.metric_name, risks.control_metric)
    group by cells.cell_id
),

counted as (
    select
        cells.cell_id,
        case rated.rating when 3 then 'high' when 2 then 'medium' else 'low' end as risk_rating,
        case
            when weekly.is_asked then 'production'
            when weekly.answers_to_customers > 0 then 'share_of_release_population'
            else 'release_population'
        end as failed_answers_basis,
        case when cells.measurement <> 'mean_score' then cells.difference end
        * coalesce(nullif(weekly.answers_to_customers, 0), weekly.answers_released) as failed_answers_a_week
    from cells
    inner join weekly on cells.cell_id = weekly.cell_id
    inner join rated on cells.cell_id = rated.cell_id
),

final as (
    select
        counted.*,
        coalesce(max_by(severities.severity, severities.failed_answers_from), 'minor') as severity
    from counted
    left join {{ seed('weakness_severities') }} as severities
        on
            counted.risk_rating = severities.risk_rating
            and counted.failed_answers_a_week >= severities.failed_answers_from
    group by
        counted.cell_id, counted.risk_rating, counted.failed_answers_basis, counted.failed_answers_a_week
)

select * from final
