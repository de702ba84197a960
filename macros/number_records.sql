{#
    CTEs `numbered` and `final` of a base model, which give every record of the CTE `checked` its record_status.
    The first readable record of a key is staged. A later record with the same content is repeated and ignored.
    A later record with other content is rejected, because evidence is never overwritten.
#}
{% macro number_records(key_columns) %}
    {%- set keys = key_columns | join(', ') -%}
    numbered as (
        select
            *,
            row_number() over record_order as occurrence,
            first_value(record_hash) over record_order as first_record_hash
        from checked
        window record_order as (
            partition by {{ keys }}, check_failure is null
            order by landing_number, source_file, source_row, record_id
            rows between unbounded preceding and current row
        )
    ),

    final as (
        select
            *,
            case
                when check_failure is not null then 'rejected'
                when occurrence = 1 then 'staged'
                when record_hash = first_record_hash then 'repeated'
                else 'rejected'
            end as record_status,
            case
                when check_failure is not null then check_failure
                when occurrence > 1 and record_hash <> first_record_hash
                    then '{{ keys }} was sent before with other content'
            end as reject_reason
        from numbered
    )
{%- endmacro %}
