-- One row per (interaction, metric) labelled in a plain random sample: only their promises hold for new answers.
with labels as (
    select * from {{ ref('int_labels') }}
    where is_audit
),

final as (
    select *, coalesce(left(rated_at::date::string, 7), 'unknown') as rated_month
    from labels
)

select * from final
