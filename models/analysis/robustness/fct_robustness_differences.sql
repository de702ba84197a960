select {{ columns_of_contract({
    'robustness_difference_id':
        'md5(concat_ws(chr(31), system_id, hypothesis, first_side, second_side, scope, gap_rule, measure))',
    'system': 'system_id',
    'difference_lower': 'low',
    'difference_upper': 'high',
}) }}
from {{ ref('hcat', 'int_robustness_measured') }}
where part = 'differences'
