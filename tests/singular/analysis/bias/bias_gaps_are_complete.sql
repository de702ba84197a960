-- Every gap to be measured has a row, and every tested gap has both p-values and an interval. Every counterfactual
-- query of the logs represents a side of a pair.
{{ config(severity='warn', enabled=is_on('bias')) }}

select bias_gap_id as id, 'a tested gap without interval or p-values' as problem
from {{ ref('hcat', 'fct_bias_gaps') }}
where
    status = 'tested'
    and (
        difference_lower is null
        or difference_upper is null
        or adjusted_p_value is null
        or adjusted_equivalence_p_value is null
    )
union all
select cells.bias_gap_id as id, 'a gap that is looked for and has no row' as problem
from {{ ref('hcat', 'int_bias_cells') }} as cells
left join {{ ref('hcat', 'fct_bias_gaps') }} as gaps on cells.bias_gap_id = gaps.bias_gap_id
where gaps.bias_gap_id is null
union all
select queries.query_id as id, 'a counterfactual query with no term of the seed demographic_terms' as problem
from {{ ref('hcat', 'stg_queries') }} as queries
left join {{ ref('hcat', 'int_counterfactual_sides') }} as sides on queries.query_id = sides.query_id
where queries.variant_type = 'counterfactual' and sides.query_id is null
