-- One row per query. A query is one wording of one SQL query, with its true answer.
with queries as (
    select * from {{ ref('hcat', 'int_grammar_queries_filled') }}
),

fillings as (
    select * from {{ ref('hcat', 'int_grammar_fillings') }}
),

texts as (
    select * from {{ ref('hcat', 'fct_grammar_texts') }}
    where text_status = 'used'
),

templates as (
    select * from {{ ref('hcat', 'fct_grammar_templates') }}
    where template_status = 'accepted'
),

final as (
    select
        -- ids
        queries.query_id,
        queries.query_group,
        queries.sql_template_id,
        queries.text_template_id,

        -- strings
        texts.hypothesis,
        texts.style,
        queries.tags,
        queries.query_text,
        fillings.reference_answer,
        case when templates.count_joins = 0 then 'simple_factual' else 'multi_hop' end as query_type,
        case
            when templates.count_joins = 0 then 'easy'
            when templates.count_joins = 1 then 'medium'
            else 'hard'
        end as difficulty,
        fillings.answer_type,
        'answer' as expected_behaviour,
        'en' as language,
        templates.origin as template_origin,
        texts.origin as text_origin,
        fillings.sql_text,

        -- numerics
        templates.count_joins
    from queries
    inner join fillings on queries.query_group = fillings.query_group
    inner join texts
        on
            queries.text_template_id = texts.text_template_id
            and queries.sql_template_id = texts.sql_template_id
    inner join templates on queries.sql_template_id = templates.sql_template_id
)

select * from final
