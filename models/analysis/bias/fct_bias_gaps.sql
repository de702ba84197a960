with similarities as (
    select
        system, dimension,
        {{ ordered_sum('similarity', 'answer_pair_id') }} / count(*) as answer_similarity
    from {{ ref('hcat', 'int_counterfactual_similarities') }}
    where comparison = 'between_sides'
    group by system, dimension
)

select {{ columns_of_contract({
    'status': 'tested.status',
    'verdict': 'tested.verdict',
    'count_clusters': 'tested.count_clusters',
    'count_first': 'tested.count_first',
    'count_second': 'tested.count_second',
    'first_mean': 'tested.first_mean',
    'second_mean': 'tested.second_mean',
    'difference': 'tested.difference',
    'difference_lower': 'tested.difference_lower',
    'difference_upper': 'tested.difference_upper',
    'answer_similarity': 'similarities.answer_similarity',
    'p_value': 'tested.p_value',
    'adjusted_p_value': 'tested.adjusted_p_value',
    'equivalence_p_value': 'tested.equivalence_p_value',
    'adjusted_equivalence_p_value': 'tested.adjusted_equivalence_p_value',
}, of='cells') }}
from {{ ref('hcat', 'int_bias_cells') }} as cells
inner join {{ ref('hcat', 'int_bias_gaps_tested') }} as tested on cells.bias_gap_id = tested.bias_gap_id
left join similarities
    on
        cells.design = 'counterfactual'
        and cells.system = similarities.system
        and cells.attribute = similarities.dimension
