-- The draw is Poisson sampling with inclusion probabilities that are known and stored (docs/human-review.md). The first
-- build that names a round draws it, once, because people already have its sheets. Later builds do not change it, even
-- with --full-refresh. To draw again, name another round.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='fail',
    full_refresh=false
) }}

{%- set review_round = var('hcat_review_round') | string -%}
{%- set letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-' -%}
{%- if not review_round or review_round | reject('in', letters) | list -%}
    {{ exceptions.raise_compiler_error(
        "hcat_review_round must be made of letters, digits, '_', '.' and '-', got '" ~ review_round ~ "'"
    ) }}
{%- endif -%}
{%- set metric_name = var('hcat_review_metric') | replace("'", "''") -%}
{%- set budget = var('hcat_review_budget') | float -%}
{#- least inclusion probability: the weights 1 / pi differ by a factor of at most 20 -#}
{%- set epsilon = 0.05 -%}
{#- least share of a round that is plainly random: sets and audits rely on these rows -#}
{%- set share_audit = 0.3 -%}
{#- real queries of each candidate that a round draws in addition, plainly at random -#}
{%- set release_sample = 30 -%}
{%- if not budget > 0 -%}
    {{ exceptions.raise_compiler_error("hcat_review_budget must be above 0, got " ~ budget) }}
{%- endif -%}

with evaluations as (
    select * from {{ ref('hcat', 'fct_evaluations') }}
    where metric_name = '{{ metric_name }}'
),

metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
    where metric_name = '{{ metric_name }}'
),

targets as (
    select * from {{ seed('calibration_targets') }}
    where metric_name = '{{ metric_name }}'
),

-- of people, or of a kind that goes before them: a person may well rate what a language model rated
ratings as (
    select * from {{ ref('hcat', 'stg_ratings') }}
    where
        {{ rank_of_rater_kind('rater_kind') }} <= coalesce({{ rank_of_rater_kind("'person'") }}, 1) and not is_chosen
),

-- the release population of each candidate, and what people asked it beyond what the authors of a test set thought of
unrated as (
    select
        interactions.interaction_id, interactions.application, targets.criterion,
        interactions.is_in_release_population, interactions.population = 'production' as is_asked,
        case
            when evaluations.calibrated_probability is not null then 'calibrated_probability'
            when metrics.unit = 'probability' and evaluations.raw_score is not null then 'raw_score'
            else 'no_probability'
        end as ambiguity_basis,
        coalesce(
            evaluations.calibrated_probability, case when metrics.unit = 'probability' then evaluations.raw_score end
        ) as probability
    from {{ ref('hcat', 'int_interaction_attributes') }} as interactions
    left join evaluations on interactions.interaction_id = evaluations.interaction_id
    left join metrics on evaluations.metric_name = metrics.metric_name
    left join targets on true
    where
        interactions.version_role = 'candidate' and interactions.population <> 'variant' and interactions.is_answered
        and not exists (
            select 1 from ratings
            where ratings.interaction_id = interactions.interaction_id and ratings.criterion = targets.criterion
        )
),

ambiguities as (
    select
        *,
        -- the root of the expected squared error of the score (Zrnic and Candes 2024). The label of an answer without a
        -- probability calibrates nothing: it is drawn with the floor only. Without any, the round is plainly random
        greatest(2 * sqrt(coalesce(probability * (1 - probability), 0)), 0.000001)::double as ambiguity
    from unrated
),

eligible as (
    select * from ambiguities
    where is_in_release_population
),

bounded as (
    select
        count(*) as count_considered,
        case
            when {{ budget }}::double >= count(*) then 'all_interactions'
            when {{ budget }}::double >= {{ epsilon }}::double * count(*) then 'planned'
            else 'subsampled'
        end as plan_status,
        -- if the budget is below the floor for all, only a plain random share of the interactions is considered
        case
            when {{ budget }}::double >= {{ epsilon }}::double * count(*) then 1
            else {{ budget }}::double / (2 * {{ epsilon }}::double * count(*))
        end as share_considered
    from eligible
),

audited as (
    select
        *,
        greatest(
            case when plan_status = 'all_interactions' then 1 else share_considered * {{ epsilon }}::double end,
            -- the first round is plainly random: its labels serve calibrators, sets and thresholds alike
            {% if is_incremental() -%}
            case when (select count(*) from {{ this }}) > 0 then {{ share_audit }}::double else 1 end
            {%- else -%}
            1
            {%- endif %}
            * least(1, {{ budget }}::double / nullif(count_considered, 0))
        ) as audit_probability
    from bounded
),

ranked as (
    select
        audited.*,
        row_number() over (order by eligible.ambiguity desc, eligible.interaction_id asc) - 1 as count_larger,
        sum(eligible.ambiguity) over (order by eligible.ambiguity asc, eligible.interaction_id desc) as sum_of_others
    from audited
    left join eligible on true
),

-- the slope with which the probabilities add up to the budget: each k is a bound, and the largest is met
solved as (
    select
        plan_status, share_considered, audit_probability, count_considered,
        greatest(
            0,
            max(
                (
                    {{ budget }}::double
                    - share_considered * count_larger
                    - audit_probability * (count_considered - count_larger)
                ) / sum_of_others
            )
        ) as slope
    from ranked
    group by plan_status, share_considered, audit_probability, count_considered
),

-- an additional, independent and plainly random sample of the real queries of each candidate
planned as (
    select
        ambiguities.*, solved.plan_status, solved.audit_probability, solved.count_considered,
        case
            when ambiguities.is_in_release_population
                then least(solved.share_considered, solved.audit_probability + solved.slope * ambiguities.ambiguity)
            else 0
        end as round_probability,
        case when ambiguities.is_asked then least(1, {{ release_sample }}::double / count(*) over askers) else 0 end
            as release_probability
    from ambiguities
    cross join solved
    window askers as (partition by ambiguities.application, ambiguities.is_asked)
),

numbered as (
    select
        *,
        -- drawn by the round, by the sample of the release, or by both
        1 - (1 - round_probability) * (1 - release_probability) as inclusion_probability,
        -- numbers in [0, 1) that anyone can recompute
        {{ review_number('review', review_round) }} as review_number,
        {{ review_number('review release', review_round) }} as release_number
    from planned
),

final as (
    select
        -- ids: the letter keeps spreadsheets from taking it for a number
        'r' || md5('review_id|{{ review_round }}|' || interaction_id) as review_id,
        interaction_id,

        -- strings
        '{{ review_round }}' as review_round,
        '{{ metric_name }}' as metric_name,
        criterion,
        case
            when is_in_release_population and review_number < audit_probability then 'audit'
            when review_number < round_probability then 'targeted'
            else 'release'
        end as sampling,
        ambiguity_basis, plan_status,

        -- numerics
        {% if is_incremental() -%}
        (select coalesce(max(drawn.round_number), 0) + 1 from {{ this }} as drawn)::integer as round_number,
        {%- else -%}
        1::integer as round_number,
        {%- endif %}
        probability,
        ambiguity,
        inclusion_probability::double as inclusion_probability,
        audit_probability::double as audit_probability,
        count_considered::integer as count_considered
    from numbered
    where review_number < round_probability or release_number < release_probability
)

select * from final
{% if is_incremental() %}
where
    not exists (
        select 1 from {{ this }} as drawn
        where drawn.review_round = '{{ review_round }}'
    )
{% endif %}
