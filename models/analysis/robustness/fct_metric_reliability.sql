select {{ columns_of_contract({
    'metric_reliability_id': 'md5(concat_ws(chr(31), system_id, metric, measure))',
    'system': 'system_id',
    'metric_name': 'metric',
    'measured_value': 'value',
    'value_lower': 'low',
    'value_upper': 'high',
}) }}
from {{ ref('hcat', 'int_robustness_measured') }}
where part = 'reliability'
