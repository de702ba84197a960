with reports as (
    select * from {{ ref('hcat', 'int_raters_measured') }}
    where part = 'reports'
),

-- a second look at an answer that nobody can judge is no further answer
unjudged as (
    select criterion, rater, rater_kind, count(*) as count_cannot_judge
    from {{ ref('hcat', 'stg_ratings__cannot_judge') }}
    where rating_pass = 1 and not is_chosen
    group by criterion, rater, rater_kind
)

-- a rater who judged nothing has a row too
select {{ columns_of_contract({
    'rater_report_id': "md5(concat_ws('|', coalesce(reports.criterion, unjudged.criterion),"
        ~ " coalesce(reports.rater, unjudged.rater), coalesce(reports.rater_kind, unjudged.rater_kind)))",
    'criterion': 'coalesce(reports.criterion, unjudged.criterion)',
    'rater': 'coalesce(reports.rater, unjudged.rater)',
    'rater_kind': 'coalesce(reports.rater_kind, unjudged.rater_kind)',
    'status': "coalesce(reports.status, 'no_ratings')",
    'count_ratings': 'coalesce(reports.count_ratings, 0)::integer',
    'count_cannot_judge': 'coalesce(unjudged.count_cannot_judge, 0)::integer',
    'count_shared_units': 'coalesce(reports.count_shared_units, 0)::integer',
    'count_effective': 'coalesce(reports.count_effective, 0)::double',
    'agreement_low': 'reports.low',
    'agreement_high': 'reports.high',
}, of='reports') }}
from reports
full outer join unjudged
    on
        reports.criterion = unjudged.criterion
        and reports.rater = unjudged.rater
        and reports.rater_kind = unjudged.rater_kind
