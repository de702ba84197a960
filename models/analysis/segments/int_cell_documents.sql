-- One row per cell whose queries name a source document, with the number of such documents.
{{ config(materialized='table') }}

with queries as (
    select query_id, source_chunk_ids from {{ ref('hcat', 'dim_queries') }}
),

chunks as (
    select chunk_id, document_id from {{ ref('hcat', 'stg_chunks') }}
),

interactions as (
    select interaction_id, query_id from {{ ref('hcat', 'fct_interactions') }}
),

numbered as (
    select interaction_id, interaction_number from {{ ref('hcat', 'int_interactions_numbered') }}
),

celled as (
    select interaction_number, cell_number from {{ ref('hcat', 'int_interactions_celled') }}
),

chunks_of_queries as (
    select query_id, {{ explode('source_chunk_ids') }} as chunk_id
    from queries
),

documents_of_queries as (
    select distinct chunks_of_queries.query_id, chunks.document_id
    from chunks_of_queries
    inner join chunks on chunks_of_queries.chunk_id = chunks.chunk_id
),

-- few distinct pairs before the many interactions
cells_of_queries as (
    select distinct celled.cell_number, interactions.query_id
    from celled
    inner join numbered on celled.interaction_number = numbered.interaction_number
    inner join interactions on numbered.interaction_id = interactions.interaction_id
),

final as (
    select cells_of_queries.cell_number, count(distinct documents_of_queries.document_id) as count_documents
    from cells_of_queries
    inner join documents_of_queries on cells_of_queries.query_id = documents_of_queries.query_id
    group by cells_of_queries.cell_number
)

select * from final
