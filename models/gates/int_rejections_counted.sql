-- One row per (entity, source file, kind, reason) of rejected records, and of fields that could not be read of records
-- that are kept (kind `field`), with the first row. The value that a reason ends with is left out, because a build says
-- these lines. The reason of a whole file (row 0) names columns and no values.
{{ config(materialized='view') }}
with rejected as (
    select * from {{ ref('hcat', 'stg_rejected_records') }}
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
