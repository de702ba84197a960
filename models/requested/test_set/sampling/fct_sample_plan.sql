with sample_sizes as (
    select * from {{ ref('hcat', 'int_sample_sizes') }}
),

final as (
    select
        -- ids
        md5(concat_ws('|', scope, coalesce(stratum_id, ''), half_width::string)) as sample_plan_id,
        stratum_id,

        -- strings
        scope,
        stratum_label,
        plan_status,

        -- numerics
        half_width,
        expected_share,
        confidence,
        design_effect,
        count_population,
        count_planned,
        count_needed,
        half_width_planned
    from sample_sizes
)

select * from final
