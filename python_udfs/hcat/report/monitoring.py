"""Monitoring plan: gates and drift, expiry of decisions and calibrations, and the next labels to collect."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import charts
from hcat.report.ledger import VOID_DECISIONS, Build
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    SENTENCE_CHARACTERS,
    Gap,
    as_markup,
    describe_segment,
    format_interval,
    format_number,
)

#: Series and latest weeks drawn, and rows listed; the number left out is shown below them.
MAXIMUM_SERIES = 4
MAXIMUM_WEEKS = 26
MAXIMUM_DRIFTS = 40
MAXIMUM_DECISIONS = 60

#: Metrics whose weeks are drawn.
WEEKLY_METRICS = ("groundedness", "answer_relevancy__mean", "recall_at_5", "refusal_as_expected")
#: Settings of the build that are rules of the plan.
PLAN_SETTINGS = ("hcat_drift", "hcat_calibration_valid", "hcat_audit", "hcat_alert", "hcat_review")

DRIFT_TESTS = {
    "mean_shift": "mean of the last weeks against the weeks of the reference",
    "mix_shift": "share of each segment in the last weeks against the weeks of the reference",
}

COUNT_DRIFT = """
select
    test,
    count(*) as count_windows,
    count(*) filter (where status = 'tested') as count_tested,
    count(*) filter (where status <> 'tested') as count_not_tested,
    count(*) filter (where is_drifting) as count_drifting,
    max(window_start) as last_window
from fct_metric_drift
group by test
order by test
"""

LIST_DRIFTING = """
select *
from fct_metric_drift
where is_drifting
order by window_start desc, q_value nulls last, metric_name, dimension, segment, test
"""

# The main metrics over all interactions, and before them the series that drift.
LIST_WEEKLY_SERIES = """
with drifting as (
    select metric_name, dimension, segment, min(q_value) as q_value
    from fct_metric_drift
    where is_drifting and metric_name is not null
    group by metric_name, dimension, segment
),

series as (
    select metric_name, dimension, segment
    from fct_metric_weeks
    group by metric_name, dimension, segment
)

select series.*, drifting.metric_name is not null as is_drifting
from series
left join drifting
    on
        series.metric_name = drifting.metric_name
        and series.dimension = drifting.dimension
        and series.segment = drifting.segment
where
    drifting.metric_name is not null
    or (series.dimension = 'all' and list_contains($metric_names::varchar[], series.metric_name))
order by
    is_drifting desc,
    drifting.q_value nulls last,
    list_position($metric_names::varchar[], series.metric_name) nulls last,
    series.metric_name,
    series.dimension,
    series.segment
limit $maximum
"""

LIST_WEEKS = """
select week_start, count_scored, mean_score, mean_lower, mean_upper
from fct_metric_weeks
where
    metric_name = $metric_name
    and dimension = $dimension
    and segment = $segment
    and week_start is not null
    and mean_score is not null
order by week_start
"""

# The band of the shortest window: the range in which the mean of a week raises no alarm.
FIND_BAND = """
select band_lower, band_upper, reference_start, reference_end
from fct_metric_drift
where
    metric_name = $metric_name
    and dimension = $dimension
    and segment = $segment
    and test = 'mean_shift'
    and band_lower is not null
order by window_weeks
limit 1
"""

LIST_ALARMS = """
select window_start, window_end
from fct_metric_drift
where metric_name = $metric_name and dimension = $dimension and segment = $segment and is_drifting
order by window_start, window_end
"""

#: A published copy lacks this table; dim_metrics repeats a part of it.
DECISIONS = "int_threshold_decisions"
LIST_DECISIONS = f"select * from {DECISIONS} order by valid_until nulls first, decision_name"

LIST_VALIDITY = """
select metric_name, criterion, version_class, calibration_status, count_labels, last_rated_at, valid_until
from fct_calibration_validity
order by valid_until nulls first, metric_name, version_class
"""

COUNT_AUDITS = """
select
    metric_name,
    test,
    max(rated_month) as last_month,
    count(*) filter (where status = 'passed') as count_passed,
    count(*) filter (where status = 'failed') as count_failed,
    count(*) filter (where status not in ('passed', 'failed')) as count_not_tested
from fct_audit_tests
group by metric_name, test
order by metric_name, test
"""


def describe_monitoring(source: Warehouse, build: Build) -> dict[str, Any]:
    """Return weekly scores and drift, expiry dates of decisions and calibrations, and the settings of the plan."""
    gaps = []
    if not source.has("fct_metric_drift"):
        gaps.append(
            Gap(
                "Tests of drift: this warehouse lacks the mart fct_metric_drift.",
                "`dbt build` with the current version of hcat, over logs of several weeks",
            )
        )
    if not source.has("fct_calibration_validity"):
        gaps.append(
            Gap(
                "Validity of the calibration of each version: this warehouse lacks the mart fct_calibration_validity.",
                "`dbt build` with the current version of hcat",
            )
        )
    weeks, drift = _describe_weeks(source, build), _describe_drift(source)
    if drift is not None and weeks is None:
        gaps.append(Gap("scores by week, and tests of drift", "logs with times of several weeks", "times"))
    return {
        "weeks": weeks,
        "drift": drift,
        "decisions": _describe_decisions(source, build),
        "validity": [
            {
                **row,
                "criterion": clean_label(row["criterion"]),
                "version_class": clean_label(row["version_class"]),
                "calibration_status": str(row["calibration_status"]).replace("_", " "),
                "last_rated": _format_day(row["last_rated_at"]),
                "valid_until": _format_day(row["valid_until"]),
            }
            for row in source.rows(LIST_VALIDITY, ["fct_calibration_validity"])[:MAXIMUM_DECISIONS]
        ],
        "audits": source.rows(COUNT_AUDITS, ["fct_audit_tests"])[:MAXIMUM_DECISIONS],
        "settings": sorted(
            (clean_label(name), clean_label(value))
            for name, value in build.settings.items()
            if name.startswith(PLAN_SETTINGS)
        ),
        "gaps": gaps,
    }


def _describe_weeks(source: Warehouse, build: Build) -> dict[str, Any] | None:
    """Return the weeks of the drifting and the main series, with the table behind the figure; None without weeks."""
    needed = ["fct_metric_weeks", "fct_metric_drift"]
    names = list(WEEKLY_METRICS)
    chosen = source.rows(LIST_WEEKLY_SERIES, needed, metric_names=names, maximum=MAXIMUM_SERIES)
    series = []
    for row in chosen:
        key = {name: row[name] for name in ("metric_name", "dimension", "segment")}
        weeks = source.rows(LIST_WEEKS, needed, **key)[-MAXIMUM_WEEKS:]
        reference = source.rows(FIND_BAND, needed, **key)
        alarms = source.rows(LIST_ALARMS, needed, **key)
        segment = "" if row["dimension"] == "all" else f", {describe_segment(row)}"
        if len(weeks) > 1:
            metric = build.primary.get(row["metric_name"])
            series.append(
                {
                    "title": row["metric_name"] + segment,
                    "weeks": weeks,
                    "alarms": alarms,
                    "reference": reference[0] if reference else None,
                    "band": _clip_band(reference[0], metric) if reference else None,
                }
            )
    days = sorted({week["week_start"] for one in series for week in one["weeks"]})
    if not days:
        return None
    panels = [
        (
            one["title"],
            [
                charts.WeeklyValue(
                    _format_day(week["week_start"]),
                    week["mean_score"],
                    week["mean_lower"],
                    week["mean_upper"],
                    any(alarm["window_start"] <= week["week_start"] <= alarm["window_end"] for alarm in one["alarms"]),
                )
                for week in one["weeks"]
            ],
            one["band"],
        )
        for one in series
    ]
    # segments are text from the logs: they are drawn, but not part of the name of the figure
    label = f"Weekly means with intervals of {len(panels)} series and their reference band; see the table"
    by_day = [{week["week_start"]: week for week in one["weeks"]} for one in series]
    return {
        "chart": as_markup(charts.draw_weeks(panels, [_format_day(day) for day in days], label)),
        "has_band": any(one["band"] for one in series),
        "columns": [one["title"] for one in series],
        "bands": [_show_band(one["band"], one["reference"]) for one in series],
        "rows": [{"week": _format_day(day), "cells": [_show_week(own.get(day)) for own in by_day]} for day in days],
    }


def _show_week(week: Row | None) -> str:
    if week is None:
        return "–"
    interval = format_interval(week["mean_lower"], week["mean_upper"])
    return f"{format_number(week['mean_score'])} {interval} n {week['count_scored']:,}"


def _clip_band(reference: Row, metric: Row | None) -> tuple[float, float]:
    """Return the band clipped to the range of the metric."""
    band = (reference["band_lower"], reference["band_upper"])
    if metric is None:
        return band
    low, high = metric["range_low"], metric["range_high"]
    return band[0] if low is None else max(band[0], low), band[1] if high is None else min(band[1], high)


def _show_band(band: tuple[float, float] | None, reference: Row | None) -> str:
    if band is None or reference is None:
        return "none"
    period = f"{_format_day(reference['reference_start'])} to {_format_day(reference['reference_end'])}"
    return f"{format_interval(*band)}, {period}"


def _describe_drift(source: Warehouse) -> dict[str, Any] | None:
    if not source.has("fct_metric_drift"):
        return None
    rows = source.rows(LIST_DRIFTING, ["fct_metric_drift"])
    tests = source.rows(COUNT_DRIFT, ["fct_metric_drift"])
    return {
        "is_tested": any(row["count_tested"] for row in tests),
        "tests": [
            {**row, "test": DRIFT_TESTS.get(row["test"], row["test"]), "last_window": _format_day(row["last_window"])}
            for row in tests
        ],
        "rows": [
            {
                "metric_name": row["metric_name"] or "mix of segments",
                "segment": describe_segment(row),
                "detail": clean_label(row["detail"], EXCERPT_CHARACTERS) if row.get("detail") else "",
                "test": DRIFT_TESTS.get(row["test"], row["test"]),
                "window": _format_day(row["window_start"]),
                "window_weeks": row["window_weeks"],
                "statistic": format_number(row["statistic"]),
                "limit": format_number(row["limit_value"]),
                "difference": format_number(row["difference"]),
                "interval": format_interval(row["difference_lower"], row["difference_upper"]),
                "count_reference": row["count_reference"],
                "count_window": row["count_window"],
                "q_value": format_number(row["q_value"]),
            }
            for row in rows[:MAXIMUM_DRIFTS]
        ],
        "count_drifting": len(rows),
        "count_left_out": max(0, len(rows) - MAXIMUM_DRIFTS),
    }


def _describe_decisions(source: Warehouse, build: Build) -> list[Row]:
    """Return the threshold decisions by date of expiry; from dim_metrics where this copy lacks the decisions."""
    if not source.has(f"{DECISIONS}.valid_until", f"{DECISIONS}.decided_by"):
        decided = [metric for metric in build.metrics if metric["decision_name"] is not None]
        rows = [{**metric, "rationale": metric.get("decision_rationale")} for metric in decided]
        rows.sort(key=lambda row: (str(row["valid_until"] or ""), row["decision_name"]))
    else:
        rows = source.rows(LIST_DECISIONS, [DECISIONS])
    started = build.run["started_at"].date() if build.run else None
    return [
        {
            "decision_name": clean_label(row["decision_name"]),
            "threshold": format_number(row.get("decided_threshold", row["threshold"])),
            "decided_by": clean_label(row["decided_by"]) if row["decided_by"] else "not recorded",
            "decided_on": _format_day(row.get("decided_on")),
            "valid_until": _format_day(row["valid_until"]),
            "days_left": None if started is None or row["valid_until"] is None else (row["valid_until"] - started).days,
            "is_provisional": row["is_provisional"],
            "void": VOID_DECISIONS.get(row.get("decision_status") or "", ""),
            "rationale": clean_text(row["rationale"], SENTENCE_CHARACTERS),
        }
        for row in rows[:MAXIMUM_DECISIONS]
    ]


def _format_day(value: Any) -> str:
    return "–" if value is None else f"{value:%Y-%m-%d}" if hasattr(value, "year") else clean_label(value)
