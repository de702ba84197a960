{#
    The records of an entity that traces give. Every trace was folded by itself, and what needs the whole log is decided
    here.
#}
{% macro folded_records(entity) -%}
    {%- if entity == 'interactions' -%}
        {{ folded_interactions() }}
    {%- elif entity in ('queries', 'documents', 'chunks') -%}
        {{ first_folded_records(entity) }}
    {%- else -%}
        select * from {{ ref('hcat', 'folded_traces') }} where entity = '{{ entity }}'
    {%- endif -%}
{%- endmacro %}

{#
    A retriever without documents found nothing, if its dialect writes documents where they are looked for: another trace
    has some, or a list of the span itself is empty.
#}
{% macro folded_interactions() -%}
    select
        traces.{{ columns_except(['count_retrieved']) }},
        case when searches.record_id is not null then '0' end as count_retrieved
    from {{ ref('hcat', 'folded_traces') }} as traces
    left join (
        select retrievers.record_id
        from {{ ref('hcat', 'folded_traces') }} as retrievers
        left join (
            select distinct kind from {{ ref('hcat', 'folded_traces') }}
            where entity = 'retrievers' and count_retrieved = '1'
        ) as dialects_with_documents on retrievers.kind = dialects_with_documents.kind
        where retrievers.entity = 'retrievers'
        group by retrievers.record_id
        having bool_and(
            coalesce(retrievers.count_retrieved, case when dialects_with_documents.kind is not null then '0' end, '1') = '0'
        )
    ) as searches on traces.record_id = searches.record_id
    where traces.entity = 'interactions'
{%- endmacro %}

{# A query, document or chunk of several traces is one record, the first one; documents and chunks of files go before. #}
{% macro first_folded_records(entity) -%}
    {%- set key = {'documents': 'document_id', 'chunks': 'chunk_id'}.get(entity) -%}
    select * from (
        select
            *,
            row_number() over (
                partition by record_id
                order by landing_number, source_file, source_row, trace_id, try_cast(rank as integer)
            ) as occurrence
        from {{ ref('hcat', 'folded_traces') }}
        where entity = '{{ entity }}'
    ) as traces
    where
        occurrence = 1
        {%- if key %}
        and not exists (
            select 1 from {{ ref('hcat', 'landed_records') }} as landed
            where landed.entity = '{{ entity }}' and landed.{{ key }} = traces.{{ key }}
        )
        {%- endif %}
{%- endmacro %}
