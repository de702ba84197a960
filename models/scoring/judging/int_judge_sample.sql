-- Interactions that people rated come first, because only they show how reliable the verdicts are. The others follow in
-- the order of a seeded hash.
{{ config(materialized='table') }}
{%- set most = var('hcat_judge_interactions') | int -%}
{%- if most < 1 -%}
    {{ exceptions.raise_compiler_error("hcat_judge_interactions must be at least 1, got " ~ most) }}
{%- endif %}

with interactions as (
    select interaction_id from {{ ref('hcat', 'int_interactions') }}
    where is_answered
),

rated as (
    select distinct interaction_id
    from {{ ref('hcat', 'stg_ratings') }}
    where {{ rank_of_rater_kind('rater_kind') }} is not null and not is_chosen
),

final as (
    select
        interactions.interaction_id,
        row_number() over (
            order by
                rated.interaction_id is null,
                {{ sampling_number('judge', 'interactions.interaction_id') }},
                interactions.interaction_id
        ) as sample_number
    from interactions
    left join rated on interactions.interaction_id = rated.interaction_id
    qualify sample_number <= {{ most }}
)

select * from final
