with attributed as (
    select *
    from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'errors' and hypothesis = 'all'
)

select {{ columns_of_contract({
    'group_type': 'attributed.group_type',
    'module_status': 'case when attributed.group_type is not null then attributed.module_status end',
    'faulty_module': 'attributed.faulty_module',
}, of='answers') }}
from {{ ref('hcat', 'int_answers_correct') }} as answers
left join attributed on answers.interaction_id = attributed.interaction_id
