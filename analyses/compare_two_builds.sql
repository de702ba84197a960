-- How every gate moved between the last two builds.
with builds as (
    select run_id, row_number() over (order by started_at desc) as age
    from {{ ref('dim_runs') }}
),

gates as (
    select gates.*, builds.age
    from {{ ref('fct_threshold_gates') }} as gates
    inner join builds on gates.run_id = builds.run_id
)

select
    latest.gate_name,
    previous.verdict as previous_verdict,
    latest.verdict,
    previous.measured_value as previous_value,
    latest.measured_value,
    latest.threshold
from gates as latest
left join gates as previous on latest.gate_name = previous.gate_name and previous.age = 2
where latest.age = 1
order by latest.gate_name
