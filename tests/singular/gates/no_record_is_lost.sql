-- Staged + repeated + rejected = landed. The staged and rejected models contain exactly those rows. No publication waits
-- for this. A row names the broken promise and what breaks it.
{{ promises() }}
{% for entity in raw_entities() %}
{% call promise(entity ~ '_are_conserved', ['int_records_counted', 'stg_' ~ entity]) %}
select
    counted.entity as id,
    concat_ws(
        ' ',
        cast(counted.count_landed as string),
        'landed,',
        cast(counted.count_staged as string),
        'staged,',
        cast(counted.count_repeated as string),
        'repeated,',
        cast(counted.count_rejected as string),
        'rejected'
    ) as problem
from {{ ref('hcat', 'int_records_counted') }} as counted
where
    counted.entity = '{{ entity }}'
    and (
        counted.count_landed <> counted.count_staged + counted.count_repeated + counted.count_rejected
        or counted.count_staged <> (
            select count(*) from {{ ref('hcat', 'stg_' ~ entity) }}
        ){% if entity == 'ratings' %} + (select count(*) from {{ ref('hcat', 'stg_ratings__cannot_judge') }}){% endif %}

        or counted.count_rejected <> (
            select count(*) from {{ ref('hcat', 'stg_' ~ entity ~ '__rejected') }} where kind = 'record'
        )
    )
{% endcall %}
{% endfor %}
