"""P-values of several tests at once: adjusted for the chance of one false claim, or for the share of false ones."""

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
    # NaN is no member of the family and stays NaN
    members = np.flatnonzero(~np.isnan(p_values))
    order = members[np.argsort(p_values[members], kind="stable")]
    stepped = p_values[order] * len(order) / np.arange(1, len(order) + 1)
    q_values = np.full(len(p_values), np.nan)
    q_values[order] = np.minimum(1.0, np.minimum.accumulate(stepped[::-1])[::-1])
    return q_values
