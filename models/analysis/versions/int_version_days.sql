-- Queries that a version answered again on another day show what a day is worth.
{%- set measured = {
    'mean_score': 'evaluations.raw_score', 'share_failing': 'evaluations.is_failing::integer',
    'share_failing_of_all': 'evaluations.is_failing_of_all::integer'
} %}
{%- set total = '(' ~ exact_sum('weight') ~ ')' %}
{%- set again = '(' ~ exact_sum('weight_again') ~ ')' %}

with answers as (
    {%- for name, value in measured.items() %}
    select
        queries.application, queries.version, queries.query_key, queries.asked_day, evaluations.metric_name,
        '{{ name }}' as measurement,
        {{ hash_number(
            "queries.application, queries.version, queries.query_key, evaluations.metric_name, '" ~ name ~ "'"
        ) }} as query_number,
        {{ exact_mean(value) }} as value
    from {{ ref('hcat', 'int_version_queries_keyed') }} as queries
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on queries.interaction_id = evaluations.interaction_id
    where queries.asked_day is not null and {{ value }} is not null
    group by
        queries.application, queries.version, queries.query_key, queries.asked_day, evaluations.metric_name
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

-- added up and joined by a number, because a window would sort all answers by five names
by_query as (
    select query_number, count(*) as count_days, {{ exact_sum('value') }} as sum_values
    from answers
    group by query_number
),

answers_by_query as (
    select answers.*, by_query.count_days, by_query.sum_values
    from answers
    inner join by_query on answers.query_number = by_query.query_number
),

-- each query counts as one; where it was answered again, its answer lies apart from those of its other days
by_day as (
    select
        application, version, metric_name, measurement, asked_day,
        {{ exact_sum('1.0 / count_days') }} as weight,
        {{ exact_sum('case when count_days > 1 then 1.0 / count_days end') }} as weight_again,
        {{ exact_sum('(value - (sum_values - value) / nullif(count_days - 1, 0)) / count_days') }} as apart
    from answers_by_query
    group by application, version, metric_name, measurement, asked_day
),

-- the variance of one day, and its degrees of freedom (Kish's effective days, less one), as the jackknife has them
by_version as (
    select
        application, version, metric_name, measurement,
        count(*) as count_days,
        {{ exact_sum('weight * weight') }} / ({{ total }} * {{ total }}) as part_of_day,
        -- few queries that were answered again show chance and no days
        case
            when {{ again }} >= {{ total }} - {{ again }}
                then {{ again }} * {{ again }} / ({{ exact_sum('weight_again * weight_again') }}) - 1
        end as degrees,
        {{ exact_sum('apart * apart') }} * (count(apart) - 1) / count(apart)
        / ({{ exact_sum('weight_again * weight_again') }}) as variance
    from by_day
    group by application, version, metric_name, measurement
),

final as (
    select
        pairs.version_pair_id, by_version.metric_name, by_version.measurement,
        min(by_version.count_days) as count_days,
        sum(by_version.degrees) as day_degrees,
        sqrt(
            sum(by_version.degrees * by_version.variance) / sum(by_version.degrees) * sum(by_version.part_of_day)
        ) as day_standard_error
    from {{ ref('hcat', 'int_version_pairs_listed') }} as pairs
    inner join by_version
        on
            pairs.application = by_version.application
            and by_version.version in (pairs.baseline_version, pairs.candidate_version)
    group by pairs.version_pair_id, by_version.metric_name, by_version.measurement
)

select * from final
