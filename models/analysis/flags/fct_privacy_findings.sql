with findings as (
    select * from {{ ref('hcat', 'int_privacy_findings') }}
),

final as (
    select
        -- ids
        privacy_finding_id,
        interaction_id,

        -- strings
        entity_type,
        entity_class,
        exposure,
        masked,
        rule,

        -- numerics
        first_start,
        first_end,
        count_occurrences,

        -- booleans
        is_counted,
        is_leak
    from findings
)

select * from final
