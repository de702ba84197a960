-- One row per (entity, source file, kind, reason) of rejected records, and of fields that could not be read of records
-- that are kept (kind `field`), with the first row. The value that a reason ends with is left out, because a build says
-- these lines. The reason of a whole file (row 0) names columns and no values.
{{ config(materialized='view') }}
with rejected as (
    {%- for entity in raw_entities() %}
    select
        '{{ entity }}' as entity,
        source_file,
        kind,
        reject_reason,
        source_row
    from {{ ref('hcat', 'stg_' ~ entity ~ '__rejected') }}
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

named as (
    select
        *,
        case when source_row = 0 then reject_reason else {{ reason_without_value('reject_reason') }} end as reason
    from rejected
),

final as (
    select
        entity,
        source_file,
        kind,
        reason,
        count(*) as count_records,
        min(source_row) as first_row
    from named
    group by entity, source_file, kind, reason
)

select * from final
