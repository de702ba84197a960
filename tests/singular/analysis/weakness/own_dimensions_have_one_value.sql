{{ config(enabled=var('hcat_own_dimensions') | length > 0) }}
-- Two values of an own dimension would count an interaction twice.
select
    interaction_id,
    dimension,
    count(*) as count_values
from {{ ref('hcat', 'int_interaction_segments') }}
where dimension in ('{{ var("hcat_own_dimensions") | join("', '") }}')
group by interaction_id, dimension
having count(*) > 1
