-- Staged + repeated + rejected = landed. The staged and rejected models contain exactly those rows. No publication
-- waits for this. A row names the broken promise and what breaks it.
{{ promises() }}
{% for entity in raw_entities() if is_tested(['int_records_counted', 'stg_' ~ entity]) %}
union all
select
    '{{ entity }}_are_conserved' as promise,
    counted.entity as id,
    'landed records that are neither staged, repeated nor rejected, or rows of no such record' as problem
from {{ ref('hcat', 'int_records_counted') }} as counted
where
    counted.entity = '{{ entity }}'
    and (
        counted.count_landed <> counted.count_staged + counted.count_repeated + counted.count_rejected
        or counted.count_staged <> (
            select count(*) from {{ ref('hcat', 'stg_' ~ entity) }}
        ){% if entity == 'ratings' %} + (select count(*) from {{ ref('hcat', 'stg_ratings__cannot_judge') }}){% endif %}

        or counted.count_rejected <> (
            select count(*)
            from {{ ref('hcat', 'stg_' ~ entity ~ '__rejected') }} as rejected
            where rejected.kind = 'record'
        )
    )
{% endfor %}
