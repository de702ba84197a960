-- Entailment of the sentences of an answer is averaged, weighed or its minimum taken (HCAT, section 3.2.2).

with sentences as (
    select
        sentences_entailed.*,
        case
            when sentence_weights.interaction_id is not null
                then {{ array_at('sentence_weights.weights', 'sentences_entailed.sentence_index + 1') }}
            else answer_sentences.count_content_words
        end as weight,
        -- A greeting contradicts nothing.
        case when fused.claims_nothing then 0 else sentences_entailed.probability_contradiction end as contradiction
    from {{ ref('hcat', 'int_sentences_entailed') }} as sentences_entailed
    inner join {{ ref('hcat', 'int_answer_sentences') }} as answer_sentences
        on
            sentences_entailed.interaction_id = answer_sentences.interaction_id
            and sentences_entailed.sentence_index = answer_sentences.sentence_index
    inner join {{ ref('hcat', 'int_sentences_fused') }} as fused
        on
            sentences_entailed.interaction_id = fused.interaction_id
            and sentences_entailed.sentence_index = fused.sentence_index
    left join {{ ref('hcat', 'int_sentence_weights') }} as sentence_weights
        on
            sentences_entailed.interaction_id = sentence_weights.interaction_id
            and sentence_weights.role = 'answer'
            and sentence_weights.is_usable
),

metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
    where family = 'entailment'
),

aggregated as (
    select
        sentences.interaction_id,
        count(*) as scored_count,
        {{ exact_mean('sentences.score') }} as mean_score,
        -- all weights 0 means uniform weights
        coalesce(
            {{ exact_sum('sentences.score * sentences.weight') }} / nullif({{ exact_sum('sentences.weight') }}, 0),
            {{ exact_mean('sentences.score') }}
        ) as weighted_score,
        min(sentences.score) as minimum_score,
        avg(case when sentences.distance > 0 then 1 else 0 end) as share_entailed,
        max(sentences.contradiction) as largest_contradiction,
        min_by(
            sentences.sentence_index, ({{ without_noise('sentences.score') }}, sentences.sentence_index)
        ) as worst_sentence_index,
        min_by(
            sentences.sentence_index, (-{{ without_noise('sentences.contradiction') }}, sentences.sentence_index)
        ) as contradicted_sentence_index,
        max(sentences.was_truncated) as was_truncated
    from sentences
    group by sentences.interaction_id
),

scored as (
    select
        aggregated.*,
        metrics.metric_name,
        metrics.aggregate,
        case metrics.aggregate
            when 'mean' then aggregated.mean_score
            when 'weighted' then aggregated.weighted_score
            when 'minimum' then aggregated.minimum_score
            when 'share_entailed' then aggregated.share_entailed
            when 'largest_contradiction' then aggregated.largest_contradiction
        end as raw_score
    from aggregated
    cross join metrics
),

final as (
    select
        {{ evaluation_id('interaction_id', 'metric_name') }} as evaluation_id,
        interaction_id,
        metric_name,
        raw_score,
        case
            -- a classifier without a class for contradiction
            when raw_score is null and aggregate = 'largest_contradiction' then 'not_applicable'
            when was_truncated then 'truncated'
            else 'scored'
        end as score_status,
        scored_count,
        case
            when raw_score is null and aggregate = 'largest_contradiction'
                then 'the classifier has no class for contradiction'
            when aggregate = 'largest_contradiction' then 'most contradicted sentence ' || contradicted_sentence_index
            else 'least entailed sentence ' || worst_sentence_index
        end as detail
    from scored
)

select * from final
