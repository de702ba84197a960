with queries_paired as (
    select * from {{ ref('int_version_queries_paired') }}
),

pairs as (
    select version_pair_id, pair_kind, is_latest from {{ ref('int_version_pairs_listed') }}
),

topics as (
    select version_pair_id, query_key, segment as topic
    from {{ ref('int_version_segments_shared') }}
    where dimension = 'topic'
),

masked as (
    select text_hash, masked_text from {{ ref('int_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        -- ids
        md5(concat_ws('|', queries_paired.version_pair_id, queries_paired.metric_name, queries_paired.query_key))
            as version_regression_id,
        queries_paired.query_key,
        queries_paired.source_group,

        -- strings
        queries_paired.application,
        queries_paired.baseline_version,
        queries_paired.candidate_version,
        pairs.pair_kind,
        queries_paired.metric_name,
        topics.topic,
        coalesce(masked.masked_text, queries_paired.query_text) as query_text,
        queries_paired.baseline_interaction_ids,
        queries_paired.candidate_interaction_ids,

        -- numerics
        queries_paired.baseline_mean_score as baseline_score,
        queries_paired.candidate_mean_score as candidate_score,
        queries_paired.baseline_share_failing_of_all as baseline_share_failing,
        queries_paired.candidate_share_failing_of_all as candidate_share_failing,

        -- booleans
        pairs.is_latest
    from queries_paired
    inner join pairs on queries_paired.version_pair_id = pairs.version_pair_id
    left join masked on md5(queries_paired.query_text) = masked.text_hash
    left join topics
        on
            queries_paired.version_pair_id = topics.version_pair_id
            and queries_paired.query_key = topics.query_key
    where queries_paired.outcome_of_all = 'regression'
)

select * from final
