{{ config(enabled=is_on('drift')) }}
-- Every series has a row per test and window, tested or not. Every dimension has one row per window for its mix.
with series as (
    select distinct evaluations.metric_name, segments.dimension, segments.segment
    from {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
    inner join {{ ref('hcat', 'int_segments_monitored') }} as segments
        on evaluations.interaction_id = segments.interaction_id
),

dimensions as (
    select distinct dimension
    from {{ ref('hcat', 'int_segments_monitored') }}
    where dimension <> 'all'
),

expected as (
    {%- for weeks in var('hcat_drift_window_weeks') %}
    select metric_name, dimension, segment, 'mean_shift' as test, {{ weeks }} as window_weeks from series
    union all
    select null as metric_name, dimension, 'all' as segment, 'mix_shift' as test, {{ weeks }} as window_weeks
    from dimensions
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
),

found as (
    select metric_name, dimension, segment, test, window_weeks
    from {{ ref('hcat', 'fct_metric_drift') }}
),

missing as (
    select * from expected
    except
    select * from found
),

unexpected as (
    select * from found
    except
    select * from expected
)

select *, 'missing' as problem from missing
union all
select *, 'not expected' as problem from unexpected
