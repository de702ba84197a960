with regressions as (
    select * from {{ ref('hcat', 'int_version_queries_paired') }}
    where outcome_of_all = 'regression'
),

regressed_queries as (
    select distinct application, query_key, metric_name from regressions
),

-- memory holds whole lists, so keep only those of queries that regressed
answers_listed as (
    select
        queries.application, queries.version, queries.query_key, evaluations.metric_name,
        {{ ordered_array('queries.interaction_id', 'queries.interaction_id') }} as interaction_ids
    from {{ ref('hcat', 'int_version_queries_keyed') }} as queries
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on queries.interaction_id = evaluations.interaction_id
    inner join regressed_queries
        on
            queries.application = regressed_queries.application
            and queries.query_key = regressed_queries.query_key
            and evaluations.metric_name = regressed_queries.metric_name
    group by queries.application, queries.version, queries.query_key, evaluations.metric_name
),

pairs as (
    select version_pair_id, pair_kind, is_latest from {{ ref('hcat', 'int_version_pairs_listed') }}
),

topics as (
    select version_pair_id, query_key, segment as topic
    from {{ ref('hcat', 'int_version_segments_shared') }}
    where dimension = 'topic'
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
)

select {{ columns_of_contract({
    'version_regression_id':
        "md5(concat_ws('|', regressions.version_pair_id, regressions.metric_name, regressions.query_key))",
    'pair_kind': 'pairs.pair_kind',
    'topic': 'topics.topic',
    'query_text': 'coalesce(masked.masked_text, regressions.query_text)',
    'baseline_interaction_ids': 'baselines.interaction_ids',
    'candidate_interaction_ids': 'candidates.interaction_ids',
    'baseline_score': 'regressions.baseline_mean_score',
    'candidate_score': 'regressions.candidate_mean_score',
    'is_latest': 'pairs.is_latest',
}, of='regressions') }}
from regressions
inner join pairs on regressions.version_pair_id = pairs.version_pair_id
inner join answers_listed as baselines
    on
        regressions.application = baselines.application
        and regressions.baseline_version = baselines.version
        and regressions.query_key = baselines.query_key
        and regressions.metric_name = baselines.metric_name
inner join answers_listed as candidates
    on
        regressions.application = candidates.application
        and regressions.candidate_version = candidates.version
        and regressions.query_key = candidates.query_key
        and regressions.metric_name = candidates.metric_name
left join masked on md5(regressions.query_text) = masked.text_id
left join topics
    on
        regressions.version_pair_id = topics.version_pair_id
        and regressions.query_key = topics.query_key
