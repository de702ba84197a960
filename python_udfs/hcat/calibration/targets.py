"""Metrics that people calibrate, and the labels of each as arrays: every question about labels is asked metric by
metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrators import LabelledScores, label_scores
from hcat.statistics.arrays import Flags, Floats, Integers, Keys

#: The segment of a calibrator for all.
ALL_SEGMENTS: Final = "all"
#: Cosines leave [-1, 1] by rounding; the same allowance as in the project's range test.
RANGE_TOLERANCE: Final = 1e-6


class Target(NamedTuple):
    """A metric that people calibrate, with its criterion and what the catalogue says of its scores."""

    name: str
    criterion: str
    direction: str
    unit: str | None
    low: float | None
    high: float | None
    accept_from: int
    count_scale_points: int

    @property
    def head(self) -> dict[str, Any]:
        """Columns that begin every row about the metric."""
        return {"metric_name": self.name, "criterion": self.criterion}

    def count_outside(self, scores: Floats, tolerance: float = RANGE_TOLERANCE) -> int:
        """Return how many scores lie outside the range of the catalogue (beyond rounding)."""
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return int((~((scores >= low - tolerance) & (scores <= high + tolerance))).sum())


class Labels(NamedTuple):
    """Labels of one metric, ordered by interaction: the warehouse's order would decide the last bits of sums."""

    interactions: Keys
    clusters: Keys
    second_clusters: Keys
    strata: Keys  # of the prediction sets
    segments: Keys  # of the calibrators
    systems: Keys
    months: Keys
    scores: Floats
    inclusion_probabilities: Floats
    accepted: Integers  # 1 accepted, 0 failed
    points: Integers  # of the scale
    raters: Integers  # codes; the least of several
    is_audit: Flags

    def take(self, rows: Flags) -> Labels:
        return Labels._make(column[rows] for column in self)

    @property
    def weights(self) -> Floats:
        """Return 1 / inclusion probability."""
        return 1 / self.inclusion_probabilities

    @property
    def count_clusters(self) -> int:
        return len(np.unique(self.clusters))


def describe_targets(targets: pa.Table, scales: pa.Table, metrics: pa.Table) -> pa.Table:
    """Return the metrics that people calibrate, with the scale of their labels and what the catalogue says of them.

    Parameters
    ----------
    targets, scales : Table
        The seeds calibration_targets and rating_scales.
    metrics : Table
        int_metric_catalog.

    Returns
    -------
    Table
        One row per target that the catalogue holds: metric_name, criterion, accept_from, count_scale_points, direction,
        unit, range_low and range_high.
    """
    known = metrics.select(["metric_name", "direction", "unit", "range_low", "range_high"])
    points = scales.group_by("criterion").aggregate([([], "count_all")])
    points = points.rename_columns({"count_all": "count_scale_points"})
    wanted = targets.select(["metric_name", "criterion", "accept_from"])
    joined = wanted.join(known, "metric_name", join_type="inner").join(points, "criterion", join_type="inner")
    return joined.sort_by("metric_name")


def read_targets(targets: pa.Table) -> list[Target]:
    """Return the metrics that people calibrate, ordered by name."""
    found: dict[str, Target] = {}
    for row in targets.to_pylist():
        name, criterion = row["metric_name"], row["criterion"]
        if name in found:
            other = found[name].criterion
            raise ValueError(f"calibration_targets: a metric has one criterion, got {other} and {criterion} for {name}")
        catalogued = (row["direction"], row["unit"], row["range_low"], row["range_high"])
        found[name] = Target(name, criterion, *catalogued, row["accept_from"], row["count_scale_points"])
    return [found[name] for name in sorted(found)]


def read_labels(labels: pa.Table, targets: pa.Table) -> Iterator[tuple[Target, Labels]]:
    """Yield every metric that people calibrate with its labels, ordered by name."""
    for target in read_targets(targets):
        own = labels.filter(pc.field("metric_name") == target.name).sort_by("interaction_id")
        names = ("interaction_id", "cluster_id", "second_cluster_id", "stratum", "segment", "system", "rated_month")
        texts = (as_texts(own[name]) for name in names)
        floats = (own[name].to_numpy().astype(np.float64) for name in ("raw_score", "inclusion_probability"))
        codes = (own[name].to_numpy().astype(np.int64) for name in ("label", "scale_point", "rater_code"))
        is_audit = own["is_audit"].to_numpy(zero_copy_only=False).astype(np.bool_)
        yield target, Labels._make([*texts, *floats, *codes, is_audit])


def join_labels(labels: Labels, target: Target) -> LabelledScores:
    """Return labels as calibrators read them."""
    return label_scores(
        labels.scores,
        labels.points,
        labels.clusters,
        labels.weights,
        target.direction,
        target.unit == "probability",
        target.count_scale_points,
        target.accept_from,
    )


def as_texts(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return a column of text as an array of str, shape (n,)."""
    return np.array(column.to_pylist(), dtype=object).astype(str)
