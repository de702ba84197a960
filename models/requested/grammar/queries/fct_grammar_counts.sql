with templates as (
    select * from {{ ref('hcat', 'fct_grammar_templates') }}
    where template_status = 'accepted'
),

texts as (
    select
        sql_template_id,
        count(*) as count_texts
    from {{ ref('hcat', 'fct_grammar_texts') }}
    where text_status = 'used'
    group by sql_template_id
),

fillings as (
    select
        sql_template_id,
        max(count_fillings_possible) as count_fillings_possible,
        count(*) as count_fillings,
        count(*) filter (where answer_status = 'single_answer') as count_groups
    from {{ ref('hcat', 'int_grammar_fillings') }}
    group by sql_template_id
),

counted as (
    select
        templates.sql_template_id,
        templates.origin,
        coalesce(texts.count_texts, 0) as count_texts,
        coalesce(fillings.count_fillings_possible, 0) as count_fillings_possible,
        coalesce(fillings.count_fillings, 0) as count_fillings,
        coalesce(fillings.count_groups, 0) as count_groups
    from templates
    left join texts on templates.sql_template_id = texts.sql_template_id
    left join fillings on templates.sql_template_id = fillings.sql_template_id
)

select {{ columns_of_contract({
    'count_rejected': 'count_fillings - count_groups',
    'count_queries': 'count_texts * count_groups',
    'selection_probability': 'cast(count_fillings as double) / nullif(count_fillings_possible, 0)',
}) }}
from counted
