"""Shares of a population from a stratified, weighted sample, with intervals that hold for rare ones too."""

from typing import Final, NamedTuple

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import sum_by_cluster
from hcat.statistics.intervals import kish

#: Rows of the overall variance that each stratum's own is mixed with for the interval. Chosen among 0 to 3 on draws
#: other than those of `python -m benchmarks.sampling`.
PRIOR_ROWS: Final = 1


class ShareEstimates(NamedTuple):
    """Weighted shares with their intervals, one element per share, each of shape (k,)."""

    shares: Floats
    low: Floats
    high: Floats
    standard_errors: Floats  # linearised; 0 where no stratum shows any variation
    effective_n: Floats  # p (1 - p) / (variance whose strata lean on the overall one)
    degrees: float  # of freedom of the design, units less strata, at least 1


def estimate_shares(
    is_hit: Flags, strata: Integers, weights: Floats, units: Integers | None = None, confidence: float = 0.95
) -> ShareEstimates:
    """Return the weighted shares of hits in the population that the weights stand for."""
    hits = np.asarray(is_hit, dtype=np.float64)
    hits = hits[:, None] if hits.ndim == 1 else hits
    unit_codes = np.arange(len(hits)) if units is None else np.unique(units, return_inverse=True)[1]
    stratum_codes = np.unique(strata, return_inverse=True)[1]
    count_units, count_strata = int(unit_codes.max()) + 1, int(stratum_codes.max()) + 1
    stratum_of_unit = np.zeros(count_units, dtype=np.int64)
    stratum_of_unit[unit_codes] = stratum_codes

    weight_of_stratum = sum_by_cluster(weights, stratum_codes, count_strata)
    total = weights.sum()
    # a share of hits alone is one: rounding must not leave it a spread, from which an effective n would be made
    shares = np.where((hits == 1).all(axis=0), 1.0, weights @ hits / total)
    in_stratum = sum_by_cluster(weights[:, None] * hits, stratum_codes, count_strata) / weight_of_stratum[:, None]
    counts = np.bincount(stratum_of_unit, minlength=count_strata)
    centers = np.where((counts > 1)[:, None], in_stratum, shares)

    residuals = sum_by_cluster(weights[:, None] * (hits - centers[stratum_codes]), unit_codes, count_units)
    weight_of_unit = sum_by_cluster(weights, unit_codes, count_units)
    # a unit that stands for itself alone was taken with certainty and adds no doubt
    uncertainty = np.clip(1 - 1 / weight_of_unit, 0, 1)
    by_stratum = sum_by_cluster(uncertainty[:, None] * residuals**2, stratum_of_unit, count_strata)
    by_stratum *= (counts / np.maximum(counts - 1, 1))[:, None] / total**2
    variances = by_stratum.sum(axis=0)

    variation = np.clip(shares * (1 - shares), 0, None)
    squares = sum_by_cluster(uncertainty * weight_of_unit**2, stratum_of_unit, count_strata) / total**2
    rows_told = (counts - 1)[:, None]
    leaning = (rows_told * by_stratum + PRIOR_ROWS * squares[:, None] * variation) / (rows_told + PRIOR_ROWS)
    doubt = leaning.sum(axis=0)
    has_spread = (doubt > 0) & (variation > 0)
    effective = np.where(has_spread, variation / np.where(has_spread, doubt, 1.0), kish(weight_of_unit))
    degrees = max(1.0, float(count_units - count_strata))
    low, high = _jeffreys(shares, effective, degrees, confidence)
    return ShareEstimates(shares, low, high, np.sqrt(variances), effective, degrees)


def _jeffreys(shares: Floats, effective: Floats, degrees: float, confidence: float) -> tuple[Floats, Floats]:
    """Return the bounds of Jeffreys' interval for shares of effectively n rows, shapes (k,)."""
    from scipy.special import betaincinv, ndtri, stdtrit

    tail = (1 - confidence) / 2
    rows = effective * (ndtri(tail) / stdtrit(degrees, tail)) ** 2
    hits, misses = rows * shares, rows * (1 - shares)
    low, high = (betaincinv(hits + 0.5, misses + 0.5, share) for share in (tail, 1 - tail))
    # without a hit, or a miss, the exact bound: that of the beta distribution covers too seldom there
    exact = tail ** (1 / rows)
    low = np.where(shares <= 0, 0.0, np.where(shares >= 1, exact, low))
    high = np.where(shares >= 1, 1.0, np.where(shares <= 0, 1 - exact, high))
    return np.minimum(shares, low), np.maximum(shares, high)
