-- No two groups share a query text, because it would then have two true answers.
{{ config(enabled=var('hcat_grammar'), tags=['grammar']) }}
select lower(query_text) as query_text
from {{ ref('hcat', 'fct_grammar_queries') }}
group by lower(query_text)
having count(*) > 1
