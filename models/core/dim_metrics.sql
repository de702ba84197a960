-- A metric decides if labels admit it at its threshold in force: the lower limits of both true rates reach what the
-- risk appetite asks. Facts need no labels, and published figures stand in for labels that are too few.
with metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
    where {{ is_metric_of_this_build('requires') }}
),

targets as (
    select metric_name, criterion from {{ seed('calibration_targets') }}
),

rules as (
    select metric_name, measurement, rationale from {{ seed('metric_rules') }}
    where rule_for = 'admission'
),

own as (
    select metric_name from {{ seed('own_metrics') }}
),

-- The row of the threshold in force, or another acceptance row of the metric, which counts the same labels.
measured as (
    select
        metric_name,
        max(count_fit_accepted) as count_passed_labels,
        max(count_fit_failed) as count_failed_labels,
        max(false_accept_count_needed) as count_failed_labels_needed,
        max(false_reject_count_needed) as count_passed_labels_needed,
        max(1 - false_accept_tolerated_share) as share_failed_found_asked,
        max(1 - false_reject_tolerated_share) as share_good_passed_asked,
        max(case when method = 'decided' then 1 - false_accept_rate_upper end) as share_failed_found_lower,
        max(case when method = 'decided' then 1 - false_accept_rate_lower end) as share_failed_found_upper,
        max(case when method = 'decided' then 1 - false_reject_rate_upper end) as share_good_passed_lower,
        max(case when method = 'decided' then 1 - false_reject_rate_lower end) as share_good_passed_upper
    from {{ ref_if_on(
        'calibration', 'int_labels_measured',
        'part, metric_name, method, kind, is_appetite_of_application boolean, count_fit_accepted bigint,'
        ~ ' count_fit_failed bigint, false_accept_count_needed bigint, false_reject_count_needed bigint,'
        ~ ' false_accept_tolerated_share double, false_reject_tolerated_share double, false_accept_rate_lower double,'
        ~ ' false_accept_rate_upper double, false_reject_rate_lower double, false_reject_rate_upper double'
    ) }}
    where part = 'thresholds' and kind = 'acceptance' and is_appetite_of_application
    group by metric_name
),

joined as (
    select
        metrics.*,
        targets.criterion,
        decisions.decision_name,
        decisions.decided_by,
        decisions.rationale as decision_rationale,
        coalesce(decisions.decision_status, 'no_decision') as decision_status,
        decisions.version_class as decision_version_class,
        decisions.threshold::double as threshold,
        decisions.decided_threshold::double as decided_threshold,
        decisions.is_provisional,
        coalesce(decisions.valid_until < current_date, false) as is_decision_expired,
        decisions.valid_until,
        -- what its author wrote is a fact, until raters are asked about it
        coalesce(
            rules.measurement, case when own.metric_name is not null and targets.metric_name is null then 'fact' end
        ) as admission_rule,
        coalesce(rules.rationale, 'The project added it, and its author answers for it') as admission_rationale,
        coalesce(measured.count_failed_labels, 0)::bigint as count_failed_labels,
        coalesce(measured.count_passed_labels, 0)::bigint as count_passed_labels,
        measured.count_failed_labels_needed, measured.count_passed_labels_needed, measured.share_failed_found_asked,
        measured.share_failed_found_lower, measured.share_failed_found_upper, measured.share_good_passed_asked,
        measured.share_good_passed_lower, measured.share_good_passed_upper,
        -- Fewer labels cannot show the asked shares, whatever they say.
        coalesce(
            measured.count_failed_labels >= measured.count_failed_labels_needed
            and measured.count_passed_labels >= measured.count_passed_labels_needed,
            false
        ) as has_labels_enough,
        concat_ws(
            '; ',
            coalesce(measured.count_failed_labels, 0) || ' failed labels and '
            || coalesce(measured.count_passed_labels, 0) || ' passed ones',
            measured.count_failed_labels_needed || ' and ' || measured.count_passed_labels_needed
            || ' are needed at least'
        ) as have_and_need,
        coalesce(
            measured.share_failed_found_upper < measured.share_failed_found_asked
            or measured.share_good_passed_upper < measured.share_good_passed_asked,
            false
        ) as is_refuted
    from metrics
    left join {{ ref('hcat', 'int_threshold_decisions') }} as decisions on metrics.metric_name = decisions.metric_name
    left join targets on metrics.metric_name = targets.metric_name
    left join rules on metrics.metric_name = rules.metric_name
    left join own on metrics.metric_name = own.metric_name
    left join measured on metrics.metric_name = measured.metric_name
),

admitted as (
    select
        *,
        case
            when admission_rule = 'fact' then 'fact'
            when
                share_failed_found_lower >= share_failed_found_asked
                and share_good_passed_lower >= share_good_passed_asked
                then 'admitted'
            when
                admission_rule = 'provisional' and not has_labels_enough and not is_refuted
                and decision_status in ('in_force', 'expired', 'no_decision')
                then 'provisional'
            else 'not_admitted'
        end as admission
    from joined
),

reasoned as (
    select
        *,
        case
            when admission = 'fact' or (admission = 'provisional' and criterion is null) then admission_rationale
            when admission = 'provisional' then admission_rationale || '. Your labels: ' || have_and_need
            when criterion is null then 'no label judges it: it is in no row of calibration_targets'
            when threshold is null then 'no threshold is in force'
            when admission = 'not_admitted' and not has_labels_enough and not is_refuted then have_and_need
            else
                concat_ws(
                    ' ', 'it finds at', if(is_refuted, 'most', 'least'),
                    round(100 * if(is_refuted, share_failed_found_upper, share_failed_found_lower))::integer,
                    '% of failed answers and passes',
                    round(100 * if(is_refuted, share_good_passed_upper, share_good_passed_lower))::integer,
                    '% of good ones;',
                    round(100 * share_failed_found_asked)::integer, '% and',
                    round(100 * share_good_passed_asked)::integer, '% are asked'
                )
        end as admission_reason
    from admitted
)

select {{ columns_of_contract({
    'range_low': 'range_low::double',
    'range_high': 'range_high::double',
    'count_labels': 'count_failed_labels + count_passed_labels',
    'is_deciding': "admission <> 'not_admitted'",
}) }}
from reasoned
