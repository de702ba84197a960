with interactions as (
    select * from {{ ref('hcat', 'int_interaction_attributes') }}
),

masked as (
    select interaction_id, customer_group from {{ ref('hcat', 'fct_interactions') }}
),

bias_rules as (
    select * from {{ seed('metric_rules') }}
    where rule_for = 'bias'
),

similarities as (
    select
        first_interaction_id as interaction_id,
        {{ ordered_sum('similarity', 'answer_pair_id') }} / count(*) as mean_similarity
    from {{ ref('hcat', 'int_counterfactual_similarities') }}
    where comparison = 'with_plain_query'
    group by first_interaction_id
),

scores as (
    select evaluations.interaction_id, evaluations.metric_name, evaluations.raw_score as score
    from {{ ref('hcat', 'int_evaluations_completed') }} as evaluations
    inner join bias_rules on evaluations.metric_name = bias_rules.metric_name
    where evaluations.raw_score is not null
    union all
    select interactions.interaction_id, bias_rules.metric_name, interactions.count_answer_characters::double as score
    from interactions
    inner join bias_rules on bias_rules.metric_name = 'answer_length'
    where interactions.is_answered
    union all
    select similarities.interaction_id, bias_rules.metric_name, similarities.mean_similarity as score
    from similarities
    inner join bias_rules on bias_rules.metric_name = 'answer_similarity'
),

final as (
    select
        scores.interaction_id, interactions.query_id, interactions.cluster_id, interactions.system,
        masked.customer_group, scores.metric_name, scores.score,
        interactions.is_in_monitored_population as is_traffic
    from scores
    inner join interactions on scores.interaction_id = interactions.interaction_id
    inner join masked on scores.interaction_id = masked.interaction_id
)

select * from final
