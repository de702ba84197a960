"""Prediction sets and controlled risks as Arrow tables: quantiles from fold `conformalize`, coverage on fold `test`.

The statistics are those of :mod:`hcat.calibration.conformal`. Stage 2 reads the plain random audit sample alone: its
promises are for answers drawn as the labelled ones were. A metric without a calibrator, or with too few clusters, has
rows that say so; its sets then hold every label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrators import Calibrator
from hcat.calibration.conformal import (
    OTHER_GROUP,
    STRATIFICATIONS,
    Conformalizer,
    check_sets,
    fit_conformal,
    groups_with_cells,
    measure_coverage,
)
from hcat.calibration.risk_control import (
    RiskControl,
    control_accepted_among_bad,
    control_bad_among_accepted,
    control_bad_and_accepted,
)
from hcat.calibration.tables import CONFORMALIZE, FIT, TEST, as_texts, read_calibrators
from hcat.statistics.arrays import Floats

CELL_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("stratification", pa.string()),
        ("stratum", pa.string()),
        ("status", pa.string()),
        ("check_status", pa.string()),
        ("alpha", pa.float64()),
        ("label", pa.int32()),
        ("quantile", pa.float64()),
        ("count_labels", pa.int64()),
        ("count_clusters", pa.int64()),
        ("count_test_clusters", pa.int64()),
        ("count_covered", pa.int64()),
        ("coverage_limit", pa.int64()),
        ("expected_coverage", pa.float64()),
        ("p_value", pa.float64()),
        ("p_value_adjusted", pa.float64()),
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
    ]
)

RISK_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("promise", pa.string()),
        ("status", pa.string()),
        ("level", pa.float64()),
        ("confidence", pa.float64()),
        ("threshold", pa.float64()),
        ("share_accepted", pa.float64()),
        ("count_clusters", pa.int64()),
        ("test_risk", pa.float64()),
        ("test_share_accepted", pa.float64()),
        ("count_test_labels", pa.int64()),
        ("count_test_clusters", pa.int64()),
    ]
)

#: Sets of scale points instead of accepted and failed, a quantile per point; where the family ordinal could be fitted.
SCALE_POINT = "scale_point"

#: Status of a metric that stage 1 could not calibrate.
NOT_CALIBRATED = "not_calibrated"


class _Fold(NamedTuple):
    """Audit labels of one fold with their calibrated probabilities: of accepted, or one column per scale point."""

    probabilities: Floats
    labels: npt.NDArray[np.int64]
    clusters: npt.NDArray[Any]
    groups: npt.NDArray[Any]


class _Folds(NamedTuple):
    """The three folds of one metric under one calibrator."""

    fit: _Fold
    conformalize: _Fold
    test: _Fold


class _Metric(NamedTuple):
    """What stage 2 reads of one metric; `points` only where the family ordinal could be fitted."""

    accepted: _Folds
    points: _Folds | None

    def folds(self, stratification: str) -> _Folds | None:
        """Return the folds that a stratification reads."""
        return self.points if stratification == SCALE_POINT else self.accepted

    def stratifications(self) -> tuple[str, ...]:
        """Return what can be promised for this metric."""
        return STRATIFICATIONS if self.points is None else (*STRATIFICATIONS, SCALE_POINT)


def fit_quantiles(labels: pa.Table, targets: pa.Table, calibrators: pa.Table, alphas: Sequence[float]) -> pa.Table:
    """Return the quantile of every cell and the check of its promise on fold `test`.

    Parameters
    ----------
    labels : Table
        int_audit_labels: interaction_id, metric_name, cluster_id, segment, stratum, label, scale_point,
        raw_score, fold; a plain random sample.
    targets, calibrators : Table
        As in :func:`hcat.calibration.tables.fit_calibrators`, and what it returned.
    alphas : sequence of float
        Promised miscoverages, each in (0, 1).

    Returns
    -------
    Table
        Schema :data:`CELL_SCHEMA`, one row per (metric, alpha, stratification, stratum, label), ordered. quantile is
        null where the status is not `conformalized`: every set then holds every label. Strata with cells of their own
        are declared from fold `fit`; the others share one named `other`. label is null where classes share a quantile,
        and a scale point where the stratification is :data:`SCALE_POINT`.

    Examples
    --------
    Fifty labels per fold, and a promise of 80 %: the quantile is the 41st of 50, since 41 = .8 x (50 + 1) rounded up.

    >>> from hcat.calibration.tables import fit_calibrators
    >>> target = dict(metric_name="groundedness", criterion="grounded", accept_from=1, count_scale_points=2)
    >>> target |= dict(direction="higher_is_better", unit="probability", range_low=0.0, range_high=1.0)
    >>> label = dict(metric_name="groundedness", segment="all", stratum="all", inclusion_probability=1.0)
    >>> rows = [
    ...     label | dict(interaction_id=f"{n:03}", cluster_id=f"q{n}", fold=fold, raw_score=n / 150, label=int(n >= 75))
    ...     for n, fold in enumerate(["fit", "conformalize", "test"] * 50)
    ... ]
    >>> labels, targets = pa.Table.from_pylist(rows), pa.Table.from_pylist([target])
    >>> labels = labels.append_column("scale_point", labels["label"])
    >>> calibrators = fit_calibrators(labels, targets, 5, random_seed=1)
    >>> marginal = fit_quantiles(labels, targets, calibrators, [0.2]).to_pylist()[0]
    >>> marginal["status"], marginal["count_labels"], marginal["count_covered"]
    ('conformalized', 50, 41)
    """
    rows: list[dict[str, Any]] = []
    for head, folds in _read_promises(labels, targets, calibrators, alphas):
        if folds is None:
            nothing = {"stratum": OTHER_GROUP, "status": NOT_CALIBRATED, "count_labels": 0, "count_clusters": 0}
            rows.append(dict.fromkeys(CELL_SCHEMA.names) | head | nothing)
            continue
        conformalizer = _fit(folds, head["alpha"], head["stratification"])
        test = folds.test
        checks = check_sets(conformalizer, test.probabilities, test.labels, test.groups, test.clusters)
        for cell, check in zip(conformalizer.cells, checks, strict=True):
            rows.append(
                head
                | {
                    "stratum": cell.group,
                    "status": cell.status,
                    "check_status": check.status,
                    "label": cell.label,
                    "quantile": None if math.isinf(cell.quantile) else cell.quantile,
                    "count_labels": cell.count_rows,
                    "count_clusters": cell.count_clusters,
                    "count_test_clusters": check.count_test,
                    "count_covered": check.count_covered,
                    "coverage_limit": check.limit,
                    "expected_coverage": check.expected_coverage,
                    "p_value": check.p_value,
                    "p_value_adjusted": check.p_value_holm,
                }
            )
    return pa.Table.from_pylist(rows, schema=CELL_SCHEMA)


def cover_labels(labels: pa.Table, targets: pa.Table, calibrators: pa.Table, alphas: Sequence[float]) -> pa.Table:
    """Return which share of the labels of fold `test` the sets hold, over all, per true label and per stratum.

    Parameters as in :func:`fit_quantiles`.

    Returns
    -------
    Table
        Schema :data:`COVERAGE_SCHEMA`, one row per (metric, alpha, stratification, scope, stratum, label), ordered;
        shares of empty, single and all-label sets stand on every row and are of its rows. coverage counts clusters
        alike. Status `measured`, `no_labels` or `not_calibrated`.
    """
    rows: list[dict[str, Any]] = []
    for head, folds in _read_promises(labels, targets, calibrators, alphas):
        if folds is None or not len(folds.test.labels):
            status = NOT_CALIBRATED if folds is None else "no_labels"
            nothing = {"scope": "marginal", "status": status, "count_labels": 0, "count_clusters": 0}
            rows.append(dict.fromkeys(COVERAGE_SCHEMA.names) | head | nothing)
            continue
        conformalizer = _fit(folds, head["alpha"], head["stratification"])
        rows += [head | row for row in _cover(folds.test, conformalizer)]
    return pa.Table.from_pylist(rows, schema=COVERAGE_SCHEMA)


def control_risks(
    labels: pa.Table,
    targets: pa.Table,
    calibrators: pa.Table,
    levels: Sequence[float],
    delta: float,
    random_seed: int,
) -> pa.Table:
    """Return the threshold on the calibrated probability that keeps each promised risk, and the risk on fold `test`.

    Parameters
    ----------
    labels, targets, calibrators : Table
        As in :func:`fit_quantiles`.
    levels : sequence of float
        Promised limits of each risk, in (0, 1).
    delta : float
        Probability, over folds, that the limit on bad ones among accepted answers is broken.
    random_seed : int
        Draws one row per cluster for that test.

    Returns
    -------
    Table
        Schema :data:`RISK_SCHEMA`, one row per (metric, promise, level), ordered; threshold is null where the status
        is not `controlled`: then nothing may be accepted by the machine. Accept if the probability is above it.
    """
    rows: list[dict[str, Any]] = []
    for target, metric in _read_metrics(labels, targets, calibrators):
        for level in levels:
            head = {"metric_name": target["metric_name"], "criterion": target["criterion"], "level": level}
            if metric is None:
                rows.append(dict.fromkeys(RISK_SCHEMA.names) | head | {"promise": "none", "status": NOT_CALIBRATED})
                continue
            fold, test = metric.accepted.conformalize, metric.accepted.test
            controls = (
                control_bad_and_accepted(fold.probabilities, fold.labels, level, fold.clusters),
                control_accepted_among_bad(fold.probabilities, fold.labels, level, fold.clusters),
                control_bad_among_accepted(
                    fold.probabilities, fold.labels, level, delta, clusters=fold.clusters, seed=random_seed
                ),
            )
            rows += [head | _to_risk_row(control, test) for control in controls]
    return pa.Table.from_pylist(rows, schema=RISK_SCHEMA)


def _read_metrics(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table
) -> Iterator[tuple[dict[str, Any], _Metric | None]]:
    """Yield every target with what stage 2 reads of it; None where stage 1 has no calibrator."""
    found = read_calibrators(calibrators)
    ordered = labels.sort_by("interaction_id")
    for target in targets.sort_by("metric_name").to_pylist():
        known = found.get(target["metric_name"])
        if known is None:
            yield target, None
            continue
        own = ordered.filter(pc.equal(ordered["metric_name"], target["metric_name"]))
        ordinal = known.by_family.get("ordinal")
        points = None if ordinal is None else _read_folds(own, _ignoring_segments(ordinal), "scale_point")
        yield target, _Metric(_read_folds(own, known.apply, "label"), points)


def _ignoring_segments(ordinal: Calibrator) -> Callable[[Floats, npt.NDArray[Any]], Floats]:
    return lambda scores, _: ordinal.scale_point_probabilities(scores)


def _read_folds(labels: pa.Table, function: Callable[[Floats, npt.NDArray[Any]], Floats], column: str) -> _Folds:
    folds = []
    for name in (FIT, CONFORMALIZE, TEST):
        rows = labels.filter(pc.equal(labels["fold"], name))
        folds.append(
            _Fold(
                function(rows["raw_score"].to_numpy(), as_texts(rows["segment"])),
                rows[column].to_numpy().astype(np.int64),
                as_texts(rows["cluster_id"]),
                as_texts(rows["stratum"]),
            )
        )
    return _Folds(*folds)


def _read_promises(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, alphas: Sequence[float]
) -> Iterator[tuple[dict[str, Any], _Folds | None]]:
    """Yield the head of the rows of every (metric, alpha, stratification), and the folds that it reads."""
    for target, metric in _read_metrics(labels, targets, calibrators):
        for alpha in alphas:
            for stratification in STRATIFICATIONS if metric is None else metric.stratifications():
                head = {
                    "metric_name": target["metric_name"],
                    "criterion": target["criterion"],
                    "stratification": stratification,
                    "alpha": alpha,
                }
                yield head, None if metric is None else metric.folds(stratification)


def _fit(folds: _Folds, alpha: float, stratification: str) -> Conformalizer:
    fold = folds.conformalize
    if stratification in ("marginal", SCALE_POINT):
        # a quantile per scale point leaves too few labels to part them by stratum too
        name = "marginal" if stratification == "marginal" else "label_conditional"
        return fit_conformal(fold.probabilities, fold.labels, alpha, stratification=name, clusters=fold.clusters)
    # groups are declared from fold fit, so that no label of this fold chooses which scores are pooled; they must be
    # large enough for a fold of this size
    least_share = min(1.0, max(1, len(np.unique(fold.clusters))) / len(np.unique(folds.fit.clusters)))
    if stratification == "label_conditional":
        shares = np.bincount(folds.fit.labels, minlength=2) / len(folds.fit.labels)
        least_share *= float(max(shares.min(), 1 / len(folds.fit.labels)))
    return fit_conformal(
        fold.probabilities,
        fold.labels,
        alpha,
        stratification=stratification,
        groups=fold.groups,
        clusters=fold.clusters,
        own_groups=groups_with_cells(folds.fit.groups, alpha, folds.fit.clusters, least_share),
    )


def _cover(test: _Fold, conformalizer: Conformalizer) -> Iterator[dict[str, Any]]:
    sets = conformalizer.predict(test.probabilities, test.groups)
    for one in measure_coverage(sets, test.labels, test.groups, test.clusters):
        rows = np.ones(len(test.labels), dtype=np.bool_) if one.group is None else test.groups == one.group
        if one.label is not None:
            rows = rows & (test.labels == one.label)
        kinds = sets.kinds[rows]
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
        }


def _to_risk_row(control: RiskControl, test: _Fold) -> dict[str, Any]:
    risk = share = None
    if control.threshold is not None and len(test.labels):
        is_accepted, is_bad = test.probabilities > control.threshold, test.labels == 0
        share = float(is_accepted.mean())
        within = {
            "share_bad_and_accepted": np.ones(len(is_bad), dtype=np.bool_),
            "share_accepted_among_bad": is_bad,
            "share_bad_among_accepted": is_accepted,
        }[control.promise]
        risk = float((is_accepted & is_bad)[within].mean()) if within.any() else None
    return {
        "promise": control.promise,
        "status": control.status,
        "confidence": control.confidence,
        "threshold": control.threshold,
        "share_accepted": control.share_accepted,
        "count_clusters": control.count_clusters,
        "test_risk": risk,
        "test_share_accepted": share,
        "count_test_labels": len(test.labels),
        "count_test_clusters": len(np.unique(test.clusters)),
    }
