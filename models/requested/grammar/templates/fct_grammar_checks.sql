-- One row per SQL template and criterion.
with checks as (
    select * from {{ ref('hcat', 'int_grammar_checks') }}
),

final as (
    select
        -- ids
        check_id,
        candidate_id,
        sql_template_id,

        -- strings
        origin,
        criterion,
        outcome,
        reason
    from checks
)

select * from final
