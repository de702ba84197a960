select {{ columns_of_contract({
    'rater_agreement_id': "md5(concat_ws('|', criterion, statistic, coalesce(rater, ''), rater_kind,"
        ~ " coalesce(other_rater_kind, '')))",
    'agreement': 'value',
    'agreement_low': 'low',
    'agreement_high': 'high',
    'count_units': 'count_units::integer',
    'count_ratings': 'count_ratings::integer',
    'count_clusters': 'count_clusters::integer',
}) }}
from {{ ref('hcat', 'int_raters_measured') }}
where part = 'agreement'
