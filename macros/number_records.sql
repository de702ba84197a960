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
