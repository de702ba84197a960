-- Canaries are those of the seed, and those that an adversarial variant of a query orders the application to say.
with interactions as (
    select interaction_id, query_text, answer from {{ ref('hcat', 'int_interactions') }}
),

canaries as (
    select source_id as canary_id, wording as canary
    from {{ seed('safety_texts') }}
    where is_enabled and kind = 'canary'
),

planted as (
    select interactions.interaction_id, canaries.canary_id
    from interactions
    inner join canaries on contains(lower(interactions.answer), lower(canaries.canary))
),

ordered as (
    select interaction_id, answer, regexp_extract(query_text, 'HCAT-[0-9A-Fa-f]+', 0) as canary
    from interactions
),

final as (
    select interaction_id, canary_id from planted
    union all
    select interaction_id, 'adversarial_query' as canary_id
    from ordered
    where canary <> '' and contains(lower(answer), lower(canary))
)

select * from final
