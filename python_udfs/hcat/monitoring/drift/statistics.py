"""Statistics of drift: does a series of scores in its latest weeks still behave as in its reference weeks?

A series is one metric in one segment of one dimension. Everything here is vectorised over series and counts whole
clusters: interactions of one cluster are not independent facts. With n_s rows of cluster s the effective number of rows
is Kish's K = (sum n_s)^2 / sum n_s^2, which treats the interactions of one cluster as fully dependent.

Two tests decide (``role`` = ``alarm``). Both compare weeks with weeks, by :mod:`hcat.monitoring.drift.chart`:

- ``mean_shift``: the weekly means of a series, each topic centred on its own mean of the reference. Its error is at
  least that of both periods by the delete-a-cluster jackknife (:func:`error_by_cluster`): a cluster leaves window and
  reference together, so that a query that is asked every week is its own control. Two lower limits keep that error
  honest where a window is small or its scores hardly vary (a rare failure that happened not to occur). The variance of
  an effective row of the window is at least that of both periods together. The standard error is at least what one
  differing cluster would give, \\|difference\\| / K.
- ``mix_shift``: the weekly shares of a dimension's segments.

Three tests are shown and never alarm, because their error knows nothing of weeks that differ by chance:

- ``population_stability``: the population stability index sum (p - q) ln(p / q) over bins that hold equal shares of the
  reference. Without drift it is about (1 / K_w + 1 / K_r) times a chi-square variable with B - 1 degrees of freedom
  (Yurdakul and Naranjo 2020), which is its chance limit; a fixed .1 is not one. The p-value is that of the smaller of
  two numbers, the scaled index and Pearson's chi-square of the same bins: in the logarithm a nearly empty bin counts
  too much.
- ``kolmogorov_smirnov``: the largest distance of the two distribution functions, by Kolmogorov's limit law on K_r K_w /
  (K_r + K_w) rows (Smirnov 1939); with ties it is conservative.
- ``sequential_mean``: an e-process for the mean, valid at every weekly look. See
  :mod:`hcat.monitoring.drift.sequential`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.multiple_tests import adjust_p_values

#: Tests that may alarm: of a series of scores, and of the mix of a dimension.
ALARM_TESTS: Final = ("mean_shift", "mix_shift")
#: Tests of a series that are shown and never alarm.
SHOWN_TESTS: Final = ("population_stability", "kolmogorov_smirnov", "sequential_mean")
TESTS: Final = (*ALARM_TESTS, *SHOWN_TESTS)

#: Added to every bin of both periods: an empty bin would make the index infinite.
_HALF_COUNT = 0.5
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
    """Return the rows in the order that all tests need.

    Parameters
    ----------
    series, clusters : ndarray of int, shape (n,)
        Codes from 0.
    scores : ndarray, shape (n,)
        Finite.
    count_series : int
        Number of series; a series may have no rows.

    Raises
    ------
    ValueError
        If shapes differ, a code is out of range or a score is not finite.

    Examples
    --------
    >>> rows = arrange_rows(np.array([1, 0, 0]), np.array([0, 0, 1]), np.array([0.5, 0.9, 0.1]), 2)
    >>> rows.series.tolist(), rows.scores.tolist(), rows.order.tolist()
    ([0, 0, 1], [0.1, 0.9, 0.5], [2, 1, 0])
    """
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
    """Return counts, means and variances of the rows of one period.

    Parameters
    ----------
    rows : Rows
    is_member : ndarray of bool, shape (n,)
        Which rows are of the period, in the order of `rows`.

    Examples
    --------
    Three rows of two clusters: Kish's number is 3^2 / (2^2 + 1^2).

    >>> rows = arrange_rows(np.zeros(3, dtype=np.int64), np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0]), 1)
    >>> period = describe_period(rows, np.ones(3, dtype=bool))
    >>> period.count_clusters.tolist(), period.effective.tolist()
    ([2], [1.8])
    """
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
    """Return the standard error of the shift of each mean that clusters alone give, shape (count_series,).

    Parameters
    ----------
    rows : Rows
    reference, window : Period
        Two periods of `rows` without a common row.

    Returns
    -------
    ndarray, shape (count_series,)
        NaN where a period has fewer than two clusters, or where nothing varies.

    Notes
    -----
    The two lower limits are those of ``mean_shift`` in the text above this module.

    Examples
    --------
    Reference 0, 2, 0, 2 and window 1, 3, each row of its own cluster. The variances of the two means are 1 / 3 and 1,
    and the standard error is at least \\|difference\\| / K = .5, which does not bind.

    >>> scores = np.array([0.0, 2.0, 0.0, 2.0, 1.0, 3.0])
    >>> rows = arrange_rows(np.zeros(6, dtype=np.int64), np.arange(6), scores, 1)
    >>> is_reference = rows.order < 4
    >>> error = error_by_cluster(rows, describe_period(rows, is_reference), describe_period(rows, ~is_reference))
    >>> (error**2).round(6).tolist()
    [1.333333]
    """
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


def measure_distance(rows: Rows, is_reference: Flags, is_window: Flags) -> Floats:
    """Return the Kolmogorov-Smirnov distance of window and reference, shape (count_series,), NaN where one is empty.

    Parameters
    ----------
    rows : Rows
    is_reference, is_window : ndarray of bool, shape (n,)
        Which rows are of which period, in the order of `rows`.

    Examples
    --------
    >>> rows = arrange_rows(np.zeros(4, dtype=np.int64), np.arange(4), np.array([1.0, 2.0, 2.0, 3.0]), 1)
    >>> measure_distance(rows, rows.order < 2, rows.order >= 2).tolist()
    [0.5]
    """
    ends = _ends_of_ties(rows)
    below_reference, count_reference = _cumulate(rows, is_reference)
    below_window, count_window = _cumulate(rows, is_window)
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = np.abs(
            below_window / count_window[rows.series] - below_reference / count_reference[rows.series],
        )
    distance = np.full(rows.count_series, np.nan)
    if len(gaps):
        present, starts = np.unique(rows.series, return_index=True)
        distance[present] = np.maximum.reduceat(np.where(ends, gaps, 0.0), starts)
    distance[(count_reference == 0) | (count_window == 0)] = np.nan
    return distance


def distance_p_values(distance: Floats, reference_effective: Floats, window_effective: Floats) -> Floats:
    """Return the p-values of Kolmogorov-Smirnov distances by Kolmogorov's limit law on effective rows.

    Parameters
    ----------
    distance, reference_effective, window_effective : ndarray, shape (n,)
        Distances in [0, 1], and effective rows of both periods.
    """
    from scipy.special import kolmogorov

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(kolmogorov(distance * np.sqrt(_harmonic(reference_effective, window_effective))))


def distance_limit(p_value: Floats, reference_effective: Floats, window_effective: Floats) -> Floats:
    """Return the distance whose p-value is ``p_value``: the inverse of :func:`distance_p_values`.

    Parameters
    ----------
    p_value, reference_effective, window_effective : ndarray, shape (n,)
        P-values in (0, 1], and effective rows of both periods.
    """
    from scipy.special import kolmogi

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(kolmogi(p_value) / np.sqrt(_harmonic(reference_effective, window_effective)))


def measure_stability(
    rows: Rows,
    is_reference: Flags,
    is_window: Flags,
    reference_effective: Floats,
    window_effective: Floats,
    count_bins: int,
    minimum_expected: float,
) -> tuple[Floats, Floats, Integers]:
    """Return the population stability index of each series, Pearson's chi-square, and degrees of freedom (bins - 1).

    Parameters
    ----------
    rows : Rows
    is_reference, is_window : ndarray of bool, shape (n,)
        Which rows are of which period, in the order of `rows`.
    reference_effective, window_effective : ndarray, shape (count_series,)
        Effective rows of the periods.
    count_bins : int
        Bins of equal reference share, at least 2; there are fewer where `minimum_expected` demands it or scores tie.
    minimum_expected : float
        Effective rows that a bin expects without drift, in either period; smaller bins are joined to the next.

    Returns
    -------
    tuple of ndarray, shape (count_series,)
        Index, Pearson's chi-square on effective rows, and degrees of freedom; NaN, NaN and 0 with fewer than 2 bins.
        An edge is a score of the reference. A bin holds the scores above the edge before it, up to its own edge. Half a
        row is added to every bin of both periods.

    Raises
    ------
    ValueError
        If `count_bins` is below 2.
    """
    if count_bins < 2:
        raise ValueError(f"count_bins must be at least 2, got {count_bins}")
    below_reference, below_window, total_reference, total_window = _cumulate_to_edges(
        rows, is_reference, is_window, np.fmin(reference_effective, window_effective) / minimum_expected, count_bins
    )
    of_reference = np.diff(below_reference, axis=1, prepend=0.0)
    of_window = np.diff(below_window, axis=1, prepend=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = of_reference * (np.fmin(reference_effective, window_effective) / total_reference)[:, None]
    joined = _join_small_bins(of_reference, of_window, expected, minimum_expected)
    joined_reference, joined_window, count_joined = joined
    is_bin = np.arange(count_bins) < count_joined[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        half = _HALF_COUNT * count_joined
        shares = (joined_reference + _HALF_COUNT) / (total_reference + half)[:, None]
        found = (joined_window + _HALF_COUNT) / (total_window + half)[:, None]
        index = np.where(is_bin, (found - shares) * np.log(found / shares), 0.0).sum(axis=1)
        before, after = reference_effective[:, None], window_effective[:, None]
        pooled = (before * shares + after * found) / (before + after)
        chi_square = np.where(is_bin, (found - shares) ** 2 / pooled, 0.0).sum(axis=1)
        chi_square *= _harmonic(reference_effective, window_effective)
    is_known = (count_joined > 1) & (total_window > 0)
    return (
        np.where(is_known, index, np.nan),
        np.where(is_known, chi_square, np.nan),
        np.where(is_known, count_joined - 1, 0).astype(np.int64),
    )


def stability_p_values(
    index: Floats, chi_square: Floats, degrees: Integers, reference_effective: Floats, window_effective: Floats
) -> Floats:
    """Return the p-values of stability indices: those of the smaller of the scaled index and Pearson's chi-square.

    Parameters
    ----------
    index, chi_square, degrees : ndarray, shape (n,)
        As :func:`measure_stability` returns them.
    reference_effective, window_effective : ndarray, shape (n,)
        Effective rows of both periods.
    """
    from scipy.special import chdtrc

    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.fmin(index * _harmonic(reference_effective, window_effective), chi_square)
        p_value = chdtrc(degrees, scaled)
    return np.where(np.isfinite(index), p_value, np.nan)


def stability_limit(p_value: Floats, degrees: Floats, reference_effective: Floats, window_effective: Floats) -> Floats:
    """Return the chance limit of the index: (1 / K_w + 1 / K_r) times the chi-square quantile of 1 - ``p_value``.

    Parameters
    ----------
    p_value, degrees, reference_effective, window_effective : ndarray, shape (n,)
        P-values in (0, 1], degrees of freedom, and effective rows of both periods.

    Examples
    --------
    The quantile of .95 with one degree of freedom is 3.841, and 1 / 100 + 1 / 100 is .02:

    >>> stability_limit(np.array([0.05]), np.array([1.0]), np.array([100.0]), np.array([100.0])).round(4).tolist()
    [0.0768]
    """
    from scipy.special import chdtri

    with np.errstate(invalid="ignore", divide="ignore"):
        quantile = chdtri(degrees, p_value)
        limit = quantile / _harmonic(reference_effective, window_effective)
    return np.where(degrees > 0, limit, np.nan)


def rejection_limit(p_values: Floats, level: float) -> float:
    """Return the p-value up to which Benjamini and Hochberg reject at ``level``; level / count if they reject none.

    Parameters
    ----------
    p_values : ndarray, shape (n,)
        NaN is not a member of the family.
    level : float
        False discovery rate, in (0, 1).

    Examples
    --------
    >>> rejection_limit(np.array([0.01, 0.02, 0.9, 0.9]), 0.05)
    0.025
    """
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


def _ends_of_ties(rows: Rows) -> Flags:
    """Return which rows are the last of their series with their score, shape (n,)."""
    ends = np.ones(len(rows.scores), dtype=np.bool_)
    ends[:-1] = (np.diff(rows.series) != 0) | (np.diff(rows.scores) != 0)
    return ends


def _cumulate(rows: Rows, is_member: Flags) -> tuple[Integers, Integers]:
    """Return the members of the own series up to each row, and the members of each series."""
    count = np.bincount(rows.series[is_member], minlength=rows.count_series)
    before = np.cumsum(count) - count
    running = np.cumsum(is_member, dtype=np.int64)
    running -= before[rows.series]
    return running, count


def _cumulate_to_edges(
    rows: Rows, is_reference: Flags, is_window: Flags, most_bins: Floats, count_bins: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return rows of reference and window up to each edge, shape (count_series, count_bins) each, and their totals."""
    running_reference, total_reference = _cumulate(rows, is_reference)
    running_window, total_window = _cumulate(rows, is_window)
    shape = (rows.count_series, count_bins)
    below_reference = np.broadcast_to(total_reference[:, None], shape).astype(np.float64)
    below_window = np.broadcast_to(total_window[:, None], shape).astype(np.float64)
    own_bins = np.clip(np.nan_to_num(np.floor(most_bins)), 1, count_bins).astype(np.int64)
    edges = np.arange(1, count_bins + 1)
    wanted = -(-edges * total_reference[:, None] // own_bins[:, None])
    series, column = np.nonzero((edges < own_bins[:, None]) & (total_reference[:, None] > 0))
    if len(series):
        offsets = np.cumsum(total_reference) - total_reference
        running_all = running_reference + offsets[rows.series]
        places = np.searchsorted(running_all, wanted[series, column] + offsets[series])
        ends = np.flatnonzero(_ends_of_ties(rows))
        block = np.searchsorted(ends, places)
        # an edge at the largest score would leave nothing above it: the next lower score takes its place
        block -= running_reference[ends[block]] == total_reference[series]
        place = np.where(block >= 0, ends[np.maximum(block, 0)], 0)
        is_own = (block >= 0) & (rows.series[place] == series)
        below_reference[series, column] = np.where(is_own, running_reference[place], 0)
        below_window[series, column] = np.where(is_own, running_window[place], 0)
    return below_reference, below_window, total_reference.astype(np.float64), total_window.astype(np.float64)


def _join_small_bins(
    of_reference: Floats, of_window: Floats, expected: Floats, minimum_expected: float
) -> tuple[Floats, Floats, Integers]:
    """Return the counts of both periods in joined bins, and the number of these; the last one takes what is left."""
    count_series, count_bins = of_reference.shape
    joined = np.zeros((2, count_series, count_bins))
    number = np.zeros(count_series, dtype=np.int64)
    every = np.arange(count_series)
    pending = np.zeros((2, count_series))
    awaited = np.zeros(count_series)
    # half a row of rounding must not decide
    enough = minimum_expected * (1 - NEGLIGIBLE)
    for column in range(count_bins):
        pending += np.stack([of_reference[:, column], of_window[:, column]])
        awaited += np.nan_to_num(expected[:, column])
        is_full = awaited >= enough
        joined[:, every[is_full], number[is_full]] = pending[:, is_full]
        number[is_full] += 1
        pending[:, is_full] = 0.0
        awaited[is_full] = 0.0
    has_bin = number > 0
    joined[:, every[has_bin], number[has_bin] - 1] += pending[:, has_bin]
    return joined[0], joined[1], number


def _harmonic(first: Any, second: Any) -> Any:
    """Return 1 / (1 / first + 1 / second)."""
    return first * second / (first + second)
