"""Intervals, effective numbers and quantiles against statsmodels, scipy and by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from statsmodels.stats.proportion import proportion_confint

from hcat.statistics.intervals import (
    kish_effective_n,
    wilson_interval,
    wilson_intervals,
)


def test_wilson_agrees_with_statsmodels() -> None:
    for rate, count in [(0.0, 30), (0.1, 40), (0.5, 7), (1.0, 12)]:
        expected = proportion_confint(rate * count, count, method="wilson")
        assert_allclose(wilson_interval(rate, count, ndtri(0.975)), expected, atol=1e-12)


def test_many_intervals_are_those_of_one() -> None:
    rates, counts = np.array([0.0, 0.1, 0.5, 1.0]), np.array([30.0, 40.0, 7.0, 12.0])
    lows, highs = wilson_intervals(rates, counts, np.full(4, 2.0))
    single = [wilson_interval(rate, count, 2.0) for rate, count in zip(rates, counts, strict=True)]
    assert_array_equal(np.column_stack([lows, highs]), single)
    assert np.isnan(wilson_intervals(np.array([0.5]), np.array([np.nan]), np.array([2.0]))[0]).all()


def test_a_rate_beyond_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"got 1\.5, 10, 2"):
        wilson_interval(1.5, 10, 2)


def test_kish() -> None:
    assert_allclose(kish_effective_n(np.array([1.0, 1.0, 2.0])), 16 / 6)
    with pytest.raises(ValueError, match=r"above 0.*got 2"):
        kish_effective_n(np.array([1.0, 0.0]))
