"""Calibrators as Arrow tables: fitted on all labels, and what they say of labels whose cluster they did not see.

A metric that cannot be calibrated has a row that says why, and no number. Labels carry a segment: where a segment has
labels enough, a calibrator of its own is in force in it, elsewhere the one for all.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from hcat.calibration.calibrators import (
    MINIMUM_CLUSTERS_PER_CLASS,
    MINIMUM_LABELS_PER_CLASS,
    MINIMUM_LABELS_STEPS,
    Calibrator,
    Fit,
    choose_calibrator,
    cross_fit,
    families_of,
)
from hcat.calibration.targets import ALL_SEGMENTS, Labels, Target, join_labels, read_labels
from hcat.engine.columns import schema
from hcat.statistics.arrays import Floats, Keys

#: The score itself, where it claims to be a probability: the baseline that a calibrator must beat.
UNCALIBRATED: Final = "uncalibrated"
#: The calibrators in force when segments have their own.
BY_SEGMENT: Final = "by_segment"

_PARAMETER = pa.struct(
    schema(
        "string: parameter",
        "int32: position",
        "float64: value lower_bound probability",
        "int32: tree node feature",
        "float64: threshold",
        "int32: left right",
        "bool: missing_goes_left",
    )
)

CALIBRATOR_SCHEMA = pa.schema(
    [
        *schema(
            "string: metric_name criterion segment family status message",
            "bool: is_chosen is_separated",
            "int64: count_labels count_accepted count_clusters",
            "float64: log_loss log_loss_standard_error excess_log_loss excess_log_loss_standard_error",
        ),
        ("parameters", pa.list_(_PARAMETER)),
    ]
)

CROSS_FITTED_SCHEMA = schema(
    "string: interaction_id metric_name family cluster_id system",
    "bool: is_chosen",
    "int64: label",
    "float64: inclusion_probability probability share_accepted",
    "list<float64>: scale_point_probabilities",
)

_MESSAGES: Final[Mapping[str, str]] = {
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


class Calibrators(NamedTuple):
    """The fitted calibrators of one metric."""

    by_family: Mapping[str, Calibrator]  # for all segments
    chosen: str  # family in force where a segment has none of its own
    by_segment: Mapping[str, Calibrator]  # those of segments with labels enough

    @property
    def in_force(self) -> str:
        """Family in force, or :data:`BY_SEGMENT` where segments have their own."""
        return BY_SEGMENT if self.by_segment else self.chosen

    def apply(self, scores: Floats, segments: Keys) -> Floats:
        """Return the probability of each row by the calibrator in force in its segment, shape (n,)."""
        probabilities = self.by_family[self.chosen].apply(scores)
        for segment, calibrator in self.by_segment.items():
            own = segments == segment
            probabilities[own] = calibrator.apply(scores[own])
        return probabilities


def fit_calibrators(labels: pa.Table, targets: pa.Table, random_seed: int) -> pa.Table:
    """Return every family of every target and segment, fitted on all labels, and which one is chosen."""
    rows: list[dict[str, Any]] = []
    for target, found in read_labels(labels, targets):
        for segment in (ALL_SEGMENTS, *np.unique(found.segments[found.segments != ALL_SEGMENTS]).tolist()):
            own = found if segment == ALL_SEGMENTS else found.take(found.segments == segment)
            counts = {
                "count_labels": len(own.scores),
                "count_accepted": int(own.accepted.sum()),
                "count_clusters": own.count_clusters,
            }
            rows += [
                target.head
                | {"segment": segment, "message": _MESSAGES[fit.status]}
                | counts
                | {name: value for name, value in fit._asdict().items() if name != "calibrator"}
                | {"parameters": [] if fit.calibrator is None else list(fit.calibrator.rows)}
                for fit in _fit(own, target, random_seed)
            ]
    return pa.Table.from_pylist(rows, schema=CALIBRATOR_SCHEMA)


def _fit(labels: Labels, target: Target, random_seed: int) -> tuple[Fit, ...]:
    families = families_of(target.count_scale_points)
    if not len(labels.scores):
        return tuple(Fit(family, "no_labels") for family in families)
    if target.count_outside(labels.scores, tolerance=0.0):
        return tuple(Fit(family, "out_of_range") for family in families)
    return choose_calibrator(join_labels(labels, target), random_seed)


def read_calibrators(calibrators: pa.Table) -> dict[str, Calibrators]:
    """Return the calibrators of every metric that has one for all in force, by metric."""
    by_family: dict[str, dict[str, Calibrator]] = {}
    by_segment: dict[str, dict[str, Calibrator]] = {}
    chosen: dict[str, str] = {}
    for row in calibrators.to_pylist():
        if row["status"] != "fitted":
            continue
        metric, calibrator = row["metric_name"], Calibrator(row["family"], row["parameters"])
        if row["segment"] != ALL_SEGMENTS:
            if row["is_chosen"]:
                by_segment.setdefault(metric, {})[row["segment"]] = calibrator
            continue
        by_family.setdefault(metric, {})[row["family"]] = calibrator
        if row["is_chosen"]:
            chosen[metric] = row["family"]
    return {name: Calibrators(by_family[name], chosen[name], by_segment.get(name, {})) for name in sorted(chosen)}


def cross_fit_labels(labels: pa.Table, targets: pa.Table, calibrators: pa.Table, random_seed: int) -> pa.Table:
    """Return the out-of-fold probability of every label by every fitted family."""
    calibrated = read_calibrators(calibrators)
    tables = [pa.Table.from_pylist([], schema=CROSS_FITTED_SCHEMA)]
    for target, own in read_labels(labels, targets):
        known = calibrated.get(target.name)
        if known is None:
            continue
        for family, probabilities, shares, points in _cross_fit(own, target, known, random_seed):
            count = len(own.scores)
            columns = {
                "interaction_id": own.interactions,
                "metric_name": [target.name] * count,
                "family": [family] * count,
                "cluster_id": own.clusters,
                "system": own.systems,
                "is_chosen": [family == known.in_force] * count,
                "label": own.accepted,
                "inclusion_probability": own.inclusion_probabilities,
                "probability": probabilities,
                "share_accepted": shares,
                "scale_point_probabilities": [None] * count if points is None else points.tolist(),
            }
            tables.append(pa.table(columns, schema=CROSS_FITTED_SCHEMA))
    return pa.concat_tables(tables)


def _cross_fit(
    own: Labels, target: Target, known: Calibrators, seed: int
) -> Iterator[tuple[str, Floats, Floats, Floats | None]]:
    """Yield every family with probabilities, shares accepted elsewhere, and probabilities of scale points."""
    data = join_labels(own, target)
    crossed = {family: cross_fit(data, family, seed=seed) for family in known.by_family}
    of_chosen, shares, _ = crossed[known.chosen]
    if target.unit == "probability":
        yield UNCALIBRATED, own.scores, shares, None
    for family, (probabilities, _, points) in crossed.items():
        yield family, probabilities, shares, points if family == "ordinal" else None
    if known.by_segment:
        probabilities = of_chosen.copy()
        for segment, calibrator in known.by_segment.items():
            is_own = own.segments == segment
            probabilities[is_own] = cross_fit(data.take(is_own), calibrator.family, seed=seed)[0]
        yield BY_SEGMENT, probabilities, shares, None
