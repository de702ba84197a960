-- Every SQL template that makes queries has equal numbers of texts in every style, and every group has equal numbers of
-- queries.
{{ config(enabled=var('hcat_grammar'), tags=['grammar']) }}
with queries as (
    select query_group, style, count(*) as count_queries from {{ ref('hcat', 'fct_grammar_queries') }}
    group by query_group, style
),

styles as (
    select count(distinct style) as count_styles from queries
)

select queries.query_group
from queries
cross join styles
group by queries.query_group, styles.count_styles
having
    count(*) <> styles.count_styles
    or min(queries.count_queries) <> 3
    or max(queries.count_queries) <> 3
