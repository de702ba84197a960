{#
    A hook of base_interactions. It stops the build when no interaction could be used, and says the most frequent reason
    in one line, because every later model and gate would only say that it has nothing to measure.
#}
{% macro raise_when_nothing_is_staged() %}
    {% set shown %}
        'hcat raw logs: no interaction could be used: ' || coalesce(
            cast(count_records as {{ dbt.type_string() }}) || ' of ' || cast(count_landed as {{ dbt.type_string() }})
            || ' records are rejected like those of ' || source_file || ': ' || reason
            || ' (`hcat check` shows the others)',
            'the files hold no record'
        )
    {% endset %}
{{ raise_when(
    'count_staged = 0',
    shown,
    '(select counted.count_staged, counted.count_landed, reasons.count_records, reasons.source_file, reasons.reason'
    ~ " from (select count(*) as count_landed, count(*) filter (where record_status = 'staged') as count_staged from "
    ~ this ~ ') as counted'
    ~ ' left join (select source_file, ' ~ reason_without_value('reject_reason') ~ ' as reason, count(*) as count_records'
    ~ ' from ' ~ this
    ~ " where record_status = 'rejected' group by source_file, reason"
    ~ ' order by count_records desc, source_file, reason limit 1) as reasons on true) as problems'
) }}
{% endmacro %}
