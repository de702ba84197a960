"""Intervals of shares, effective numbers of labels, and the quantiles that intervals are made of."""

import math
from typing import Any

import numpy as np

from hcat.statistics.arrays import Floats


def wilson_interval(rate: Any, effective_n: Any, quantile: Any) -> tuple[Any, Any]:
    """Return the bounds of the score interval of Wilson (1927), arrays or numbers; NaN where an argument is NaN."""
    squared = quantile**2
    center = (rate * effective_n + squared / 2) / (effective_n + squared)
    half = quantile * np.sqrt(effective_n * rate * (1 - rate) + squared / 4) / (effective_n + squared)
    # rounding must not push the rate out of its own interval
    return np.minimum(rate, np.maximum(0.0, center - half)), np.maximum(rate, np.minimum(1.0, center + half))


def wilson_rows(rate: float, width: float, quantile: float) -> float:
    """Return on how many labels Wilson's interval of a rate has a width in (0, 1)."""
    # with m = n + z^2 and v = p (1 - p), it solves w^2 m^2 - 4 z^2 v m = z^4 (1 - 4 v)
    squared, variation = quantile**2, rate * (1 - rate)
    root = math.sqrt((2 * squared * variation) ** 2 + (width * squared) ** 2 * (1 - 4 * variation))
    return (2 * squared * variation + root) / width**2 - squared


def kish(weights: Any) -> float:
    """Return (sum of w)^2 / sum of w^2 (Kish 1965), rows of equal weight that are as precise; 0 without weights."""
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
