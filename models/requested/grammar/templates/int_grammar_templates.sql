-- One row per SQL template that somebody wrote, with its final status.
with made as (
    select * from {{ ref('hcat', 'int_grammar_templates_made') }}
),

final as (
    select {{ columns_except(['checks', 'texts']) }}
    from made
)

select * from final
