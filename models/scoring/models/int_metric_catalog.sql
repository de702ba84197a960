-- One row per metric of this project: those of the modules of hcat that are on, and those that the project adds with
-- hcat_own_metrics.
{%- set families_off = families_switched_off() %}
select * from {{ ref('metric_catalog') }}
{%- if families_off %}
where family not in ('{{ families_off | join("', '") }}')
{%- endif %}
union all
select * from {{ ref('own_metrics') }}
