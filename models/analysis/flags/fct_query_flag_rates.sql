with flags as (
    select * from {{ ref('hcat', 'int_query_flags') }}
),

rules as (
    select * from {{ seed('query_flag_rules') }}
),

interactions as (
    select interaction_id, cluster_id, system, is_answered, is_refusal from {{ ref('hcat', 'fct_interactions') }}
),

counted as (
    select
        interactions.system,
        flags.flag_name,
        count(*) as count_interactions,
        count(flags.is_flagged) as count_checked,
        count(distinct case when flags.is_flagged is not null then interactions.cluster_id end) as count_clusters,
        count(*) filter (where flags.is_flagged) as count_flagged,
        count(*) filter (where flags.is_flagged and interactions.is_answered and not interactions.is_refusal)
            as count_flagged_answered
    from flags
    inner join interactions on flags.interaction_id = interactions.interaction_id
    group by interactions.system, flags.flag_name
),

shared as (
    select *, case when count_checked > 0 then count_flagged / count_checked::double end as share_flagged
    from counted
),

final as (
    select
        md5(shared.system || '|' || shared.flag_name) as query_flag_rate_id,
        shared.system,
        shared.flag_name,
        rules.subject,
        rules.error_source,
        shared.count_interactions,
        shared.count_checked,
        shared.count_clusters,
        shared.count_flagged,
        shared.count_flagged_answered,
        shared.share_flagged,
        {{ wilson_bound('shared.share_flagged', 'shared.count_clusters', 'lower') }} as share_flagged_lower,
        {{ wilson_bound('shared.share_flagged', 'shared.count_clusters', 'upper') }} as share_flagged_upper,
        rules.threshold,
        rules.false_alarm_share,
        rules.missed_share
    from shared
    inner join rules on shared.flag_name = rules.flag_name
)

select * from final
