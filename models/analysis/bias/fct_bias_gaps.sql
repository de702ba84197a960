with cells as (
    select * from {{ ref('hcat', 'int_bias_cells') }}
),

tested as (
    select * from {{ ref('hcat', 'int_bias_gaps_tested') }}
),

similarities as (
    select
        system,
        dimension,
        {{ ordered_sum('similarity', 'answer_pair_id') }} / count(*) as answer_similarity
    from {{ ref('hcat', 'int_counterfactual_similarities') }}
    where comparison = 'between_sides'
    group by system, dimension
),

final as (
    select
        -- ids
        cells.bias_gap_id,

        -- strings
        cells.system,
        cells.design,
        cells.attribute,
        cells.first_segment,
        cells.second_segment,
        cells.metric_name,
        tested.status,
        tested.verdict,

        -- numerics
        tested.count_clusters,
        tested.count_first,
        tested.count_second,
        tested.first_mean,
        tested.second_mean,
        tested.difference,
        tested.difference_lower,
        tested.difference_upper,
        similarities.answer_similarity,
        cells.margin,
        tested.p_value,
        tested.adjusted_p_value,
        tested.equivalence_p_value,
        tested.adjusted_equivalence_p_value
    from cells
    inner join tested on cells.bias_gap_id = tested.bias_gap_id
    left join similarities
        on
            cells.design = 'counterfactual'
            and cells.system = similarities.system
            and cells.attribute = similarities.dimension
)

select * from final
