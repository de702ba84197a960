with samples as (
    select * from {{ ref('hcat', 'int_interaction_samples') }}
),

answers as (
    select interaction_id, passage_id
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'answer'
),

-- Keeps only answers with samples, because most answers have none.
sampled_sentences as (
    select
        answers.interaction_id,
        sentences.sentence_index,
        sentences.text_id,
        texts.encoded_text
    from answers
    inner join {{ ref('hcat', 'int_passages_split') }} as sentences on answers.passage_id = sentences.passage_id
    inner join {{ ref('hcat', 'int_texts') }} as texts on sentences.text_id = texts.text_id
    where answers.interaction_id in (select samples.interaction_id from samples)
),

premises as (
    select interaction_id, {{ joined_text('encoded_text', "' '", 'sentence_index') }} as premise
    from sampled_sentences
    group by interaction_id
),

final as (
    select
        samples.interaction_id,
        samples.other_interaction_id,
        {{ text_pair_id('premises.premise', 'sampled_sentences.text_id') }} as pair_id,
        premises.premise,
        sampled_sentences.encoded_text as claim,
        sampled_sentences.sentence_index
    from samples
    inner join sampled_sentences on samples.interaction_id = sampled_sentences.interaction_id
    inner join premises on samples.other_interaction_id = premises.interaction_id
)

select * from final
