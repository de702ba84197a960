{# No record is lost: staged + repeated + rejected = landed. The staged and rejected models contain exactly those
   rows. #}
{% test conserves_count(model, entity) %}
select counted.*
from {{ model }} as counted
where
    counted.entity = '{{ entity }}'
    and (
        counted.count_landed <> counted.count_staged + counted.count_repeated + counted.count_rejected
        or counted.count_staged <> (select count(*) from {{ ref('hcat', 'stg_' ~ entity) }})
        or counted.count_rejected <> (select count(*) from {{ ref('hcat', 'stg_' ~ entity ~ '__rejected') }})
    )
{% endtest %}
