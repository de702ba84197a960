"""What siblings ask of statistics: rows of one cluster (variants of a query) are not independent evidence.

Whole clusters go into one fold, are drawn together with replacement (bootstrap), are left out together (jackknife), and
their residuals are added up before they are squared (linearisation).
"""

import hashlib
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Flags, Floats, Integers, ratio


def hash_folds(clusters: npt.ArrayLike, count_folds: int, salt: str) -> Integers:
    """Return a fold for each row by a hash of its cluster: the same in every run, whatever other clusters there are."""
    names, inverse = np.unique(np.asarray(clusters), return_inverse=True)
    texts = [f"{salt}|{name}".encode("utf-8", "surrogatepass") for name in names.tolist()]
    digests = [int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:13], 16) for text in texts]
    return np.array([digest * count_folds >> 52 for digest in digests], dtype=np.int64)[inverse]


def deal_folds(clusters: Integers, rows: Flags, count_folds: int, seed: int) -> Integers:
    """Return a fold for each row: the clusters of the chosen rows, shuffled by the seed, are dealt in turn."""
    distinct = np.unique(clusters[rows])
    dealt = np.full(clusters.max() + 1, -1)
    dealt[np.random.default_rng(seed).permutation(distinct)] = np.arange(len(distinct)) % count_folds
    return np.asarray(dealt[clusters])


def draw_clusters(random: np.random.Generator, count_clusters: int, count_draws: int) -> Floats:
    """Return how often each cluster is drawn with replacement, shape (count_draws, count_clusters)."""
    drawn = random.integers(0, max(1, count_clusters), (count_draws, count_clusters))
    cells = drawn + count_clusters * np.arange(count_draws)[:, None]
    counts = np.bincount(cells.ravel(), minlength=count_draws * count_clusters)
    return counts.reshape(count_draws, count_clusters).astype(np.float64)


def sum_by_cluster(values: Floats, codes: Integers, count_clusters: int = 0) -> Floats:
    """Return sums of values by cluster, row after row."""
    if values.ndim == 1:
        return np.bincount(codes, weights=values, minlength=count_clusters).astype(np.float64)
    sums = [np.bincount(codes, weights=column, minlength=count_clusters) for column in values.T]
    return np.column_stack(sums).astype(np.float64)


def mean_and_error(values: Floats, clusters: npt.ArrayLike, weights: Floats | None = None) -> tuple[float, float]:
    """Return a weighted mean and its standard error, linearised by cluster (Cochran 1977, chapter 6)."""
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64)
    weights = np.ones(len(values)) if weights is None else weights
    mean = float(weights @ values / weights.sum())
    by_cluster = sum_by_cluster(weights * (values - mean), codes)
    count = len(by_cluster)
    return mean, math.sqrt(count / (count - 1) * float((by_cluster**2).sum())) / float(weights.sum())


class JackknifeEstimates(NamedTuple):
    """Estimates of cells from sums by group, each array of shape (n_cells,); named as in weakness.Cells."""

    count_scored: Floats
    jackknife_groups: Floats
    clusters_effective: Floats
    clusters_carrying: Floats
    largest_share: Floats
    value: Floats
    standard_error: Floats
    count_scored_rest: Floats
    jackknife_groups_rest: Floats
    rest_value: Floats
    difference: Floats
    difference_standard_error: Floats


def jackknife_cells(
    counts: Floats,
    sums: Floats,
    all_counts: Floats,
    all_sums: Floats,
    squared: Floats | None = None,
    all_squared: Floats | None = None,
) -> JackknifeEstimates:
    """Return value, rest and difference of cells with delete-a-group jackknife standard errors."""
    # where rows have weights, `counts` adds up these, and `count_scored` is Kish's number of rows
    if squared is None or all_squared is None:
        squared, all_squared = counts, all_counts
    rest_counts, rest_sums = all_counts[:, None] - counts, all_sums[:, None] - sums
    count, count_rest = counts.sum(axis=0), rest_counts.sum(axis=0)
    total, total_rest = sums.sum(axis=0), rest_sums.sum(axis=0)
    groups = (counts > 0).sum(axis=0).astype(np.float64)
    groups_rest = (rest_counts > 0).sum(axis=0).astype(np.float64)
    count_groups = float((all_counts > 0).sum())
    value, rest = ratio(total, count), ratio(total_rest, count_rest)
    own = ratio(total - sums, count - counts) - value
    other = ratio(total_rest - rest_sums, count_rest - rest_counts) - rest
    # a group that is the whole cell leaves nothing to estimate from: NaN, and so is the sum
    error = np.sqrt(ratio(groups - 1, groups) * (own**2).sum(axis=0))
    squares = np.where(np.isnan(value - rest), np.nan, ((own - other) ** 2).sum(axis=0))
    difference_error = np.sqrt(max(count_groups - 1, 0) / max(count_groups, 1) * squares)
    failing, passing = np.where(sums > 0, counts, 0.0), np.where(sums < counts, counts, 0.0)
    of_cells = squared.sum(axis=0)
    return JackknifeEstimates(
        count_scored=np.nan_to_num(ratio(count**2, of_cells)),
        jackknife_groups=groups,
        clusters_effective=_kish_by_column(counts),
        clusters_carrying=np.fmin(np.nan_to_num(_kish_by_column(failing)), np.nan_to_num(_kish_by_column(passing))),
        largest_share=ratio(counts.max(axis=0, initial=0.0), count),
        value=value,
        standard_error=error,
        count_scored_rest=np.nan_to_num(ratio(count_rest**2, all_squared.sum() - of_cells)),
        jackknife_groups_rest=groups_rest,
        rest_value=rest,
        difference=value - rest,
        difference_standard_error=difference_error,
    )


def _kish_by_column(counts: Floats) -> Floats:
    """Return Kish's effective number of groups of each column; NaN without rows."""
    return ratio(counts.sum(axis=0) ** 2, (counts**2).sum(axis=0))
