"""Intervals, effective numbers and quantiles against statsmodels, scipy and by hand."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import ndtri
from statsmodels.stats.proportion import proportion_confint

from hcat.statistics.intervals import kish, wilson_interval, wilson_rows


def test_wilson_agrees_with_statsmodels_and_its_width_gives_the_rows_back() -> None:
    rates, counts, quantile = np.array([0.0, 0.1, 0.5, 1.0]), np.array([30.0, 40.0, 7.0, 12.0]), float(ndtri(0.975))
    lows, highs = wilson_interval(rates, counts, quantile)
    assert_allclose([lows, highs], proportion_confint(rates * counts, counts, method="wilson"), atol=1e-12)
    assert np.isnan(wilson_interval(np.array([0.5]), np.array([np.nan]), np.array([2.0]))[0]).all()
    assert_allclose([wilson_rows(*row, quantile) for row in zip(rates, highs - lows, strict=True)], counts)


def test_kish() -> None:
    assert_allclose(kish(np.array([1.0, 1.0, 2.0, 0.0])), 16 / 6)
