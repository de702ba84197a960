-- An answer is compared with at most so many reference answers of other queries with its tag `template`, which bounds
-- the work.
{%- set rivals = 50 %}
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions') }}
    where reference_answer is not null and expected_behaviour = 'answer'
),

queries as (
    select query_id, reference_answer, {{ json_field('tags', "'template'") }} as template
    from {{ ref('hcat', 'stg_queries') }}
    where reference_answer is not null
),

-- Reference answers of one template. An answer that names several of them may contain the true one by chance.
template_answers as (
    select template, reference_answer
    from queries
    where template is not null
    group by template, reference_answer
    qualify
        row_number() over (partition by template order by md5('hcat rival|' || reference_answer), reference_answer)
        <= {{ rivals }}
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
        -- An empty text stands for a missing answer, which cannot be correct.
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
        -- The key contains the revision of the rules, so that a change of the rules checks every answer again.
        md5(
            concat_ws(
                chr(31), '{{ revision_of("checking") }}', coalesce(query, ''), answer, true_answer,
                coalesce({{ array_join('rivals', '\x1e') }}, '')
            )
        ) as input_key
    from joined
)

select * from final
