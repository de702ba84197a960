with reports as (
    select * from {{ ref('hcat', 'int_raters_measured') }}
    where part = 'reports'
),

-- a second look at an answer that nobody can judge is no further answer
unjudged as (
    select criterion, rater, rater_kind, count(*) as count_cannot_judge
    from {{ ref('hcat', 'stg_ratings__cannot_judge') }}
    where rating_pass = 1
    group by criterion, rater, rater_kind
),

-- a rater who judged nothing has a row too
raters as (
    select
        coalesce(reports.criterion, unjudged.criterion) as criterion,
        coalesce(reports.rater, unjudged.rater) as rater,
        coalesce(reports.rater_kind, unjudged.rater_kind) as rater_kind,
        coalesce(reports.status, 'no_ratings') as status,
        coalesce(reports.count_ratings, 0) as count_ratings,
        coalesce(unjudged.count_cannot_judge, 0) as count_cannot_judge,
        coalesce(reports.count_shared_units, 0) as count_shared_units,
        coalesce(reports.count_effective, 0) as count_effective,
        reports.agreement,
        reports.low,
        reports.high,
        reports.kappa,
        reports.agreement_of_others,
        reports.disagrees_with_everyone
    from reports
    full outer join unjudged
        on
            reports.criterion = unjudged.criterion
            and reports.rater = unjudged.rater
            and reports.rater_kind = unjudged.rater_kind
)

select {{ columns_of_contract({
    'rater_report_id': "md5(concat_ws('|', criterion, rater, rater_kind))",
    'count_ratings': 'count_ratings::integer',
    'count_cannot_judge': 'count_cannot_judge::integer',
    'count_shared_units': 'count_shared_units::integer',
    'count_effective': 'count_effective::double',
    'agreement_low': 'low',
    'agreement_high': 'high',
}) }}
from raters
