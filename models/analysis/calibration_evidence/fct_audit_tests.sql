select {{ columns_of_contract({
    'audit_test_id': "md5(concat_ws('|', metric_name, coalesce(rated_month, ''), test, coalesce(stratum, ''),"
        ~ " coalesce(label::string, '')))",
    'human_label': 'label',
}) }}
from {{ ref('hcat', 'int_labels_measured') }}
where part = 'audits'
