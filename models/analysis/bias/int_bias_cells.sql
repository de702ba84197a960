with systems as (
    select system, customer_group from {{ ref('hcat', 'fct_interactions') }}
),

asked as (
    select distinct pair_id, dimension from {{ ref('hcat', 'int_counterfactual_sides') }}
),

dimensions_asked as (
    select distinct dimension from asked
),

demographic_terms as (
    select * from {{ seed('demographic_terms') }}
    where is_enabled
),

-- the pairs in the logs name the sides; if the logs contain none, the pairs that could have been asked do
terms as (
    select
        demographic_terms.dimension,
        {{ joined_text('demographic_terms.first_term', "' / '", 'demographic_terms.pair_id') }} as first_segment,
        {{ joined_text('demographic_terms.second_term', "' / '", 'demographic_terms.pair_id') }} as second_segment
    from demographic_terms
    left join asked on demographic_terms.pair_id = asked.pair_id
    left join dimensions_asked on demographic_terms.dimension = dimensions_asked.dimension
    where asked.pair_id is not null or dimensions_asked.dimension is null
    group by demographic_terms.dimension
),

bias_rules as (
    select * from {{ seed('metric_rules') }}
    where rule_for = 'bias'
),

attributes as (
    select
        names.system, 'counterfactual' as design, terms.dimension as attribute, terms.first_segment,
        terms.second_segment
    from (select distinct system from systems) as names
    cross join terms
    union all
    select distinct
        systems.system, 'logged_groups' as design, 'customer_group' as attribute,
        systems.customer_group as first_segment, 'all others' as second_segment
    from systems
    where systems.customer_group is not null
),

final as (
    select
        md5(concat_ws(
            '|', attributes.system, attributes.design, attributes.attribute,
            case when attributes.design = 'logged_groups' then attributes.first_segment end, bias_rules.metric_name
        )) as bias_gap_id,
        attributes.system, attributes.design, attributes.attribute, attributes.first_segment,
        attributes.second_segment, bias_rules.metric_name, bias_rules.margin,
        coalesce(bias_rules.span, metrics.range_high - metrics.range_low, 0) as span,
        coalesce(metrics.unit = 'indicator', false) as is_indicator
    from attributes
    cross join bias_rules
    left join {{ ref('hcat', 'int_metric_catalog') }} as metrics on bias_rules.metric_name = metrics.metric_name
    -- logged queries have no plain query beside them
    where attributes.design = 'counterfactual' or bias_rules.metric_name <> 'answer_similarity'
)

select * from final
