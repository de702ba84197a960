"""Failure rates of systems and segments as an Arrow table: prediction-powered beside labels-only.

The statistics are those of :mod:`hcat.statistics.prediction_powered`; the predictor is a logistic calibrator
(:mod:`hcat.calibration.calibrators`) of the metric's score, cross-fitted: what it says of an interaction comes from
labels of other clusters. In memory are the rows of one metric at a time, and four bytes per (interaction, dimension).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrators import COUNT_FOLDS, fit_calibrator, label_scores
from hcat.calibration.targets import Target, read_targets
from hcat.statistics.arrays import Floats, Integers
from hcat.statistics.clusters import hash_folds
from hcat.statistics.memberships import find_places, read_memberships
from hcat.statistics.prediction_powered import LEAST_EXPECTED, FailureRate, RateInterval, estimate_failure_rate

FAILURE_RATE_SCHEMA: Final = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("system", pa.string()),
        ("dimension", pa.string()),
        ("segment", pa.string()),
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

#: Status of the predictor -> meaning; those but the last are of :class:`hcat.calibration.calibrators.Fit`.
PREDICTOR_STATUSES: Final = {
    "fitted": "a logistic calibrator, cross-fitted on other clusters",
    "one_class": "the labels of other clusters are all alike",
    "insufficient": "too few labels of a class, or too few clusters, for a calibrator",
    "constant_score": "the scores do not vary",
    "wrong_direction": "people do not accept answers with better scores more often",
    "not_converged": "the calibrator did not converge",
    "out_of_range": "scores lie outside the range of the catalogue",
}


class Rows(NamedTuple):
    """All interactions of one metric, each array of shape (n_rows,); NaN = no score, no label."""

    places: Integers  # of the interactions
    systems: Integers  # codes of names
    system_names: list[str]
    clusters: Integers
    cluster_names: list[str]
    scores: Floats
    labels: Floats
    inclusion_probabilities: Floats


def estimate_failure_rates(
    interactions: pa.Array,
    evaluations: Iterable[pa.RecordBatch],
    segments: Iterable[pa.RecordBatch],
    targets: pa.Table,
    *,
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
        Of :func:`hcat.calibration.targets.describe_targets`.
    confidence : float
        Two-sided, in (0, 1).
    random_seed : int
        Salt of the folds of cross-fitting.

    Returns
    -------
    Table
        Schema :data:`FAILURE_RATE_SCHEMA`, ordered by its key. The rate is that of the interactions that the metric
        scored (count_scored, N); Y = 1 is a failure.
    """
    by_name = {target.name: target for target in read_targets(targets)}
    cells = read_memberships(segments, interactions)
    rows: list[dict[str, Any]] = []
    for name, own in _read_metrics(evaluations):
        found = _read_rows(own, interactions)
        target = by_name[name]
        status, predictions = predict_failures(found, target, random_seed)
        row_of_place = np.full(len(interactions), -1)
        row_of_place[found.places] = np.arange(len(found.places))
        for cell, (dimension, segment) in enumerate(cells.names):
            members = row_of_place[cells.of(cell)]
            # the same numbers whatever the order of the interactions
            members = np.sort(members[members >= 0])
            for system in np.unique(found.systems[members]).tolist():
                key = target.head | {"system": found.system_names[system], "dimension": dimension, "segment": segment}
                of_system = members[found.systems[members] == system]
                rows.append(
                    key | {"predictor_status": status} | _estimate(found, of_system, predictions, status, confidence)
                )
    rows.sort(key=lambda row: (row["metric_name"], row["system"], row["dimension"], row["segment"]))
    return pa.Table.from_pylist(rows, schema=FAILURE_RATE_SCHEMA)


def _read_metrics(evaluations: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of each metric when its last batch has come."""
    current: str | None = None
    parts: list[pa.RecordBatch] = []
    for batch in evaluations:
        for name in pc.unique(batch["metric_name"]).to_pylist():
            if name != current and current is not None:
                yield current, pa.Table.from_batches(parts)
                parts = []
            current = name
            parts.append(batch.filter(pc.field("metric_name") == name))
    if current is not None:
        yield current, pa.Table.from_batches(parts)


def _read_rows(own: pa.Table, interactions: pa.Array) -> Rows:
    systems, clusters = (own[name].combine_chunks().dictionary_encode() for name in ("system", "cluster_id"))
    numbers = (
        own[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
        for name in ("raw_score", "label", "inclusion_probability")
    )
    return Rows(
        find_places(own["interaction_id"], interactions, "interaction_id of evaluations"),
        systems.indices.to_numpy(),
        systems.dictionary.to_pylist(),
        clusters.indices.to_numpy().astype(np.int64),
        clusters.dictionary.to_pylist(),
        *numbers,
    )


def predict_failures(found: Rows, target: Target, random_seed: int) -> tuple[str, Floats]:
    """Return a status and the predicted probability of failure of each interaction, from labels of other clusters."""
    is_scored = ~np.isnan(found.scores)
    is_labelled = is_scored & ~np.isnan(found.labels)
    nothing = np.where(is_scored, 0.0, np.nan)
    if target.count_outside(found.scores[is_scored]):
        return "out_of_range", nothing
    if not is_labelled.any():
        return "insufficient", nothing
    scores = found.scores if target.low is target.high is None else np.clip(found.scores, target.low, target.high)
    with_labels = np.unique(found.clusters[is_labelled])
    own_fold = np.full(len(found.cluster_names), -1)
    names = [found.cluster_names[code] for code in with_labels]
    own_fold[with_labels] = hash_folds(names, COUNT_FOLDS, f"hcat cross-fit|{random_seed}")
    fold_of_row, folds = own_fold[found.clusters], np.unique(own_fold[with_labels])
    is_new = is_scored & (fold_of_row < 0)
    predictions = np.zeros(len(scores))
    for fold in folds:
        others = is_labelled & (fold_of_row != fold)
        known = label_scores(
            scores[others],
            found.labels[others].astype(np.int64),
            found.clusters[others],
            1 / found.inclusion_probabilities[others],
            direction=target.direction,
            is_probability=target.unit == "probability",
        )
        fit = fit_calibrator(known, "logistic")
        if fit.calibrator is None:
            return fit.status, nothing
        is_own = is_scored & (fold_of_row == fold)
        predictions[is_own] = 1 - fit.calibrator.apply(scores[is_own])
        predictions[is_new] += (1 - fit.calibrator.apply(scores[is_new])) / len(folds)
    return "fitted", np.where(is_scored, np.clip(predictions, 0.0, 1.0), np.nan)


def _estimate(
    found: Rows, members: Integers, predictions: Floats, predictor_status: str, confidence: float
) -> dict[str, Any]:
    """Return the columns of one cell but for its key."""
    scored = members[~np.isnan(found.scores[members])]
    labelled = scored[~np.isnan(found.labels[scored])]
    rate = FailureRate("insufficient", 0, 0, 0)
    if len(scored):
        rate = estimate_failure_rate(
            found.labels[labelled] == 0,
            predictions[labelled],
            found.clusters[labelled],
            predictions[scored],
            found.clusters[scored],
            found.inclusion_probabilities[labelled],
            confidence,
        )
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
        "failure_rate": None if rate.chosen is None else rate.chosen.estimate,
        "failure_rate_lower": None if rate.chosen is None else rate.chosen.low,
        "failure_rate_upper": None if rate.chosen is None else rate.chosen.high,
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
    if predictor_status != "fitted":
        return f"no predictor: {PREDICTOR_STATUSES[predictor_status]}"
    if rate.power_tuning is None:
        return f"fewer than {LEAST_EXPECTED:g} failures, passes or wrong predictions among the labels: they stand alone"
    if rate.power_tuning == 0:
        return "the predictions add nothing to the labels"
    return f"with predictions the interval would be {rate.width_ratio:.2f} as wide: not worth it"


def state_rate(rate: FailureRate) -> str | None:
    """Return the rate in one line, or None without one."""
    if rate.chosen is None:
        return None
    counted = f"{rate.count_failures} of {rate.count_labels}"
    bounds = f"{100 * rate.chosen.low:.0f} % to {100 * rate.chosen.high:.0f} %"
    # weights of unequal sampling, and predictions, move the rate away from the plain share
    if abs(rate.chosen.estimate - rate.count_failures / rate.count_labels) < _SAME_RATE:
        return f"{counted} failed, {bounds}"
    return f"{counted} labelled answers failed; of all, {100 * rate.chosen.estimate:.0f} % ({bounds})"
