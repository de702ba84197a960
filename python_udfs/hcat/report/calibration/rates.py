"""Failure rates from labels and scores, and the number of labels that are still needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import charts
from hcat.report.calibration.labelled import PREFERRED_METRIC
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    MAXIMUM_SYSTEMS,
    as_markup,
    distinct_labels,
    format_interval,
    format_level,
    format_percent,
)

MAXIMUM_RATE_ROWS = 60

LIST_RATES = """
select * from fct_failure_rates where dimension = 'all' order by metric_name, count_interactions desc, system
"""


def describe_rates(source: Warehouse, chosen: Row | None, names: Sequence[str]) -> dict[str, Any]:
    """Return failure rates by system, each in one line."""
    rows = [row for row in source.rows(LIST_RATES, ["fct_failure_rates"]) if row["metric_name"] in names]
    labels = distinct_labels(list(dict.fromkeys(row["system"] for row in rows)))
    first = chosen["metric_name"] if chosen else PREFERRED_METRIC
    rows.sort(key=lambda row: row["metric_name"] != first)
    shown = [_show_rate(row, labels[row["system"]]) for row in rows[:MAXIMUM_RATE_ROWS]]
    drawn = [row for row in rows if row["metric_name"] == first][:MAXIMUM_SYSTEMS]
    return {
        "rows": [row for row in shown if row["metric_name"] == first],
        "other": [row for row in shown if row["metric_name"] != first],
        "count_left_out": max(0, len(rows) - MAXIMUM_RATE_ROWS),
        "metric_name": first,
        "is_process": all(row["target"] == "process" for row in rows),
        "count_labels": sum(row["count_labels"] for row in drawn),
        "chart": _draw_rates(drawn, labels),
    }


def _show_rate(row: Row, label: str) -> Row:
    words = {
        "prediction_powered": "prediction-powered",
        "labels_only": "labels only",
        "insufficient": "no rate: too few labelled clusters",
    }
    return {
        "metric_name": row["metric_name"],
        "criterion": clean_label(row["criterion"]),
        "system": label,
        "status": words.get(row["status"], row["status"]),
        "message": clean_label(row["message"], EXCERPT_CHARACTERS) if row["message"] else "",
        "statement": row["statement"] or "",
        "count_scored": row["count_scored"],
        "count_clusters": row["count_clusters"],
        "is_small": row["is_small"],
    }


def _draw_rates(rows: Sequence[Row], labels: Mapping[str, str]) -> Any:
    estimates = [
        charts.Estimate(
            charts.shorten(labels[row["system"]], 40),
            "failure rate",
            row["failure_rate"],
            row["failure_rate_lower"],
            row["failure_rate_upper"],
        )
        for row in rows
        if row["failure_rate"] is not None
    ]
    if not estimates:
        return None
    systems = list(dict.fromkeys(estimate.position for estimate in estimates))
    label = "Failure rate by system with intervals; see the table"
    return as_markup(
        charts.draw_estimates(estimates, systems, ["failure rate"], "share of answers that raters fail", label)
    )


def describe_labels_needed(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of fct_labels_needed as text: how many labels each precision takes and how many are missing."""
    described = []
    for row in rows:
        points = f"{100 * row['target']:g} percentage points"
        if row["purpose"] == "half_width":
            purpose = f"failure rate within ± {points}"
        elif row["purpose"] == "decided_share":
            purpose = f"prediction sets decide {format_percent(row['target'])} of the answers"
        else:
            power = "" if row["power"] is None else f", detected with probability {format_level(row['power'])}"
            purpose = f"difference of {points} between two groups{power}"
        described.append(
            {
                "metric_name": row["metric_name"],
                "purpose": f"{purpose} ({format_level(row['confidence'])} confidence)",
                "count_needed": row["count_labels_needed"],
                "count_labels": row["count_labels"],
                "count_missing": row["count_labels_missing"],
                "planning_rate": format_percent(row["planning_rate"]),
                "words": _state_plan(row),
                "rate": ""
                if row["failure_rate"] is None
                else f"{format_percent(row['failure_rate'])} "
                f"{format_interval(row['failure_rate_low'], row['failure_rate_high'], 'share')}",
            }
        )
    return described


def _state_plan(row: Row) -> str:
    """Return how far the labels go in words; counts exist only where labels are missing."""
    status: str = row["label_status"]
    if status == "labels_missing":
        return f"{row['count_labels_missing']:,} labels missing"
    if status == "out_of_reach":
        return f"out of reach: this score allows at most {format_percent(row['share_decidable'])}"
    if status == "no_labels" and row["purpose"] == "decided_share":
        return "no plan without labels"
    words = {"reached": "✓ reached", "no_labels": "no labels yet: planned with a failure rate of one half"}
    return words.get(status, status)
