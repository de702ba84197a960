-- The noise of a value is the variance between answers to the same query on the same side; null with a single answer.
{{ config(materialized='table') }}
{#- name of a value, what is averaged #}
{%- set measured = [
    ('mean_score', 'evaluations.raw_score'),
    ('share_failing', 'evaluations.is_failing::integer'),
    ('share_failing_of_all', 'evaluations.is_failing_of_all::integer')
] %}

with queries as (
    select * from {{ ref('hcat', 'int_version_queries_keyed') }}
),

averaged as (
    select
        queries.application, queries.version, queries.query_key, evaluations.metric_name,
        max(evaluations.whole_weight) as weight,
        {%- for name, value in measured %}
        {{ exact_mean(value) }} as {{ name }},
        {{ exact_mean(value ~ ' * ' ~ value) }} as {{ name }}_squared,
        count({{ value }}) as {{ name }}_answers,
        {%- endfor %}
        -- of several answers to one query the majority decides; a tie passes
        sum(evaluations.is_failing::integer) > sum((not evaluations.is_failing)::integer) as fails,
        sum(evaluations.is_failing_of_all::integer) > sum((not evaluations.is_failing_of_all)::integer) as fails_of_all
    from queries
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on queries.interaction_id = evaluations.interaction_id
    group by queries.application, queries.version, queries.query_key, evaluations.metric_name
),

-- apart from the averages: a text in every group of them does not fit into memory at scale
described as (
    select
        application, version, query_key,
        min(cluster_id) as cluster_id,
        min(second_cluster_id) as second_cluster_id,
        min(query_text) as query_text
    from queries
    group by application, version, query_key
),

with_noise as (
    select
        *,
        {{ variance_of_replicates('mean_score') }} as mean_score_noise,
        {{ variance_of_replicates('share_failing') }} as share_failing_noise,
        {{ variance_of_replicates('share_failing_of_all') }} as share_failing_of_all_noise
    from averaged
),

final as (
    select
        pairs.version_pair_id, pairs.application, pairs.baseline_version, pairs.candidate_version,
        baselines.query_key, baselines.metric_name, described.cluster_id, described.second_cluster_id,
        candidates.weight,
        {%- for of_all in ['', '_of_all'] %}
        case
            when baselines.share_failing{{ of_all }} is null or candidates.share_failing{{ of_all }} is null then null
            when not baselines.fails{{ of_all }} and candidates.fails{{ of_all }} then 'regression'
            when baselines.fails{{ of_all }} and not candidates.fails{{ of_all }} then 'improvement'
            else 'unchanged'
        end as outcome{{ of_all }},
        {%- endfor %}
        {%- for name, value in measured %}
        baselines.{{ name }} as baseline_{{ name }}, candidates.{{ name }} as candidate_{{ name }},
        baselines.{{ name }}_noise + candidates.{{ name }}_noise as {{ name }}_noise_of_one,
        baselines.{{ name }}_noise / baselines.{{ name }}_answers
        + candidates.{{ name }}_noise / candidates.{{ name }}_answers as {{ name }}_noise,
        {%- endfor %}
        described.query_text
    from {{ ref('hcat', 'int_version_pairs_listed') }} as pairs
    inner join with_noise as baselines
        on pairs.application = baselines.application and pairs.baseline_version = baselines.version
    inner join with_noise as candidates
        on
            pairs.application = candidates.application
            and pairs.candidate_version = candidates.version
            and baselines.query_key = candidates.query_key
            and baselines.metric_name = candidates.metric_name
    inner join described
        on
            baselines.application = described.application
            and baselines.version = described.version
            and baselines.query_key = described.query_key
)

select * from final
