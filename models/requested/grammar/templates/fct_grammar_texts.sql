-- One row per text template of an accepted SQL template, with its final status.
with texts as (
    select * from {{ ref('hcat', 'int_grammar_texts') }}
),

final as (
    select
        -- ids
        text_id,
        text_template_id,
        sql_template_id,

        -- strings
        hypothesis,
        style,
        origin,
        text_status,
        status_detail,
        text_template,

        -- numerics
        text_number
    from texts
)

select * from final
