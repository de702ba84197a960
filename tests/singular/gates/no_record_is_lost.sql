-- Staged + repeated + rejected = landed, and every rejected record is kept with its reason. No publication waits for
-- this. A row names the broken promise and what breaks it.
{{ promises() }}
{% call promise('records_are_conserved', ['int_records_counted', 'stg_rejected_records']) %}
    select
        counted.entity as id,
        'landed records that are neither staged, repeated nor rejected, or rows of no such record' as problem
    from {{ ref('hcat', 'int_records_counted') }} as counted
    left join (
        select entity, count(*) as count_kept from {{ ref('hcat', 'stg_rejected_records') }}
        where kind = 'record'
        group by entity
    ) as rejected on counted.entity = rejected.entity
    where
        counted.count_landed <> counted.count_staged + counted.count_repeated + counted.count_rejected
        or counted.count_rejected <> coalesce(rejected.count_kept, 0)
{% endcall %}
