-- One row per interaction with the probability that every sentence of its answer is supported: the product over its
-- sentences.
with fused as (
    select * from {{ ref('int_sentences_fused') }}
),

entailed as (
    select * from {{ ref('int_sentences_entailed') }}
),

joined as (
    select
        fused.*,
        entailed.was_truncated
    from fused
    inner join entailed
        on fused.interaction_id = entailed.interaction_id and fused.sentence_index = entailed.sentence_index
),

aggregated as (
    select
        interaction_id,
        count(*) as scored_count,
        exp({{ exact_sum('ln(support_probability)') }}) as raw_score,
        -- Rounding makes the first sentence win when two are equally weak up to the noise of batching.
        min_by(
            printf('deciding sentence %d, probability %.3f: %s', sentence_index, support_probability, contributions),
            (round(support_probability, {{ var('hcat_similarity_digits') }}), sentence_index)
        ) as detail,
        max(was_truncated) as was_truncated
    from joined
    group by interaction_id
),

final as (
    select
        {{ evaluation_id('interaction_id', "'groundedness'") }} as evaluation_id,
        interaction_id,
        'groundedness' as metric_name,
        raw_score,
        case when was_truncated then 'truncated' else 'scored' end as score_status,
        scored_count,
        detail
    from aggregated
)

select * from final
