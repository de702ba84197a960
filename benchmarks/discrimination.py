"""How well a score tells grounded from hallucinated answers: AUROC and average precision with intervals by cluster.

Throughout, a higher score means better grounded, and a positive is a failure (a hallucinated answer).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Flags, Floats
from hcat.statistics.clusters import draw_clusters

COUNT_DRAWS = 1_000
CONFIDENCE = 0.95
_SEED = 20260101


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval."""

    #: Point estimate; NaN when there is no pair to compare (or no positive).
    value: float
    #: Percentile bootstrap interval over clusters; NaN with the value.
    low: float
    high: float
    #: Bootstrap draws, in the same order of resamples for every score of the same rows: differences of two scores may
    #: be taken draw by draw; shape (n_draws,).
    draws: Floats

    def minus(self, other: Estimate) -> Estimate:
        """Return the paired difference of two estimates of the same rows."""
        return estimate_from_draws(self.value - other.value, self.draws - other.draws)


def auroc(
    scores: Floats,
    is_positive: Flags,
    clusters: npt.NDArray[np.int64],
    cells: npt.NDArray[np.int64] | None = None,
    count_draws: int = COUNT_DRAWS,
) -> Estimate:
    """Return the share of (positive, negative) pairs in which the positive has the lower score, ties half.

    Notes
    -----
    Pairs are summed by (cluster of the positive, cluster of the negative) once. A resample with cluster weights w then
    has the value w'Mw / w'Nw, so that a thousand draws are two matrix products.
    """
    _check(scores, is_positive, clusters)
    positive, negative = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    below, above = scores[positive][:, None], scores[negative][None, :]
    concordant = np.where(below < above, 1.0, np.where(below > above, 0.0, 0.5))
    counted = np.ones_like(concordant)
    if cells is not None:
        counted = (cells[positive][:, None] == cells[negative][None, :]).astype(np.float64)
        concordant *= counted
    codes, count_clusters = _codes(clusters)
    of_positive, of_negative = np.eye(count_clusters)[codes[positive]], np.eye(count_clusters)[codes[negative]]
    sums = of_positive.T @ concordant @ of_negative
    pairs = of_positive.T @ counted @ of_negative
    weights = _resample(count_clusters, count_draws)
    numerators = np.einsum("ds,ds->d", weights @ sums, weights)
    denominators = np.einsum("ds,ds->d", weights @ pairs, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        return estimate_from_draws(float(np.divide(sums.sum(), pairs.sum())), numerators / denominators)


def average_precision(
    scores: Floats, is_positive: Flags, clusters: npt.NDArray[np.int64], count_draws: int = COUNT_DRAWS
) -> Estimate:
    """Return the average precision of finding failures among the lowest scores, in [0, 1].

    Parameters as in :func:`auroc`. It needs an order of all rows, so that a missing score takes the median of the
    others. Rows of equal score enter together: AP = sum over distinct scores of (recall gained) x precision.
    """
    _check(scores, is_positive, clusters)
    is_missing = np.isnan(scores)
    filled = np.where(is_missing, np.median(scores[~is_missing]) if not is_missing.all() else 0.0, scores)
    order = np.argsort(filled, kind="stable")
    ordered = filled[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
    codes, count_clusters = _codes(clusters)
    row_weights = _resample(count_clusters, count_draws)[:, codes[order]]
    draws = _weighted_average_precision(row_weights, is_positive[order], ends)
    value = _weighted_average_precision(np.ones((1, len(order))), is_positive[order], ends)
    return estimate_from_draws(float(value[0]), draws)


def _weighted_average_precision(row_weights: Floats, is_positive: Flags, ends: npt.NDArray[np.int64]) -> Floats:
    found = np.cumsum(row_weights * is_positive, axis=1)[:, ends]
    taken = np.cumsum(row_weights, axis=1)[:, ends]
    gained = np.diff(found, axis=1, prepend=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(taken > 0, found / taken, 0.0)
        result: Floats = (gained * precision).sum(axis=1) / found[:, -1]
    return result


def _resample(count_clusters: int, count_draws: int) -> Floats:
    """Return how often each cluster is drawn, shape (n_draws, n_clusters): the same table for every score."""
    return draw_clusters(np.random.default_rng(_SEED), count_clusters, count_draws)


def resample_rows(clusters: npt.NDArray[np.int64], count_draws: int) -> Floats:
    """Return how often each row is drawn when whole clusters are resampled, shape (n_draws, n)."""
    codes, count_clusters = _codes(clusters)
    return _resample(count_clusters, count_draws)[:, codes]


def estimate_from_draws(value: float, draws: Floats) -> Estimate:
    """Return a figure with the percentile interval of its draws; draws that are not finite are left out."""
    usable = draws[np.isfinite(draws)]
    if not np.isfinite(value) or not len(usable):
        return Estimate(float("nan"), float("nan"), float("nan"), draws)
    low, high = np.quantile(usable, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(value, float(low), float(high), draws)


def share(is_hit: Flags, clusters: npt.NDArray[np.int64], count_draws: int = COUNT_DRAWS) -> Estimate:
    """Return the share of rows that are hits, with an interval over whole clusters; NaN of no rows."""
    if not len(is_hit):
        return estimate_from_draws(float("nan"), np.full(count_draws, np.nan))
    weights = resample_rows(clusters, count_draws)
    with np.errstate(invalid="ignore"):
        return estimate_from_draws(float(is_hit.mean()), (weights @ is_hit) / weights.sum(axis=1))


def number_values(values: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return a number for each value, equal ones alike."""
    return np.unique(np.array(values, dtype=np.str_), return_inverse=True)[1].astype(np.int64)


def tell(estimate: Estimate, sign: str = "") -> str:
    """Return a figure with its interval in words."""
    return f"{estimate.value:{sign}.3f} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}]"


def _codes(values: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), len(distinct)


def _check(scores: Floats, is_positive: Flags, clusters: npt.NDArray[np.int64]) -> None:
    if not len(scores) == len(is_positive) == len(clusters):
        raise ValueError(
            f"scores, labels and clusters must have one length, got {len(scores)}, {len(is_positive)}, {len(clusters)}"
        )
    if not len(scores):
        raise ValueError("there must be at least one row, got 0")
