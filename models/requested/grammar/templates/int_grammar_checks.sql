-- One row per SQL template and criterion.
with made as (
    select * from {{ ref('hcat', 'int_grammar_templates_made') }}
),

final as (
    select
        candidate_id,
        sql_template_id,
        origin,
        {{ explode_records('checks') }}  -- noqa: AL03
    from made
)

select * from final
