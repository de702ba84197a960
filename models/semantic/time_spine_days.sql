-- Every day has a row, so that a day without interactions is a zero and not a gap.
with interactions as (
    select asked_at from {{ ref('hcat', 'fct_interactions') }}
),

gates as (
    select evaluated_at from {{ ref('hcat', 'fct_threshold_gates') }}
),

moments as (
    select asked_at as moment from interactions
    where asked_at is not null
    union all
    select evaluated_at as moment from gates
),

bounds as (
    select
        min(moment)::date as first_day,
        max(moment)::date as last_day
    from moments
),

listed as (
    select {{ explode(day_series('first_day', 'last_day')) }} as day
    from bounds
),

final as (
    select day::date as day
    from listed
)

select * from final
