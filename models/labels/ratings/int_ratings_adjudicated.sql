-- Only the first pass of a rater counts, because a repeated pass is no second opinion. Where raters of several kinds
-- rated an answer, those of the first kind in hcat_label_kinds give the label.
with targets as (
    select criterion, max(accept_from) as accept_from
    from (
        select criterion, accept_from from {{ seed('calibration_targets') }}
        union all
        -- These labels calibrate no metric, but they say whether an answer is true.
        select criterion, correct_from as accept_from from {{ seed('rating_criteria') }}
        where correct_from is not null
    ) as used
    group by criterion
),

modelled as (
    select * from {{ ref('hcat', 'int_raters_measured') }}
    where part = 'labels'
),

first_passes as (
    select
        *,
        row_number() over (
            partition by interaction_id, rater, criterion
            order by
                rating_pass asc, rated_at desc nulls last, {{ numbers_of_version('guideline_version') }} desc,
                guideline_version desc, record_id asc
        ) as look,
        {{ rank_of_rater_kind('rater_kind') }} as kind_rank,
        -- statistics need to know who rated, but not the name
        dense_rank() over (order by rater) as rater_code
    from {{ ref('hcat', 'stg_ratings') }}
    where sampling is distinct from 'chosen'
),

votes as (
    select
        first_passes.*,
        targets.accept_from,
        first_passes.scale_point >= targets.accept_from as is_accepting,
        min(first_passes.kind_rank) over (
            partition by first_passes.interaction_id, first_passes.criterion
        ) as best_kind_rank
    from first_passes
    inner join targets on first_passes.criterion = targets.criterion
    where first_passes.look = 1
),

counted as (
    select
        interaction_id,
        criterion,
        accept_from,
        min(rater_kind) as rater_kind,
        min(rater_code) as rater_code,
        count(*) as count_raters,
        avg(scale_point) as mean_scale_point,
        avg(is_accepting::integer) as share_accepting,
        -- The most frequent point on either side; the lower one of equally frequent points.
        mode() within group (order by scale_point) filter (where is_accepting) as accepting_point,
        mode() within group (order by scale_point) filter (where not is_accepting) as rejecting_point,
        max(rated_at) as rated_at,
        -- An interaction with a targeted rating no longer belongs to the random sample.
        bool_and(sampling = 'audit') as is_audit,
        min(inclusion_probability) as inclusion_probability
    from votes
    where kind_rank = best_kind_rank
    group by interaction_id, criterion, accept_from
),

ruled as (
    select
        counted.*,
        coalesce(rules.rule, 'majority') as rule,
        case coalesce(rules.rule, 'majority')
            when 'mean' then counted.mean_scale_point >= counted.accept_from
            when 'dawid_skene' then modelled.scale_point >= counted.accept_from
            -- Half of the raters are no majority.
            else if(counted.share_accepting = 0.5, null, counted.share_accepting > 0.5)
        end as is_accepted,
        case
            when rules.rule = 'dawid_skene' then modelled.label_status
            when rules.rule = 'mean' or counted.share_accepting <> 0.5 then 'labelled'
            else 'tie'
        end as label_status,
        modelled.scale_point as modelled_point
    from counted
    left join {{ seed('rating_criteria') }} as rules on counted.criterion = rules.criterion
    left join modelled on counted.interaction_id = modelled.interaction_id and counted.criterion = modelled.criterion
),

final as (
    select
        *,
        -- A point of the scale on the side of the label.
        case
            when rule = 'dawid_skene' then modelled_point
            when rule = 'mean' and is_accepted then greatest(round(mean_scale_point), accept_from)
            when rule = 'mean' then least(round(mean_scale_point), accept_from - 1)
            when is_accepted then accepting_point
            when not is_accepted then rejecting_point
        end::integer as scale_point,
        is_accepted::integer as label
    from ruled
)

select * from final
