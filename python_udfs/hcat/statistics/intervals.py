"""Intervals of shares, effective numbers of labels, and the quantiles that intervals are made of."""

from typing import Any

import numpy as np

from hcat.statistics.arrays import Floats


def wilson_interval(rate: float, effective_n: float, quantile: float) -> tuple[float, float]:
    """Return the score interval of Wilson (1927) for a rate on effective_n labels, within [0, 1]."""
    if not 0 <= rate <= 1 or not effective_n > 0 or not quantile > 0:
        raise ValueError(
            f"rate must lie in [0, 1], effective_n and quantile above 0, got {rate}, {effective_n}, {quantile}"
        )
    low, high = wilson_intervals(rate, effective_n, quantile)
    return float(low), float(high)


def wilson_intervals(rate: Any, effective_n: Any, quantile: Any) -> tuple[Any, Any]:
    """Return the bounds of Wilson's interval of many rates, each an array or a number; NaN where an argument is NaN."""
    squared = quantile**2
    center = (rate * effective_n + squared / 2) / (effective_n + squared)
    half = quantile * np.sqrt(effective_n * rate * (1 - rate) + squared / 4) / (effective_n + squared)
    # rounding must not push the rate out of its own interval
    return np.minimum(rate, np.maximum(0.0, center - half)), np.maximum(rate, np.minimum(1.0, center + half))


def kish_effective_n(weights: Floats) -> float:
    """Return (sum of w)^2 / sum of w^2 (Kish 1965): rows of equal weight that would be as precise, in [1, n]."""
    if not len(weights) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"weights must be finite and above 0, and one at least, got {len(weights)} weights")
    return kish(weights)


def kish(weights: Any) -> float:
    """Return (sum of w)^2 / sum of w^2, at least 1; 0 without weights."""
    squared = float(weights @ weights)
    # rounding must not make one row less than one
    return max(1.0, float(weights.sum()) ** 2 / squared) if squared > 0 else 0.0


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def t_quantile(probability: float | Floats, degrees: float | Floats) -> Floats:
    """Return quantiles of Student's t distribution, of the shape of the arguments."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(degrees, probability), dtype=np.float64)


def t_tail(values: float | Floats, degrees: float | Floats) -> Floats:
    """Return the probability that Student's t lies above the values, of the shape of the arguments."""
    from scipy.special import stdtr

    return np.asarray(stdtr(degrees, -values), dtype=np.float64)
