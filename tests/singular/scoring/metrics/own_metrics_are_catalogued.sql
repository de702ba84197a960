{{ config(enabled=var('hcat_own_metrics') | length > 0) }}
-- A metric of hcat_own_metrics without a row in the seed own_metrics would be dropped without a word.
select distinct metric_name
from {{ ref('hcat', 'int_metrics_unioned') }}
where metric_name not in (select catalogued.metric_name from {{ ref('hcat', 'int_metric_catalog') }} as catalogued)
