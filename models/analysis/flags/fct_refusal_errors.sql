with interactions as (
    select
        interaction_id,
        cluster_id,
        system,
        {{ named('query_type') }} as query_type,
        expected_behaviour,
        is_refusal
    from {{ ref('hcat', 'fct_interactions') }}
    where is_answered
),

of_types as (
    select * from interactions
    union all
    select interaction_id, cluster_id, system, 'all' as query_type, expected_behaviour, is_refusal
    from interactions
),

counted as (
    select
        system,
        query_type,
        expected_behaviour,
        count(*) as count_interactions,
        count(distinct cluster_id) as count_clusters,
        count(*) filter (where is_refusal <> (expected_behaviour = 'refuse')) as count_errors
    from of_types
    group by system, query_type, expected_behaviour
),

shared as (
    select *, count_errors / count_interactions::double as share_errors
    from counted
),

final as (
    select
        md5(system || '|' || query_type || '|' || expected_behaviour) as refusal_error_id,
        system,
        query_type,
        expected_behaviour,
        case when expected_behaviour = 'refuse' then 'answered_when_due_to_refuse' else 'refused_when_due_to_answer' end
            as error_kind,
        count_interactions,
        count_clusters,
        count_errors,
        share_errors,
        {{ wilson_bound('share_errors', 'count_clusters', 'lower') }} as share_errors_lower,
        {{ wilson_bound('share_errors', 'count_clusters', 'upper') }} as share_errors_upper
    from shared
)

select * from final
