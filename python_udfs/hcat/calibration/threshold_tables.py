"""Labels as Arrow tables become thresholds as an Arrow table: one row per metric, method and risk appetite.

The statistics are those of :mod:`hcat.calibration.thresholds`; here rows become the arrays it reads, and its results
rows. Every metric that people calibrate has all its rows, with a status and a message where there is no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.risk_appetites import RiskAppetite
from hcat.calibration.threshold_quotes import COUNT_FOLDS, COUNT_FOLDS_COMPARED, Quote, accept_out_of_fold, judge, quote
from hcat.calibration.thresholds import (
    MINIMUM_CLUSTERS,
    MINIMUM_PER_CLASS,
    SHOWN,
    STATUSES,
    Threshold,
    fit_all,
)
from hcat.statistics.arrays import Flags, Floats

FITTED_SCHEMA: Final = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("direction", pa.string()),
        ("kind", pa.string()),
        ("method", pa.string()),
        ("risk_appetite", pa.string()),
        ("status", pa.string()),
        ("message", pa.string()),
        ("accepts", pa.string()),
        ("confidence", pa.float64()),
        ("threshold", pa.float64()),
        ("held_out_flag_share", pa.float64()),
        ("count_fit_accepted", pa.int64()),
        ("count_fit_failed", pa.int64()),
        ("count_fit_clusters", pa.int64()),
        ("is_shown", pa.bool_()),
        ("expected_cost", pa.float64()),
        ("interval_level", pa.float64()),
        *(
            (f"{error}_{field}", kind)
            for error in ("false_accept", "false_reject")
            for field, kind in (
                ("status", pa.string()),
                ("verdict", pa.string()),
                ("tolerated_share", pa.float64()),
                ("rate", pa.float64()),
                ("rate_lower", pa.float64()),
                ("rate_upper", pa.float64()),
                ("count_labels", pa.int64()),
                ("count_clusters", pa.int64()),
                ("effective_n", pa.float64()),
            )
        ),
    ]
)

#: Cosines leave [-1, 1] by rounding; the same allowance as in the project's range test.
RANGE_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class TargetMetric:
    """A metric that people calibrate, with its criterion and what the catalogue says of its scores."""

    name: str
    criterion: str
    direction: str
    unit: str | None
    low: float | None
    high: float | None

    def count_outside(self, scores: Floats) -> int:
        """Return how many scores lie outside the range of the catalogue (beyond rounding)."""
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return int(((scores < low - RANGE_TOLERANCE) | (scores > high + RANGE_TOLERANCE)).sum())


def read_target_metrics(targets: pa.Table) -> list[TargetMetric]:
    """Return the metrics that people calibrate, ordered by name."""
    metrics: dict[str, TargetMetric] = {}
    for row in targets.to_pylist():
        name, criterion = row["metric_name"], row["criterion"]
        if name in metrics:
            raise ValueError(
                "calibration_targets: a metric has one criterion, "
                f"got {metrics[name].criterion} and {criterion} for {name}"
            )
        metrics[name] = TargetMetric(
            name, criterion, row["direction"], row["unit"], row["range_low"], row["range_high"]
        )
    return [metrics[name] for name in sorted(metrics)]


def read_risk_appetites(appetites: pa.Table) -> list[RiskAppetite]:
    """Return the rows of the seed `risk_appetites`, which :class:`hcat.calibration.thresholds.RiskAppetite` checks."""
    return [
        RiskAppetite(
            row["risk_appetite"],
            float(row["confidence"]),
            float(row["tolerated_false_accept_share"]),
            float(row["tolerated_false_reject_share"]),
            float(row["cost_false_accept"]),
            float(row["cost_false_reject"]),
        )
        for row in appetites.to_pylist()
    ]


def fit_thresholds(
    labels: pa.Table,
    targets: pa.Table,
    appetites: pa.Table,
    confidence: float,
    random_seed: int,
) -> pa.Table:
    """Return every threshold of every metric that people calibrate, fitted on all labels and quoted out of fold."""
    levels = read_risk_appetites(appetites)
    rows: list[dict[str, Any]] = []
    for metric in read_target_metrics(targets):
        of_metric = labels.filter(pc.equal(labels["metric_name"], metric.name))
        rows += _fit_metric(metric, of_metric, levels, confidence, random_seed)
    return pa.Table.from_pylist(rows, schema=FITTED_SCHEMA)


def _fit_metric(
    metric: TargetMetric, labels: pa.Table, appetites: Sequence[RiskAppetite], confidence: float, random_seed: int
) -> list[dict[str, Any]]:
    scores = _floats(labels, "raw_score")
    accepted = _floats(labels, "label").astype(np.int64)
    weights = 1 / _floats(labels, "inclusion_probability")
    clusters = np.asarray(labels["cluster_id"].to_pylist(), dtype=np.str_)
    count_outside = metric.count_outside(scores)
    if count_outside:
        # scores outside their range are a fault of the metric: nothing is fitted on the others
        scores, accepted, weights, clusters = scores[:0], accepted[:0], weights[:0], clusters[:0]
    settings: dict[str, Any] = {
        "direction": metric.direction,
        "bounds": (metric.low, metric.high),
        "weights": weights,
        "is_probability": metric.unit == "probability",
        "assurance": confidence,
        "seed": random_seed,
    }
    fitted = fit_all(scores, accepted, clusters, appetites, **settings)
    numbered = {row.method for row in fitted if row.threshold is not None}
    passing: dict[tuple[str, str], Flags] = {}
    for methods, count_folds in ((numbered & set(SHOWN), COUNT_FOLDS), (numbered - set(SHOWN), COUNT_FOLDS_COMPARED)):
        passing |= accept_out_of_fold(
            scores, accepted, clusters, appetites, methods=sorted(methods), count_folds=count_folds, **settings
        )
    by_name = {appetite.name: appetite for appetite in appetites}
    rows = []
    for row in fitted:
        is_passing = None if row.threshold is None else passing[row.method, row.appetite]
        found = quote(is_passing, accepted, clusters, confidence=confidence, weights=weights)
        rows.append(_to_row(metric, row, found, by_name[row.appetite], count_outside, 2 * confidence - 1))
    return rows


def _to_row(
    metric: TargetMetric, fitted: Threshold, quoted: Quote, appetite: RiskAppetite, count_outside: int, level: float
) -> dict[str, Any]:
    is_floor = fitted.kind == "monitoring"
    tolerated = {
        "false_accept": None if is_floor else appetite.tolerated_false_accept_share,
        # 1 - 0.9 is not 0.1 in binary
        "false_reject": round(1 - appetite.confidence, 12) if is_floor else appetite.tolerated_false_reject_share,
    }
    row: dict[str, Any] = {
        "metric_name": metric.name,
        "criterion": metric.criterion,
        "direction": metric.direction,
        "kind": fitted.kind,
        "method": fitted.method,
        "risk_appetite": fitted.appetite,
        "status": "out_of_range" if count_outside else fitted.status,
        "message": _explain(metric, fitted, count_outside),
        "accepts": fitted.accepts,
        "confidence": fitted.confidence,
        "threshold": fitted.threshold,
        "held_out_flag_share": fitted.held_out_flag_share,
        "count_fit_accepted": fitted.count_accepted,
        "count_fit_failed": fitted.count_failed,
        "count_fit_clusters": fitted.count_clusters,
        "is_shown": fitted.method in SHOWN,
        "expected_cost": quoted.expected_cost(appetite),
        # 2 x .95 - 1 is not .9 in binary
        "interval_level": round(level, 12),
    }
    for error, rate in (("false_accept", quoted.false_accept), ("false_reject", quoted.false_reject)):
        share = tolerated[error]
        row |= {
            f"{error}_status": rate.status,
            f"{error}_verdict": "not_applicable" if share is None else judge(rate, share),
            f"{error}_tolerated_share": share,
            f"{error}_rate": rate.rate,
            f"{error}_rate_lower": rate.low,
            f"{error}_rate_upper": rate.high,
            f"{error}_count_labels": rate.count,
            f"{error}_count_clusters": rate.count_clusters,
            f"{error}_effective_n": rate.count_effective,
        }
    return row


def _explain(metric: TargetMetric, fitted: Threshold, count_outside: int) -> str:
    """Return one sentence on what a threshold was fitted on, or why there is none."""
    if count_outside:
        return f"{count_outside} labelled scores lie outside [{metric.low}, {metric.high}], the range of the catalogue"
    read = (
        f"{fitted.count_accepted} accepted and {fitted.count_failed} failed answers of {fitted.count_clusters} clusters"
    )
    if fitted.status == "ok":
        return f"fitted on {read}"
    text = f"{STATUSES[fitted.status]}: {read}"
    if fitted.status == "insufficient":
        classes = "accepted answers" if fitted.kind == "monitoring" else "accepted and of failed answers"
        text += f", at least {MINIMUM_PER_CLASS} of {classes} from {MINIMUM_CLUSTERS} clusters each are needed"
    if fitted.accepts is not None:
        text += f"; the method would accept {fitted.accepts}"
    return text


def _floats(table: pa.Table, name: str) -> Floats:
    return np.asarray(table[name].to_numpy(), dtype=np.float64)
