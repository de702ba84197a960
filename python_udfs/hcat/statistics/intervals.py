"""Intervals of shares, effective numbers of labels, and the quantiles that intervals are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcat.statistics.arrays import Floats, Integers


def wilson_interval(rate: float, effective_n: float, quantile: float) -> tuple[float, float]:
    """Return the score interval of Wilson (1927) for a rate on effective_n labels, within [0, 1].

    For clustered and weighted labels n is replaced by the effective n and the normal quantile by t. Korn and Graubard
    (1998) do so for the exact interval; Franco, Little, Louis and Slud (2019) recommend it for Wilson's.

    Parameters
    ----------
    rate : float
        In [0, 1].
    effective_n : float
        Above 0.
    quantile : float
        Of the standard normal or t distribution, for instance 1.96; above 0.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    One failure in two labels, with quantile 2 = sqrt(4): the centre is (1 + 2) / (2 + 4).

    >>> low, high = wilson_interval(0.5, 2.0, 2.0)
    >>> round((low + high) / 2, 6), round(high - low, 6)
    (0.5, 0.816497)
    """
    if not 0 <= rate <= 1 or not effective_n > 0 or not quantile > 0:
        raise ValueError(
            f"rate must lie in [0, 1], effective_n and quantile above 0, got {rate}, {effective_n}, {quantile}"
        )
    low, high = _wilson(rate, effective_n, quantile)
    return float(low), float(high)


def wilson_intervals(rates: Floats, effective_n: Floats, quantiles: Floats) -> tuple[Floats, Floats]:
    """Return the bounds of Wilson's interval of many rates; NaN where an argument is NaN.

    Parameters
    ----------
    rates, effective_n, quantiles : ndarray, shape (n,)
        As in :func:`wilson_interval`.

    Examples
    --------
    >>> low, high = wilson_intervals(np.array([0.0, 0.5]), np.array([4.0, 2.0]), np.array([2.0, 2.0]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.0918], [0.5, 0.9082])
    """
    low, high = _wilson(rates, effective_n, quantiles)
    return low, high


def _wilson(rate: Any, effective_n: Any, quantile: Any) -> tuple[Any, Any]:
    squared = quantile**2
    center = (rate * effective_n + squared / 2) / (effective_n + squared)
    half = quantile * np.sqrt(effective_n * rate * (1 - rate) + squared / 4) / (effective_n + squared)
    # rounding must not push the rate out of its own interval
    return np.minimum(rate, np.maximum(0.0, center - half)), np.maximum(rate, np.minimum(1.0, center + half))


def kish_effective_n(weights: Floats) -> float:
    """Return (sum of w)^2 / sum of w^2 (Kish 1965): rows of equal weight that would be as precise, in [1, n].

    Raises
    ------
    ValueError
        If there are no weights, or one is not above 0.

    Examples
    --------
    >>> kish_effective_n(np.array([1.0, 1.0, 2.0]))  # 4^2 / (1 + 1 + 4)
    2.6666666666666665
    """
    if not len(weights) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"weights must be finite and above 0, and one at least, got {len(weights)} weights")
    return _kish(weights)


def effective_clusters(codes: Integers, weights: Floats) -> float:
    """Return Kish's effective number of clusters: that of the sums of weights by cluster.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Cluster of each row, at least one row; a code without a row counts nothing.
    weights : ndarray, shape (n,)
        Of each row, above 0.

    Examples
    --------
    Three rows of one cluster and one of another: (3 + 1)^2 / (9 + 1).

    >>> effective_clusters(np.array([0, 0, 0, 2]), np.ones(4))
    1.6
    """
    return _kish(np.bincount(codes, weights=weights))


def _kish(weights: Any) -> float:
    # rounding must not make one row less than one
    return max(1.0, float(weights.sum() ** 2 / (weights**2).sum()))


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution.

    ``statistics.NormalDist`` rounds the last bit of many quantiles the other way, that of .975 among them. Modules that
    took theirs from it do so still, because their figures must not move.

    Examples
    --------
    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from scipy.special import ndtri

    return float(ndtri(probability))


def t_quantile(probability: float | Floats, degrees: float | Floats) -> Floats:
    """Return quantiles of Student's t distribution, of the shape of the arguments.

    Parameters
    ----------
    probability : float or ndarray
        In (0, 1).
    degrees : float or ndarray
        Degrees of freedom, above 0; NaN gives NaN.

    Examples
    --------
    >>> float(t_quantile(0.75, 1.0).round(12))  # one degree: the Cauchy distribution, tan(pi / 4)
    1.0
    """
    from scipy.special import stdtrit

    return np.asarray(stdtrit(degrees, probability), dtype=np.float64)


def t_tail(values: float | Floats, degrees: float | Floats) -> Floats:
    """Return the probability that Student's t lies above the values, of the shape of the arguments.

    Parameters
    ----------
    values : float or ndarray
    degrees : float or ndarray
        Degrees of freedom, above 0; NaN gives NaN.

    Examples
    --------
    >>> float(t_tail(1.0, 1.0).round(12))
    0.25
    """
    from scipy.special import stdtr

    return np.asarray(stdtr(degrees, -values), dtype=np.float64)
