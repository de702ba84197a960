with passages as (
    select *
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role in ('query', 'answer')
),

scores as (
    {{ current_rows(
        ref('hcat', 'int_texts_classified_by_tone'), ref('hcat', 'int_text_classifiers'), 'scoring_key'
    ) | indent(4) }}
),

final as (
    select
        passages.interaction_id,
        passages.role,
        passages_split.text_id,
        passages_split.sentence_index,
        scores.toxicity,
        scores.sentiment
    from passages
    inner join {{ ref('hcat', 'int_passages_split') }} as passages_split
        on passages.passage_id = passages_split.passage_id
    inner join scores on passages_split.text_id = scores.text_id
)

select * from final
