-- Records that were deleted on request count as rejected. This is a table, because the ledger and a test read it.
{{ config(materialized='table') }}
{%- set entities = raw_entities() %}
{#- Entities of which spans give records too. -#}
{%- set folded = ['interactions', 'retrievals', 'queries', 'documents', 'chunks', 'ratings'] %}
with landed as (
    select
        entity,
        count(*) as count_landed
    from {{ ref('hcat', 'landed_records') }}
    group by entity
),

based as (
    {%- for entity in entities %}
    select
        '{{ entity }}' as entity,
        {{ "(select count(*) from (" ~ folded_records(entity) ~ ") as folded_records)"
            if entity in folded and is_on('spans') else 0 }} as count_folded,
        count(*) filter (where record_status = 'staged') as count_staged,
        count(*) filter (where record_status = 'repeated') as count_repeated,
        count(*) filter (where record_status = 'rejected') as count_rejected,
        count(*) filter (where read_error = 'deleted on request') as count_deleted
    from {{ ref('hcat', 'base_' ~ entity) }}
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

final as (
    select
        based.entity,
        coalesce(landed.count_landed, 0) + based.count_folded as count_landed,
        based.count_staged, based.count_repeated, based.count_rejected, based.count_deleted
    from based
    left join landed on based.entity = landed.entity
)

select * from final
