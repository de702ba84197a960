"""What thresholds do on labels that did not choose them: rates of false accepts and false rejects, cross-validated.

A threshold is fitted on all labels. Its quote comes from nested cross-validation: whole clusters are dealt to folds,
the method is fitted without one fold, its own inner folds included, and what that threshold does to the fold left out
is noted. Every label is used once, and none is spent on a fold that only tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from hcat.calibration.risk_appetites import RiskAppetite
from hcat.calibration.thresholds import METHODS, SEED, accepts, fit_all
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clustered import rate_interval
from hcat.statistics.clusters import deal_folds

#: Folds of whole clusters: with ten, a fold's threshold is close to that of all labels.
COUNT_FOLDS: Final = 10
#: Folds of the methods that only compare: some of them take seconds.
COUNT_FOLDS_COMPARED: Final = 5


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its interval by cluster.

    Parameters
    ----------
    rate, low, high : float or None
        In [0, 1]; None unless the status is `ok`.
    count, count_clusters : int
        Rows and clusters of the denominator.
    count_effective : float
        Independent rows that would give the same variance; 0 without rows.
    status : str
        `ok`, `one_class` (no row in the denominator) or `no_threshold`.
    """

    rate: float | None
    low: float | None
    high: float | None
    count: int
    count_clusters: int
    count_effective: float
    status: str


@dataclass(frozen=True, slots=True)
class Quote:
    """What a threshold does on labels that it has not seen.

    Parameters
    ----------
    false_accept, false_reject : Rate
        Accepted failed answers among failed ones (type I), rejected good answers among good ones (type II).
    share_failed : float or None
        Weighted share of failed answers; None without labels.
    """

    false_accept: Rate
    false_reject: Rate
    share_failed: float | None

    def expected_cost(self, appetite: RiskAppetite) -> float | None:
        """Return the cost of both errors per answer, in false rejects: p r FA + (1 - p) FR; None without both rates."""
        accept, reject = self.false_accept.rate, self.false_reject.rate
        if accept is None or reject is None or self.share_failed is None:
            return None
        return self.share_failed * appetite.cost_ratio * accept + (1 - self.share_failed) * reject


def accept_out_of_fold(
    scores: Floats,
    labels: Integers,
    clusters: npt.ArrayLike,
    appetites: Sequence[RiskAppetite],
    *,
    direction: str,
    bounds: tuple[float | None, float | None] = (None, None),
    weights: Floats | None = None,
    methods: Sequence[str] = tuple(METHODS),
    is_probability: bool = False,
    assurance: float | None = None,
    count_folds: int = COUNT_FOLDS,
    seed: int = SEED,
) -> dict[tuple[str, str], Flags]:
    """Return, per method and appetite, which labelled answers pass the threshold of the other folds, shape (n,)."""
    values, groups = np.asarray(scores, dtype=np.float64), np.asarray(clusters)
    count = len(values)
    passing = {(method, appetite.name): np.zeros(count, dtype=np.bool_) for method in methods for appetite in appetites}
    if not count:
        return passing
    codes: Integers = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    folds = deal_folds(codes, np.ones(count, dtype=np.bool_), count_folds, seed)
    for fold in range(count_folds):
        own = folds == fold
        if not own.any():
            continue
        for found in fit_all(
            values[~own],
            np.asarray(labels)[~own],
            groups[~own],
            appetites,
            direction=direction,
            bounds=bounds,
            weights=None if weights is None else np.asarray(weights)[~own],
            methods=methods,
            is_probability=is_probability,
            assurance=assurance,
            seed=seed,
        ):
            if found.threshold is not None:
                passing[found.method, found.appetite][own] = accepts(values[own], found.threshold, direction)
            else:
                passing[found.method, found.appetite][own] = found.accepts == "all" or found.kind == "monitoring"
    return passing


def quote(
    is_passing: Flags | None,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    weights: npt.ArrayLike | None = None,
) -> Quote:
    """Return false accept and false reject rate of answers that pass a threshold which their labels did not choose."""
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence must lie in (0.5, 1), got {confidence}")
    is_good = np.asarray(labels) == 1
    groups = np.asarray(clusters)
    row_weights = np.ones(len(is_good)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(is_good) == len(groups) == len(row_weights) or (
        is_passing is not None and len(is_passing) != len(is_good)
    ):
        raise ValueError(f"labels, clusters, weights and answers must have one length, got {len(is_good)} labels")
    level = 2 * confidence - 1
    total = float(row_weights.sum())
    return Quote(
        _rate(is_passing, ~is_good, groups, row_weights, level),
        _rate(None if is_passing is None else ~is_passing, is_good, groups, row_weights, level),
        float(row_weights[~is_good].sum()) / total if total else None,
    )


def judge(rate: Rate, tolerated_share: float) -> str:
    """Return `within` (the whole interval is tolerated), `beyond` (none of it), `not_shown`, or the rate's status."""
    if rate.low is None or rate.high is None:
        return rate.status
    return "within" if rate.high <= tolerated_share else "beyond" if rate.low > tolerated_share else "not_shown"


def _rate(
    is_error: Flags | None, rows: Flags, clusters: npt.NDArray[np.generic], weights: Floats, level: float
) -> Rate:
    """Return the share of errors among some rows with its interval by cluster."""
    count, count_clusters = int(rows.sum()), len(np.unique(clusters[rows]))
    if is_error is None or not count:
        return Rate(None, None, None, count, count_clusters, 0.0, "no_threshold" if is_error is None else "one_class")
    found = rate_interval(is_error[rows], clusters[rows], weights[rows], level)
    return Rate(found.estimate, found.low, found.high, count, count_clusters, found.effective_n, "ok")
