"""Statistics of drift: does a series of scores in its latest weeks still behave as in its reference weeks?

A series is one metric in one segment of one dimension. Everything here is vectorised over series, and counts whole
sources: interactions of one source are siblings and no independent facts. With n_s rows of source s the effective
number of rows is Kish's K = (sum n_s)^2 / sum n_s^2, which takes siblings for fully dependent.

The five tests:

- ``mean_shift``: t = (mean of the window - mean of the reference) / standard error. The error is that of both periods
  by the delete-a-source jackknife: a source leaves window and reference together, so that a query that is asked every
  week is its own control. Two floors keep the tails honest where a window is small or its scores hardly vary (a rare
  failure that happened not to occur): the variance of an effective row of the window is at least that of both periods
  together, and the standard error at least what one differing source would give, \\|difference\\| / K.
  Degrees of freedom by Welch and Satterthwaite from K - 1 of each period.
- ``population_stability``: the population stability index sum (p - q) ln(p / q) over bins that hold equal shares of the
  reference. Without drift it is about (1 / K_w + 1 / K_r) times a chi-square variable with B - 1 degrees of freedom
  (Yurdakul and Naranjo 2020), which is its chance limit; a bare .1 is none. Far out in the tail that law fails: the
  logarithm of a nearly empty bin counts too much. The p-value is therefore that of the smaller of the scaled index and
  Pearson's chi-square of the same bins, and an alarm needs both.
- ``kolmogorov_smirnov``: the largest distance of the two distribution functions, by Kolmogorov's limit law on K_r K_w /
  (K_r + K_w) rows (Smirnov 1939); with ties it errs on the safe side.
- ``sequential_mean``: an e-process for the mean, valid at every weekly look. See :func:`watch_means`.
- ``mix_shift``: chi-square of the shares of a dimension's segments in window and reference, on K_w and K_r rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.multiple_tests import adjust_p_values

#: Tests of a series, and the one of a dimension.
SERIES_TESTS: Final = ("mean_shift", "population_stability", "kolmogorov_smirnov", "sequential_mean")
TESTS: Final = (*SERIES_TESTS, "mix_shift")

#: Added to every bin of both periods: an empty bin would make the index infinite.
_HALF_COUNT = 0.5
#: Differences below this share of the largest score are rounding.
_NEGLIGIBLE = 1e-12
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
        Code of (series, source) of each row.
    pair_series : ndarray of int, shape (n_pairs,)
        Series of each such pair.
    order : ndarray of int, shape (n,)
        Where each row stood in the input: carries other columns along.
    count_series : int
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
    count, count_sources : ndarray of int
        Rows and sources.
    effective : ndarray
        Kish's effective number of rows, 0 without rows.
    mean, standard_deviation : ndarray
        Of rows, in the unit of the scores.
    variance : ndarray
        Delete-a-source jackknife variance of the mean.
    deviations : ndarray, shape (n_pairs,)
        Mean minus mean without the source, for each (series, source); 0 where the source has no row here.
    """

    count: Integers
    count_sources: Integers
    effective: Floats
    mean: Floats
    standard_deviation: Floats
    variance: Floats
    deviations: Floats


@dataclass(frozen=True, slots=True)
class Shift:
    """Difference of means (window - reference) of each series; arrays of shape (count_series,).

    Attributes
    ----------
    difference, standard_error, degrees, statistic, p_value : ndarray
        NaN where a period is too small or nothing varies; p two-sided.
    is_constant : ndarray of bool
        All rows of both periods are equal.
    """

    difference: Floats
    standard_error: Floats
    degrees: Floats
    statistic: Floats
    p_value: Floats
    is_constant: Flags


@dataclass(frozen=True, slots=True)
class Watch:
    """State of the sequential test of each series after the last week; arrays of shape (count_series,).

    Attributes
    ----------
    is_watched : ndarray of bool
        At least one supposed change had rows enough on both sides.
    log_e_value : ndarray
        Natural logarithm of the largest e-value so far; 0 = no evidence.
    p_value : ndarray
        min(1, 1 / e): valid whenever one looks, and however often.
    difference, lower, upper : ndarray
        Mean of all watched weeks minus that of the base, with its confidence sequence; NaN where there is none.
    """

    is_watched: Flags
    log_e_value: Floats
    p_value: Floats
    difference: Floats
    lower: Floats
    upper: Floats


def arrange_rows(series: Integers, sources: Integers, scores: Floats, count_series: int) -> Rows:
    """Return the rows in the order that all tests here read.

    Parameters
    ----------
    series, sources : ndarray of int, shape (n,)
        Codes from 0.
    scores : ndarray, shape (n,)
        Finite.
    count_series : int
        Series may be without rows.

    Raises
    ------
    ValueError
        If shapes differ, a code is out of range or a score is not finite.
    """
    shapes = {np.shape(series), np.shape(sources), np.shape(scores)}
    if len(shapes) != 1 or np.ndim(scores) != 1:
        raise ValueError(f"series, sources and scores must have one shape (n,), got {sorted(map(str, shapes))}")
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite, got NaN or infinity")
    if len(series) and (min(series.min(), sources.min()) < 0 or series.max() >= count_series):
        raise ValueError(f"series must lie in [0, {count_series}) and sources from 0, got codes outside")
    order = np.argsort(scores, kind="stable")
    # whole numbers of two bytes are sorted by radix, and series are rarely more
    keys = series.astype(np.uint16) if count_series <= np.iinfo(np.uint16).max else series
    order = order[np.argsort(keys[order], kind="stable")]
    ordered = series[order]
    count_sources = int(sources.max()) + 1 if len(sources) else 1
    found, pairs = _number_keys(ordered * count_sources + sources[order], count_series * count_sources)
    return Rows(ordered, scores[order], pairs, found // count_sources, order, count_series)


def describe_period(rows: Rows, is_member: Flags) -> Period:
    """Return counts, means and variances of the rows where ``is_member``, shape (n,) in the order of ``rows``."""
    pairs, scores = rows.pairs[is_member], rows.scores[is_member]
    owners, count_pairs, count_series = rows.pair_series, len(rows.pair_series), rows.count_series
    per_pair = np.bincount(pairs, minlength=count_pairs)
    count = np.bincount(owners, per_pair, count_series).astype(np.int64)
    count_sources = np.bincount(owners[per_pair > 0], minlength=count_series)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.bincount(owners, per_pair.astype(np.float64) ** 2, count_series)
        effective = np.where(count > 0, count.astype(np.float64) ** 2 / squares, 0.0)
        totals = np.bincount(pairs, scores, count_pairs)
        mean = np.bincount(owners, totals, count_series) / count
        residuals = scores - mean[owners[pairs]]
        spread = np.bincount(owners[pairs], residuals**2, count_series) / (count - 1)
        # delete-a-source: the mean without source s differs from the mean by this
        deviations = np.bincount(pairs, residuals, count_pairs) / (count[owners] - per_pair)
        deviations = np.where((per_pair > 0) & (count_sources[owners] > 1), deviations, 0.0)
        variance = np.bincount(owners, deviations**2, count_series) * (count_sources - 1) / count_sources
    enough = count_sources > 1
    return Period(
        count,
        count_sources,
        effective,
        mean,
        np.where(enough, np.sqrt(spread), np.nan),
        np.where(enough, variance, np.nan),
        deviations,
    )


def compare_means(rows: Rows, reference: Period, window: Period) -> Shift:
    """Return the shift of the mean of each series, both periods' errors in the statistic (see the module)."""
    from scipy.special import stdtr

    with np.errstate(invalid="ignore", divide="ignore"):
        scale = _largest(rows)
        difference = window.mean - reference.mean
        difference = np.where(np.abs(difference) <= _NEGLIGIBLE * scale, 0.0, difference)
        # of one effective row, in both periods together: what the window's own spread may not fall below
        both = reference.effective**2 * reference.variance + window.effective**2 * window.variance
        pooled = both / (reference.effective + window.effective)
        of_window = np.fmax(window.variance, pooled / window.effective)
        shared = np.bincount(rows.pair_series, reference.deviations * window.deviations, rows.count_series)
        variance = np.fmax(of_window + reference.variance - 2 * shared, (difference / window.effective) ** 2)
        is_known = np.isfinite(variance)
        is_constant = is_known & (np.sqrt(variance) <= _NEGLIGIBLE * scale)
        error = np.where(is_constant, np.nan, np.sqrt(variance))
        parts = of_window**2 / (window.effective - 1) + reference.variance**2 / (reference.effective - 1)
        degrees = (of_window + reference.variance) ** 2 / parts
        # both means hardly vary, and only the last floor gives an error
        degrees = np.where(np.isfinite(degrees), degrees, window.effective - 1)
        statistic = difference / error
        p_value = 2 * stdtr(degrees, -np.abs(statistic))
    return Shift(
        np.where(is_known, difference, np.nan),
        error,
        np.where(np.isfinite(error), degrees, np.nan),
        statistic,
        p_value,
        is_constant,
    )


def measure_distance(rows: Rows, is_reference: Flags, is_window: Flags) -> Floats:
    """Return the Kolmogorov-Smirnov distance of window and reference, shape (count_series,), NaN where one is empty."""
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
    """Return the p-values of Kolmogorov-Smirnov distances by Kolmogorov's limit law on effective rows."""
    from scipy.special import kolmogorov

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(kolmogorov(distance * np.sqrt(_harmonic(reference_effective, window_effective))))


def distance_limit(p_value: Floats, reference_effective: Floats, window_effective: Floats) -> Floats:
    """Return the distance whose p-value is ``p_value``."""
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
    rows, is_reference, is_window
        As elsewhere.
    reference_effective, window_effective : ndarray, shape (count_series,)
        Effective rows of the periods.
    count_bins : int
        Bins of equal reference share, at least 2; fewer where `minimum_expected` asks for it or scores are tied.
    minimum_expected : float
        Effective rows that a bin expects without drift, in either period; smaller bins are joined to the next.

    Returns
    -------
    tuple of ndarray, shape (count_series,)
        Index, Pearson's chi-square on effective rows (both NaN with fewer than 2 bins) and degrees of freedom (0 then).
        An edge is a score of the reference; a bin holds what lies above the edge before it, up to its own edge. Half a
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
    """Return the p-values of stability indices: of the smaller of the scaled index and Pearson's chi-square."""
    from scipy.special import chdtrc

    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.fmin(index * _harmonic(reference_effective, window_effective), chi_square)
        p_value = chdtrc(degrees, scaled)
    return np.where(np.isfinite(index), p_value, np.nan)


def stability_limit(p_value: Floats, degrees: Floats, reference_effective: Floats, window_effective: Floats) -> Floats:
    """Return the chance limit of the index: (1 / K_w + 1 / K_r) times the chi-square quantile of 1 - ``p_value``."""
    from scipy.special import chdtri

    with np.errstate(invalid="ignore", divide="ignore"):
        quantile = chdtri(degrees, p_value)
        limit = quantile / _harmonic(reference_effective, window_effective)
    return np.where(degrees > 0, limit, np.nan)


def compare_mixes(
    reference_counts: Floats,
    window_counts: Floats,
    reference_effective: float,
    window_effective: float,
    minimum_expected: float,
) -> tuple[float, int, float]:
    """Return the chi-square statistic, degrees of freedom and p-value of a change in the shares of segments.

    Parameters
    ----------
    reference_counts, window_counts : ndarray, shape (n_segments,)
        Rows per segment; shares are made of them.
    reference_effective, window_effective : float
        Effective rows, K_r and K_w.
    minimum_expected : float
        Effective rows that a segment expects in the smaller period; rarer segments are joined to one, and that to the
        rarest of the others when it is still too small.

    Returns
    -------
    tuple of float, int and float
        sum over segments of (p - q)^2 / (pooled share x (1 / K_w + 1 / K_r)): Pearson's statistic on effective rows;
        (NaN, 0, NaN) when fewer than two segments are left.
    """
    from scipy.special import chdtrc

    least = min(reference_effective, window_effective)
    if not (least > 0 and reference_counts.sum() > 0 and window_counts.sum() > 0):
        return math.nan, 0, math.nan
    before = reference_counts / reference_counts.sum()
    after = window_counts / window_counts.sum()
    pooled = (reference_effective * before + window_effective * after) / (reference_effective + window_effective)
    cells = np.column_stack([before, after, pooled])
    is_rare = pooled * least < minimum_expected
    kept = cells[~is_rare]
    kept = kept[np.argsort(kept[:, 2], kind="stable")]
    rest = cells[is_rare].sum(axis=0)
    if rest[2] * least >= minimum_expected:
        kept = np.vstack([rest, kept])
    elif len(kept):
        kept[0] += rest
    if len(kept) < 2:
        return math.nan, 0, math.nan
    distance = float(((kept[:, 1] - kept[:, 0]) ** 2 / kept[:, 2]).sum())
    statistic, degrees = distance * float(_harmonic(reference_effective, window_effective)), len(kept) - 1
    return statistic, degrees, float(chdtrc(degrees, statistic))


def watch_means(
    effective: Floats,
    means: Floats,
    variances: Floats,
    base_weeks: int,
    *,
    expected_shift: float,
    minimum_reference: float,
    minimum_window: float,
    confidence: float,
) -> Watch:
    """Return the state of an anytime-valid test of the mean after weekly looks at every week since the base.

    Parameters
    ----------
    effective, means, variances : ndarray, shape (count_series, n_weeks)
        Effective rows K_j of each week, mean, and the variance of the mean by source; NaN without rows (K_j = 0) or,
        for the variance, with a single source.
    base_weeks : int
        Weeks at the beginning that are taken for granted; all later ones are watched. Fixed once and for all: the
        promise holds for looks at growing data behind one base. A series that begins later is its own base: weeks
        before a supposed change are compared with those after it, wherever they lie.
    expected_shift : float
        Standard deviation of the shift that the test looks out for, in standard deviations of a score, above 0. It
        moves power and no promise.
    minimum_reference, minimum_window : float
        Effective rows before and after a supposed change below which it is not looked at.
    confidence : float
        Of the confidence sequence, in (0, 1).

    Returns
    -------
    Watch
        Without drift the largest e-value of all looks reaches 1 / a with probability at most a.

    Notes
    -----
    With known variance and normal weekly means, D = (mean after a change at week k) - (mean before it) of all looks has
    the canonical joint distribution of Brownian motion at information I = 1 / var(D) (Jennison and Turnbull 2000,
    chapter 3). Robbins' normal mixture (Robbins 1970; Johari, Koomen, Pekelis and Walsh 2022 for two samples),

        e_k = (1 + tau^2 I)^(-1/2) exp(tau^2 I z^2 / (2 (1 + tau^2 I))),   z = D sqrt(I),

    is a test martingale that starts at 1. Each e_k is the likelihood ratio of what is left of the data when the common
    mean is removed, so that all share one filtration and their mixture over the unknown week of change,
    sum over k of e_k / (k (k + 1)), is a test martingale too; weeks still to come count with e = 1. Ville's inequality
    gives the promise. With estimated variances it holds as the weeks hold many sources (time-uniform central limit
    theory: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024). Made safe for small weeks: the variance after the
    change is at least that before it, one differing source's worth is the floor of both, and z^2 is replaced by
    v ln(1 + t^2 / v) with v = degrees of freedom before the change.

    The confidence sequence is that of Robbins for the change at the first watched week: all watched weeks together.
    """
    if not expected_shift > 0:
        raise ValueError(f"expected_shift must be above 0, got {expected_shift}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
    if base_weeks < 1:
        raise ValueError(f"base_weeks must be at least 1, got {base_weeks}")
    count_series, count_weeks = effective.shape
    sums = _WeekSums.of(effective, means, variances)
    largest = np.zeros(count_series)
    is_watched = np.zeros(count_series, dtype=np.bool_)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for look in range(base_weeks, count_weeks):
            # logarithms: an e-value of a large shift exceeds every double
            terms = [np.full(count_series, -math.log(look - base_weeks + 2))]
            for number, change in enumerate(range(base_weeks, look + 1), start=1):
                contrast = sums.contrast(change, look + 1, minimum_reference, minimum_window)
                log_e = _log_mixture(contrast, expected_shift)
                is_watched |= np.isfinite(log_e)
                terms.append(np.where(np.isfinite(log_e), log_e, 0.0) - math.log(number * (number + 1)))
            largest = np.maximum(largest, np.logaddexp.reduce(terms, axis=0))
        contrast = sums.contrast(min(base_weeks, count_weeks), count_weeks, minimum_reference, minimum_window)
        information = 1 / contrast.variance
        prior = (expected_shift**2) * contrast.unit_variance
        margin = np.sqrt(
            (1 + prior * information)
            / (prior * information**2)
            * (2 * math.log(1 / (1 - confidence)) + np.log1p(prior * information))
        )
    is_known = np.isfinite(contrast.difference) & np.isfinite(margin)
    difference = np.where(is_known, contrast.difference, np.nan)
    return Watch(is_watched, largest, np.exp(-largest), difference, difference - margin, difference + margin)


def rejection_limit(p_values: Floats, level: float) -> float:
    """Return the p-value up to which Benjamini and Hochberg reject at ``level``; level / count if they reject none."""
    members = p_values[~np.isnan(p_values)]
    if not len(members):
        return level
    return level * max(1, int((adjust_p_values(members) <= level).sum())) / len(members)


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Difference of the mean after a supposed change and before it; NaN where either side is too small."""

    difference: Floats
    variance: Floats
    unit_variance: Floats
    degrees: Floats


@dataclass(frozen=True, slots=True)
class _WeekSums:
    """Running sums over weeks, shape (count_series, n_weeks + 1), the first column 0."""

    effective: Floats
    scores: Floats
    degrees: Floats
    spread: Floats

    @classmethod
    def of(cls, effective: Floats, means: Floats, variances: Floats) -> _WeekSums:
        degrees = np.where(np.isfinite(variances), np.maximum(effective - 1, 0.0), 0.0)
        # the variance of one effective row: K_j times that of the week's mean
        unit = np.where(np.isfinite(variances), effective * variances, 0.0)
        columns = (effective, np.where(effective > 0, effective * means, 0.0), degrees, degrees * unit)
        return cls(*(np.pad(np.cumsum(column, axis=1), ((0, 0), (1, 0))) for column in columns))

    def contrast(self, change: int, end: int, minimum_reference: float, minimum_window: float) -> _Contrast:
        before = self.effective[:, change]
        after = self.effective[:, end] - before
        mean_before = self.scores[:, change] / before
        difference = (self.scores[:, end] - self.scores[:, change]) / after - mean_before
        scale = np.maximum(np.abs(mean_before), np.abs(mean_before + difference))
        difference = np.where(np.abs(difference) <= _NEGLIGIBLE * scale, 0.0, difference)
        degrees = self.degrees[:, change]
        unit_before = self.spread[:, change] / degrees
        unit_after = (self.spread[:, end] - self.spread[:, change]) / (self.degrees[:, end] - degrees)
        unit_after = np.fmax(np.fmax(unit_before, unit_after), difference**2 / after)
        variance = unit_before / before + unit_after / after
        is_enough = (before >= minimum_reference) & (after >= minimum_window) & (degrees > 0)
        return _Contrast(np.where(is_enough, difference, np.nan), variance, unit_after, degrees)


def _log_mixture(contrast: _Contrast, expected_shift: float) -> Floats:
    """Return ln e of Robbins' normal mixture, NaN where the contrast has none."""
    ratio = expected_shift**2 * contrast.unit_variance / contrast.variance
    squared = contrast.degrees * np.log1p(contrast.difference**2 / contrast.variance / contrast.degrees)
    result: Floats = (ratio / (1 + ratio) * squared - np.log1p(ratio)) / 2
    return result


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
        last = np.append(starts[1:], len(rows.scores)) - 1
        largest[present] = np.maximum(np.abs(rows.scores[starts]), np.abs(rows.scores[last]))
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
    enough = minimum_expected * (1 - _NEGLIGIBLE)
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
