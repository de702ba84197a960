"""Predicted probability compared with the share that raters accept, by bin and by system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import charts
from hcat.report.showing import (
    MAXIMUM_SYSTEMS,
    as_markup,
    distinct_labels,
    format_interval,
    format_number,
    format_percent,
)

LIST_BINS = """
select * from fct_calibration_bins where metric_name = $metric_name and is_chosen order by bin
"""
LIST_SYSTEM_CALIBRATION = "select * from fct_system_calibration where metric_name = $metric_name order by system"


def describe_reliability(source: Warehouse, chosen: Row | None, quality: Sequence[Row]) -> dict[str, Any] | None:
    """Return the reliability diagram with its table; None without a calibrator or without bins."""
    if chosen is None:
        return None
    rows = source.rows(LIST_BINS, ["fct_calibration_bins"], metric_name=chosen["metric_name"])
    if not rows:
        return None
    bins = [
        charts.ReliabilityBin(
            row["mean_prediction"],
            row["share_accepted"],
            row["share_accepted_low"],
            row["share_accepted_high"],
            row["count_labels"],
        )
        for row in rows
    ]
    label = f"Reliability of the calibrated {chosen['metric_name']}: share accepted against probability, with intervals"
    measured = next((row for row in quality if row["metric_name"] == chosen["metric_name"] and row["is_chosen"]), None)
    return {
        "chart": as_markup(charts.draw_reliability(bins, label)),
        "rows": [
            {
                "prediction": format_percent(row["mean_prediction"]),
                "share": format_percent(row["share_accepted"]),
                "interval": format_interval(row["share_accepted_low"], row["share_accepted_high"], "share"),
                "count_labels": row["count_labels"],
                "count_clusters": row["count_clusters"],
            }
            for row in rows
        ],
        "count_labels": sum(row["count_labels"] for row in rows),
        "count_bins": len(rows),
        "count_outside": sum(
            1 for row in rows if not row["share_accepted_low"] <= row["mean_prediction"] <= row["share_accepted_high"]
        ),
        "error": format_number(measured["calibration_error"]) if measured else "–",
        "limit": format_number(measured["calibration_error_limit"]) if measured else "–",
    }


def describe_systems(source: Warehouse, chosen: Row | None) -> dict[str, Any]:
    """Return predicted probability against the share that raters accept, one row per system."""
    rows = (
        []
        if chosen is None
        else source.rows(LIST_SYSTEM_CALIBRATION, ["fct_system_calibration"], metric_name=chosen["metric_name"])
    )
    labels = distinct_labels([row["system"] for row in rows[:MAXIMUM_SYSTEMS]])
    shown = []
    for row in rows[:MAXIMUM_SYSTEMS]:
        low, high = row["difference_low"], row["difference_high"]
        if row["difference"] is None:
            words = "too few labelled clusters"
        elif low is None or high is None:
            words = "no interval: too few labelled clusters"
        elif high < 0:
            words = "probabilities are too high for the system"
        elif low > 0:
            words = "probabilities are too low for the system"
        else:
            words = "no significant difference"
        shown.append(
            {
                "system": labels[row["system"]],
                "accepted": format_percent(row["share_accepted"]),
                "predicted": format_percent(row["mean_prediction"]),
                "difference": "" if row["difference"] is None else format_number(row["difference"]),
                "interval": format_interval(low, high),
                "count_labels": row["count_labels"],
                "count_clusters": row["count_clusters"],
                "words": words,
            }
        )
    return {"rows": shown, "count_left_out": max(0, len(rows) - MAXIMUM_SYSTEMS)}
