with varied as (
    select * from {{ ref('hcat', 'int_findings_varied') }}
),

weaknesses as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
),

counted as (
    select
        cell_id,
        -- as_declared is the finding itself, and length_only is a rival explanation and no variation of it
        count(case when kind not in ('as_declared', 'length_only') then is_flagged end) as count_variations,
        avg(case when kind not in ('as_declared', 'length_only') then is_flagged::integer end) as share_surviving,
        bool_or(kind = 'length_only' and is_flagged) as is_found_by_length,
        bool_or(kind = 'length_adjusted' and not is_flagged) as is_explained_by_length
    from varied
    group by cell_id
),

final as (
    select
        -- ids
        md5(concat_ws('|', varied.cell_id, varied.variation)) as finding_sensitivity_id,
        varied.cell_id as finding_id,

        -- strings
        weaknesses.metric_name,
        weaknesses.first_dimension,
        weaknesses.first_segment,
        weaknesses.second_dimension,
        weaknesses.second_segment,
        weaknesses.measurement,
        varied.variation,
        varied.kind,
        varied.status,

        -- numerics
        varied.count_jackknife_groups,
        varied.difference,
        varied.difference_bound,
        varied.p_value,
        counted.count_variations,
        counted.share_surviving,

        -- booleans
        varied.is_flagged,
        coalesce(counted.is_found_by_length, false) as is_found_by_length,
        counted.is_explained_by_length
    from varied
    inner join weaknesses on varied.cell_id = weaknesses.cell_id
    inner join counted on varied.cell_id = counted.cell_id
)

select * from final
