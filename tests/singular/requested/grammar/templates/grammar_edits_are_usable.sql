-- SQL templates and texts of people that have a fault. They make no queries until somebody fixes them.
{{ config(enabled=var('hcat_grammar'), tags=['grammar'], severity='warn') }}
select
    sql_template_id,
    status_detail
from {{ ref('hcat', 'fct_grammar_templates') }}
where origin = 'person' and template_status = 'rejected'
union all
select
    sql_template_id,
    status_detail
from {{ ref('hcat', 'fct_grammar_texts') }}
where origin = 'person' and text_status = 'faulty'
