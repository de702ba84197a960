-- One row per attribute of a staged span at a key that some dialect names; a number of the key is * in its path.
{{ config(materialized='table') }}
with landed as (
    select
        record_id,
        attributes
    from {{ ref('hcat', 'landed_records') }}
    where entity = 'spans'
),

spans as (
    select
        record_id,
        kind
    from {{ ref('hcat', 'base_spans') }}
    where record_status = 'staged'
),

paths as (
    select path from {{ ref('hcat', 'base_span_paths') }}
    union
    select guard_path as path from {{ ref('hcat', 'base_span_paths') }}
),

entries as (
    select
        landed.record_id,
        {{ explode_records(json_entries('landed.attributes')) }}
    from landed
    inner join spans on landed.record_id = spans.record_id
),

placed as (
    select
        *,
        {{ replace_pattern('key', '[.][0-9]+\\b', '.*') }} as path
    from entries
),

wanted as (
    select
        placed.record_id,
        placed.path,
        placed.value,
        -- as text with leading zeros, so that order and beginnings can be compared
        {{ array_join(array_map(all_matches('placed.key', '[.]([0-9]+)'), "lpad(each, 6, '0')"), '.') }} as position
    from placed
    inner join paths on placed.path = paths.path
),

final as (
    select * from wanted
    union all
    -- the column kind is an attribute of this name
    select
        record_id,
        'kind' as path,
        kind as value,
        '' as position
    from spans
    where kind is not null
)

select * from final
