-- training/fusion.py says why the sentences are joined in this way. A sentence that claims nothing needs no support.
-- Where none claims anything there is no score: of 32 such public answers people called 16 wrong.
-- The share of the lowest sentence in the score, the rest being the average, and what the lowest is raised by for each
-- unit of the logarithm of the number of sentences. Chosen on sets that were left out.
{%- set lowest_share = 0.75 %}
{%- set length_bonus = 0.5 %}

with entailed as (
    select * from {{ ref('hcat', 'int_sentences_entailed') }}
),

-- A marker names the rank of a passage, or its id without what follows #, a part of the source.
retrievals as (
    select interaction_id, rank, split_part(lower(min(chunk_id)), '#', 1) as source_name
    from {{ ref('hcat', 'stg_retrievals') }}
    group by interaction_id, rank
),

metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
    where family = 'groundedness'
),

decision as (
    select max(threshold) as least_support
    from {{ ref('hcat', 'int_threshold_decisions') }}
    where decision_name = 'sentence_support'
),

joined as (
    select
        fused.*,
        entailed.was_truncated,
        decision.least_support,
        case when fused.claims_nothing then 1 else fused.support_probability end as probability,
        not fused.claims_nothing and fused.support_probability >= decision.least_support as is_supported_claim,
        not fused.claims_nothing and coalesce({{ array_length('answer_sentences.citations') }}, 0) > 0 as is_citing,
        array_contains(answer_sentences.citations, entailed.evidence_rank::string)
        or coalesce(array_contains(answer_sentences.citations, retrievals.source_name), false) as cites_evidence
    from {{ ref('hcat', 'int_sentences_fused') }} as fused
    inner join entailed
        on fused.interaction_id = entailed.interaction_id and fused.sentence_index = entailed.sentence_index
    left join {{ ref('hcat', 'int_answer_sentences') }} as answer_sentences
        on
            fused.interaction_id = answer_sentences.interaction_id
            and fused.sentence_index = answer_sentences.sentence_index
    left join retrievals
        on entailed.interaction_id = retrievals.interaction_id and entailed.evidence_rank = retrievals.rank
    cross join decision
),

aggregated as (
    select
        interaction_id,
        count(*) as scored_count,
        count(case when not claims_nothing then 1 end) as count_claims,
        min(case when not claims_nothing then support_log_odds end) as lowest_log_odds,
        -- the logarithm of the geometric mean of the probabilities
        {{ exact_sum('case when claims_nothing then 0 else ln(support_probability) end') }}
        / nullif(count(case when not claims_nothing then 1 end), 0) as mean_log_probability,
        avg(case when probability >= least_support then 1.0 when probability < least_support then 0.0 end)
            as share_supported,
        count(case when probability >= least_support then 1 end) as count_supported,
        count(case when is_citing and least_support is not null then 1 end) as count_citing,
        count(case when is_citing and is_supported_claim and cites_evidence then 1 end) as count_citing_evidence,
        count(case when is_supported_claim then 1 end) as count_supported_claims,
        count(case when is_supported_claim and is_citing then 1 end) as count_supported_citing,
        max(least_support) as least_support,
        -- Rounding makes the first sentence win when two are equally weak up to the noise of batching.
        min_by(
            printf('deciding sentence %d, probability %.3f: %s', sentence_index, probability, contributions),
            ({{ without_noise('probability') }}, sentence_index)
        ) as deciding,
        max(was_truncated) as was_truncated
    from joined
    group by interaction_id
),

answers as (
    select
        *,
        case when count_citing > 0 then count_supported_claims end as count_to_cite,
        {{ lowest_share }}
        * (lowest_log_odds + {{ length_bonus }} * ln(greatest(count_claims, 1)))
        + (1 - {{ lowest_share }})
        -- A mean that is 1 to the last digit has no log odds.
        * coalesce(mean_log_probability - ln(nullif(1 - exp(mean_log_probability), 0)), lowest_log_odds) as log_odds
    from aggregated
),

scored as (
    select
        answers.*,
        metrics.metric_name,
        metrics.aggregate,
        case metrics.aggregate
            when 'joined' then 1 / (1 + exp(-answers.log_odds))
            when 'share_supported' then answers.share_supported
            when 'citation_precision' then answers.count_citing_evidence / nullif(answers.count_citing, 0)::double
            when 'citation_recall' then answers.count_supported_citing / nullif(answers.count_to_cite, 0)::double
        end as raw_score
    from answers
    cross join metrics
),

final as (
    select
        {{ evaluation_id('interaction_id', 'metric_name') }} as evaluation_id,
        interaction_id,
        metric_name,
        raw_score,
        case
            -- the share needs a cut-off
            when raw_score is null then 'not_applicable'
            when was_truncated then 'truncated'
            else 'scored'
        end as score_status,
        scored_count,
        case
            when raw_score is null and aggregate = 'joined' then 'no sentence claims anything'
            when raw_score is null and least_support is null then 'no decision sentence_support is in force'
            when raw_score is null then 'no sentence cites, or none is supported'
            when aggregate = 'citation_precision' then printf('%d citing sentences', count_citing)
            when aggregate = 'citation_recall' then printf('%d supported sentences', count_supported_claims)
            when aggregate = 'share_supported'
                then printf('%d of %d sentences supported', count_supported, scored_count)
            else deciding
        end as detail
    from scored
)

select * from final
