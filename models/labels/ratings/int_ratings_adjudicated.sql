-- One row per (interaction, criterion): the label that the criterion's rule makes of the ratings, or why there is none.
-- A rater's repeated pass is no second opinion: only the first pass counts.
with ratings as (
    select * from {{ ref('stg_ratings') }}
),

targets as (
    select criterion, max(accept_from) as accept_from
    from (
        select criterion, accept_from from {{ ref('calibration_targets') }}
        union all
        -- labels that no metric is calibrated with still say what is true
        select criterion, accept_from from {{ ref('correctness_criteria') }}
    ) as used
    group by criterion
),

rules as (
    select criterion, rule from {{ ref('adjudication_rules') }}
),

modelled as (
    select * from {{ ref('int_ratings_modelled') }}
),

first_passes as (
    select
        *,
        row_number() over (
            partition by interaction_id, rater, criterion
            order by rating_pass asc, rated_at desc nulls last, guideline_version desc, record_id asc
        ) as look
    from ratings
),

votes as (
    select
        first_passes.*,
        targets.accept_from,
        first_passes.scale_point >= targets.accept_from as is_accepting
    from first_passes
    inner join targets on first_passes.criterion = targets.criterion
    where first_passes.look = 1
),

counted as (
    select
        interaction_id,
        criterion,
        accept_from,
        count(*) as count_raters,
        avg(scale_point) as mean_scale_point,
        avg(is_accepting::integer) as share_accepting,
        -- the most frequent point on either side, the lower one of equals
        mode() within group (order by scale_point) filter (where is_accepting) as accepting_point,
        mode() within group (order by scale_point) filter (where not is_accepting) as rejecting_point,
        max(guideline_version) as guideline_version,
        max(review_round) as review_round,
        max(rated_at) as rated_at,
        -- an interaction that was aimed at once is no random one any more
        bool_and(sampling = 'audit') as is_audit,
        min(inclusion_probability) as inclusion_probability
    from votes
    group by interaction_id, criterion, accept_from
),

ruled as (
    select
        counted.*,
        coalesce(rules.rule, 'majority') as rule,
        case coalesce(rules.rule, 'majority')
            when 'mean' then counted.mean_scale_point >= counted.accept_from
            when 'dawid_skene' then modelled.scale_point >= counted.accept_from
            -- half against half is no majority
            else if(counted.share_accepting = 0.5, null, counted.share_accepting > 0.5)
        end as is_accepted,
        case
            when rules.rule = 'dawid_skene' then modelled.label_status
            when rules.rule = 'mean' or counted.share_accepting <> 0.5 then 'labelled'
            else 'tie'
        end as label_status,
        modelled.scale_point as modelled_point
    from counted
    left join rules on counted.criterion = rules.criterion
    left join modelled on counted.interaction_id = modelled.interaction_id and counted.criterion = modelled.criterion
),

final as (
    select
        interaction_id,
        criterion,
        rule,
        label_status,
        guideline_version,
        review_round,
        accept_from,
        -- a point of the scale on the label's side
        case
            when rule = 'dawid_skene' then modelled_point
            when rule = 'mean' and is_accepted then greatest(round(mean_scale_point), accept_from)
            when rule = 'mean' then least(round(mean_scale_point), accept_from - 1)
            when is_accepted then accepting_point
            when not is_accepted then rejecting_point
        end::integer as scale_point,
        is_accepted::integer as label,
        count_raters,
        mean_scale_point,
        share_accepting,
        inclusion_probability,
        is_audit,
        rated_at
    from ruled
)

select * from final
