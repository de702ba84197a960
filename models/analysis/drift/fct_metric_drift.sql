with measured as (
    select * from {{ ref('hcat', 'int_drift_measured') }}
    where part = 'drift'
)

select {{ columns_of_contract({
    'metric_drift_id': "md5(concat_ws('|', metric_name, dimension, segment, test, window_weeks::string))",
}) }}
from measured
