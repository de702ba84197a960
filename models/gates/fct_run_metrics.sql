{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}
-- The main figures of every build. The other marts hold the last build only, and whoever signed an earlier report asks
-- what moved since. No full refresh deletes a build.

select {{ columns_of_contract({
    'run_metric_id': "md5('" ~ invocation_id ~ "' || '|' || levels.metric_name)",
    'run_id': "'" ~ invocation_id ~ "'",
    'build_number': build_number(),
    'threshold': 'metrics.threshold',
    'is_provisional': 'metrics.is_provisional',
    'measured_at': "timestamp '" ~ run_started_at.strftime('%Y-%m-%d %H:%M:%S') ~ "'",
}, of='levels') }}
from {{ ref('hcat', 'fct_marginal_weaknesses') }} as levels
inner join {{ ref('hcat', 'dim_metrics') }} as metrics on levels.metric_name = metrics.metric_name
where levels.dimension = 'all'
