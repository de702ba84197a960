-- A classifier needs each signal exactly once and every scale. Otherwise it would get other probabilities than those
-- fitted.
with priors as (
    select * from {{ seed('groundedness_prior') }}
),

counted as (
    select
        classifier_name,
        count(*) as count_rows,
        count(distinct feature) as count_features,
        count(case when feature <> 'intercept' and (center is null or coalesce(scale, 0) <= 0) then 1 end) as count_open
    from priors
    group by classifier_name
),

compared as (
    select
        counted.*,
        max(counted.count_features) over () as most_features
    from counted
)

select * from compared
where count_features < most_features or count_rows > count_features or count_open > 0
