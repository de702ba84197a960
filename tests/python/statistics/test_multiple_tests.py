"""Adjusted P-values against statsmodels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.stats.multitest import multipletests

from hcat.statistics.arrays import Floats
from hcat.statistics.multiple_tests import benjamini_hochberg, holm

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.asarray)


def test_holm_is_that_of_statsmodels() -> None:
    p_values = np.random.default_rng(7).random(12) ** 3
    assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1])
    assert_allclose(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
    assert len(holm([])) == 0


@given(PROBABILITIES)
def test_false_discovery_rates_agree_with_statsmodels(p_values: Floats) -> None:
    assert_allclose(benjamini_hochberg(p_values), multipletests(p_values, method="fdr_bh")[1], atol=1e-12)
