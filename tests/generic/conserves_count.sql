{# No record is lost: staged + repeated + rejected = landed. The staged and rejected models contain exactly those
   rows; `apart` is a second staged model, whose rows the first one does not hold. #}
{% test conserves_count(model, entity, apart=none) %}
select counted.*
from {{ model }} as counted
where
    counted.entity = '{{ entity }}'
    and (
        counted.count_landed <> counted.count_staged + counted.count_repeated + counted.count_rejected
        or counted.count_staged <> (
            select count(*) from {{ ref('hcat', 'stg_' ~ entity) }}
        ){% if apart %} + (select count(*) from {{ ref('hcat', apart) }}){% endif %}

        or counted.count_rejected <> (
            select count(*) from {{ ref('hcat', 'stg_' ~ entity ~ '__rejected') }} where kind = 'record'
        )
    )
{% endtest %}
