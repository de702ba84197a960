{{ config(enabled=var('hcat_own_metrics') | length > 0) }}
-- A metric of hcat_own_metrics without a row in the seed own_metrics would be dropped without a word.
{%- for name in var('hcat_own_metrics') %}
select distinct metric_name
from {{ ref(name) }}
where metric_name not in (select catalogued.metric_name from {{ ref('hcat', 'int_metric_catalog') }} as catalogued)
{%- if not loop.last %}
union all
{%- endif %}
{%- endfor %}
