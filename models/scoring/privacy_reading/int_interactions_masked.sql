with interactions as (
    select interaction_id, query_text, answer, reference_answer, customer_group, tags
    from {{ ref('hcat', 'int_interactions') }}
),

masked as (
    select text_id, masked_text, spans from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

records as (
    select text_id, masked_text from {{ ref('hcat', 'int_records_masked') }}
    where masked_text is not null
),

final as (
    select
        interactions.interaction_id,
        coalesce(queries.masked_text, interactions.query_text) as query_text,
        coalesce(answers.masked_text, interactions.answer) as answer,
        -- start and end as logged, and the length of the mask; a span without a mask is shown
        {{ array_join(array_map(
            'answers.spans', "each['start'] || ' ' || each['end'] || ' ' || length(each['masked'])"
        ), ',') }} as answer_masks,
        coalesce(reference_answers.masked_text, interactions.reference_answer) as reference_answer,
        coalesce(customer_groups.masked_text, interactions.customer_group) as customer_group,
        coalesce(records.masked_text, interactions.tags) as tags
    from interactions
    left join masked as queries on md5(interactions.query_text) = queries.text_id
    left join masked as answers on md5(interactions.answer) = answers.text_id
    left join masked as reference_answers on md5(interactions.reference_answer) = reference_answers.text_id
    left join masked as customer_groups on md5(interactions.customer_group) = customer_groups.text_id
    left join records on md5(interactions.tags) = records.text_id
)

select * from final
