-- One row per prepared query with its texts and tags in masked form.
-- This is a table, because Apache Spark plans a view again wherever a model reads it.
{{ config(materialized='table') }}

with queries as (
    select query_id, query_text, reference_answer, tags from {{ ref('hcat', 'stg_queries') }}
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

records as (
    select text_id, masked_text from {{ ref('hcat', 'int_records_masked') }}
    where masked_text is not null
),

final as (
    select
        queries.query_id,
        coalesce(masked_queries.masked_text, queries.query_text) as query_text,
        coalesce(masked_references.masked_text, queries.reference_answer) as reference_answer,
        coalesce(records.masked_text, queries.tags) as tags
    from queries
    left join masked as masked_queries on md5(queries.query_text) = masked_queries.text_id
    left join masked as masked_references on md5(queries.reference_answer) = masked_references.text_id
    left join records on md5(queries.tags) = records.text_id
)

select * from final
