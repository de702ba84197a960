-- How every gate moved between the last two builds, and what else changed between them. If a value moved without a
-- change of input, settings or code, investigate that as a finding of its own.
with builds as (
    select run_id, input_hash, settings_hash, code_hash, row_number() over (order by build_number desc) as age
    from {{ ref('hcat', 'dim_runs') }}
),

gates as (
    select
        gates.gate_name,
        gates.verdict,
        gates.is_passing,
        gates.measured_value,
        gates.threshold,
        gates.n,
        builds.age,
        builds.input_hash,
        builds.settings_hash,
        builds.code_hash
    from {{ ref('hcat', 'fct_threshold_gates') }} as gates
    inner join builds on gates.run_id = builds.run_id
)

select
    latest.gate_name,
    previous.verdict as previous_verdict,
    latest.verdict,
    previous.measured_value as previous_value,
    latest.measured_value,
    latest.measured_value - previous.measured_value as moved_by,
    latest.threshold,
    previous.n as previous_n,
    latest.n,
    latest.is_passing,
    latest.input_hash <> previous.input_hash as is_input_changed,
    latest.settings_hash <> previous.settings_hash as are_settings_changed,
    latest.code_hash <> previous.code_hash as is_code_changed
from gates as latest
left join gates as previous on latest.gate_name = previous.gate_name and previous.age = 2
where latest.age = 1
order by latest.is_passing, latest.gate_name
