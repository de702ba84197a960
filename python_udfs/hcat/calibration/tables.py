"""Calibrators as Arrow tables: fitted on all labels, measured out of fold, applied to every score.

The statistics are those of :mod:`hcat.calibration.calibrators` and :mod:`hcat.calibration.quality`; here rows become
the arrays they read, and their results rows. The calibrator in force is fitted on all labels. What it is worth is
measured by cross-fitting: each label has a probability by a calibrator that saw no label of its cluster. A metric that
cannot be calibrated has a row that says why, and no number.

One map from score to probability may be right on average and wrong in each kind of query. Labels therefore carry a
segment: where a segment has labels enough, a calibrator of its own is in force in it, elsewhere the one for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrators import (
    FAMILIES,
    GRADED_FAMILIES,
    MINIMUM_CLUSTERS_PER_CLASS,
    MINIMUM_LABELS_PER_CLASS,
    MINIMUM_LABELS_STEPS,
    Calibrator,
    CalibratorRow,
    FamilyLoss,
    Fit,
    LabelledScores,
    choose_calibrator,
    cross_fit,
    from_rows,
    label_scores,
)
from hcat.calibration.quality import Quality, SystemCalibration, calibration_in_the_large, measure_quality
from hcat.statistics.arrays import Floats

#: The score itself, where it claims to be a probability: the baseline that a calibrator must beat.
UNCALIBRATED = "uncalibrated"

#: The segment of a calibrator for all, and the calibrators in force when segments have their own.
ALL_SEGMENTS = "all"
BY_SEGMENT = "by_segment"

_PARAMETER = pa.struct(
    [
        ("parameter", pa.string()),
        ("position", pa.int32()),
        ("value", pa.float64()),
        ("lower_bound", pa.float64()),
        ("probability", pa.float64()),
        ("tree", pa.int32()),
        ("node", pa.int32()),
        ("feature", pa.int32()),
        ("threshold", pa.float64()),
        ("left", pa.int32()),
        ("right", pa.int32()),
        ("missing_goes_left", pa.bool_()),
    ]
)

CALIBRATOR_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("segment", pa.string()),
        ("family", pa.string()),
        ("status", pa.string()),
        ("message", pa.string()),
        ("is_chosen", pa.bool_()),
        ("is_separated", pa.bool_()),
        ("count_labels", pa.int64()),
        ("count_accepted", pa.int64()),
        ("count_clusters", pa.int64()),
        ("log_loss", pa.float64()),
        ("log_loss_standard_error", pa.float64()),
        ("excess_log_loss", pa.float64()),
        ("excess_log_loss_standard_error", pa.float64()),
        ("parameters", pa.list_(_PARAMETER)),
    ]
)

#: Figures of quality, each with its value, low and high.
FIGURES = (
    "brier_score",
    "brier_score_base_rate",
    "brier_score_difference",
    "log_loss",
    "log_loss_base_rate",
    "log_loss_difference",
    "auroc",
    "type_one_error",
    "type_two_error",
    "calibration_slope",
    "calibration_intercept",
)

_BIN = pa.struct(
    [
        ("position", pa.int32()),
        ("lowest", pa.float64()),
        ("highest", pa.float64()),
        ("count_labels", pa.int64()),
        ("count_clusters", pa.int64()),
        ("mean_prediction", pa.float64()),
        ("share_accepted", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)

_SYSTEM = pa.struct(
    [
        ("system", pa.string()),
        ("status", pa.string()),
        ("method", pa.string()),
        ("count_labels", pa.int64()),
        ("count_clusters", pa.int64()),
        ("share_accepted", pa.float64()),
        ("mean_prediction", pa.float64()),
        ("difference", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)

_FIGURE = pa.struct(
    [("name", pa.string()), ("status", pa.string()), ("method", pa.string())]
    + [(name, pa.float64()) for name in ("value", "low", "high")]
)

MEASURED_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("family", pa.string()),
        ("status", pa.string()),
        ("is_chosen", pa.bool_()),
        ("count_labels", pa.int64()),
        ("count_clusters", pa.int64()),
        ("calibration_error_status", pa.string()),
        ("calibration_error", pa.float64()),
        ("calibration_error_by_chance", pa.float64()),
        ("calibration_error_limit", pa.float64()),
        ("calibration_error_debiased", pa.float64()),
        ("figures", pa.list_(_FIGURE)),
        ("bins", pa.list_(_BIN)),
        ("systems", pa.list_(_SYSTEM)),
    ]
)

CROSS_FITTED_SCHEMA = pa.schema(
    [
        ("interaction_id", pa.string()),
        ("metric_name", pa.string()),
        ("family", pa.string()),
        ("cluster_id", pa.string()),
        ("system", pa.string()),
        ("is_chosen", pa.bool_()),
        ("label", pa.int64()),
        ("inclusion_probability", pa.float64()),
        ("probability", pa.float64()),
        ("share_accepted", pa.float64()),
        ("scale_point_probabilities", pa.list_(pa.float64())),
    ]
)

_MESSAGES: Mapping[str, str] = {
    "fitted": "",
    "no_labels": "no interaction has both a label and a score",
    "one_class": "people accept all labelled answers, or none",
    "insufficient": (
        f"a class has fewer than {MINIMUM_LABELS_PER_CLASS} labels from {MINIMUM_CLUSTERS_PER_CLASS} clusters "
        f"(isotonic, boosted: fewer than {MINIMUM_LABELS_STEPS:,} labels in all)"
    ),
    "constant_score": "every labelled answer has the same score",
    "wrong_direction": "people do not accept more often where the catalogue says that the score is better",
    "not_converged": "the likelihood has no maximum that the solver could find",
    "out_of_range": "a score lies outside the range of the catalogue",
}


@dataclass(frozen=True, slots=True)
class Calibrators:
    """The fitted calibrators of one metric.

    Attributes
    ----------
    metric_name, criterion : str
        Of the target.
    by_family : mapping of str to Calibrator
        Calibrators for all segments.
    chosen : str
        Family in force where a segment has none of its own.
    by_segment : mapping of str to (str, Calibrator)
        Chosen family and calibrator of segments with labels enough.
    """

    metric_name: str
    criterion: str
    by_family: Mapping[str, Calibrator]
    chosen: str
    by_segment: Mapping[str, tuple[str, Calibrator]]

    @property
    def in_force(self) -> str:
        """Family in force, or :data:`BY_SEGMENT` where segments have their own."""
        return BY_SEGMENT if self.by_segment else self.chosen

    def apply(self, scores: Floats, segments: npt.NDArray[Any]) -> Floats:
        """Return the probability of each row by the calibrator in force in its segment, shape (n,)."""
        probabilities = self.by_family[self.chosen].apply(scores)
        for segment, (_, calibrator) in self.by_segment.items():
            own = segments == segment
            probabilities[own] = calibrator.apply(scores[own])
        return probabilities


def fit_calibrators(labels: pa.Table, targets: pa.Table, count_folds: int, random_seed: int) -> pa.Table:
    """Return every family of every target, fitted on all labels, and which one is chosen."""
    rows: list[dict[str, Any]] = []
    for target in _in_order(targets):
        of_metric = _of_metric(labels, target["metric_name"])
        segments = sorted(set(of_metric["segment"].to_pylist()) - {ALL_SEGMENTS})
        for segment in (ALL_SEGMENTS, *segments):
            own = of_metric
            if segment != ALL_SEGMENTS:
                own = of_metric.filter(pc.equal(of_metric["segment"], segment))
            rows += [{"segment": segment} | row for row in _fit_families(own, target, count_folds, random_seed)]
    return pa.Table.from_pylist(rows, schema=CALIBRATOR_SCHEMA)


def _fit_families(
    labels: pa.Table, target: Mapping[str, Any], count_folds: int, random_seed: int
) -> Iterator[dict[str, Any]]:
    families = [family for family in FAMILIES if family not in GRADED_FAMILIES or target["count_scale_points"] > 2]
    status = _status_of_scores(labels, target)
    if status is not None:
        for family in families:
            yield _to_calibrator_row(target, family, status, labels)
        return
    choice = choose_calibrator(_label(labels, target), families, count_folds, random_seed)
    for loss in choice.families:
        yield _to_calibrator_row(target, loss.family, loss.status, labels, loss, choice.fits[loss.family])


def _in_order(targets: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = targets.sort_by("metric_name").to_pylist()
    return found


def _of_metric(labels: pa.Table, metric_name: str) -> pa.Table:
    # one order, whatever the warehouse's: the last bits of a sum depend on it
    return labels.filter(pc.equal(labels["metric_name"], metric_name)).sort_by("interaction_id")


def _status_of_scores(labels: pa.Table, target: Mapping[str, Any]) -> str | None:
    if labels.num_rows == 0:
        return "no_labels"
    scores = labels["raw_score"].to_numpy()
    low, high = target["range_low"], target["range_high"]
    is_inside = np.isfinite(scores)
    is_inside &= scores >= (-np.inf if low is None else low)
    is_inside &= scores <= (np.inf if high is None else high)
    return None if is_inside.all() else "out_of_range"


def _label(labels: pa.Table, target: Mapping[str, Any]) -> LabelledScores:
    return label_scores(
        labels["raw_score"].to_numpy(),
        labels["scale_point"].to_numpy(),
        as_texts(labels["cluster_id"]),
        1 / labels["inclusion_probability"].to_numpy(),
        target["direction"],
        target["unit"] == "probability",
        target["count_scale_points"],
        target["accept_from"],
    )


def _to_calibrator_row(
    target: Mapping[str, Any],
    family: str,
    status: str,
    labels: pa.Table,
    loss: FamilyLoss | None = None,
    fit: Fit | None = None,
) -> dict[str, Any]:
    calibrator = None if fit is None else fit.calibrator
    return {
        "metric_name": target["metric_name"],
        "criterion": target["criterion"],
        "family": family,
        "status": status,
        "message": _MESSAGES[status],
        "is_chosen": loss is not None and loss.is_chosen,
        "is_separated": fit is not None and fit.is_separated,
        "count_labels": labels.num_rows,
        "count_accepted": pc.sum(labels["label"]).as_py() or 0,
        "count_clusters": pc.count_distinct(labels["cluster_id"]).as_py(),
        "log_loss": None if loss is None else loss.log_loss,
        "log_loss_standard_error": None if loss is None else loss.standard_error,
        "excess_log_loss": None if loss is None else loss.excess,
        "excess_log_loss_standard_error": None if loss is None else loss.excess_standard_error,
        "parameters": [] if calibrator is None else [_to_parameter(row) for row in calibrator.to_rows()],
    }


def _to_parameter(row: CalibratorRow) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(row) if field.name != "family"}


def read_calibrators(calibrators: pa.Table) -> dict[str, Calibrators]:
    """Return the calibrators of every metric that has one for all in force, by metric."""
    fitted: dict[str, dict[str, Calibrator]] = {}
    in_force: dict[str, tuple[str, str]] = {}
    by_segment: dict[str, dict[str, tuple[str, Calibrator]]] = {}
    for row in calibrators.to_pylist():
        if row["status"] != "fitted":
            continue
        metric, family, segment = row["metric_name"], row["family"], row["segment"]
        calibrator = from_rows(CalibratorRow(family=family, **parameter) for parameter in row["parameters"])
        if segment == ALL_SEGMENTS:
            fitted.setdefault(metric, {})[family] = calibrator
            if row["is_chosen"]:
                in_force[metric] = (row["criterion"], family)
        elif row["is_chosen"]:
            by_segment.setdefault(metric, {})[segment] = (family, calibrator)
    return {
        metric: Calibrators(metric, criterion, fitted[metric], family, by_segment.get(metric, {}))
        for metric, (criterion, family) in sorted(in_force.items())
    }


def cross_fit_labels(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, count_folds: int, random_seed: int
) -> pa.Table:
    """Return the out-of-fold probability of every label by every fitted family."""
    found = read_calibrators(calibrators)
    tables = [pa.Table.from_pylist([], schema=CROSS_FITTED_SCHEMA)]
    for target in _in_order(targets):
        known = found.get(target["metric_name"])
        if known is None:
            continue
        own = _of_metric(labels, known.metric_name)
        tables += [
            _to_cross_fitted(own, family, family == known.in_force, *columns)
            for family, columns in _cross_fitted_columns(own, target, known, count_folds, random_seed)
        ]
    return pa.concat_tables(tables)


def _cross_fitted_columns(
    own: pa.Table, target: Mapping[str, Any], known: Calibrators, count_folds: int, random_seed: int
) -> Iterator[tuple[str, tuple[Floats, Floats, Floats | None]]]:
    """Yield every family with probabilities, shares accepted elsewhere, and probabilities of scale points."""
    data = _label(own, target)
    crossed = {family: cross_fit(data, family, count_folds, random_seed) for family in known.by_family}
    shares = crossed[known.chosen].shares
    if target["unit"] == "probability":
        yield UNCALIBRATED, (own["raw_score"].to_numpy(), shares, None)
    for family, found in crossed.items():
        points = found.scale_point_probabilities(data) if family == "ordinal" else None
        yield family, (found.apply(data), shares, points)
    if known.by_segment:
        probabilities = crossed[known.chosen].apply(data)
        segments = as_texts(own["segment"])
        for segment, (family, _) in known.by_segment.items():
            is_own = segments == segment
            part = data.take(is_own)
            probabilities[is_own] = cross_fit(part, family, count_folds, random_seed).apply(part)
        yield BY_SEGMENT, (probabilities, shares, None)


def _to_cross_fitted(
    own: pa.Table, family: str, is_chosen: bool, probabilities: Floats, shares: Floats, points: Floats | None
) -> pa.Table:
    count = own.num_rows
    columns: dict[str, Any] = {
        name: own[name] for name in ("interaction_id", "metric_name", "cluster_id", "system", "label")
    }
    columns |= {
        "inclusion_probability": own["inclusion_probability"],
        "family": pa.array([family] * count, pa.string()),
        "is_chosen": pa.array([is_chosen] * count, pa.bool_()),
        "probability": pa.array(probabilities),
        "share_accepted": pa.array(shares),
        "scale_point_probabilities": pa.array(
            [None] * count if points is None else points.tolist(), pa.list_(pa.float64())
        ),
    }
    return pa.table({name: columns[name] for name in CROSS_FITTED_SCHEMA.names}).cast(CROSS_FITTED_SCHEMA)


def measure_calibrators(
    predictions: pa.Table,
    targets: pa.Table,
    calibrators: pa.Table,
    cut_off: float,
    count_bins: int,
    count_draws: int,
    random_seed: int,
) -> pa.Table:
    """Return the quality of every fitted family on out-of-fold probabilities, beside that of an uncalibrated score."""
    found = read_calibrators(calibrators)
    rows: list[dict[str, Any]] = []
    for target in _in_order(targets):
        known = found.get(target["metric_name"])
        if known is None:
            rows.append(_to_unmeasured_row(target))
            continue
        of_metric = predictions.filter(pc.equal(predictions["metric_name"], known.metric_name))
        for family in dict.fromkeys(of_metric["family"].to_pylist()):
            own = of_metric.filter(pc.equal(of_metric["family"], family)).sort_by("interaction_id")
            probabilities, outcome = own["probability"].to_numpy(), own["label"].to_numpy()
            clusters, weights = as_texts(own["cluster_id"]), 1 / own["inclusion_probability"].to_numpy()
            quality = measure_quality(
                probabilities,
                outcome,
                clusters,
                own["share_accepted"].to_numpy(),
                cut_off,
                weights,
                count_bins,
                count_draws,
                random_seed,
            )
            by_system = calibration_in_the_large(probabilities, outcome, clusters, as_texts(own["system"]), weights)
            head = {
                "metric_name": known.metric_name,
                "criterion": known.criterion,
                "family": family,
                "is_chosen": family == known.in_force,
            }
            rows.append(head | _to_measured_row(quality, by_system))
    return pa.Table.from_pylist(rows, schema=MEASURED_SCHEMA)


def as_texts(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return a column of text as an array of str, shape (n,)."""
    return np.array(column.to_pylist(), dtype=object).astype(str)


def _to_unmeasured_row(target: Mapping[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(MEASURED_SCHEMA.names) | {
        "metric_name": target["metric_name"],
        "criterion": target["criterion"],
        "family": "none",
        "status": "not_calibrated",
        "is_chosen": False,
        "count_labels": 0,
        "count_clusters": 0,
        "figures": [],
        "bins": [],
        "systems": [],
    }


def _to_measured_row(quality: Quality, systems: tuple[SystemCalibration, ...]) -> dict[str, Any]:
    error = quality.calibration_error
    limits = [limit for limit in (error.limit_by_chance, error.limit_by_chance_of_clusters) if limit is not None]
    return {
        "status": "measured",
        "count_labels": quality.count_labels,
        "count_clusters": quality.count_clusters,
        "calibration_error_status": error.status,
        "calibration_error": error.value,
        "calibration_error_by_chance": error.expected_by_chance,
        # siblings may share their errors: a value is no chance only above the larger limit
        "calibration_error_limit": max(limits) if limits else None,
        "calibration_error_debiased": error.debiased,
        "figures": [
            {name: getattr(figure, name) for name in ("name", "status", "method", "value", "low", "high")}
            for figure in quality.figures
        ],
        "bins": [{field.name: getattr(one, field.name) for field in fields(one)} for one in quality.bins],
        "systems": [{field.name: getattr(one, field.name) for field in fields(one)} for one in systems],
    }
