"""P-values of several tests at once: adjusted for the chance of one false claim, or for the share of false ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hcat.statistics.arrays import Floats


def holm(p_values: Sequence[float]) -> Floats:
    """Return Holm's adjusted P-values: max over the i smallest of (m + 1 - i) p_(i), at most 1 (Holm 1979)."""
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return adjusted


# scipy.stats.false_discovery_control multiplies by m / i where these multiply by m and divide by i: the last bit
# differs, and a stored q-value must not move


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Return q-values: the least rate of false discoveries at which a test is one (Benjamini, Hochberg 1995)."""
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    return _step_up(p_values[order] * count / np.arange(1, count + 1), order)


def adjust_p_values(p_values: Floats) -> Floats:
    """Return Benjamini and Hochberg's (1995) q-values; NaN is no member of the family and stays NaN."""
    q_values = np.full(len(p_values), np.nan)
    members = np.flatnonzero(~np.isnan(p_values))
    if len(members):
        q_values[members] = benjamini_hochberg(p_values[members])
    return q_values


def _step_up(stepped: Floats, order: np.ndarray) -> Floats:
    """Return, in the order of the tests, the least of each stepped P-value and all larger ones, at most 1."""
    adjusted = np.empty(len(stepped))
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(stepped[::-1])[::-1])
    return adjusted
