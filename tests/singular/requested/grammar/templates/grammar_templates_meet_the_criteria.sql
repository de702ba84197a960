-- No accepted SQL template breaks a criterion, whoever wrote it. Every criterion was checked for every template.
{{ config(enabled=var('hcat_grammar'), tags=['grammar']) }}
with checks as (
    select
        candidate_id,
        count(*) as count_checks,
        count(*) filter (where outcome = 'broken') as count_broken,
        count(*) filter (where outcome = 'undecided' and criterion <> 'single_answer') as count_undecided
    from {{ ref('hcat', 'fct_grammar_checks') }}
    group by candidate_id
),

criteria as (
    select count(distinct criterion) as count_criteria from {{ ref('hcat', 'fct_grammar_checks') }}
)

select templates.candidate_id
from {{ ref('hcat', 'fct_grammar_templates') }} as templates
left join checks on templates.candidate_id = checks.candidate_id
cross join criteria
where
    checks.count_checks is distinct from criteria.count_criteria
    or (templates.template_status = 'accepted' and checks.count_broken + checks.count_undecided > 0)
    or (templates.template_status = 'rejected' and checks.count_broken = 0)
