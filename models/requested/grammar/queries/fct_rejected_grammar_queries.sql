-- One row per filled SQL query that is not asked because it does not have exactly one answer.
with fillings as (
    select * from {{ ref('hcat', 'int_grammar_fillings') }}
    where answer_status <> 'single_answer'
),

final as (
    select
        -- ids
        query_group,
        sql_template_id,

        -- strings
        answer_status as reason,
        sql_text,

        -- lists
        placeholders,
        filled_values
    from fillings
)

select * from final
