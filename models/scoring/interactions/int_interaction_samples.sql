-- SelfCheck compares an answer with other answers of the same run to the same query.
-- At most four, as in the comparison of the GRAMMAR paper.
{%- set most = 4 %}

with interactions as (
    select
        interaction_id,
        coalesce(answer_run_id, '') as answer_run_id,
        system,
        {{ query_key() }} as query_key,
        coalesce(sample_index, 0) as sample_index
    from {{ ref('hcat', 'int_interactions') }}
    where is_answered and coalesce(query_id, query_text) is not null
),

final as (
    select
        interactions.interaction_id,
        others.interaction_id as other_interaction_id,
        row_number() over (
            partition by interactions.interaction_id order by others.sample_index, others.interaction_id
        ) as sample_position
    from interactions
    inner join interactions as others
        on
            interactions.system = others.system
            and interactions.answer_run_id = others.answer_run_id
            and interactions.query_key = others.query_key
            -- Answers to two customers who ask the same query are no samples of one answer.
            and interactions.sample_index <> others.sample_index
    qualify sample_position <= {{ most }}
)

select * from final
