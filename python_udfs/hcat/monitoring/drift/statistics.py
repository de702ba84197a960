"""Statistics of drift: does a series of scores in its latest weeks still behave as in its reference weeks?

A series is one metric in one segment of one dimension. Everything here is vectorised over series and counts whole
clusters: interactions of one cluster are not independent facts. With n_s rows of cluster s the effective number of rows
is Kish's K = (sum n_s)^2 / sum n_s^2, which treats the interactions of one cluster as fully dependent.

Two tests alarm. Both compare weeks with weeks, by :mod:`hcat.monitoring.drift.chart`:

- ``mean_shift``: the weekly means of a series, each topic centred on its own mean of the reference. Its error is at
  least that of both periods by the delete-a-cluster jackknife (:func:`error_by_cluster`): a cluster leaves window and
  reference together, so that a query that is asked every week is its own control. Two lower limits keep that error
  honest where a window is small or its scores hardly vary (a rare failure that happened not to occur). The variance of
  an effective row of the window is at least that of both periods together. The standard error is at least what one
  differing cluster would give, \\|difference\\| / K.
- ``mix_shift``: the weekly shares of a dimension's segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.multiple_tests import adjust_p_values

#: Tests of a series of scores, and of the mix of a dimension.
TESTS: Final = ("mean_shift", "mix_shift")

#: Differences below this share of the largest score are rounding.
NEGLIGIBLE = 1e-12
#: Keys are numbered by a table of all of them while it is at most so many times longer than the rows, else by sorting.
_DENSE = 8


@dataclass(frozen=True, slots=True)
class Rows:
    """Scores of many series in the order (series, score).

    Attributes
    ----------
    series : ndarray of int, shape (n,)
        Series of each row, 0 to count_series - 1, ascending.
    scores : ndarray, shape (n,)
        Ascending within a series.
    pairs : ndarray of int, shape (n,)
        Code of (series, cluster) of each row.
    pair_series : ndarray of int, shape (n_pairs,)
        Series of each such pair.
    order : ndarray of int, shape (n,)
        Place of each row in the input, by which other columns are put in the same order.
    count_series : int
        Number of series, also of those without rows.
    """

    series: Integers
    scores: Floats
    pairs: Integers
    pair_series: Integers
    order: Integers
    count_series: int


@dataclass(frozen=True, slots=True)
class Period:
    """What a period holds of each series; arrays of shape (count_series,), NaN where a series has too little.

    Attributes
    ----------
    count, count_clusters : ndarray of int
        Rows and clusters.
    effective : ndarray
        Kish's effective number of rows, 0 without rows.
    mean, standard_deviation : ndarray
        Of rows, in the unit of the scores.
    variance : ndarray
        Delete-a-cluster jackknife variance of the mean.
    deviations : ndarray, shape (n_pairs,)
        Mean minus mean without the cluster, for each (series, cluster); 0 where the cluster has no row here.
    """

    count: Integers
    count_clusters: Integers
    effective: Floats
    mean: Floats
    standard_deviation: Floats
    variance: Floats
    deviations: Floats


def arrange_rows(series: Integers, clusters: Integers, scores: Floats, count_series: int) -> Rows:
    """Return the rows in the order that all tests need."""
    shapes = {np.shape(series), np.shape(clusters), np.shape(scores)}
    if len(shapes) != 1 or np.ndim(scores) != 1:
        raise ValueError(f"series, clusters and scores must have one shape (n,), got {sorted(map(str, shapes))}")
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite, got NaN or infinity")
    if len(series) and (min(series.min(), clusters.min()) < 0 or series.max() >= count_series):
        raise ValueError(f"series must lie in [0, {count_series}) and clusters from 0, got codes outside")
    order = np.argsort(scores, kind="stable")
    # whole numbers of two bytes are sorted by radix, and series are rarely more
    keys = series.astype(np.uint16) if count_series <= np.iinfo(np.uint16).max else series
    order = order[np.argsort(keys[order], kind="stable")]
    ordered = series[order]
    count_clusters = int(clusters.max()) + 1 if len(clusters) else 1
    found, pairs = _number_keys(ordered * count_clusters + clusters[order], count_series * count_clusters)
    return Rows(ordered, scores[order], pairs, found // count_clusters, order, count_series)


def describe_period(rows: Rows, is_member: Flags) -> Period:
    """Return counts, means and variances of the rows of one period."""
    pairs, scores = rows.pairs[is_member], rows.scores[is_member]
    owners, count_pairs, count_series = rows.pair_series, len(rows.pair_series), rows.count_series
    per_pair = np.bincount(pairs, minlength=count_pairs)
    count = np.bincount(owners, per_pair, count_series).astype(np.int64)
    count_clusters = np.bincount(owners[per_pair > 0], minlength=count_series)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.bincount(owners, per_pair.astype(np.float64) ** 2, count_series)
        effective = np.where(count > 0, count.astype(np.float64) ** 2 / squares, 0.0)
        totals = np.bincount(pairs, scores, count_pairs)
        mean = np.bincount(owners, totals, count_series) / count
        residuals = scores - mean[owners[pairs]]
        spread = np.bincount(owners[pairs], residuals**2, count_series) / (count - 1)
        # delete-a-cluster: the mean without cluster s differs from the mean by this
        deviations = np.bincount(pairs, residuals, count_pairs) / (count[owners] - per_pair)
        deviations = np.where((per_pair > 0) & (count_clusters[owners] > 1), deviations, 0.0)
        variance = np.bincount(owners, deviations**2, count_series) * (count_clusters - 1) / count_clusters
    enough = count_clusters > 1
    return Period(
        count,
        count_clusters,
        effective,
        mean,
        np.where(enough, np.sqrt(spread), np.nan),
        np.where(enough, variance, np.nan),
        deviations,
    )


def error_by_cluster(rows: Rows, reference: Period, window: Period) -> Floats:
    """Return the standard error of the shift of each mean that clusters alone give, shape (count_series,)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = window.mean - reference.mean
        # of one effective row, in both periods together: what the window's own spread may not fall below
        both = reference.effective**2 * reference.variance + window.effective**2 * window.variance
        pooled = both / (reference.effective + window.effective)
        of_window = np.fmax(window.variance, pooled / window.effective)
        shared = np.bincount(rows.pair_series, reference.deviations * window.deviations, rows.count_series)
        variance = np.fmax(of_window + reference.variance - 2 * shared, (difference / window.effective) ** 2)
        error = np.sqrt(variance)
        return np.where(error > NEGLIGIBLE * _largest(rows), error, np.nan)


def rejection_limit(p_values: Floats, level: float) -> float:
    """Return the p-value up to which Benjamini and Hochberg reject at ``level``; level / count if they reject none."""
    members = p_values[~np.isnan(p_values)]
    if not len(members):
        return level
    return level * max(1, int((adjust_p_values(members) <= level).sum())) / len(members)


def _number_keys(keys: Integers, size: int) -> tuple[Integers, Integers]:
    """Return the distinct keys in [0, size), ascending, and the place of each key among them."""
    if size > _DENSE * (len(keys) + 1):
        found, places = np.unique(keys, return_inverse=True)
        return found, places
    is_present = np.zeros(size, dtype=np.bool_)
    is_present[keys] = True
    return np.flatnonzero(is_present), (np.cumsum(is_present) - 1)[keys]


def _largest(rows: Rows) -> Floats:
    """Return the largest absolute score of each series, 0 without rows."""
    largest = np.zeros(rows.count_series)
    if len(rows.scores):
        present, starts = np.unique(rows.series, return_index=True)
        largest[present] = np.maximum.reduceat(np.abs(rows.scores), starts)
    return largest
