with answers as (
    select * from {{ ref('hcat', 'int_answers_correct') }}
),

attributed as (
    select *
    from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'errors' and hypothesis = 'all'
),

final as (
    select
        -- ids
        answers.interaction_id,
        answers.query_id,
        answers.query_group,
        answers.cluster_id,

        -- strings
        answers.system,
        answers.variant_type,
        answers.expected_behaviour,
        answers.correctness_status,
        answers.correctness_source,
        answers.reason,
        answers.answer_kind,
        attributed.group_type,
        case when attributed.group_type is not null then attributed.module_status end as module_status,
        attributed.faulty_module,

        -- booleans
        answers.is_correct,
        answers.is_disputed
    from answers
    left join attributed on answers.interaction_id = attributed.interaction_id
)

select * from final
