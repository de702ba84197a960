"""Thresholds by method with their error rates, and the decisions on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import charts
from hcat.report.calibration.labelled import MAXIMUM_SCORES, PREFERRED_METRIC, SAMPLE_LABELLED, find_score_range
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    as_markup,
    distinct_labels,
    format_interval,
    format_level,
    format_number,
    format_percent,
    group_by,
)

THRESHOLD_REASONS = {
    "insufficient": "too few labels",
    "one_class": "raters accepted all labelled answers or none",
    "constant_score": "all labelled answers have the same score",
    "no_unique_crossing": "the densities do not cross exactly once",
    "not_monotone": "the share accepted does not rise with the score",
    "out_of_range": "it lies outside the range of the scores",
    "no_threshold": "no threshold keeps the promise",
}

THRESHOLD_VERDICTS = {
    "within": ("passed", "✓ within tolerance"),
    "beyond": ("failed", "✗ beyond tolerance"),
    "not_shown": ("undecided", "? too few labels to decide"),
    "no_threshold": ("not_evaluated", "– no threshold"),
}

METHOD_NAMES = {
    "roc_youden": "ROC, Youden",
    "roc_cost": "ROC, cost weighted",
    "logistic": "logistic",
    "polynomial_logistic": "polynomial logistic",
    "gam": "additive model",
    "kde_crossing": "crossing of the densities",
    "conformal": "conformal",
    "normal_floor": "mean − z × standard deviation",
    "normal_floor_fold_mean": "mean − z × standard deviation, mean of folds",
    "normal_floor_fold_strictest": "mean − z × standard deviation, strictest fold",
    "pass_quantile": "quantile of accepted answers",
}

#: What the three methods that somebody decides by are for.
SHOWN_NAMES = {
    "conformal": "conformal: the promise",
    "roc_cost": "cost weighted: the trade",
    "pass_quantile": "quantile of accepted answers: the floor",
}

LIST_BANDS = "select * from fct_score_bands where metric_name = $metric_name order by band desc"

LIST_THRESHOLDS = """
select *
from fct_metric_thresholds
where metric_name = $metric_name
order by kind, method, confidence, risk_appetite
"""


def choose_threshold_metric(chosen: Row | None, labelled: Mapping[str, int], names: Sequence[str]) -> str | None:
    """Return the metric whose thresholds are drawn: the calibrated metric, or else the metric with most labels."""
    if chosen is not None:
        return str(chosen["metric_name"])
    with_labels = [name for name in names if labelled.get(name)]
    return min(with_labels, key=lambda name: (-labelled[name], name != PREFERRED_METRIC, name), default=None)


def describe_thresholds(source: Warehouse, metric_name: str | None, metrics: Mapping[str, Row]) -> dict[str, Any]:
    """Return score bands and thresholds of a metric with cross-validated error rates, and how other methods compare."""
    described: dict[str, Any] = {"metric_name": metric_name, "chart": None, "acceptance": [], "monitoring": []}
    described |= {"bands": [], "methods": []}
    if metric_name is None:
        return described
    listed = source.rows(LIST_THRESHOLDS, ["fct_metric_thresholds"], metric_name=metric_name)
    order = [*SHOWN_NAMES, *METHOD_NAMES]
    listed.sort(key=lambda row: order.index(row["method"]) if row["method"] in order else len(order))
    rows = [row for row in listed if row["is_shown"]]
    others = [row for row in listed if not row["is_shown"]]
    for kind in ("acceptance", "monitoring"):
        described[kind] = [
            {"method": SHOWN_NAMES.get(method, method), "rows": [_show_threshold(row) for row in chosen]}
            for method, chosen in group_by([row for row in rows if row["kind"] == kind], "method").items()
        ]
    labelled = source.rows(SAMPLE_LABELLED, ["fct_evaluations"], metric_name=metric_name, maximum=MAXIMUM_SCORES)
    levels = sorted({row["interval_level"] for row in rows if row["kind"] == "acceptance"})
    counts = {row["human_label"]: row["count_labels"] for row in labelled}
    return {
        **described,
        "bands": [_show_band(row) for row in source.rows(LIST_BANDS, ["fct_score_bands"], metric_name=metric_name)],
        "methods": [_show_method(row) for row in (*rows, *others)],
        "chart": _draw_thresholds([*rows, *others], labelled, metric_name, metrics.get(metric_name)),
        "count_accepted": counts.get(1, 0),
        "count_failed": counts.get(0, 0),
        "interval_level": format_percent(levels[0]) if levels else "–",
        "is_decided": bool(metrics.get(metric_name, {}).get("threshold") is not None),
        "fit": f"{rows[0]['count_fit_accepted']:,} accepted and {rows[0]['count_fit_failed']:,} failed answers of "
        f"{rows[0]['count_fit_clusters']:,} clusters"
        if rows
        else "",
    }


def _show_band(row: Row) -> dict[str, str]:
    """Return how many labelled answers of a band raters failed, in words."""
    low, high = row["lower_bound"], row["upper_bound"]
    if low is not None and high is not None:
        band = f"from {format_number(low)} to below {format_number(high)}"
    elif low is not None:
        band = f"from {format_number(low)}"
    else:
        band = "all scores" if high is None else f"below {format_number(high)}"
    return {
        "band": band,
        "words": f"raters failed {row['count_failed']:,} of {row['count_labels']:,}",
        "interval": f"{format_percent(row['failure_rate_low'])} to {format_percent(row['failure_rate_high'])}",
        "count_clusters": row["count_clusters"],
    }


def _show_method(row: Row) -> dict[str, Any]:
    """Return one line of the comparison of methods."""
    accept, reject, cost = row["false_accept_rate"], row["false_reject_rate"], row["expected_cost"]
    return {
        "method": _name_method(row["method"]),
        "appetite": clean_label(row["risk_appetite"]),
        "threshold": format_number(row["threshold"]) if row["threshold"] is not None else "",
        "reason": THRESHOLD_REASONS.get(row["status"], ""),
        "accept": format_percent(accept) if accept is not None else "–",
        "reject": format_percent(reject) if reject is not None else "–",
        "cost": format_number(100 * cost) if cost is not None else "–",
    }


def _name_method(method: str) -> str:
    return METHOD_NAMES.get(method, method)


def _show_threshold(row: Row) -> Row:
    state, words = THRESHOLD_VERDICTS.get(row["verdict"], ("not_evaluated", row["verdict"]))
    reason = THRESHOLD_REASONS.get(row["status"], "")
    if row["accepts"]:
        reason += f": it would accept {row['accepts']}"
    return {
        "appetite": clean_label(row["risk_appetite"]),
        "confidence": format_level(row["confidence"]),
        "threshold": format_number(row["threshold"]) if row["threshold"] is not None else "",
        "reason": reason,
        "is_decided": row["is_decided"],
        "accept": _show_error(row, "false_accept"),
        "reject": _show_error(row, "false_reject"),
        "state": state,
        "words": words,
    }


def _show_error(row: Row, name: str) -> dict[str, str]:
    """Return a cross-validated error rate as text, with its interval, its number of labels and the tolerated share."""
    rate, tolerated = row[f"{name}_rate"], row[f"{name}_tolerated_share"]
    if rate is None:
        reason = "no such label" if row[f"{name}_status"] == "one_class" else "–"
        return {"rate": "", "interval": reason, "count": "", "tolerated": ""}
    return {
        "rate": format_percent(rate),
        "interval": format_interval(row[f"{name}_rate_lower"], row[f"{name}_rate_upper"], "share"),
        "count": f"n {row[f'{name}_count_labels']:,}",
        "tolerated": "" if tolerated is None else f"tolerated {format_level(tolerated)}",
    }


def _draw_thresholds(rows: Sequence[Row], labelled: Sequence[Row], metric_name: str, metric: Row | None) -> Any:
    if not labelled:
        return None
    found = [row for row in rows if row["kind"] == "acceptance" and row["threshold"] is not None]
    appetites = list(
        dict.fromkeys(
            row["risk_appetite"] for row in sorted(found, key=lambda row: (row["confidence"], row["risk_appetite"]))
        )
    )[: len(charts.SERIES_COLOURS)]
    names = {appetite: f"{label} risk appetite" for appetite, label in distinct_labels(appetites).items()}
    estimates = [
        charts.Estimate(_name_method(row["method"]), names[row["risk_appetite"]], row["threshold"], None, None)
        for row in found
        if row["risk_appetite"] in names
    ]
    decided = None if metric is None else metric["threshold"]
    scores = [row["raw_score"] for row in labelled]
    values = [*scores, *(estimate.value for estimate in estimates), *([] if decided is None else [decided])]
    chart = charts.draw_thresholds(
        [
            (words, [row["raw_score"] for row in labelled if row["human_label"] == label])
            for label, words in ((1, "accepted by raters"), (0, "failed by raters"))
        ],
        estimates,
        list(dict.fromkeys(estimate.position for estimate in estimates)),
        list(names.values()),
        decided,
        find_score_range(metric, values),
        f"score of {metric_name}",
        f"Scores of accepted and failed answers of {metric_name} with thresholds by method; see the table",
    )
    return as_markup(chart)


def describe_decisions(names: Sequence[str], metrics: Mapping[str, Row]) -> dict[str, Any]:
    """Return the threshold decision of each metric: who decided, why, and until when it is valid."""
    rows = []
    for name in names:
        metric = metrics.get(name)
        if metric is None or metric["threshold"] is None:
            rows.append({"metric_name": name, "is_decided": False})
            continue
        reason = metric.get("decision_rationale")
        rows.append(
            {
                "metric_name": name,
                "is_decided": True,
                "threshold": format_number(metric["threshold"]),
                "decided_by": clean_label(metric["decided_by"]) if metric["decided_by"] else "not recorded",
                "reason": clean_label(reason, EXCERPT_CHARACTERS) if reason else "not recorded",
                "valid_until": str(metric["valid_until"]) if metric["valid_until"] else "no date",
                "is_provisional": bool(metric["is_provisional"]),
                "is_expired": bool(metric["is_decision_expired"]),
            }
        )
    return {"rows": rows}
