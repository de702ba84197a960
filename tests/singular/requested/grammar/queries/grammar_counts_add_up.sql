-- M x N x Q: every filling of an SQL template is asked in all its texts, and the product equals the number of queries.
{{ config(enabled=var('hcat_grammar'), tags=['grammar']) }}
with counts as (
    select * from {{ ref('hcat', 'fct_grammar_counts') }}
),

queries as (
    select
        sql_template_id,
        count(*) as count_queries,
        count(distinct query_group) as count_groups,
        count(distinct text_template_id) as count_texts
    from {{ ref('hcat', 'fct_grammar_queries') }}
    group by sql_template_id
),

rejected as (
    select sql_template_id, count(*) as count_rejected
    from {{ ref('hcat', 'fct_rejected_grammar_queries') }}
    group by sql_template_id
)

select coalesce(counts.sql_template_id, queries.sql_template_id) as sql_template_id
from counts
full outer join queries on counts.sql_template_id = queries.sql_template_id
left join rejected on counts.sql_template_id = rejected.sql_template_id
where
    counts.sql_template_id is null
    or counts.count_queries <> coalesce(queries.count_queries, 0)
    or counts.count_texts * counts.count_groups <> counts.count_queries
    or counts.count_groups + coalesce(rejected.count_rejected, 0) <> counts.count_fillings
    or (counts.count_queries > 0 and counts.count_groups <> queries.count_groups)
    or (counts.count_queries > 0 and counts.count_texts <> queries.count_texts)
