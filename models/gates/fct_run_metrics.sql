{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}
-- The main figures of every build. The other marts hold the last build only, and whoever signed an earlier report asks
-- what moved since. No full refresh deletes a build.

with levels as (
    select * from {{ ref('hcat', 'fct_marginal_weaknesses') }}
    where dimension = 'all'
),

metrics as (
    select metric_name, threshold, is_provisional from {{ ref('hcat', 'dim_metrics') }}
),

final as (
    select
        -- ids
        md5('{{ invocation_id }}' || '|' || levels.metric_name) as run_metric_id,
        '{{ invocation_id }}' as run_id,

        -- strings
        levels.metric_name,

        -- numerics
        {{ build_number() }} as build_number,
        levels.mean_score, levels.mean_score_lower, levels.mean_score_upper, levels.share_failing,
        levels.share_failing_lower, levels.share_failing_upper, metrics.threshold, levels.count_scored,
        levels.count_clusters,

        -- booleans
        metrics.is_provisional,

        -- timestamps
        timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' as measured_at
    from levels
    inner join metrics on levels.metric_name = metrics.metric_name
)

select * from final
