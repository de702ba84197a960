-- One row per SQL template that somebody wrote, with its final status.
with templates as (
    select * from {{ ref('hcat', 'int_grammar_templates') }}
),

final as (
    select
        -- ids
        candidate_id,
        sql_template_id,
        logic_id,

        -- strings
        origin,
        template_status,
        status_detail,
        sql_template,
        sql_query,

        -- lists
        placeholders,

        -- numerics
        template_number,
        count_joins,
        count_columns,
        count_placeholders
    from templates
)

select * from final
