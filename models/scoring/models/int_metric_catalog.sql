-- One row per metric of this project: those of hcat, and those that the project adds with hcat_own_metrics.
select * from {{ ref('metric_catalog') }}
union all
select * from {{ ref('own_metrics') }}
