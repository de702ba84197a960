-- One row per (scope, stratum, half-width), with the number of queries that the half-width needs.
select
    *,
    md5(concat_ws('|', scope, coalesce(stratum_id, ''), half_width::string)) as sample_plan_id
from {{ ref('hcat', 'int_sample_sizes') }}
