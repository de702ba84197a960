-- A rater's third and later passes over an answer stay in staging.
{{ config(materialized='view') }}
{#- passes that count: the first is the rating, and the second tests the first -#}
{%- set counted_looks = 2 -%}
with passes as (
    select
        *,
        dense_rank() over (partition by interaction_id, rater, criterion order by rating_pass) as look,
        {{ rank_of_rater_kind('rater_kind') }} as kind_rank
    from {{ ref('hcat', 'stg_ratings') }}
    -- users of an application are no raters whose agreement is a question
    where rater_kind <> 'user_feedback' and not is_chosen
),

latest as (
    select
        *,
        min(kind_rank) over (partition by interaction_id, criterion) as best_kind_rank,
        row_number() over (
            partition by interaction_id, rater, criterion, look
            order by
                rated_at desc nulls last, {{ numbers_of_version('guideline_version') }} desc, guideline_version desc,
                record_id asc
        ) as recency
    from passes
    where look <= {{ counted_looks }}
),

final as (
    select
        latest.interaction_id,
        interactions.cluster_id,
        interactions.second_cluster_id,
        latest.criterion,
        latest.rater,
        latest.rater_kind,
        -- Where raters of several kinds rated an answer, those of the first kind in hcat_label_kinds give the label.
        coalesce(latest.kind_rank = latest.best_kind_rank, false) as gives_label,
        latest.look as rating_pass,
        latest.scale_point
    from latest
    inner join {{ ref('hcat', 'int_interaction_attributes') }} as interactions
        on latest.interaction_id = interactions.interaction_id
    where latest.recency = 1
)

select * from final
