-- One row per (interaction, criterion, content of the label) that was ever in force, with its first build. Rows are
-- appended, so that an earlier calibration can be read with the labels of its time.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='fail',
    full_refresh=false
) }}

with labels as (
    select * from {{ ref('hcat', 'int_ratings_adjudicated') }}
),

final as (
    select
        md5(
            concat_ws(
                '|', interaction_id, criterion, rule, label_status, coalesce(guideline_version, ''),
                coalesce(label::string, ''), coalesce(scale_point::string, ''), count_raters, mean_scale_point
            )
        ) as label_version_id,
        interaction_id,
        criterion,
        rule,
        label_status,
        guideline_version,
        label,
        scale_point,
        count_raters,
        mean_scale_point,
        '{{ invocation_id }}' as first_run_id
    from labels
)

select * from final
{% if is_incremental() %}
where
    not exists (
        select 1 from {{ this }} as written
        where written.label_version_id = final.label_version_id
    )
{% endif %}
