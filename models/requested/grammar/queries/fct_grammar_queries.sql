with texts as (
    select * from {{ ref('hcat', 'fct_grammar_texts') }}
    where text_status = 'used'
),

templates as (
    select * from {{ ref('hcat', 'fct_grammar_templates') }}
    where template_status = 'accepted'
)

select {{ columns_of_contract({
    'hypothesis': 'texts.hypothesis',
    'style': 'texts.style',
    'reference_answer': 'fillings.reference_answer',
    'query_type': "case when templates.count_joins = 0 then 'simple_factual' else 'multi_hop' end",
    'difficulty':
        "case when templates.count_joins = 0 then 'easy' when templates.count_joins = 1 then 'medium' else 'hard' end",
    'answer_type': 'fillings.answer_type',
    'expected_behaviour': "'answer'",
    'language': "'en'",
    'template_origin': 'templates.origin',
    'text_origin': 'texts.origin',
    'sql_text': 'fillings.sql_text',
    'count_joins': 'templates.count_joins',
}, of='queries') }}
from {{ ref('hcat', 'int_grammar_queries_filled') }} as queries
inner join {{ ref('hcat', 'int_grammar_fillings') }} as fillings on queries.query_group = fillings.query_group
inner join texts
    on
        queries.text_template_id = texts.text_template_id
        and queries.sql_template_id = texts.sql_template_id
inner join templates on queries.sql_template_id = templates.sql_template_id
