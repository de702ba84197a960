"""Prediction sets as Arrow tables: every audit label ranks, and none is spent on a fold.

The statistics are those of :mod:`hcat.calibration.conformal`. Stage 2 reads the plain random audit sample alone: its
promises are for answers drawn as the labelled ones were. The sets in force are label-conditional and made of the ranks
of raw scores, so that no calibrator, and no label of the same cluster, has a part in them. The marginal sets and those
of scale points compare classes with each other. They need probabilities, and take those that are out of fold. A metric
without a calibrator, or with too few clusters, has rows that say so; its sets then hold every label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.conformal import (
    OTHER_GROUP,
    STRATIFICATIONS,
    ConformalCell,
    Conformalizer,
    conformal_rank,
    fit_conformal,
    groups_with_cells,
    measure_coverage,
)
from hcat.calibration.decidable import auroc, share_decidable, standings
from hcat.calibration.tables import ALL_SEGMENTS, Calibrators, as_texts, read_calibrators
from hcat.statistics.arrays import Flags, Floats, Integers, Keys

CELL_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("stratification", pa.string()),
        ("stratum", pa.string()),
        ("status", pa.string()),
        ("alpha", pa.float64()),
        ("label", pa.int32()),
        ("quantile", pa.float64()),
        ("score_limit", pa.float64()),
        ("count_labels", pa.int64()),
        ("count_clusters", pa.int64()),
        ("expected_coverage", pa.float64()),
    ]
)

LEFT_OUT_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("stratum", pa.string()),
        ("cluster_id", pa.string()),
        ("label", pa.int32()),
        ("score_limit", pa.float64()),
    ]
)

COVERAGE_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("stratification", pa.string()),
        ("scope", pa.string()),
        ("stratum", pa.string()),
        ("status", pa.string()),
        ("alpha", pa.float64()),
        ("label", pa.int32()),
        ("count_labels", pa.int64()),
        ("count_clusters", pa.int64()),
        ("count_covered", pa.int64()),
        ("coverage", pa.float64()),
        ("share_empty", pa.float64()),
        ("share_single", pa.float64()),
        ("share_several", pa.float64()),
        ("share_all", pa.float64()),
        ("share_decidable", pa.float64()),
    ]
)

#: Sets of scale points instead of accepted and failed, a quantile per point; where the family ordinal could be fitted.
SCALE_POINT = "scale_point"
#: The stratification of the sets in force.
IN_FORCE = "label_conditional"

#: Status of a metric that stage 1 could not calibrate.
NOT_CALIBRATED = "not_calibrated"


class AuditSample(NamedTuple):
    """Audit labels of one metric.

    `standings` are ranks of raw scores, `out_of_fold` probabilities of accepted, `points` those of scale points, which
    are None where the family ordinal could not be fitted.
    """

    raw_scores: Floats
    standings: Floats
    out_of_fold: Floats
    points: Floats | None
    labels: Integers
    scale_points: Integers
    clusters: Keys
    groups: Keys

    def take(self, rows: Flags) -> AuditSample:
        """Return the chosen labels."""
        return AuditSample(
            self.raw_scores[rows],
            self.standings[rows],
            self.out_of_fold[rows],
            None if self.points is None else self.points[rows],
            self.labels[rows],
            self.scale_points[rows],
            self.clusters[rows],
            self.groups[rows],
        )

    def stratifications(self) -> tuple[str, ...]:
        """Return what can be promised for this metric."""
        return STRATIFICATIONS if self.points is None else (*STRATIFICATIONS, SCALE_POINT)

    def read(self, stratification: str) -> tuple[Floats, Integers]:
        """Return what takes the place of probabilities, and the labels that they are of."""
        if stratification == SCALE_POINT:
            assert self.points is not None
            return self.points, self.scale_points
        return self.standings if stratification == IN_FORCE else self.out_of_fold, self.labels


def fit_quantiles(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, predictions: pa.Table, alphas: Sequence[float]
) -> pa.Table:
    """Return the quantile of every cell."""
    found = read_calibrators(calibrators)
    rows: list[dict[str, Any]] = []
    for head, sample in _read_promises(labels, targets, calibrators, predictions, alphas):
        if sample is None:
            nothing = {"stratum": OTHER_GROUP, "status": NOT_CALIBRATED, "count_labels": 0, "count_clusters": 0}
            rows.append(dict.fromkeys(CELL_SCHEMA.names) | head | nothing)
            continue
        known = found[head["metric_name"]]
        conformalizer = _fit(sample, head["alpha"], head["stratification"])
        rows += [head | _to_cell_row(cell, head, sample, known) for cell in conformalizer.cells]
    return pa.Table.from_pylist(rows, schema=CELL_SCHEMA)


def leave_out_limits(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, predictions: pa.Table, alpha: float
) -> pa.Table:
    """Return the score limits in force for interactions of labelled clusters: those of the other clusters."""
    rows: list[dict[str, Any]] = []
    for head, sample in _read_promises(labels, targets, calibrators, predictions, [alpha]):
        if sample is None or head["stratification"] != IN_FORCE:
            continue
        for cell in _fit(sample, alpha, IN_FORCE).cells:
            limits = _limits_of_quantiles(sample, int(cell.label or 0))
            rows += [
                {
                    "metric_name": head["metric_name"],
                    "stratum": cell.group,
                    "cluster_id": cluster,
                    "label": cell.label,
                    "score_limit": limits.get(quantile),
                }
                for cluster, quantile in cell.left_out().items()
            ]
    return pa.Table.from_pylist(rows, schema=LEFT_OUT_SCHEMA)


def cover_labels(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, predictions: pa.Table, alphas: Sequence[float]
) -> pa.Table:
    """Return which share of the audit labels their sets hold, over all, per true label and per stratum."""
    rows: list[dict[str, Any]] = []
    for head, sample in _read_promises(labels, targets, calibrators, predictions, alphas):
        if sample is None or not len(sample.labels):
            status = NOT_CALIBRATED if sample is None else "no_labels"
            nothing = {"scope": "marginal", "status": status, "count_labels": 0, "count_clusters": 0}
            rows.append(dict.fromkeys(COVERAGE_SCHEMA.names) | head | nothing)
            continue
        rows += [head | row for row in _cover(sample, head["alpha"], head["stratification"])]
    return pa.Table.from_pylist(rows, schema=COVERAGE_SCHEMA)


def _read_metrics(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, predictions: pa.Table
) -> Iterator[tuple[dict[str, Any], AuditSample | None]]:
    """Yield every target with its audit labels; None where stage 1 has no calibrator."""
    found = read_calibrators(calibrators)
    ordered = labels.sort_by("interaction_id")
    for target in targets.sort_by("metric_name").to_pylist():
        known = found.get(target["metric_name"])
        if known is None:
            yield target, None
            continue
        own = ordered.filter(pc.equal(ordered["metric_name"], target["metric_name"]))
        yield (
            target,
            read_sample(own, target, predictions.filter(pc.equal(predictions["metric_name"], known.metric_name))),
        )


def read_sample(own: pa.Table, target: Mapping[str, Any], predictions: pa.Table) -> AuditSample:
    """Return the audit labels of one metric as arrays."""
    ids = own["interaction_id"].to_pylist()
    in_force = _column_by_id(predictions.filter(predictions["is_chosen"]), "probability")
    ordinal = _column_by_id(predictions.filter(pc.equal(predictions["family"], "ordinal")), "scale_point_probabilities")
    points = [ordinal.get(one) for one in ids]
    raw_scores = own["raw_score"].to_numpy()
    return AuditSample(
        raw_scores,
        standings(raw_scores, target["direction"]),
        np.array([in_force[one] for one in ids], dtype=np.float64),
        None if not ordinal or None in points else np.array(points, dtype=np.float64),
        own["label"].to_numpy().astype(np.int64),
        own["scale_point"].to_numpy().astype(np.int64),
        as_texts(own["cluster_id"]),
        as_texts(own["stratum"]),
    )


def _column_by_id(predictions: pa.Table, name: str) -> dict[str, Any]:
    return dict(zip(predictions["interaction_id"].to_pylist(), predictions[name].to_pylist(), strict=True))


def _read_promises(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, predictions: pa.Table, alphas: Sequence[float]
) -> Iterator[tuple[dict[str, Any], AuditSample | None]]:
    """Yield the head of the rows of every (metric, alpha, stratification), and the labels that it reads."""
    for target, sample in _read_metrics(labels, targets, calibrators, predictions):
        for alpha in alphas:
            for stratification in STRATIFICATIONS if sample is None else sample.stratifications():
                head = {
                    "metric_name": target["metric_name"],
                    "criterion": target["criterion"],
                    "stratification": stratification,
                    "alpha": alpha,
                }
                yield head, sample


def _fit(sample: AuditSample, alpha: float, stratification: str) -> Conformalizer:
    values, labels = sample.read(stratification)
    if stratification != IN_FORCE:
        # a quantile per scale point leaves too few labels to part them by stratum too
        name = IN_FORCE if stratification == SCALE_POINT else stratification
        return fit_conformal(values, labels, alpha, stratification=name, clusters=sample.clusters)
    # a stratum must be large enough for the rarer class of all labels
    least_share = float(max(np.bincount(labels, minlength=2).min(), 1) / len(labels)) if len(labels) else 1.0
    return fit_conformal(
        values,
        labels,
        alpha,
        groups=sample.groups,
        clusters=sample.clusters,
        own_groups=groups_with_cells(sample.groups, alpha, sample.clusters, least_share),
    )


def fit_in_force(sample: AuditSample, rows: Flags, alpha: float) -> Conformalizer:
    """Return the quantiles in force of some audit labels; their strata are parted as those of the same labels alone."""
    return _fit(sample.take(rows), alpha, IN_FORCE)


def _to_cell_row(
    cell: ConformalCell, head: Mapping[str, Any], sample: AuditSample, known: Calibrators
) -> dict[str, Any]:
    quantile: float | None = None if math.isinf(cell.quantile) else cell.quantile
    limit = None
    if head["stratification"] == IN_FORCE and quantile is not None:
        limit = _limits_of_quantiles(sample, int(cell.label or 0))[quantile]
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


def _limits_of_quantiles(sample: AuditSample, label: int) -> dict[float, float]:
    """Return the raw score of every nonconformity of a class."""
    nonconformity = 1 - sample.standings if label else sample.standings
    return dict(zip(nonconformity.tolist(), sample.raw_scores.tolist(), strict=True))


def _cover(sample: AuditSample, alpha: float, stratification: str) -> Iterator[dict[str, Any]]:
    values, labels = sample.read(stratification)
    conformalizer = _fit(sample, alpha, stratification)
    sets = conformalizer.predict(values, sample.groups, sample.clusters)
    found = [
        (one, sample.groups)
        for one in measure_coverage(sets, labels, sample.groups, sample.clusters)
        if one.group != OTHER_GROUP
    ]
    if OTHER_GROUP in conformalizer.groups:
        # strata without cells of their own, taken together as their quantile takes them
        merged = np.where(np.isin(sample.groups, conformalizer.groups[:-1]), sample.groups, OTHER_GROUP)
        together = measure_coverage(sets, labels, merged, sample.clusters)
        found += [(one, merged) for one in together if one.group == OTHER_GROUP]
    for one, groups in found:
        rows = np.ones(len(labels), dtype=np.bool_) if one.group is None else groups == one.group
        if one.label is not None:
            rows = rows & (labels == one.label)
        kinds = sets.kinds[rows]
        has_ceiling = stratification == IN_FORCE and one.scope == "marginal"
        yield {
            "scope": one.scope,
            "stratum": one.group,
            "status": "measured",
            "label": one.label,
            "count_labels": one.count_rows,
            "count_clusters": one.count_clusters,
            "count_covered": one.count_covered,
            "coverage": one.coverage,
            "share_empty": float(np.mean(kinds == "empty")),
            "share_single": float(np.mean(kinds == "single")),
            "share_several": float(np.mean(kinds == "several")),
            "share_all": float(np.mean(kinds == "all")),
            "share_decidable": share_decidable(auroc(sample.standings, labels), alpha) if has_ceiling else None,
        }
