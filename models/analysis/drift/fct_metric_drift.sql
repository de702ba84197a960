-- Alarms of the same weeks in the same direction are one event. The series of all answers leads it; without an alarm of
-- its own each segment leads its metrics. Of several metrics the verdict leads.
{%- set order = {'place': "metric_name is distinct from 'verdict'", 'q_value': 'q_value', 'id': 'metric_drift_id'} %}
with measured as (
    select
        *,
        md5(concat_ws('|', metric_name, dimension, segment, test, window_weeks::string)) as metric_drift_id,
        concat_ws('|', test, window_end::string, (difference < 0)::string) as event
    from {{ ref('hcat', 'int_drift_measured') }}
    where part = 'drift'
),

led as (
    select
        *,
        min(case when is_drifting and dimension = 'all' then {{ record(order) }} end) over (
            partition by event
        ) as of_all,
        min(case when is_drifting then {{ record(order) }} end) over (
            partition by event, dimension, segment
        ) as of_segment
    from measured
)

select {{ columns_of_contract({
    'leading_drift_id': 'case when is_drifting then coalesce(of_all.id, of_segment.id) end',
}) }}
from led
