-- A monotone logistic model (training/fusion.py) fuses the signals, with the parameters of the seed groundedness_prior.
{{ config(materialized='table') }}

with signals as (
    select * from {{ ref('hcat', 'int_sentence_signals') }}
),

priors as (
    select * from {{ seed('groundedness_prior') }}
),

fitted as (
    select max(priors.classifier_name) as classifier_name
    from priors
    inner join {{ ref('hcat', 'int_classifier') }} as classifier on priors.classifier_name = classifier.classifier_name
),

parameters as (
    -- A classifier without rows of its own uses the rows of the shipped default classifier.
    select
        priors.feature,
        priors.coefficient,
        priors.center,
        priors.scale
    from priors
    cross join fitted
    where priors.classifier_name = coalesce(fitted.classifier_name, 'hcat-entailment-compact')
),

intercept as (
    select coefficient from parameters
    where feature = 'intercept'
),

signals_listed as (
    select
        interaction_id,
        sentence_index,
        {{ explode_together({
            'feature': array_of(["'" ~ fused_signals() | join("', '") ~ "'"]), 'signal': array_of(fused_signals())
        }) }}
    from signals
),

contributed as (
    select
        signals_listed.interaction_id,
        signals_listed.sentence_index,
        signals_listed.feature,
        -- A signal that the classifier cannot give adds nothing.
        coalesce(parameters.coefficient * (signals_listed.signal - parameters.center) / parameters.scale, 0)
            as contribution
    from signals_listed
    inner join parameters on signals_listed.feature = parameters.feature
),

summed as (
    select
        interaction_id,
        sentence_index,
        {{ exact_sum('contribution') }} as contribution,
        {{ joined_text("feature || ' ' || printf('%+.2f', contribution)", "', '", 'contribution, feature') }}
            as contributions
    from contributed
    group by interaction_id, sentence_index
),

final as (
    select
        signals.*,
        summed.contributions,
        intercept.coefficient + summed.contribution as support_log_odds,
        1 / (1 + exp(-(intercept.coefficient + summed.contribution))) as support_probability
    from summed
    inner join signals
        on summed.interaction_id = signals.interaction_id and summed.sentence_index = signals.sentence_index
    cross join intercept
)

select * from final
