{#
    Why the logged time of a column cannot be used; null where it can, or where there is none. The base model has the
    time as <column> and its text as <column>_text. A plausible time lies between the first logs that anybody evaluates
    and the build, for one zero time would stretch every series over two thousand years.
#}
{% macro time_fault(column) %}
    case
        when {{ column }}_text is null then null
        when {{ column }} is null and {{ matches_pattern(column ~ '_text', '^[0-9]{4}-?[0-9]{2}-?[0-9]{2}[^-+]*[A-Z][A-Za-z]{2}') }}
            then '{{ column }} names a time zone and gives no offset such as +02:00: '
        when {{ column }} is null then '{{ column }} is not an ISO 8601 timestamp: '
        when {{ column }} < timestamp '{{ var("hcat_earliest_time") }}'
            then '{{ column }} lies before {{ var("hcat_earliest_time") }}: '
        when {{ column }} > timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}'
            + interval '{{ var("hcat_future_tolerance_hours") }} hours'
            then '{{ column }} lies in the future: '
    end || left({{ column }}_text, 80)
{%- endmacro %}
