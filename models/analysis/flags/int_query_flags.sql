{{ config(materialized='table') }}

with interactions as (
    select interaction_id, has_query, is_answered from {{ ref('hcat', 'int_interaction_attributes') }}
),

rules as (
    select *
    from {{ seed('query_flag_rules') }}
    where is_enabled
),

encoder as (
    select encoder_sha256 from {{ ref('hcat', 'int_encoder') }}
),

passages as (
    select *
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'query'
),

screening as (
    select distinct text_id, screening_key from {{ ref('hcat', 'int_texts_to_screen') }}
),

relevancies as (
    select interaction_id, raw_score, detail
    from {{ ref('hcat', 'int_metrics__similarity') }}
    where metric_name = 'context_relevancy__mean'
),

canaries_found as (
    select interaction_id, {{ joined_text('canary_id', "', '", 'canary_id') }} as canary_ids
    from {{ ref('hcat', 'int_canaries_found') }}
    group by interaction_id
),

sentences as (
    select
        passages.interaction_id, texts_screened.injection_rule, texts_screened.restricted_topic,
        texts_screened.restricted_similarity, texts_screened.scope_topic, texts_screened.scope_similarity
    from passages
    inner join {{ ref('hcat', 'int_passages_split') }} as passages_split
        on passages.passage_id = passages_split.passage_id
    inner join screening on passages_split.text_id = screening.text_id
    inner join {{ ref('hcat', 'int_texts_screened') }} as texts_screened
        on screening.text_id = texts_screened.text_id and screening.screening_key = texts_screened.screening_key
),

queries_screened as (
    select
        interaction_id,
        min(injection_rule) as injection_rule,
        max(restricted_similarity) as restricted_similarity,
        max_by(restricted_topic, {{ record({'score': 'restricted_similarity', 'topic': 'restricted_topic'}) }})
            as restricted_topic,
        max(scope_similarity) as scope_similarity,
        max_by(scope_topic, {{ record({'score': 'scope_similarity', 'topic': 'scope_topic'}) }}) as scope_topic
    from sentences
    group by interaction_id
),

valued as (
    select
        interactions.interaction_id, rules.flag_name, rules.subject, rules.comparison, rules.threshold,
        rules.encoder_sha256 is null
        or left(encoder.encoder_sha256, length(rules.encoder_sha256)) = rules.encoder_sha256 as is_in_force,
        case rules.flag_name
            when 'injection' then queries_screened.injection_rule
            when 'restricted_topic' then queries_screened.restricted_topic
            when 'off_topic' then coalesce(relevancies.detail, 'nearest purpose: ' || queries_screened.scope_topic)
            when 'canary_leak' then canaries_found.canary_ids
        end as evidence,
        case rules.flag_name
            when 'injection'
                then case when interactions.has_query then (queries_screened.injection_rule is not null)::integer end
            when 'restricted_topic' then queries_screened.restricted_similarity
            -- on topic means close to the purpose or to the retrieved texts; either is enough
            when 'off_topic' then greatest(relevancies.raw_score, queries_screened.scope_similarity)
            when 'canary_leak'
                then case when interactions.is_answered then (canaries_found.canary_ids is not null)::integer end
        end::double as score
    from interactions
    cross join rules
    cross join encoder
    left join queries_screened on interactions.interaction_id = queries_screened.interaction_id
    left join relevancies on interactions.interaction_id = relevancies.interaction_id
    left join canaries_found on interactions.interaction_id = canaries_found.interaction_id
),

final as (
    select
        md5(interaction_id || '|' || flag_name) as query_flag_id,
        interaction_id, flag_name, subject, evidence,
        case
            when not is_in_force then 'other_encoder'
            when score is null then 'missing_input'
            else 'checked'
        end as status,
        score, threshold,
        case
            when not is_in_force or score is null then null
            when comparison = 'at_least' then score >= threshold
            else score < threshold
        end as is_flagged
    from valued
)

select * from final
