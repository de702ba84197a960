"""Prediction sets as Arrow tables: every audit label ranks, and none is spent on a fold.

The sets in force are label-conditional and made of the ranks of raw scores. The marginal sets and those of scale points
compare classes with each other: they need probabilities, and take those that are out of fold. A metric without a
calibrator, or with too few clusters, has rows that say so; its sets then hold every label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrator_tables import Calibrators, cross_fit_labels, fit_calibrators, read_calibrators
from hcat.calibration.conformal import (
    OTHER_GROUP,
    STRATIFICATIONS,
    ConformalCell,
    Conformalizer,
    conformal_rank,
    fit_conformal,
    leave_out_quantiles,
    measure_coverage,
)
from hcat.calibration.decidable import measure_decidable, standings
from hcat.calibration.targets import ALL_SEGMENTS, Labels, Target, read_labels
from hcat.engine.columns import schema, stack_parts
from hcat.statistics.arrays import Flags, Floats, Integers

CELL_SCHEMA = schema(
    "string: metric_name criterion stratification stratum status",
    "float64: alpha",
    "int32: label",
    "float64: quantile score_limit",
    "int64: count_labels count_clusters",
    "float64: expected_coverage",
)

LEFT_OUT_SCHEMA = schema("string: metric_name stratum cluster_id", "int32: label", "float64: score_limit")

COVERAGE_SCHEMA = schema(
    "string: metric_name criterion stratification scope stratum status",
    "float64: alpha",
    "int32: label",
    "int64: count_labels count_clusters count_covered",
    "float64: coverage share_single share_several share_all share_decidable",
)

#: Promised miscoverages that the marts show beside the one in force.
ALPHAS: Final = (0.05, 0.1, 0.2)
#: Sets of scale points instead of accepted and failed, a quantile per point; where the family ordinal could be fitted.
SCALE_POINT: Final = "scale_point"
#: The stratification of the sets in force.
IN_FORCE: Final = "label_conditional"
NOT_CALIBRATED: Final = "not_calibrated"


class AuditSample(NamedTuple):
    """Audit labels of one metric with what sets are made of."""

    labels: Labels
    standings: Floats  # ranks of raw scores
    out_of_fold: Floats  # probabilities of accepted
    points: Floats | None  # probabilities of scale points; None where the family ordinal could not be fitted

    def take(self, rows: Flags) -> AuditSample:
        points = None if self.points is None else self.points[rows]
        return AuditSample(self.labels.take(rows), self.standings[rows], self.out_of_fold[rows], points)

    def read(self, stratification: str) -> tuple[Floats, Integers]:
        """Return what takes the place of probabilities, and the labels that they are of."""
        if stratification == SCALE_POINT and self.points is not None:
            return self.points, self.labels.points
        return self.standings if stratification == IN_FORCE else self.out_of_fold, self.labels.accepted


def fit_labels(labels: pa.Table, targets: pa.Table, alpha: float, random_seed: int) -> pa.Table:
    """Return calibrators, what they say of labels that they did not see, and the limits of prediction sets.

    Parameters
    ----------
    labels : Table
        Rows of int_target_evaluations with a label and a score. Those of a plain random sample (is_audit) give the
        limits of prediction sets.
    targets : Table
        Of :func:`hcat.calibration.targets.describe_targets`.
    alpha : float
        Share of labels, in (0, 1), that a prediction set in force may miss.
    random_seed : int

    Returns
    -------
    Table
        The parts ``targets``, ``calibrators``, ``predictions``, ``quantiles`` and ``limits``
        (:func:`hcat.engine.columns.stack_parts`).
    """
    calibrators = fit_calibrators(labels, targets, random_seed)
    predictions = cross_fit_labels(labels, targets, calibrators, random_seed)
    return stack_parts(
        {
            "targets": targets,
            "calibrators": calibrators,
            "predictions": predictions,
            "quantiles": fit_quantiles(labels, targets, calibrators, predictions, alpha),
            "limits": leave_out_limits(labels, targets, predictions, alpha),
        }
    )


def fit_quantiles(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, predictions: pa.Table, alpha: float
) -> pa.Table:
    """Return the quantile of every cell."""
    calibrated = read_calibrators(calibrators)
    rows: list[dict[str, Any]] = []
    for head, sample in _read_promises(labels, targets, predictions, alpha):
        if sample is None:
            nothing = {"stratum": OTHER_GROUP, "status": NOT_CALIBRATED, "count_labels": 0, "count_clusters": 0}
            rows.append(head | nothing)
            continue
        fitted = fit_sets(sample, head["alpha"], head["stratification"])
        limits = _limits_of_sets(sample, fitted, {}) if head["stratification"] == IN_FORCE else {}
        rows += [
            head | _describe_cell(cell, head, limits.get((cell.group, cell.label)), calibrated[head["metric_name"]])
            for cell in fitted.cells
        ]
    return pa.Table.from_pylist(rows, schema=CELL_SCHEMA)


def leave_out_limits(labels: pa.Table, targets: pa.Table, predictions: pa.Table, alpha: float) -> pa.Table:
    """Return the score limits in force for interactions of labelled clusters: those of the other clusters."""
    rows: list[dict[str, Any]] = []
    for target, _, sample in read_samples(labels, targets, predictions):
        if sample is None:
            continue
        fitted = fit_sets(sample, alpha)
        left_out = {(cell.group, cell.label): leave_out_quantiles(*cell.arguments) for cell in fitted.cells}
        for cluster in np.unique(sample.labels.clusters).tolist():
            # without its labels, whichever class they are of
            others = {cell: found[cluster] for cell, found in left_out.items() if cluster in found}
            rows += [
                {"metric_name": target.name, "stratum": stratum, "cluster_id": cluster, "label": label}
                | {"score_limit": limit}
                for (stratum, label), limit in _limits_of_sets(sample, fitted, others, cluster).items()
                if any((stratum, one) in others for one in (0, 1))
            ]
    return pa.Table.from_pylist(rows, schema=LEFT_OUT_SCHEMA)


def cover_labels(labels: pa.Table, targets: pa.Table, predictions: pa.Table, alpha: float) -> pa.Table:
    """Return which share of the audit labels their sets hold, over all, per true label and per stratum."""
    rows: list[dict[str, Any]] = []
    for head, sample in _read_promises(labels, targets, predictions, alpha):
        if sample is None or not len(sample.standings):
            status = NOT_CALIBRATED if sample is None else "no_labels"
            rows.append(head | {"scope": "marginal", "status": status, "count_labels": 0, "count_clusters": 0})
            continue
        rows += [head | row for row in _cover(sample, head["alpha"], head["stratification"])]
    return pa.Table.from_pylist(rows, schema=COVERAGE_SCHEMA)


def read_samples(
    labels: pa.Table, targets: pa.Table, predictions: pa.Table
) -> Iterator[tuple[Target, Labels, AuditSample | None]]:
    """Yield every target with its audit labels, and what sets are made of; None where stage 1 has no calibrator."""
    for target, own in read_labels(labels, targets):
        audit = own.take(own.is_audit)
        # in the order of the labels, one row for each of them
        of_metric = predictions.filter(pc.field("metric_name") == target.name).sort_by("interaction_id")
        if not of_metric.num_rows:
            yield target, audit, None
            continue
        in_force = of_metric.filter(pc.field("is_chosen"))["probability"].to_numpy()[own.is_audit]
        ordinal = of_metric.filter(pc.field("family") == "ordinal")["scale_point_probabilities"].to_pylist()
        points = None if not ordinal or None in ordinal else np.array(ordinal, dtype=np.float64)[own.is_audit]
        yield target, audit, AuditSample(audit, standings(audit.scores, target.direction), in_force, points)


def _read_promises(
    labels: pa.Table, targets: pa.Table, predictions: pa.Table, alpha: float
) -> Iterator[tuple[dict[str, Any], AuditSample | None]]:
    """Yield the head of the rows of every (metric, alpha, stratification), and the labels that it reads."""
    for target, _, sample in read_samples(labels, targets, predictions):
        is_graded = sample is not None and sample.points is not None
        for one in sorted({*ALPHAS, alpha}):
            for stratification in (*STRATIFICATIONS, SCALE_POINT) if is_graded else STRATIFICATIONS:
                yield target.head | {"stratification": stratification, "alpha": one}, sample


def fit_sets(sample: AuditSample, alpha: float, stratification: str = IN_FORCE) -> Conformalizer:
    """Return the quantiles of audit labels, by default those in force."""
    values, labels = sample.read(stratification)
    if stratification != IN_FORCE:
        # a quantile per scale point leaves too few labels to part them by stratum too
        name = IN_FORCE if stratification == SCALE_POINT else stratification
        return fit_conformal(values, labels, alpha, stratification=name, clusters=sample.labels.clusters)
    # a stratum must be large enough for the rarer class of all labels
    least_share = float(max(np.bincount(labels, minlength=2).min(), 1) / len(labels)) if len(labels) else 1.0
    own = sample.labels
    return fit_conformal(values, labels, alpha, groups=own.strata, clusters=own.clusters, least_class_share=least_share)


def _describe_cell(
    cell: ConformalCell, head: dict[str, Any], limit: float | None, known: Calibrators
) -> dict[str, Any]:
    quantile: float | None = None if math.isinf(cell.quantile) else cell.quantile
    if limit is not None:
        accepted = float(known.apply(np.array([limit]), np.array([ALL_SEGMENTS]))[0])
        quantile = 1 - accepted if cell.label else accepted
    rank = conformal_rank(cell.count_clusters, head["alpha"])
    return {
        "stratum": cell.group,
        "status": cell.status,
        "label": cell.label,
        "quantile": quantile,
        "score_limit": limit,
        "count_labels": cell.count_rows,
        "count_clusters": cell.count_clusters,
        "expected_coverage": None if quantile is None else rank / (cell.count_clusters + 1),
    }


def _limits_of_sets(
    sample: AuditSample,
    fitted: Conformalizer,
    left_out: Mapping[tuple[str, int | None], float],
    cluster: str | None = None,
) -> dict[tuple[str, int | None], float | None]:
    """Return the worst accepted and the best failed raw score by (stratum, label); None where labels are too few."""
    order, first = np.unique(sample.standings, return_index=True)
    scores = sample.labels.scores[first]
    place = {standing: number for number, standing in enumerate(order.tolist())}
    place_accepted = {1 - standing: number for standing, number in place.items()}
    limits: dict[tuple[str, int | None], float | None] = {}
    for failed, accepted in zip(fitted.cells[::2], fitted.cells[1::2], strict=True):
        keys = (failed.group, failed.label), (accepted.group, accepted.label)
        low = place.get(left_out.get(keys[0], failed.quantile))
        high = place_accepted.get(left_out.get(keys[1], accepted.quantile))
        limits |= {
            key: None if found is None else float(scores[found]) for key, found in zip(keys, (low, high), strict=True)
        }
        # between the two a set would be empty: there the limits meet where the p-values of both labels do
        if low is not None and high is not None and low < high:
            limits |= dict(zip(keys, _meet(failed, accepted, order, scores, low, high, cluster), strict=True))
    return limits


def _meet(
    failed: ConformalCell,
    accepted: ConformalCell,
    order: Floats,
    scores: Floats,
    low: int,
    high: int,
    cluster: str | None,
) -> tuple[float, float]:
    """Return the last score that is likelier of a failed answer, and the next one, between two limits."""
    as_failed = failed.p_values(order[low + 1 : high + 1], cluster)
    as_accepted = accepted.p_values(1 - order[low : high + 1], cluster)
    # between two labelled scores a failed answer is as likely as at the better one, an accepted one as at the worse
    ends = np.flatnonzero(as_failed < as_accepted[1:])
    place = int(ends[0]) if len(ends) else high - low - 1
    worse, better = float(scores[low + place]), float(scores[low + place + 1])
    if as_failed[place] < as_accepted[place]:
        return worse, math.nextafter(worse, better)
    return math.nextafter(better, worse), better


def _cover(sample: AuditSample, alpha: float, stratification: str) -> Iterator[dict[str, Any]]:
    values, labels = sample.read(stratification)
    strata, clusters = sample.labels.strata, sample.labels.clusters
    conformalizer = fit_sets(sample, alpha, stratification)
    sets = conformalizer.predict(values, strata, clusters)
    found = [row for row in measure_coverage(sets, labels, strata, clusters) if row["stratum"] != OTHER_GROUP]
    if OTHER_GROUP in conformalizer.groups:
        # strata without cells of their own, taken together as their quantile takes them
        merged = np.where(np.isin(strata, conformalizer.groups[:-1]), strata, OTHER_GROUP)
        together = measure_coverage(sets, labels, merged, clusters)
        found += [row for row in together if row["stratum"] == OTHER_GROUP]
    ceiling = measure_decidable(sample.standings, labels, alpha) if stratification == IN_FORCE else None
    for row in found:
        yield row | {"status": "measured", "share_decidable": ceiling if row["scope"] == "marginal" else None}
