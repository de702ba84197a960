{#- parameters that a row shows at most -#}
{%- set shown_parameters = 20 -%}
with calibrators as (
    select * from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'calibrators'
),

-- parameter, position, value, lower_bound, probability, tree, node, feature, threshold, left, right,
-- missing_goes_left: hcat.calibration.calibrators
parameters as (
    select
        metric_name,
        segment,
        family,
        {{ explode_records('parameters') }}  -- noqa: AL03
    from calibrators
    where status = 'fitted'
),

numbered as (
    select
        *,
        row_number() over (partition by metric_name, segment, family order by parameter, position) as place
    from parameters
),

worded as (
    select
        *,
        parameter || '[' || position || '] '
        || coalesce(
            value::string,
            'from ' || coalesce(lower_bound::string, 'below') || ': ' || probability::string,
            'x' || feature || ' <= ' || threshold || ' ? ' || "left" || ' : ' || "right"
        ) as parameter_shown
    from numbered
),

-- One line that a reader can check, with the name, position and value of the first parameters.
shown as (
    select
        metric_name,
        segment,
        family,
        {{ joined_text('parameter_shown', "'; '", 'parameter, position') }} as parameters_shown
    from worded
    where place <= {{ shown_parameters }}
    group by metric_name, segment, family
)

select {{ columns_of_contract({
    'calibrator_id': "md5(concat_ws('|', calibrators.metric_name, calibrators.segment, calibrators.family))",
    'fitted_run_id': "'" ~ invocation_id ~ "'",
    'parameters_shown': 'shown.parameters_shown',
    'count_labels': 'calibrators.count_labels::integer',
    'count_accepted': 'calibrators.count_accepted::integer',
    'count_clusters': 'calibrators.count_clusters::integer',
    'count_parameters': array_length('calibrators.parameters') ~ '::integer',
}, of='calibrators') }}
from calibrators
left join shown
    on
        calibrators.metric_name = shown.metric_name
        and calibrators.segment = shown.segment
        and calibrators.family = shown.family
