with compared as (
    select * from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'differences'
),

final as (
    select
        -- ids
        md5(concat_ws(chr(31), system_id, hypothesis, first_side, second_side, scope, gap_rule, measure))
            as robustness_difference_id,

        -- strings
        system_id as system,
        hypothesis,
        first_side,
        second_side,
        scope,
        gap_rule,
        measure,
        status,
        design,

        -- numerics
        group_size,
        count_groups_in_both,
        count_groups_in_one,
        first_value,
        second_value,
        difference,
        low as difference_lower,
        high as difference_upper,
        chance_difference,
        p_value
    from compared
)

select * from final
