{#
    CTEs `numbered` and `{{ into }}` of a base model, which give every record of the CTE `checked` its record_status.
    The first readable record of a key is staged. A later record with the same content is repeated and ignored. A later
    record with other content is rejected, because evidence is never overwritten, unless the condition `unless` says
    that it is another record of the same key. `field_faults` are texts that say why an optional field of a record is
    null; the record itself is kept.
#}
{% macro number_records(key_columns, field_faults=['null::string'], unless=none, into='final') %}
    {%- set keys = key_columns | join(', ') -%}
    numbered as (
        select
            *,
            row_number() over record_order as occurrence,
            {% if unless %}
                row_number() over (
                    partition by {{ keys }}, check_failure is null, record_hash
                    order by landing_number, source_file, source_row, record_id
                ) as copy_number,
                first_value(source_file) over record_order as first_source_file,
                first_value(landing_number) over record_order as first_landing_number,
            {% endif %}
            first_value(record_hash) over record_order as first_record_hash
        from checked
        window record_order as (
            partition by {{ keys }}, check_failure is null
            order by landing_number, source_file, source_row, record_id
            rows between unbounded preceding and current row
        )
    ),

    {{ into }} as (
        select
            *,
            case
                when check_failure is not null then 'rejected'
                when occurrence = 1 then 'staged'
                {% if unless %}
                    when copy_number > 1 then 'repeated'
                    when {{ unless }} then 'staged'
                {% endif %}
                when record_hash = first_record_hash then 'repeated'
                else 'rejected'
            end as record_status,
            case
                when check_failure is not null then check_failure
                when
                    occurrence > 1
                    and record_hash <> first_record_hash
                    {% if unless %}and copy_number = 1 and not ({{ unless }}){% endif %}
                    then '{{ keys }} was sent before with other content'
            end as reject_reason,
            {{ array_compact(array_of(field_faults)) }} as field_faults
        from numbered
    )
{%- endmacro %}

{# Says that an optional field could not be read: its text is there, and its value is not. #}
{% macro field_fault(column, what, is_missing=none) -%}
    case
        when {{ column }}_text is not null and {{ is_missing or column ~ ' is null' }}
            then '{{ column }} is not {{ what }}: ' || left({{ column }}_text, 80)
    end
{%- endmacro %}

{# Says that weights of sentences could not be read: the macro sentence_weights left an empty list. #}
{% macro weights_fault(column) -%}
    {{ field_fault(column, 'a JSON list of finite numbers of at least 0', array_length(column) ~ ' = 0') }}
{%- endmacro %}

{#
    Why the logged time of a column cannot be used; null where it can, or where there is none. The base model has the
    time as <column> and its text as <column>_text. A plausible time lies between the first logs that anybody evaluates
    and a day after the start of the build (clock skew). One zero time would stretch every series over two thousand years.
#}
{% macro time_fault(column) %}
    {%- set earliest = '2000-01-01' -%}
    {%- set tolerance = "interval '1 day'" -%}
    case
        when {{ column }}_text is null then null
        when {{ column }} is null and {{ matches_pattern(column ~ '_text', '^[0-9]{4}-?[0-9]{2}-?[0-9]{2}[^-+]*[A-Z][A-Za-z]{2}') }}
            then '{{ column }} names a time zone and gives no offset such as +02:00: '
        when {{ column }} is null then '{{ column }} is not an ISO 8601 timestamp: '
        when {{ column }} < timestamp '{{ earliest }}'
            then '{{ column }} lies before {{ earliest }}: '
        when {{ column }} > timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}'
            + {{ tolerance }}
            then '{{ column }} lies in the future: '
    end || left({{ column }}_text, 80)
{%- endmacro %}

{#
    Why a record was rejected, without the value that the reason ends with, line breaks included. The value is raw text
    that may name a person, and what a build prints goes to log files.
#}
{% macro reason_without_value(column) %}
    {{- replace_pattern(column, '(?s): .*$', '') -}}
{% endmacro %}

{#
    The records of an entity: those of its own files, and those folded from spans, where that module is on. Spans give
    some of the columns; the others are null.
#}
{% macro landed_and_folded(entity, columns, folded) -%}
select
    record_id, source_file, {{ columns | join(', ') }},
    record_hash, read_error, unread_record, read_note, source_row, landing_number
from {{ ref('hcat', 'landed_records') }}
where entity = '{{ entity }}'
{% if is_on('spans') %}
    union all
    select
        record_id, source_file,
        {% for column in columns %}{{ column if column in folded else 'null as ' ~ column }}, {% endfor -%}
        record_hash, read_error, unread_record, read_note, source_row, landing_number
    from ({{ folded_records(entity) }}) as folded_records
{% endif %}
{%- endmacro %}

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
        select * from {{ ref('hcat', 'base_folded_traces') }} where entity = '{{ entity }}'
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
    from {{ ref('hcat', 'base_folded_traces') }} as traces
    left join (
        select retrievers.record_id
        from {{ ref('hcat', 'base_folded_traces') }} as retrievers
        left join (
            select distinct kind from {{ ref('hcat', 'base_folded_traces') }}
            where entity = 'retrievers' and count_retrieved = '1'
        ) as dialects_with_documents on retrievers.kind = dialects_with_documents.kind
        where retrievers.entity = 'retrievers'
        group by retrievers.record_id
        having bool_and(coalesce(retrievers.count_retrieved = '0', dialects_with_documents.kind is not null))
    ) as searches on traces.record_id = searches.record_id
    where traces.entity = 'interactions'
{%- endmacro %}

{# A query, document or chunk of several traces is one record, the first; documents and chunks of files go before. #}
{% macro first_folded_records(entity) -%}
    {%- set key = {'documents': 'document_id', 'chunks': 'chunk_id'}.get(entity) -%}
    select * from (
        select
            *,
            row_number() over (
                partition by record_id
                order by landing_number, source_file, source_row, trace_id, try_cast(rank as integer)
            ) as occurrence
        from {{ ref('hcat', 'base_folded_traces') }}
        where entity = '{{ entity }}'
    ) as traces
    where
        occurrence = 1
        {% if key %}
            and not exists (
                select 1 from {{ ref('hcat', 'landed_records') }} as landed
                where landed.entity = '{{ entity }}' and landed.{{ key }} = traces.{{ key }}
            )
        {% endif %}
{%- endmacro %}

{#- What every landed record says of itself, beside its id and its file. -#}
{% macro columns_of_record() -%}
    record_hash, read_error, unread_record, read_note, source_row, landing_number
{%- endmacro %}

{#- Rows of a table that keeps results of earlier builds, limited to the rows with a key of this build. -#}
{% macro current_rows(kept, current, key) -%}
select kept.*
from {{ kept }} as kept
inner join (select distinct {{ key }} from {{ current }}) as this_build on kept.{{ key }} = this_build.{{ key }}
{%- endmacro %}

{# The raw entities that this project reads, in the order in which they are shown. #}
{% macro raw_entities() %}
    {% set entities = ['interactions', 'retrievals', 'queries', 'documents', 'chunks'] %}
    {% for entity, module in [
        ('ratings', 'calibration'), ('relevance_judgements', 'retrieval'), ('spans', 'spans')
    ] if is_on(module) %}
        {% do entities.append(entity) %}
    {% endfor %}
    {{ return(entities) }}
{% endmacro %}

{#
    The name for people and the relation of an input that hcat_raw_relations names: {ref: my_model},
    {source: [my_source, my_table]} or the name of a table. Quotes are doubled, because both stand in SQL texts.
#}
{% macro raw_relation(named) %}
    {% if named is mapping and 'ref' in named %}
        {{ return([named.ref, ref(named.ref)]) }}
    {% elif named is mapping and 'source' in named %}
        {{ return([named.source | join('.'), source(named.source[0], named.source[1])]) }}
    {% endif %}
    {% set name = named | string | replace("'", "''") %}
    {{ return([name, name]) }}
{% endmacro %}
