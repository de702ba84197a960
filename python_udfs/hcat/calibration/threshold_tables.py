"""Thresholds as an Arrow table: one row per metric, method and risk appetite, with what it does on other labels.

A quote comes from nested cross-validation (docs/thresholds.md). A threshold in force has rows of the method `decided`,
quoted on all labels. Where it is the rounded threshold of a shown method, these labels chose it, and the quote is that
of the method on other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.calibration.risk_appetites import RiskAppetite, find_appetite_in_force, read_risk_appetites
from hcat.calibration.targets import Labels, Target, read_labels
from hcat.calibration.thresholds import (
    METHODS,
    MINIMUM_CLUSTERS,
    MINIMUM_PER_CLASS,
    SEED,
    SHOWN,
    STATUSES,
    Threshold,
    accepts,
    fit_all,
)
from hcat.engine.columns import schema
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clustered import crossed_rate_interval, rate_bounds
from hcat.statistics.clusters import deal_folds

#: Folds of whole clusters: with ten, a fold's threshold is close to that of all labels.
COUNT_FOLDS: Final = 10
#: Folds of the methods that only compare: some of them take seconds.
COUNT_FOLDS_COMPARED: Final = 5
#: The method of a threshold in force, and the decimals to which people round a fitted number when they decide.
DECIDED: Final = "decided"
DECISION_DECIMALS: Final = 2
#: The method whose number is itself a bound of false accepts, with the assurance of the intervals.
ASSURED: Final = "conformal"
#: No build asks for more labels than this.
_MOST_NEEDED: Final = 20_000

FITTED_SCHEMA: Final = schema(
    "string: metric_name criterion direction kind method risk_appetite status message accepts",
    "float64: confidence threshold held_out_flag_share",
    "int64: count_fit_accepted count_fit_failed count_fit_clusters",
    "bool: is_shown is_appetite_of_application",
    "float64: expected_cost interval_level",
    *(
        part.format(error)
        for error in ("false_accept", "false_reject")
        for part in (
            "string: {0}_status {0}_verdict",
            "float64: {0}_tolerated_share {0}_rate {0}_rate_lower {0}_rate_upper",
            "int64: {0}_count_labels {0}_count_clusters",
            "float64: {0}_effective_n",
            "int64: {0}_count_needed",
        )
    ),
)


class Rate(NamedTuple):
    """A share in [0, 1] with its interval by cluster; None unless the status is `ok`."""

    status: str  # `ok`, `one_class` (no row in the denominator) or `no_threshold`
    count_labels: int  # of the denominator
    count_clusters: int
    effective_n: float = 0.0  # independent rows that would give the same variance
    rate: float | None = None
    rate_lower: float | None = None
    rate_upper: float | None = None


class Quote(NamedTuple):
    """What a threshold does on labels that it has not seen."""

    false_accept: Rate  # accepted failed answers among failed ones (type I)
    false_reject: Rate  # rejected good answers among good ones (type II)
    share_failed: float | None  # weighted; None without labels

    def assure(self, limit: float) -> Quote:
        """Return the quote with a limit that the method itself assures as the upper bound of false accepts."""
        own = self.false_accept
        if own.rate is None or own.rate_upper is None or not own.rate <= limit < own.rate_upper:
            return self
        return self._replace(false_accept=own._replace(rate_upper=limit))

    def expected_cost(self, appetite: RiskAppetite) -> float | None:
        """Return the cost of both errors per answer, in false rejects: p r FA + (1 - p) FR; None without both rates."""
        accept, reject = self.false_accept.rate, self.false_reject.rate
        if accept is None or reject is None or self.share_failed is None:
            return None
        return self.share_failed * appetite.cost_ratio * accept + (1 - self.share_failed) * reject


def fit_thresholds(
    labels: pa.Table,
    targets: pa.Table,
    appetites: pa.Table,
    confidence: float,
    random_seed: int,
    decisions: pa.Table,
    applications: pa.Table,
) -> pa.Table:
    """Return every threshold of every metric that people calibrate, fitted on all labels and quoted out of fold."""
    levels = read_risk_appetites(appetites)
    in_force = find_appetite_in_force(applications, levels)
    decided = dict(zip(decisions["metric_name"].to_pylist(), decisions["threshold"].to_pylist(), strict=True))
    rows = []
    for target, own in read_labels(labels, targets):
        for row in _fit_metric(target, own, levels, confidence, random_seed, decided.get(target.name)):
            rows.append(row | {"is_appetite_of_application": row["risk_appetite"] == in_force})
    return pa.Table.from_pylist(rows, schema=FITTED_SCHEMA)


def _fit_metric(
    target: Target,
    labels: Labels,
    appetites: Sequence[RiskAppetite],
    confidence: float,
    random_seed: int,
    decided: float | None,
) -> list[dict[str, Any]]:
    count_outside = target.count_outside(labels.scores)
    # scores outside their range are a fault of the metric: nothing is fitted on the others
    own = labels.take(np.full(len(labels.scores), not count_outside))
    read = (own.scores, own.accepted, own.clusters)
    settings: dict[str, Any] = {
        "direction": target.direction,
        "bounds": (target.low, target.high),
        "weights": own.weights,
        "second_clusters": own.second_clusters,
        "is_probability": target.unit == "probability",
        "assurance": confidence,
        "seed": random_seed,
    }
    fitted = fit_all(*read, appetites, **settings)
    numbered = {row.method for row in fitted if row.threshold is not None}
    passing: dict[tuple[str, str], Flags] = {}
    assured: set[tuple[str, str]] = set()
    for methods, count_folds in ((numbered & set(SHOWN), COUNT_FOLDS), (numbered - set(SHOWN), COUNT_FOLDS_COMPARED)):
        passing |= accept_out_of_fold(*read, appetites, methods=sorted(methods), count_folds=count_folds, **settings)
    if decided is not None:
        number, status = (None, "out_of_range") if count_outside else (decided, "ok")
        like = [row for row in fitted if row.method == SHOWN[0]]
        in_force = [row._replace(method=DECIDED, threshold=number, status=status, accepts=None) for row in like]
        shown = [row for method in SHOWN for row in fitted if row.method == method and row.kind == "acceptance"]
        chosen_by_labels = [
            passing[row.method, row.appetite.name]
            for row in shown
            if row.threshold is not None
            if round(row.threshold, DECISION_DECIMALS) == round(decided, DECISION_DECIMALS)
        ]
        flags = [*chosen_by_labels, accepts(own.scores, decided, target.direction)][0]
        passing |= {(DECIDED, row.appetite.name): flags for row in in_force}
        # whoever decides the limit of a method, or a stricter one, decides what it assures
        assured = {
            (DECIDED, row.appetite.name)
            for row in shown
            if row.method == ASSURED and row.threshold is not None
            if accepts([decided], round(row.threshold, DECISION_DECIMALS), target.direction)[0]
        }
        fitted = (*fitted, *in_force)
    rows = []
    for row in fitted:
        is_passing = None if row.threshold is None else passing[row.method, row.appetite.name]
        keys = own.clusters, own.second_clusters
        found = quote(is_passing, own.accepted, *keys, confidence=confidence, weights=own.weights)
        if row.threshold is not None and (row.method == ASSURED or (row.method, row.appetite.name) in assured):
            found = found.assure(round(1 - row.appetite.confidence, 12))
        rows.append(target.head | {"direction": target.direction} | _to_row(row, found, confidence))
        rows[-1]["message"] = _explain(target, row, count_outside)
        if count_outside:
            rows[-1]["status"] = "out_of_range"
    return rows


@cache
def count_needed(tolerated_share: float, confidence: float) -> int | None:
    """Return how many independent labels without one error show that the error is tolerated; None if none do."""
    counts = np.arange(2, _MOST_NEEDED, dtype=np.float64)
    upper = rate_bounds(np.zeros(len(counts)), counts, counts - 1, 2 * confidence - 1)[1]
    # the limit of the threshold needs as many as the exact tolerance limit does (Wilks 1941)
    is_exact = (1 - tolerated_share) ** counts <= 1 - confidence
    enough = np.flatnonzero((upper <= tolerated_share) & is_exact)
    return int(counts[enough[0]]) if len(enough) else None


def accept_out_of_fold(
    scores: Floats,
    labels: Integers,
    clusters: npt.ArrayLike,
    appetites: Sequence[RiskAppetite],
    *,
    weights: Floats | None = None,
    second_clusters: npt.ArrayLike | None = None,
    methods: Sequence[str] = tuple(METHODS),
    count_folds: int = COUNT_FOLDS,
    seed: int = SEED,
    **settings: Any,
) -> dict[tuple[str, str], Flags]:
    """Return, per method and appetite, which labelled answers pass the threshold of other folds, shape (n,)."""
    values, groups, flags = np.asarray(scores, dtype=np.float64), np.asarray(clusters), np.asarray(labels)
    names = [(method, appetite.name) for method in methods for appetite in appetites]
    passing = {name: np.zeros(len(values), dtype=np.bool_) for name in names}
    if not len(values) or not methods:
        return passing
    codes: Integers = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    seconds = groups if second_clusters is None else np.asarray(second_clusters)
    folds = deal_folds(codes, np.ones(len(values), dtype=np.bool_), count_folds, seed)
    for fold in np.unique(folds):
        own = folds == fold
        of_others = None if weights is None else np.asarray(weights)[~own]
        others = (values[~own], flags[~own], groups[~own], appetites)
        keyed = settings | {"second_clusters": seconds[~own], "weights": of_others}
        for found in fit_all(*others, methods=methods, seed=seed, **keyed):
            if found.threshold is not None:
                is_passing = accepts(values[own], found.threshold, settings["direction"])
            else:
                is_passing = np.full(own.sum(), found.accepts == "all" or found.kind == "monitoring")
            passing[found.method, found.appetite.name][own] = is_passing
    return passing


def quote(
    is_passing: Flags | None,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    second_clusters: npt.ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    weights: npt.ArrayLike | None = None,
) -> Quote:
    """Return false accept and false reject rate of answers that pass a threshold which their labels did not choose."""
    is_good, groups = np.asarray(labels) == 1, np.asarray(clusters)
    seconds = groups if second_clusters is None else np.asarray(second_clusters)
    row_weights = np.ones(len(is_good)) if weights is None else np.asarray(weights, dtype=np.float64)
    level, total = 2 * confidence - 1, float(row_weights.sum())

    def rate(is_error: Flags | None, rows: Flags) -> Rate:
        counts = (int(rows.sum()), len(np.unique(groups[rows])))
        if is_error is None or not rows.any():
            return Rate("no_threshold" if is_error is None else "one_class", *counts)
        found = crossed_rate_interval(is_error[rows], groups[rows], seconds[rows], row_weights[rows], level)
        return Rate("ok", *counts, found.effective_n, found.estimate, found.low, found.high)

    is_failing = None if is_passing is None else ~is_passing
    share_failed = float(row_weights[~is_good].sum()) / total if total else None
    return Quote(rate(is_passing, ~is_good), rate(is_failing, is_good), share_failed)


def judge(rate: Rate, tolerated_share: float) -> str:
    """Return `within` (the whole interval is tolerated), `beyond` (none of it), `not_shown`, or the rate's status."""
    if rate.rate_lower is None or rate.rate_upper is None:
        return rate.status
    if rate.rate_upper <= tolerated_share:
        return "within"
    return "beyond" if rate.rate_lower > tolerated_share else "not_shown"


def _to_row(fitted: Threshold, quoted: Quote, confidence: float) -> dict[str, Any]:
    appetite, is_floor = fitted.appetite, fitted.kind == "monitoring"
    tolerated = {
        "false_accept": None if is_floor else appetite.tolerated_false_accept_share,
        # 1 - 0.9 is not 0.1 in binary
        "false_reject": round(1 - appetite.confidence, 12) if is_floor else appetite.tolerated_false_reject_share,
    }
    row: dict[str, Any] = {
        "kind": fitted.kind,
        "method": fitted.method,
        "risk_appetite": appetite.name,
        "status": fitted.status,
        "accepts": fitted.accepts,
        "confidence": appetite.confidence,
        "threshold": fitted.threshold,
        "held_out_flag_share": fitted.held_out_flag_share,
        "count_fit_accepted": fitted.count_accepted,
        "count_fit_failed": fitted.count_failed,
        "count_fit_clusters": fitted.count_clusters,
        "is_shown": fitted.method in (*SHOWN, DECIDED),
        "expected_cost": quoted.expected_cost(appetite),
        "interval_level": round(2 * confidence - 1, 12),
    }
    for error, share in tolerated.items():
        rate: Rate = getattr(quoted, error)
        row |= {f"{error}_{name}": value for name, value in rate._asdict().items()}
        row[f"{error}_verdict"] = "not_applicable" if share is None else judge(rate, share)
        row[f"{error}_tolerated_share"] = share
        row[f"{error}_count_needed"] = None if share is None else count_needed(share, confidence)
    return row


def _explain(target: Target, fitted: Threshold, count_outside: int) -> str:
    """Return one sentence on what a threshold was fitted on, or why there is none."""
    if count_outside:
        return f"{count_outside} labelled scores lie outside [{target.low}, {target.high}], the range of the catalogue"
    read = (
        f"{fitted.count_accepted} accepted and {fitted.count_failed} failed answers of {fitted.count_clusters} clusters"
    )
    if fitted.method == DECIDED:
        return f"in force, measured on {read}"
    if fitted.status == "ok":
        return f"fitted on {read}"
    text = f"{STATUSES[fitted.status]}: {read}"
    if fitted.status == "insufficient":
        classes = "accepted answers" if fitted.kind == "monitoring" else "accepted and of failed answers"
        text += f", at least {MINIMUM_PER_CLASS} of {classes} from {MINIMUM_CLUSTERS} clusters each are needed"
    if fitted.accepts is not None:
        text += f"; the method would accept {fitted.accepts}"
    return text
