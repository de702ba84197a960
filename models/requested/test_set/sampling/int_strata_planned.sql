{{ config(materialized='table') }}
select
    weighed.stratum_id, weighed.stratum_label, weighed.topic_id, weighed.length_class, weighed.allocation_asked,
    weighed.allocation, weighed.allocation_basis, weighed.plan_status,
    case
        when allocated.count_planned = weighed.count_population then 'all_taken'
        when round(1e9 * allocated.count_allocated) < 1e9 * weighed.count_least then 'minimum'
        else 'as_allocated'
    end as allocation_status,
    weighed.count_population::bigint as count_population,
    weighed.size_population,
    weighed.importance_population,
    weighed.mean_characters,
    weighed.count_scored::bigint as count_scored,
    weighed.score_standard_deviation,
    allocated.count_allocated,
    allocated.count_planned,
    weighed.count_total::bigint as count_total
from {{ ref('hcat', 'int_strata_weighed') }} as weighed
inner join {{ ref('hcat', 'int_strata_allocated') }} as allocated on weighed.stratum_id = allocated.stratum_id
