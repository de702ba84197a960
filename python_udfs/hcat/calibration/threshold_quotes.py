"""What thresholds do on labels that they have not seen: rates of false accepts and false rejects, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from hcat.calibration.thresholds import SEED, OrientedRows, Threshold, orient_rows, sign_of
from hcat.statistics.arrays import Flags
from hcat.statistics.clusters import sum_by_cluster
from hcat.statistics.intervals import kish_effective_n, wilson_interval


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its clustered Wilson interval.

    Parameters
    ----------
    rate, low, high : float or None
        In [0, 1]; None unless the status is `ok`.
    count, count_clusters : int
        Rows and clusters of the denominator.
    count_effective : float
        Independent rows that would give the same variance; 0 without rows.
    level : float
        Coverage of this one interval, after the correction for several.
    status : str
        `ok`, `one_class` (no row in the denominator) or `no_threshold`.
    """

    rate: float | None
    low: float | None
    high: float | None
    count: int
    count_clusters: int
    count_effective: float
    level: float
    status: str


@dataclass(frozen=True, slots=True)
class Quote:
    """What a threshold does on labels that it has not seen: accepted failed answers and rejected good answers."""

    threshold: float | None
    false_accept: Rate
    false_reject: Rate


def quote(
    threshold: float | None,
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    direction: str,
    confidence: float = 0.95,
    count_compared: int = 1,
    weights: npt.ArrayLike | None = None,
) -> Quote:
    """Return false accept and false reject rate of a threshold on fold `test`, each with a clustered Wilson interval.

    The false accept rate is the share of failed answers that are accepted (type I), the false reject rate that of good
    answers that are rejected (type II). The Wilson interval (Wilson 1927) stands on an effective number of rows: with
    r_k the sum of weighted residuals of cluster k, v = K / (K - 1) sum r_k^2 / (sum w)^2 is the linearised variance
    and n_eff = p (1 - p) / v (Kish 1965; Korn and Graubard 1998), never above Kish's number of rows and never below
    Kish's number of clusters, which is taken where p is 0 or 1 or one cluster is all there is.

    Parameters
    ----------
    threshold : float or None
        In the unit of the metric; None gives status `no_threshold`.
    scores, labels, clusters, direction, weights
        As in :func:`fit_all`, of labels that the fit has not seen.
    confidence : float
        Simultaneous coverage, in (0, 1).
    count_compared : int
        How many thresholds are compared: each interval has level 1 - (1 - confidence) / count_compared (Bonferroni).
        False accepts and false rejects are two families.

    Raises
    ------
    ValueError
        If arguments contradict each other.

    Examples
    --------
    One of two failed answers passes, and both good ones do.

    >>> found = quote(0.5, [0.2, 0.6, 0.7, 0.8], [0, 0, 1, 1], [1, 2, 3, 4], direction="higher_is_better")
    >>> found.false_accept.rate, found.false_reject.rate
    (0.5, 0.0)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
    if count_compared < 1:
        raise ValueError(f"count_compared must be at least 1, got {count_compared}")
    if threshold is not None and not math.isfinite(threshold):
        raise ValueError(f"threshold must be finite or None, got {threshold}")
    sign = sign_of(direction)
    data = orient_rows(scores, labels, clusters, direction, (None, None), weights, 2, SEED)
    level = 1 - (1 - confidence) / count_compared
    is_passing = None if threshold is None else data.values >= sign * threshold
    return Quote(
        threshold,
        _rate(is_passing, ~data.is_accepted, data, level),
        _rate(None if is_passing is None else ~is_passing, data.is_accepted, data, level),
    )


def quote_all(
    thresholds: Sequence[Threshold],
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    direction: str,
    confidence: float = 0.95,
    weights: npt.ArrayLike | None = None,
) -> tuple[Quote, ...]:
    """Return a quote per threshold, in their order, simultaneous over the distinct numbers that are compared."""
    count = max(1, len({row.threshold for row in thresholds if row.threshold is not None}))
    return tuple(
        quote(
            row.threshold,
            scores,
            labels,
            clusters,
            direction=direction,
            confidence=confidence,
            count_compared=count,
            weights=weights,
        )
        for row in thresholds
    )


def judge(rate: Rate, tolerated_share: float) -> str:
    """Return `within` (the whole interval is tolerated), `beyond` (none of it), `not_shown`, or the rate's status."""
    if rate.low is None or rate.high is None:
        return rate.status
    return "within" if rate.high <= tolerated_share else "beyond" if rate.low > tolerated_share else "not_shown"


def _rate(is_error: Flags | None, rows: Flags, data: OrientedRows, level: float) -> Rate:
    """Return the share of errors among some rows with its clustered Wilson interval (see :func:`quote`)."""
    count = int(rows.sum())
    weights = data.weights[rows]
    _, codes = np.unique(data.clusters[rows], return_inverse=True)
    by_cluster = sum_by_cluster(weights, codes)
    count_clusters = len(by_cluster)
    if is_error is None or not count:
        status = "no_threshold" if is_error is None else "one_class"
        return Rate(None, None, None, count, count_clusters, 0.0, level, status)
    total = weights.sum()
    share = min(1.0, float(weights @ is_error[rows] / total))  # rounding
    fewest, most = kish_effective_n(by_cluster), kish_effective_n(weights)
    effective = fewest
    if 0 < share < 1 and count_clusters > 1:
        residuals = sum_by_cluster(weights * (is_error[rows] - share), codes)
        variance = float((residuals**2).sum()) * count_clusters / (count_clusters - 1) / total**2
        effective = min(most, max(fewest, share * (1 - share) / variance)) if variance > 0 else most
    low, high = wilson_interval(share, effective, NormalDist().inv_cdf((1 + level) / 2))
    return Rate(share, low, high, count, count_clusters, effective, level, "ok")
