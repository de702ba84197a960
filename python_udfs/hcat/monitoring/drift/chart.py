"""The control chart: is the mean of the latest weeks farther from the reference than weeks are from each other?

docs/drift.md has the model, the weights u_w, the error and its least value (``least_error``). For weeks that correlate
by r, an AR(1) series, the mean of n of them has the variance f(n) / n, f(n) = 1 + 2 sum_j (1 - j / n) r^j, and their
squares about it n - f(n) degrees of freedom instead of n - 1. :func:`widen_errors` puts both right.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from hcat.monitoring.drift.statistics import Rows
from hcat.statistics.arrays import Flags, Floats, Integers, ratio
from hcat.statistics.clusters import sum_by_cluster
from hcat.statistics.intervals import t_tail

#: Beyond it the factor has no bound.
MOST_CORRELATED: Final = 0.95


class Chart(NamedTuple):
    """Difference of window and reference of each series; arrays of shape (count_series,), NaN where there is none."""

    #: Weighted means of the weeks of each period.
    reference: Floats
    window: Floats
    #: Window - reference. What follows is NaN where nothing varies; the p-value is two-sided.
    difference: Floats
    standard_error: Floats
    degrees: Floats
    statistic: Floats
    p_value: Floats
    #: Weeks of the reference that hold a row.
    reference_weeks: Integers


def chart_weeks(
    counts: Floats, means: Floats, is_reference: Flags, is_window: Flags, row_variance: Floats, least_error: Floats
) -> Chart:
    """Return the difference of the weeks of a window and those of the reference, with its error between weeks."""
    has_rows = counts > 0
    periods = [has_rows & is_reference, has_rows & is_window]
    known = np.where(has_rows, means, 0.0)
    of_rows = [np.where(period, counts, 0.0) for period in periods]
    degrees = periods[0].sum(axis=1) + periods[1].sum(axis=1) - 2.0
    spread = _squares(of_rows[0], known) + _squares(of_rows[1], known)
    room = _room(of_rows[0]) + _room(of_rows[1])
    excess = ratio(spread, np.nan_to_num(row_variance)) - degrees
    between = np.maximum(np.where(np.isfinite(excess), ratio(excess, room), 0.0), 0.0)
    of_weeks = 1.0 / (between[:, None] + 1.0 / np.where(has_rows, counts, 1.0))
    weights = [np.where(period, of_weeks, 0.0) for period in periods]
    totals = [part.sum(axis=1) for part in weights]
    with np.errstate(invalid="ignore", divide="ignore"):
        reference, window = ((part * known).sum(axis=1) / total for part, total in zip(weights, totals, strict=True))
        scale = (_squares(weights[0], known) + _squares(weights[1], known)) / np.where(degrees > 0, degrees, np.nan)
        error = np.fmax(np.sqrt(scale * (1 / totals[0] + 1 / totals[1])), least_error)
        difference = window - reference
        is_tested = np.isfinite(least_error) & np.isfinite(difference) & (degrees > 0) & (error > 0)
        error = np.where(is_tested, error, np.nan)
        degrees = np.where(is_tested, degrees, np.nan)
        statistic = difference / error
    p_value = 2 * t_tail(np.abs(statistic), degrees)
    return Chart(reference, window, difference, error, degrees, statistic, p_value, periods[0].sum(axis=1))


def average_weeks(rows: Rows, scores: Floats, weeks: Integers, count_weeks: int) -> tuple[Floats, Floats]:
    """Return weight and mean score of each series and week, shape (count_series, count_weeks); NaN without a row."""
    key, size = rows.series * count_weeks + weeks, rows.count_series * count_weeks
    counts = sum_by_cluster(rows.weights, key, size)
    with np.errstate(invalid="ignore"):
        means = np.bincount(key, rows.weights * scores, size) / np.where(counts > 0, counts, np.nan)
    shape = (rows.count_series, count_weeks)
    return counts.reshape(shape), means.reshape(shape)


def center_on_strata(
    rows: Rows, is_reference: Flags, strata: Integers, count_strata: int, minimum_rows: float
) -> Floats:
    """Return the scores with the mean of their stratum moved to that of their series, both of the reference."""
    key, size = rows.series * count_strata + strata, rows.count_series * count_strata
    shape = (rows.count_series, count_strata)
    own, weights = key[is_reference], rows.weights[is_reference]
    counts = np.bincount(own, minlength=size).reshape(shape)
    totals = sum_by_cluster(weights, own, size).reshape(shape)
    sums = sum_by_cluster(weights * rows.scores[is_reference], own, size).reshape(shape)
    is_small = counts < minimum_rows
    rest = np.where(is_small, counts, 0).sum(axis=1)
    of_rest = ratio(np.where(is_small, sums, 0.0).sum(axis=1), np.where(is_small, totals, 0.0).sum(axis=1))
    mean = ratio(sums.sum(axis=1), totals.sum(axis=1))
    of_rest = np.where(rest < minimum_rows, mean, of_rest)
    centers = np.where(is_small, of_rest[:, None], ratio(sums, totals))
    return np.asarray(rows.scores - (centers - mean[:, None]).ravel()[key])


def correlate_weeks(counts: Floats, means: Floats) -> float:
    """Return the lag-1 correlation of a series of weekly means, weighed by the roots of their rows; else NaN."""
    with np.errstate(invalid="ignore"):
        center = np.nansum(counts * means) / counts.sum()
        residuals = np.sqrt(counts) * np.nan_to_num(means - center)
        return float(np.float64(residuals[1:] @ residuals[:-1]) / (residuals @ residuals))


def pool_correlations(correlations: Floats, count_weeks: int, least_weeks: int) -> float:
    """Return the correlation of neighbouring weeks, from those of all metrics; 0 where weeks are too few to show it."""
    if count_weeks < least_weeks or not np.isfinite(correlations).any():
        return 0.0
    pooled = float(np.nanmean(correlations))
    return min(max(pooled + (1 + 3 * pooled) / count_weeks, 0.0), MOST_CORRELATED)


def widen_errors(correlation: float, reference: Floats, window: Floats) -> tuple[Floats, Floats]:
    """Return the factors of the error and of its degrees of freedom when neighbouring weeks correlate."""
    rest = 1 - correlation
    of_reference, of_window = (
        (1 + correlation) / rest - 2 * correlation * (1 - correlation**weeks) / (weeks * rest**2)
        for weeks in (reference, window)
    )
    total = reference + window
    with np.errstate(invalid="ignore", divide="ignore"):
        wanted = (of_reference / reference + of_window / window) / (1 / reference + 1 / window)
        held = (total - of_reference - of_window) / (total - 2)
        factor = np.sqrt(wanted / held)
    return factor, np.full(len(reference), (1 - correlation**2) / (1 + correlation**2))


class MixShift(NamedTuple):
    """Change of the share of the segment that speaks most against an unchanged mix; NaN without a test."""

    #: Places of the segments that stand for it: one, or all rare ones together.
    places: Integers
    #: Their share of the rows of each period.
    reference: float
    window: float
    #: Student's t of the stabilised share.
    degrees: float
    statistic: float
    #: Of the whole mix: the smallest of all segments, times `count_compared` (Bonferroni).
    p_value: float
    #: 1 for a pair, whose shares mirror each other, and 0 without a test.
    count_compared: int
    #: Weeks of the reference that hold a row.
    reference_weeks: int


def compare_mixes(
    counts: Floats,
    is_reference: Flags,
    is_window: Flags,
    reference_effective: float,
    window_effective: float,
    minimum_expected: float,
) -> MixShift:
    """Return the change of the mix of segments by the charts of their weekly shares, the most certain one first."""
    reference_weeks = int((counts.sum(axis=0) > 0)[is_reference].sum())
    nan, nowhere = math.nan, np.zeros(0, dtype=np.int64)
    nothing = MixShift(nowhere, nan, nan, nan, nan, nan, 0, reference_weeks)
    before, after = (counts[:, flags].sum(axis=1) for flags in (is_reference, is_window))
    least = min(reference_effective, window_effective)
    if not (least > 0 and before.sum() > 0 and after.sum() > 0):
        return nothing
    effective = reference_effective + window_effective
    share = (reference_effective * before / before.sum() + window_effective * after / after.sum()) / effective
    groups = _join_rare(share, share * least < minimum_expected, minimum_expected / least)
    if len(groups) < 2:
        return nothing
    joined = np.array([counts[group].sum(axis=0) for group in groups])
    weekly = np.broadcast_to(counts.sum(axis=0), joined.shape)
    every = np.ones(len(groups))
    found = chart_weeks(
        weekly,
        np.arcsin(np.sqrt(np.clip(ratio(joined, weekly), 0, 1))),
        is_reference,
        is_window,
        every * (before.sum() + after.sum()) / effective / 4,
        every * np.sqrt(1 / reference_effective + 1 / window_effective) / 2,
    )
    if not np.isfinite(found.p_value).any():
        return nothing
    # the shares of a pair mirror each other: the commoner one speaks
    certainty = np.nan_to_num(np.abs(found.statistic)).round(9)
    first = len(groups) - 1 - int(np.argmax(certainty[::-1]))
    count = len(groups) if len(groups) > 2 else 1
    return MixShift(
        groups[first],
        float(before[groups[first]].sum() / before.sum()),
        float(after[groups[first]].sum() / after.sum()),
        float(found.degrees[first]),
        float(found.statistic[first]),
        min(1.0, count * float(found.p_value[first])),
        count,
        reference_weeks,
    )


def _join_rare(share: Floats, is_rare: Flags, least_share: float) -> list[Integers]:
    """Return the places of each segment that is compared: common ones alone, rare ones together."""
    common = np.flatnonzero(~is_rare)
    common = common[np.argsort(share[common], kind="stable")]
    rest = np.flatnonzero(is_rare)
    groups = [common[place : place + 1] for place in range(len(common))]
    if share[rest].sum() >= least_share:
        groups.insert(0, rest)
    elif len(rest) and groups:
        groups[0] = np.append(groups[0], rest)
    return groups


def _squares(weights: Floats, means: Floats) -> Floats:
    """Return the weighted sum of squares of each series about its weighted mean, 0 without weight."""
    center = np.nan_to_num(ratio((weights * means).sum(axis=1), weights.sum(axis=1)))
    return np.asarray((weights * (means - center[:, None]) ** 2).sum(axis=1))


def _room(counts: Floats) -> Floats:
    """Return how much of the variance between weeks the squares of row-weighted means hold; NaN counts as 0."""
    total = counts.sum(axis=1)
    return np.asarray(np.nan_to_num(total - ratio((counts**2).sum(axis=1), total)))
