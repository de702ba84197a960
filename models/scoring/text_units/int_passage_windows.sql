-- A window is a run of whole sentences that fits the encoder, so that a long text is split and pooled instead of
-- truncated.
with interaction_passages as (
    select * from {{ ref('hcat', 'int_interaction_passages') }}
),

compared_passages as (
    select distinct answers_and_references.passage_id
    from interaction_passages as answers_and_references
    inner join interaction_passages as reference_answers
        on
            answers_and_references.interaction_id = reference_answers.interaction_id
            and reference_answers.role = 'reference'
    where answers_and_references.role in ('answer', 'reference')
),

numbered as (
    select
        passages_split.*,
        floor(
            (passages_split.start_character + passages_split.count_characters - 1) / {{ window_characters() }}
        )::integer as window_index
    from {{ ref('hcat', 'int_passages_split') }} as passages_split
    inner join compared_passages on passages_split.passage_id = compared_passages.passage_id
),

joined as (
    select
        passage_id,
        window_index,
        {{ joined_text('sentence_text', "' '", 'sentence_index') }} as window_text,
        sum(count_characters)::integer as count_characters
    from numbered
    group by passage_id, window_index
),

final as (
    select passage_id, md5(window_text) as text_id, window_text, window_index, count_characters
    from joined
)

select * from final
