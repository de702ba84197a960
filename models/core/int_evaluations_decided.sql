-- Decided scores hold no labels, so that analyses of scores need not wait for them.
with metrics as (
    select metric_name, direction from {{ ref('hcat', 'int_metric_catalog') }}
),

version_classes as (
    select * from {{ ref('hcat', 'int_interaction_version_classes') }}
),

classes as (
    select distinct version_class from version_classes
),

-- a row for each class of versions: without an equation DuckDB would compare each evaluation with each decision
decisions as (
    select decided.metric_name, classes.version_class, decided.threshold
    from {{ ref('hcat', 'int_threshold_decisions') }} as decided
    inner join classes
        on coalesce(decided.version_class, classes.version_class) = classes.version_class
),

final as (
    select
        evaluations.*,
        version_classes.version_class,
        decisions.threshold::double as threshold,
        -- without a decision there is no verdict, because no default cut-off exists
        case
            when metrics.direction = 'higher_is_better' then evaluations.raw_score < decisions.threshold
            else evaluations.raw_score > decisions.threshold
        end as is_failing
    from {{ ref('hcat', 'int_evaluations_completed') }} as evaluations
    inner join metrics on evaluations.metric_name = metrics.metric_name
    inner join version_classes on evaluations.interaction_id = version_classes.interaction_id
    -- a decision for another class of versions does not apply here
    left join decisions
        on
            evaluations.metric_name = decisions.metric_name
            and version_classes.version_class = decisions.version_class
)

select * from final
