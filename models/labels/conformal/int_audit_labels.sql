-- One row per (interaction, metric) whose label comes from a plain random sample. Only promises that rest on such
-- labels hold for new answers.
with labels as (
    select * from {{ ref('hcat', 'int_labels') }}
    where is_audit
),

final as (
    select *, coalesce(left(rated_at::date::string, 7), 'unknown') as rated_month
    from labels
)

select * from final
