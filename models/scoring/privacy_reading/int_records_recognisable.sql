-- One row per distinct record of tags of an interaction or a query, with the key of its reading.
{{ config(materialized='view') }}
with interactions as (
    select tags from {{ ref('hcat', 'int_interactions_joined') }}
),

queries as (
    select tags from {{ ref('hcat', 'stg_queries') }}
),

recognisers as (
    select recogniser_key from {{ ref('hcat', 'int_privacy_recognisers') }}
),

united as (
    select tags from interactions
    union
    select tags from queries
),

final as (
    select
        md5(united.tags) as text_id,
        md5(concat_ws('|', recognisers.recogniser_key, 'record')) as reading_key,
        united.tags as text
    from united
    cross join recognisers
    where united.tags is not null
)

select * from final
