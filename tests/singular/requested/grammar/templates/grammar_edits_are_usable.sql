-- SQL templates and texts of people with a fault: they make no queries until somebody mends them.
{{ config(enabled=var('hcat_grammar', false), tags=['grammar'], severity='warn') }}
select
    sql_template_id,
    status_detail
from {{ ref('fct_grammar_templates') }}
where origin = 'person' and template_status = 'rejected'
union all
select
    sql_template_id,
    status_detail
from {{ ref('fct_grammar_texts') }}
where origin = 'person' and text_status = 'faulty'
