-- One row per interaction of a named version, with the key that pairs queries: the id of the query, otherwise its
-- normalised text.
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('int_interactions_joined') }}
),

final as (
    select
        interaction_id,
        {{ named('application') }} as application,
        application_version as version,
        {{ query_key() }} as query_key,
        cluster_id,
        query_text
    from interactions
    where application_version is not null and coalesce(query_id, query_text) is not null
)

select * from final
