select {{ columns_of_contract({
    'robustness_variant_id': 'md5(concat_ws(chr(31), system, variant_type, variant_meaning, metric_name))',
}) }}
from {{ ref('hcat', 'int_robustness_measured') }}
where part = 'variants'
