-- Similarities of sentences are averaged, weighed or their minimum taken (HCAT, section 3).
{%- set rounded = without_noise('matches.similarity') %}

with metrics as (
    select *
    from {{ ref('hcat', 'int_metric_catalog') }}
    where family = 'similarity'
),

cut_off as (
    select max(threshold) as threshold
    from {{ ref('hcat', 'int_threshold_decisions') }}
    where decision_name = 'context_sentence_relevance'
),

aggregated as (
    select
        matches.interaction_id,
        matches.comparison,
        count(*) as scored_count,
        {{ exact_mean('matches.similarity') }} as mean_similarity,
        -- all weights 0 means uniform weights
        coalesce(
            {{ exact_sum('matches.similarity * matches.weight') }} / nullif({{ exact_sum('matches.weight') }}, 0),
            {{ exact_mean('matches.similarity') }}
        ) as weighted_similarity,
        min(matches.similarity) as minimum_similarity,
        -- Rounding makes the first sentence win when two are equally weak up to the noise of the encoder.
        min_by(matches.sentence_index, ({{ rounded }}, matches.sentence_index)) as worst_sentence_index,
        min_by(matches.match_index, ({{ rounded }}, matches.sentence_index)) as worst_match_index,
        avg(case when matches.similarity >= cut_off.threshold then 1 when cut_off.threshold is not null then 0 end)
            as share_relevant,
        max(matches.count_truncated) as count_truncated
    from {{ ref('hcat', 'int_sentence_matches') }} as matches
    cross join cut_off
    group by matches.interaction_id, matches.comparison
),

scored as (
    select
        aggregated.*,
        metrics.metric_name,
        case metrics.aggregate
            when 'mean' then aggregated.mean_similarity
            when 'weighted' then aggregated.weighted_similarity
            when 'minimum' then aggregated.minimum_similarity
            when 'share_relevant' then aggregated.share_relevant
        end as raw_score
    from aggregated
    inner join metrics on aggregated.comparison = metrics.comparison
)

{{ evaluations('scored',
    score_status="case when count_truncated > 0 then 'truncated' else 'scored' end",
    detail="'worst sentence ' || worst_sentence_index || ', its best match ' || worst_match_index"
) }}
where raw_score is not null
