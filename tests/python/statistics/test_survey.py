"""Weighted shares: hand-worked answers, exhaustive enumeration of small populations, a reference library."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hcat.statistics.survey import estimate_shares


def test_stratified_share_by_hand() -> None:
    # 60 and 40 members; 2 of 3 and 1 of 4 hits: .6 x 2/3 + .4 x 1/4 = .5
    hits = np.array([True, True, False, True, False, False, False])
    strata = np.array([0, 0, 0, 1, 1, 1, 1])
    weights = np.array([20.0] * 3 + [10.0] * 4)
    found = estimate_shares(hits, strata, weights)
    # .36 x (1 - 3/60) x (1/3) / 3 + .16 x (1 - 4/40) x .25 / 4
    first, second = 0.36 * 0.95 / 9, 0.16 * 0.9 * 0.25 / 4
    assert_allclose(found.shares, [0.5])
    assert_allclose(found.standard_errors**2, [first + second])
    # beside the 2 and 3 degrees of the strata, one row of .25: 3 x .95 x 20^2 and 4 x .9 x 10^2 of 100^2
    leaning = (2 * first + 0.114 * 0.25) / 3 + (3 * second + 0.036 * 0.25) / 4
    assert_allclose(found.effective_n, [0.25 / leaning])
    assert found.degrees == 7 - 2


def test_one_stratum_of_a_large_population_agrees_with_statsmodels() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    hits = np.arange(400) < 37
    found = estimate_shares(hits, np.zeros(400, dtype=int), np.full(400, 1e9))
    # the unbiased variance divides by n - 1, so that 399 rows are effective; t of 399 degrees is 1.966 and not 1.960
    effective = 399 * (1.959964 / 1.965927) ** 2
    low, high = proportion.proportion_confint(37 / 400 * effective, effective, 0.05, method="jeffreys")
    assert_allclose(found.effective_n, [399], rtol=1e-5)
    assert_allclose([found.low[0], found.high[0]], [low, high], rtol=1e-4)


def test_queries_of_one_chunk_count_once() -> None:
    # two queries of each chunk that always agree tell no more than one of each
    hits = np.array([True, False, True, True, False])
    strata = np.array([0, 0, 0, 1, 1])
    weights = np.array([3.0, 3, 3, 4, 4])
    once = estimate_shares(hits, strata, weights)
    twice = estimate_shares(
        np.repeat(hits, 2), np.repeat(strata, 2), np.repeat(weights / 2, 2), np.repeat(np.arange(5), 2)
    )
    assert_allclose(twice.shares, once.shares)
    assert_allclose(twice.standard_errors, once.standard_errors)
    assert_allclose(twice.high, once.high)


def test_stratum_of_one_is_held_against_the_whole() -> None:
    found = estimate_shares(np.array([True, False, True]), np.array([0, 0, 1]), np.array([2.0, 2.0, 4.0]))
    # residuals of stratum 0: 2 (1 - .5) twice, factor 2 x (1 - 1/2); of stratum 1: 4 (1 - .75), factor 1 - 1/4
    assert_allclose(found.shares, [0.75])
    assert_allclose(found.standard_errors**2, [(2 * 0.5 * 2 * 1 + 0.75 * 1) / 64])


@pytest.mark.parametrize("value", [False, True])
def test_shares_of_none_and_all_have_intervals(value: bool) -> None:
    found = estimate_shares(np.full(50, value), np.arange(50) % 5, np.full(50, 20.0))
    assert_allclose(found.effective_n, [50])
    width = found.high[0] - found.low[0]
    assert 0.05 < width < 0.1
    assert (found.high if value else found.low)[0] == float(value)
