"""Conformity scores and coverage of prediction sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import charts
from hcat.report.calibration.labelled import MAXIMUM_SCORES, SAMPLE_LABELLED
from hcat.report.showing import as_markup, distinct_labels, format_level, format_number, format_percent

#: Rows of the table; the number of rows left out is shown below it.
MAXIMUM_COVERAGE_ROWS = 40

#: Quantiles drawn per panel.
MAXIMUM_QUANTILES = 4

QUANTILE_SENTENCES = {
    "conformalized": "promised",
    "insufficient": "no promise: too few labelled clusters, so sets contain both labels",
}

LIST_QUANTILES = """
select stratification, stratum, alpha, human_label as label, quantile, count_calibration_clusters as count_clusters
from fct_conformal_coverage
where metric_name = $metric_name and quantile is not null
order by alpha, stratification, stratum, label
"""

LIST_COVERAGE = """
select *
from fct_conformal_coverage
where metric_name = $metric_name and (
    stratification = 'label_conditional'
    or (stratification = 'marginal' and scope in ('marginal', 'label'))
)
order by
    alpha,
    stratification,
    list_position(['marginal', 'label', 'group', 'label_and_group'], scope),
    stratum nulls first,
    human_label desc nulls first
"""


def describe_conformity(source: Warehouse, chosen: Row | None, alpha: float | None) -> dict[str, Any] | None:
    """Return the figure of conformity scores with its table; None without a calibrator or without labels."""
    if chosen is None:
        return None
    name = chosen["metric_name"]
    rows = [
        row
        for row in source.rows(SAMPLE_LABELLED, ["fct_evaluations"], metric_name=name, maximum=MAXIMUM_SCORES)
        if row["calibrated_probability"] is not None
    ]
    if not rows:
        return None
    quantiles = source.rows(LIST_QUANTILES, ["fct_conformal_coverage"], metric_name=name)
    panels = []
    for label, title in ((1, "answers accepted by raters"), (0, "answers failed by raters")):
        # 1 - P(label given by raters): 0 where the probability agrees with them fully
        scores = [
            1 - row["calibrated_probability"] if label else row["calibrated_probability"]
            for row in rows
            if row["human_label"] == label
        ]
        panels.append((f"{title} (n {len(scores):,})", scores, _find_cuts(quantiles, label, alpha)))
    text = f"Conformity scores of {name} for accepted and failed answers with the quantiles that cut prediction sets"
    chart = charts.draw_conformity(panels, "1 − probability of the label that raters gave", text)
    return {
        "chart": as_markup(chart),
        "rows": [
            {
                "title": title,
                "quartiles": ", ".join(
                    format_number(value) for value in np.quantile(scores, (0.25, 0.5, 0.75)).tolist()
                )
                if scores
                else "–",
                "cuts": "; ".join(f"{cut.text} {format_number(cut.value)}" for cut in cuts) or "none",
            }
            for title, scores, cuts in panels
        ],
        "count_labels": len(rows),
        "without_own": [
            words
            for label, words in ((1, "accepted"), (0, "failed"))
            if not any(
                row["stratification"] == "label_conditional" and row["label"] == label and alpha in (None, row["alpha"])
                for row in quantiles
            )
        ],
    }


def _find_cuts(quantiles: Sequence[Row], label: int, alpha: float | None) -> list[charts.Cut]:
    """Return the quantiles of ``label`` that are drawn: those in force first, then the marginal ones, dashed."""
    own = [row for row in quantiles if row["stratification"] == "label_conditional" and row["label"] == label]
    if len({row["stratum"] for row in own}) > 1:
        # one line per stratum can only be read at one level: the level in force
        own = [row for row in own if alpha is None or row["alpha"] == alpha]
        own.sort(key=lambda row: (-(row["count_clusters"] or 0), row["stratum"], row["alpha"]))
        names = distinct_labels(list(dict.fromkeys(row["stratum"] for row in own)))
        cuts = [
            charts.Cut(row["quantile"], f"{format_level(1 - row['alpha'])} {charts.shorten(names[row['stratum']], 20)}")
            for row in own[:MAXIMUM_QUANTILES]
        ]
    else:
        cuts = [charts.Cut(row["quantile"], format_level(1 - row["alpha"])) for row in own[:MAXIMUM_QUANTILES]]
    marginal = [row for row in quantiles if row["stratification"] == "marginal" and alpha in (None, row["alpha"])]
    return cuts + [
        charts.Cut(row["quantile"], f"marginal {format_level(1 - row['alpha'])}", is_main=False) for row in marginal
    ]


def describe_coverage(source: Warehouse, chosen: Row | None, alpha: float | None) -> dict[str, Any]:
    """Return promised and measured coverage of prediction sets: ``rows`` in force and ``other`` rows."""
    rows = (
        []
        if chosen is None
        else source.rows(LIST_COVERAGE, ["fct_conformal_coverage"], metric_name=chosen["metric_name"])
    )
    labels = distinct_labels(list(dict.fromkeys(row["stratum"] for row in rows if row["stratum"] is not None)))
    shown = []
    for row in rows:
        # label and stratum together have a coverage to check only where they have a quantile of their own
        if row["scope"] == "label_and_group" and row["quantile_status"] is None:
            continue
        stratum = "" if row["stratum"] is None else labels[row["stratum"]]
        verdict = {1: "accepted by raters", 0: "failed by raters"}.get(row["human_label"], "")
        status = row["quantile_status"]
        if status is not None:
            check = QUANTILE_SENTENCES.get(status, status)
        elif row["share_all"] == 1:
            check = "no quantile, so sets contain both labels"
        else:
            check = "measured, without a promise of its own"
        shown.append(
            {
                "is_in_force": row["stratification"] == "label_conditional" and alpha in (None, row["alpha"]),
                "promised": format_level(1 - row["alpha"]),
                "sets": {
                    "label_conditional": "one per label and group",
                    "marginal": "one for all answers",
                }.get(row["stratification"], row["stratification"]),
                "answers": ", ".join(part for part in (stratum, verdict) if part) or "all answers",
                "is_measured": row["status"] == "measured" and row["coverage"] is not None,
                "coverage": format_percent(row["coverage"]),
                "count_labels": row["count_labels"],
                "count_clusters": row["count_clusters"],
                "check": check if row["status"] == "measured" else "not measured: no audit labels",
                "decided": format_percent(row["share_single"]),
                "undecided": format_percent(row["share_all"]),
                "empty": format_percent(row["share_empty"]),
            }
        )
    force = [row for row in shown if row["is_in_force"]]
    other = [row for row in shown if not row["is_in_force"]]
    return {
        "rows": force[:MAXIMUM_COVERAGE_ROWS],
        "decided": describe_decided(rows),
        "count_left_out": max(0, len(force) - MAXIMUM_COVERAGE_ROWS) + max(0, len(other) - MAXIMUM_COVERAGE_ROWS),
        "other": other[:MAXIMUM_COVERAGE_ROWS],
    }


def describe_decided(rows: Sequence[Row]) -> list[Row]:
    """Return what the sets decide at each level, and what the score allows at most."""
    return [
        {
            "promised": format_level(1 - row["alpha"]),
            "decided": format_percent(row["share_single"]),
            # the ceiling assumes normal scores: labels that go beyond it say that these are not
            "decidable": format_percent(row["share_decidable"]) if row["share_decidable"] > row["share_single"] else "",
            "count_labels": row["count_labels"],
            "count_clusters": row["count_clusters"],
        }
        for row in rows
        if row["stratification"] == "label_conditional"
        and row["scope"] == "marginal"
        and row["share_single"] is not None
        and row["share_decidable"] is not None
    ]
