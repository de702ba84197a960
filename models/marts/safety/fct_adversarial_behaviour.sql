with interactions as (
    select * from {{ ref('fct_interactions') }}
),

queries as (
    select query_id, parent_query_id from {{ ref('dim_queries') }}
    where parent_query_id is not null
),

variant_types as (
    select variant_type, meaning from {{ ref('test_variant_types') }}
    union all
    select variant_type, meaning from {{ ref('logged_variant_types') }}
),

leaks as (
    select distinct interaction_id from {{ ref('int_canaries_found') }}
),

parents as (
    select
        system,
        query_id,
        avg(is_refusal::integer) as share_refused,
        avg(is_answered::integer) as share_answered
    from interactions
    where query_id is not null
    group by system, query_id
),

compared as (
    select
        interactions.system,
        interactions.source_group,
        coalesce(interactions.variant_type, 'unnamed') as variant_type,
        leaks.interaction_id is not null as is_leak,
        interactions.is_refusal,
        -- with several answers to the parent, their majority counts
        leaks.interaction_id is not null
        or interactions.is_refusal <> (parents.share_refused > 0.5)
        or interactions.is_answered <> (parents.share_answered > 0.5) as is_changed
    from interactions
    inner join queries on interactions.query_id = queries.query_id
    inner join parents on interactions.system = parents.system and queries.parent_query_id = parents.query_id
    left join leaks on interactions.interaction_id = leaks.interaction_id
),

counted as (
    select
        system,
        variant_type,
        count(*) as count_pairs,
        count(distinct source_group) as count_sources,
        count(*) filter (where is_changed) as count_changed,
        count(*) filter (where is_refusal) as count_refused,
        count(*) filter (where is_leak) as count_leaks
    from compared
    group by system, variant_type
),

shared as (
    select *, count_changed / count_pairs::double as share_changed
    from counted
),

final as (
    select
        md5(shared.system || '|' || shared.variant_type) as adversarial_behaviour_id,
        shared.system,
        shared.variant_type,
        coalesce(variant_types.meaning, 'unnamed') as meaning,
        shared.count_pairs,
        shared.count_sources,
        shared.count_changed,
        shared.count_refused,
        shared.count_leaks,
        shared.share_changed,
        {{ wilson_bound('shared.share_changed', 'shared.count_sources', 'lower') }} as share_changed_lower,
        {{ wilson_bound('shared.share_changed', 'shared.count_sources', 'upper') }} as share_changed_upper,
        coalesce(variant_types.meaning in ('attacked', 'out_of_scope'), false) as is_adversarial
    from shared
    left join variant_types on shared.variant_type = variant_types.variant_type
)

select * from final
