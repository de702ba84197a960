{{ config(materialized='table') }}
{# a third of the documents each are short, medium and long -#}
{%- set cuts = [0.3333, 0.6667] %}

with chunk_topics as (
    select chunk_id, topic_id from {{ ref('hcat', 'int_chunk_topics') }}
),

sized as (
    select
        chunks.chunk_id,
        chunks.document_id,
        chunks.source_file,
        -- a chunk without a document is one by itself
        case when chunks.document_id is null then 'chunk|' || chunks.chunk_id else 'document|' || chunks.document_id end
            as document_key,
        coalesce(chunk_topics.topic_id, 'no_topic') as topic_id,
        coalesce(chunks.topic, documents.topic, 'none') as logged_topic,
        length(chunks.chunk_text) as size_measure
    from {{ ref('hcat', 'stg_chunks') }} as chunks
    left join {{ ref('hcat', 'stg_documents') }} as documents on chunks.document_id = documents.document_id
    left join chunk_topics on chunks.chunk_id = chunk_topics.chunk_id
),

measured as (
    select
        *,
        sum(size_measure) over (partition by document_key) as characters
    from sized
),

measured_units as (
    select distinct document_key, characters from measured
),

bounds as (
    select
        (percentile_cont({{ cuts[0] }}) within group (order by characters))::double as medium_from,
        (percentile_cont({{ cuts[1] }}) within group (order by characters))::double as long_from
    from measured_units
),

classed as (
    select
        measured.*,
        case
            when measured.characters < bounds.medium_from then 'short'
            when measured.characters < bounds.long_from then 'medium'
            else 'long'
        end as length_class
    from measured
    cross join bounds
),

described as (
    select chunk_id, 'topic' as dimension, topic_id as segment from classed
    union all
    select chunk_id, 'length_class' as dimension, length_class as segment from classed
    union all
    select chunk_id, 'logged_topic' as dimension, logged_topic as segment from classed
    union all
    select chunk_id, 'document_id' as dimension, coalesce(document_id, 'none') as segment from classed
    union all
    select chunk_id, 'source_file' as dimension, source_file as segment from classed
),

stratified as (
    select
        described.chunk_id,
        {{ joined_text("replace(described.segment, '|', '||')", "' | '", 'dimensions.position') }} as stratum_label
    from described
    inner join {{ seed('sampling_dimensions') }} as dimensions on described.dimension = dimensions.dimension
    group by described.chunk_id
),

weighed as (
    select
        described.chunk_id,
        max(importances.importance) as importance
    from described
    inner join {{ seed('stratum_importance') }} as importances
        on
            described.dimension = importances.dimension
            and lower(described.segment) like importances.segment_pattern
    group by described.chunk_id
),

final as (
    select
        -- ids
        classed.chunk_id,
        classed.document_id,
        md5('stratum|' || coalesce(stratified.stratum_label, 'all')) as stratum_id,

        -- strings
        coalesce(stratified.stratum_label, 'all') as stratum_label,
        classed.topic_id,
        classed.length_class,

        -- numerics
        classed.characters::bigint as characters,
        classed.size_measure::bigint as size_measure,
        coalesce(weighed.importance, 1)::double as importance
    from classed
    left join stratified on classed.chunk_id = stratified.chunk_id
    left join weighed on classed.chunk_id = weighed.chunk_id
)

select * from final
