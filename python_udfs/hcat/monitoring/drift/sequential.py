"""The sequential test of drift: an e-process for the mean of weekly scores, valid at every weekly look."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from hcat.monitoring.drift.statistics import NEGLIGIBLE
from hcat.statistics.arrays import Flags, Floats, Integers


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
        min(1, 1 / e): valid at every look, however many there are.
    difference, lower, upper : ndarray
        Mean of all watched weeks minus that of the base, with its confidence sequence; NaN where there is none.
    """

    is_watched: Flags
    log_e_value: Floats
    p_value: Floats
    difference: Floats
    lower: Floats
    upper: Floats


def watch_means(
    effective: Floats,
    means: Floats,
    variances: Floats,
    base_weeks: int,
    *,
    weeks: Integers | None = None,
    expected_shift: float,
    minimum_reference: float,
    minimum_window: float,
    confidence: float,
) -> Watch:
    """Return the state of an anytime-valid test of the mean after weekly looks at every week since the base.

    Parameters
    ----------
    effective, means, variances : ndarray, shape (count_series, n_weeks)
        Effective rows K_j of each week, mean, and the variance of the mean by cluster; NaN without rows (K_j = 0) or,
        for the variance, with a single cluster.
    base_weeks : int
        Weeks at the beginning that are taken as given; all later ones are watched. The base must not change: the
        guarantee holds for looks at growing data after one base. A series that begins later is its own base: weeks
        before a supposed change are compared with those after it, wherever they lie.
    weeks : ndarray of int, shape (n_weeks,), or None
        Number of each week since the first, rising; None = no week is left out. A week without rows in any series may
        be: it changes no e-value and costs nothing.
    expected_shift : float
        Standard deviation of the shift that the test is tuned to, in standard deviations of a score, above 0. It
        affects the power and not the guarantee.
    minimum_reference, minimum_window : float
        Effective rows that a supposed change needs before and after it.
    confidence : float
        Of the confidence sequence, in (0, 1).

    Returns
    -------
    Watch
        Without drift the largest e-value of all looks reaches 1 / a with probability at most a.

    Raises
    ------
    ValueError
        If `expected_shift`, `confidence` or `base_weeks` is out of range.

    Notes
    -----
    With known variance and normal weekly means, D = (mean after a change at week k) - (mean before it) of all looks has
    the canonical joint distribution of Brownian motion at information I = 1 / var(D) (Jennison and Turnbull 2000,
    chapter 3). Robbins' normal mixture (Robbins 1970; Johari, Koomen, Pekelis and Walsh 2022 for two samples),

        e_k = (1 + tau^2 I)^(-1/2) exp(tau^2 I z^2 / (2 (1 + tau^2 I))),   z = D sqrt(I),

    is a test martingale that starts at 1. Each e_k is the likelihood ratio of what is left of the data when the common
    mean is removed, so that all share one filtration and their mixture over the unknown week of change,
    sum over k of e_k / (k (k + 1)), is a test martingale too; weeks still to come count with e = 1. Ville's inequality
    gives the guarantee. With estimated variances it holds as the weeks hold many clusters (time-uniform central limit
    theory: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024). Three changes make it safe for small weeks. The
    variance after the change is at least that before it. Both are at least what one differing cluster would give. And
    z^2 is replaced by v ln(1 + t^2 / v) with v = degrees of freedom before the change.

    The confidence sequence is that of Robbins for the change at the first watched week: all watched weeks together.

    Examples
    --------
    Eight weeks of 100 effective rows whose mean falls from .9 to .5 after the fourth:

    >>> week = np.full((1, 8), 100.0)
    >>> means = np.array([[0.9] * 4 + [0.5] * 4])
    >>> watch = watch_means(
    ...     week, means, week * 0 + 0.001, 4,
    ...     expected_shift=0.3, minimum_reference=30, minimum_window=10, confidence=0.95,
    ... )
    >>> watch.difference.round(6).tolist(), bool(watch.p_value[0] < 0.001), bool(watch.upper[0] < 0)
    ([-0.4], True, True)
    """
    if not expected_shift > 0:
        raise ValueError(f"expected_shift must be above 0, got {expected_shift}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
    if base_weeks < 1:
        raise ValueError(f"base_weeks must be at least 1, got {base_weeks}")
    count_series, count_weeks = effective.shape
    numbers = list(range(count_weeks)) if weeks is None else weeks.tolist()
    first = bisect_left(numbers, base_weeks)
    sums = _WeekSums.of(effective, means, variances)
    largest = np.zeros(count_series)
    is_watched = np.zeros(count_series, dtype=np.bool_)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for look in range(first, count_weeks):
            # logarithms: an e-value of a large shift exceeds every double
            terms = [np.full(count_series, -math.log(numbers[look] - base_weeks + 2))]
            before = 0
            for change in range(first, look + 1):
                number = numbers[change] - base_weeks + 1
                contrast = sums.contrast(change, look + 1, minimum_reference, minimum_window)
                log_e = _log_mixture(contrast, expected_shift)
                is_watched |= np.isfinite(log_e)
                # a change in weeks that were left out is one in this week: the sum of their 1 / (k (k + 1))
                size = math.log((before + 1) * (number + 1) / (number - before))
                terms.append(np.where(np.isfinite(log_e), log_e, 0.0) - size)
                before = number
            largest = np.maximum(largest, np.logaddexp.reduce(terms, axis=0))
        contrast = sums.contrast(first, count_weeks, minimum_reference, minimum_window)
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
        difference = np.where(np.abs(difference) <= NEGLIGIBLE * scale, 0.0, difference)
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
