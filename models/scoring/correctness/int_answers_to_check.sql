-- One row per interaction whose query has a reference answer: what the rules read, with its content key.
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('int_interactions_joined') }}
    where reference_answer is not null and expected_behaviour = 'answer'
),

queries as (
    select query_id, reference_answer, {{ json_field('tags', "'template'") }} as template
    from {{ ref('stg_queries') }}
    where reference_answer is not null
),

-- answers to other queries of one template: an answer that names several of them names the true one by luck
template_answers as (
    select template, reference_answer
    from queries
    where template is not null
    group by template, reference_answer
    qualify
        row_number() over (partition by template order by md5('hcat rival|' || reference_answer), reference_answer)
        <= {{ var('hcat_rival_answers') }}
),

rivals_listed as (
    select template, array_sort(array_agg(reference_answer)) as template_answers
    from template_answers
    group by template
),

joined as (
    select
        interactions.interaction_id,
        interactions.query_text as query,
        -- a silent application has given no true answer
        coalesce(interactions.answer, '') as answer,
        interactions.reference_answer as true_answer,
        rivals_listed.template_answers as rivals
    from interactions
    left join queries on interactions.query_id = queries.query_id
    left join rivals_listed on queries.template = rivals_listed.template
),

final as (
    select
        *,
        -- the revision is part of the key: everything is judged again when the rules change
        md5(
            concat_ws(
                chr(31), '{{ var("hcat_checking_revision") }}', coalesce(query, ''), answer, true_answer,
                coalesce({{ array_join('rivals', '\x1e') }}, '')
            )
        ) as input_key
    from joined
)

select * from final
