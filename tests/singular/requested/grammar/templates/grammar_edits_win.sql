-- No generated SQL template is in force under an id that people edited, and no template that they switched off makes
-- queries.
{{ config(enabled=var('hcat_grammar'), tags=['grammar']) }}
with edits as (
    select * from {{ seed('grammar_templates') }}
),

templates as (
    select * from {{ ref('hcat', 'fct_grammar_templates') }}
    where template_status in ('accepted', 'over_limit')
)

select templates.candidate_id
from templates
inner join edits on templates.sql_template_id = edits.template_id
where
    not edits.is_enabled
    or templates.origin <> 'person'
    or templates.sql_template is distinct from edits.sql_template
