"""Failure rates of systems and segments as an Arrow table: prediction-powered beside labels-only.

The statistics are those of :mod:`hcat.statistics.prediction_powered`; the predictor is a logistic calibrator
(:mod:`hcat.calibration.calibrators`) of the metric's score, cross-fitted: what it says of an interaction comes from
labels of other clusters.

Memory: the rows of one metric at a time (48 bytes each, and their names while they are read), four bytes per
(interaction, dimension), working copies of the rows of one cell, and every name once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrators import COUNT_FOLDS, fit_calibrator, label_scores
from hcat.calibration.threshold_tables import TargetMetric, read_target_metrics
from hcat.statistics.arrays import Floats, Integers
from hcat.statistics.clusters import folds_of_clusters
from hcat.statistics.memberships import Memberships, find_places, read_memberships
from hcat.statistics.prediction_powered import LEAST_EXPECTED, FailureRate, RateInterval, Target, estimate_failure_rate

FAILURE_RATE_SCHEMA: Final = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("system", pa.string()),
        ("dimension", pa.string()),
        ("segment", pa.string()),
        ("target", pa.string()),
        ("status", pa.string()),
        ("predictor_status", pa.string()),
        ("message", pa.string()),
        ("statement", pa.string()),
        ("count_interactions", pa.int64()),
        ("count_scored", pa.int64()),
        ("count_labels", pa.int64()),
        ("count_failures", pa.int64()),
        ("count_clusters", pa.int64()),
        ("effective_n", pa.float64()),
        ("failure_rate", pa.float64()),
        ("failure_rate_lower", pa.float64()),
        ("failure_rate_upper", pa.float64()),
        *(
            (f"{kind}_{name}", dtype)
            for kind in ("labels_only", "prediction_powered")
            for name, dtype in (
                ("method", pa.string()),
                ("rate", pa.float64()),
                ("lower", pa.float64()),
                ("upper", pa.float64()),
                ("standard_error", pa.float64()),
            )
        ),
        ("power_tuning", pa.float64()),
        ("width_ratio", pa.float64()),
    ]
)

#: Difference from the plain share below which a rate is stated as that share.
_SAME_RATE: Final = 0.005

#: Status of the predictor -> meaning; those but the last are of :data:`hcat.calibration.calibrators.FIT_STATUSES`.
PREDICTOR_STATUSES: Final = {
    "fitted": "a logistic calibrator, cross-fitted on other clusters",
    "one_class": "the labels of other clusters are all alike",
    "insufficient": "too few labels of a class, or too few clusters, for a calibrator",
    "constant_score": "the scores do not vary",
    "wrong_direction": "people do not accept answers with better scores more often",
    "not_converged": "the calibrator did not converge",
    "out_of_range": "scores lie outside the range of the catalogue",
}


class _Rows(NamedTuple):
    """All interactions of one metric, each array of shape (n_rows,); NaN = no score, no label."""

    interactions: Integers
    systems: Integers
    clusters: Integers
    scores: Floats
    labels: Floats
    inclusion_probabilities: Floats


@dataclass(slots=True)
class _Codes:
    """Whole numbers for names, in the order of their first appearance."""

    known: dict[str, int] = field(default_factory=dict)
    _names: pa.Array | None = None
    _codes: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def encode(self, column: pa.Array) -> Integers:
        """Return the codes of a column, shape (n,)."""
        encoded = column.dictionary_encode()
        # most metrics have the same names in the same order
        if self._names is None or not encoded.dictionary.equals(self._names):
            self._names = encoded.dictionary
            codes = [self.known.setdefault(name, len(self.known)) for name in encoded.dictionary.to_pylist()]
            self._codes = np.asarray(codes, dtype=np.int64)
        result: Integers = self._codes[encoded.indices.to_numpy()]
        return result

    @property
    def names(self) -> list[str]:
        return list(self.known)


def estimate_failure_rates(
    interactions: pa.Array,
    evaluations: Iterable[pa.RecordBatch],
    segments: Iterable[pa.RecordBatch],
    targets: pa.Table,
    *,
    target: Target,
    confidence: float,
    random_seed: int,
) -> pa.Table:
    """Return one row per (metric, system, dimension, segment) that has interactions.

    Parameters
    ----------
    interactions : Array
        interaction_id of all interactions, each once.
    evaluations : iterable of RecordBatch
        metric_name, interaction_id, cluster_id, system, raw_score (null = the metric gave none), label (1 = people
        accept, null = none), inclusion_probability (of the label); ordered by metric_name, one row per interaction.
        Read once.
    segments : iterable of RecordBatch
        interaction_id, dimension, segment, in any order; the whole of a system is `all`, `all`. Read first, and once.
    targets : Table
        As in :func:`hcat.calibration.threshold_tables.read_target_metrics`.
    target, confidence
        As in :func:`hcat.statistics.prediction_powered.estimate_failure_rate`.
    random_seed : int
        Salt of the folds of cross-fitting.

    Returns
    -------
    Table
        Schema :data:`FAILURE_RATE_SCHEMA`, ordered by its key. The rate is that of the interactions that the metric
        scored (count_scored, N); Y = 1 is a failure.

    Raises
    ------
    ValueError
        If a metric is not among the targets, its rows do not stand together, an interaction is not among
        `interactions`, or as `read_target_metrics`.

    Examples
    --------
    All four answers of a system are labelled, and people failed one: the rate is known.

    >>> target = dict(metric_name="groundedness", criterion="grounded", direction="higher_is_better")
    >>> target |= dict(unit="probability", range_low=0.0, range_high=1.0)
    >>> row = dict(metric_name="groundedness", system="app", raw_score=0.5, inclusion_probability=1.0)
    >>> rows = [row | dict(interaction_id=f"i{n}", cluster_id=f"q{n}", label=int(n > 0)) for n in range(4)]
    >>> segments = [dict(interaction_id=f"i{n}", dimension="all", segment="all") for n in range(4)]
    >>> found = estimate_failure_rates(
    ...     pa.array(row["interaction_id"] for row in rows),
    ...     [pa.RecordBatch.from_pylist(rows)],
    ...     [pa.RecordBatch.from_pylist(segments)],
    ...     pa.Table.from_pylist([target]),
    ...     target="these_interactions",
    ...     confidence=0.95,
    ...     random_seed=1,
    ... ).to_pylist()
    >>> found[0]["failure_rate"], found[0]["labels_only_method"]
    (0.25, 'known')
    """
    metrics = {metric.name: metric for metric in read_target_metrics(targets)}
    systems, clusters = _Codes(), _Codes()
    cells = read_memberships(segments, interactions)
    rows: list[dict[str, Any]] = []
    for name, found in _read_metrics(evaluations, interactions, systems, clusters):
        if name not in metrics:
            raise ValueError(f"metric_name must be among {', '.join(metrics)}, got {name}")
        metric = metrics[name]
        status, predictions = predict_failures(
            found.scores,
            found.labels,
            found.clusters,
            clusters.names,
            1 / found.inclusion_probabilities,
            metric,
            random_seed,
        )
        system_names = systems.names
        for system, cell, members in _split(found, cells, len(interactions)):
            key = {
                "metric_name": name,
                "criterion": metric.criterion,
                "system": system_names[system],
                "dimension": cells.names[cell][0],
                "segment": cells.names[cell][1],
                "target": target,
                "predictor_status": status,
            }
            rows.append(key | _estimate(found, members, predictions, status, target, confidence))
    rows.sort(key=lambda row: (row["metric_name"], row["system"], row["dimension"], row["segment"]))
    return pa.Table.from_pylist(rows, schema=FAILURE_RATE_SCHEMA)


def predict_failures(
    scores: Floats,
    labels: Floats,
    clusters: Integers,
    cluster_names: Sequence[str],
    weights: Floats,
    metric: TargetMetric,
    random_seed: int,
) -> tuple[str, Floats]:
    """Return a status and the predicted probability of failure of each interaction, from labels of other clusters."""
    is_scored = ~np.isnan(scores)
    is_labelled = is_scored & ~np.isnan(labels)
    nothing = np.where(is_scored, 0.0, np.nan)
    if metric.count_outside(scores[is_scored]):
        return "out_of_range", nothing
    inputs = np.clip(scores, metric.low, metric.high) if metric.low is not None or metric.high is not None else scores
    own_fold = np.full(len(cluster_names), -1)
    with_labels = np.unique(clusters[is_labelled])
    fractions = {str(fold): 1 / COUNT_FOLDS for fold in range(COUNT_FOLDS)}
    if not len(with_labels):
        return "insufficient", nothing
    names = np.asarray([cluster_names[code] for code in with_labels], dtype=np.str_)
    own_fold[with_labels] = folds_of_clusters(names, fractions, salt=f"hcat cross-fit|{random_seed}").astype(np.int64)
    fold_of_row = own_fold[clusters]
    folds = np.unique(own_fold[with_labels])
    predictions = np.zeros(len(scores))
    is_new = is_scored & (fold_of_row < 0)
    for fold in folds:
        others = is_labelled & (fold_of_row != fold)
        known = label_scores(
            inputs[others],
            labels[others].astype(np.int64),
            clusters[others],
            weights[others],
            direction=metric.direction,
            is_probability=metric.unit == "probability",
        )
        fit = fit_calibrator(known, "logistic")
        if fit.calibrator is None:
            return fit.status, nothing
        is_own = is_scored & (fold_of_row == fold)
        predictions[is_own] = 1 - fit.calibrator.apply(inputs[is_own])
        predictions[is_new] += (1 - fit.calibrator.apply(inputs[is_new])) / len(folds)
    return "fitted", np.where(is_scored, np.clip(predictions, 0.0, 1.0), np.nan)


def _estimate(
    found: _Rows, members: Integers, predictions: Floats, predictor_status: str, target: Target, confidence: float
) -> dict[str, Any]:
    """Return the columns of one cell but for its key."""
    scored = members[~np.isnan(found.scores[members])]
    labelled = scored[~np.isnan(found.labels[scored])]
    if len(scored):
        rate = estimate_failure_rate(
            found.labels[labelled] == 0,
            predictions[labelled],
            found.clusters[labelled],
            predictions[scored],
            found.clusters[scored],
            found.inclusion_probabilities[labelled],
            target=target,
            confidence=confidence,
        )
    else:
        rate = FailureRate("insufficient", 0, 0, 0, 0)
    # without a predictor there is nothing to put beside the labels
    powered = rate.prediction_powered if predictor_status == "fitted" else None
    return {
        "status": rate.status,
        "message": _explain(rate, predictor_status),
        "statement": state_rate(rate),
        "count_interactions": len(members),
        "count_scored": len(scored),
        "count_labels": rate.count_labels,
        "count_failures": rate.count_failures,
        "count_clusters": rate.count_clusters,
        "effective_n": rate.effective_n,
        "failure_rate": rate.estimate,
        "failure_rate_lower": rate.low,
        "failure_rate_upper": rate.high,
        **_to_columns("labels_only", rate.labels_only),
        **_to_columns("prediction_powered", powered),
        "power_tuning": None if powered is None else rate.power_tuning,
        "width_ratio": None if powered is None else rate.width_ratio,
    }


def _to_columns(kind: str, interval: RateInterval | None) -> dict[str, Any]:
    if interval is None:
        return {}
    return {
        f"{kind}_method": interval.method,
        f"{kind}_rate": interval.estimate,
        f"{kind}_lower": interval.low,
        f"{kind}_upper": interval.high,
        f"{kind}_standard_error": interval.standard_error,
    }


def _explain(rate: FailureRate, predictor_status: str) -> str:
    """Return one sentence on where the rate comes from, or why there is none."""
    if rate.status == "insufficient":
        return f"{rate.count_labels} labels of {rate.count_clusters} clusters; labels of at least 2 clusters are needed"
    if rate.status == "prediction_powered":
        return f"lambda = {rate.power_tuning:.2f}: the interval is {rate.width_ratio:.2f} as wide as that of the labels"
    if rate.labels_only is not None and rate.labels_only.method == "known":
        return "all interactions are labelled"
    if predictor_status != "fitted":
        return f"no predictor: {PREDICTOR_STATUSES[predictor_status]}"
    if rate.power_tuning is None:
        return f"fewer than {LEAST_EXPECTED:g} failures, passes or wrong predictions among the labels: they stand alone"
    if rate.power_tuning == 0:
        return "the predictions add nothing to the labels"
    return f"with predictions the interval would be {rate.width_ratio:.2f} as wide: not worth it"


def state_rate(rate: FailureRate) -> str | None:
    """Return the rate in one line, or None without one."""
    if rate.estimate is None or rate.low is None or rate.high is None:
        return None
    counted = f"{rate.count_failures} of {rate.count_labels}"
    bounds = f"{100 * rate.low:.0f} % to {100 * rate.high:.0f} %"
    # weights of unequal sampling, and predictions, move the rate away from the plain share
    if abs(rate.estimate - rate.count_failures / rate.count_labels) < _SAME_RATE:
        return f"{counted} failed, {bounds}"
    return f"{counted} labelled answers failed; of all, {100 * rate.estimate:.0f} % ({bounds})"


def _read_metrics(
    evaluations: Iterable[pa.RecordBatch], interactions: pa.Array, systems: _Codes, clusters: _Codes
) -> Iterator[tuple[str, _Rows]]:
    """Yield the rows of each metric when its last batch has come."""
    finished: set[str] = set()
    current: str | None = None
    parts: list[pa.RecordBatch] = []

    def join() -> _Rows:
        own = pa.Table.from_batches(parts).combine_chunks()
        return _Rows(
            find_places(own["interaction_id"], interactions, "interaction_id of evaluations"),
            systems.encode(own["system"].chunk(0)),
            clusters.encode(own["cluster_id"].chunk(0)),
            *(_floats(own[column]) for column in ("raw_score", "label", "inclusion_probability")),
        )

    for batch in evaluations:
        names = batch.column("metric_name")
        for name in pc.unique(names).to_pylist():
            if name != current:
                if current is not None:
                    yield current, join()
                    finished.add(current)
                if name in finished:
                    raise ValueError(f"evaluations must be ordered by metric_name, got {name} again after {current}")
                current, parts = name, []
            parts.append(batch.filter(pc.equal(names, name)))
    if current is not None:
        yield current, join()


def _split(found: _Rows, cells: Memberships, count_interactions: int) -> Iterator[tuple[int, int, Integers]]:
    """Yield system, cell and the rows of the metric in both, ascending."""
    place = np.full(count_interactions, -1)
    place[found.interactions] = np.arange(len(found.interactions))
    for cell in range(len(cells.names)):
        rows = place[cells.of(cell)]
        # the same numbers whatever the order of the interactions
        rows = np.sort(rows[rows >= 0])
        systems = found.systems[rows]
        for system in np.unique(systems).tolist():
            yield system, cell, rows[systems == system]


def _floats(column: pa.ChunkedArray) -> Floats:
    """Return a column as doubles, NaN for null."""
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
