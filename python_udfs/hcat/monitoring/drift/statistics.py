"""Statistics of drift: does a series of scores in its latest weeks still behave as in its reference weeks?

Everything here is vectorised over series and counts whole clusters, as docs/drift.md says. With n_s the weights of
cluster s, the effective rows are Kish's K = (sum n_s)^2 / sum n_s^2: interactions of one cluster are fully dependent.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import sum_by_cluster

#: Tests of a series of scores, and of the mix of a dimension.
TESTS: Final = ("mean_shift", "mix_shift")

#: Differences below this share of the largest score are rounding.
NEGLIGIBLE: Final = 1e-12


class Rows(NamedTuple):
    """Scores of many series in the order (series, score), so that sums do not depend on the order of the input."""

    #: Series of each row, from 0; shape (n,).
    series: Integers
    scores: Floats
    #: Code of (series, cluster) of each row; shape (n,).
    pairs: Integers
    #: Series of each such pair; shape (n_pairs,).
    pair_series: Integers
    #: Place of each row in the input, by which other columns are put in the same order; shape (n,).
    order: Integers
    #: Also of those without rows.
    count_series: int
    #: Sampling weight of each row; shape (n,).
    weights: Floats


@dataclass(frozen=True, slots=True)
class Period:
    """What a period holds of each series; arrays of shape (count_series,), NaN where a series has too little."""

    count: Integers
    count_clusters: Integers
    #: Sum of the weights of its rows.
    weight: Floats
    #: Kish's effective number of rows, 0 without rows.
    effective: Floats
    #: Of rows, in the unit of the scores.
    mean: Floats
    standard_deviation: Floats
    #: Delete-a-cluster jackknife variance of the mean.
    variance: Floats
    #: Mean minus mean without the cluster, for each (series, cluster); 0 where the cluster has no row here.
    deviations: Floats


def arrange_rows(
    series: Integers, clusters: Integers, scores: Floats, count_series: int, weights: Floats | None = None
) -> Rows:
    """Return the rows in the order that all tests need; without ``weights`` each row has the weight 1."""
    order = np.lexsort((scores, series))
    ordered = series[order]
    count_clusters = int(clusters.max()) + 1 if len(clusters) else 1
    found, pairs = np.unique(ordered * count_clusters + clusters[order], return_inverse=True)
    weights = np.ones(len(scores)) if weights is None else weights[order]
    return Rows(ordered, scores[order], pairs, found // count_clusters, order, count_series, weights)


def describe_period(rows: Rows, is_member: Flags) -> Period:
    """Return counts, means and variances of the rows of one period."""
    pairs, scores, weights = rows.pairs[is_member], rows.scores[is_member], rows.weights[is_member]
    owners, count_pairs, count_series = rows.pair_series, len(rows.pair_series), rows.count_series
    per_pair = np.bincount(pairs, minlength=count_pairs)
    count = np.bincount(owners, per_pair, count_series).astype(np.int64)
    count_clusters = np.bincount(owners[per_pair > 0], minlength=count_series)
    of_pair = sum_by_cluster(weights, pairs, count_pairs)
    weight = sum_by_cluster(of_pair, owners, count_series)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.bincount(owners, of_pair**2, count_series)
        effective = np.where(count > 0, weight**2 / squares, 0.0)
        totals = np.bincount(pairs, weights * scores, count_pairs)
        mean = np.bincount(owners, totals, count_series) / weight
        residuals = scores - mean[owners[pairs]]
        of_rows = np.bincount(owners[pairs], weights**2, count_series) / weight
        spread = np.bincount(owners[pairs], weights * residuals**2, count_series) / (weight - of_rows)
        # delete-a-cluster: the mean without cluster s differs from the mean by this
        deviations = np.bincount(pairs, weights * residuals, count_pairs) / (weight[owners] - of_pair)
        deviations = np.where((per_pair > 0) & (count_clusters[owners] > 1), deviations, 0.0)
        variance = np.bincount(owners, deviations**2, count_series) * (count_clusters - 1) / count_clusters
    enough = count_clusters > 1
    return Period(
        count,
        count_clusters,
        weight,
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
        largest = np.zeros(rows.count_series)
        np.maximum.at(largest, rows.series, np.abs(rows.scores))
        return np.where(error > NEGLIGIBLE * largest, error, np.nan)
