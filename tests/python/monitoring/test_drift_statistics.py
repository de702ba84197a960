"""Statistics of drift: hand-worked answers, agreement with scipy, promises by simulation."""

import math

import numpy as np
import numpy.typing as npt
from numpy.testing import assert_allclose
from scipy import stats

from hcat.monitoring.drift import statistics as drift
from hcat.monitoring.drift.alarms import rejection_limit
from hcat.statistics.arrays import Floats
from hcat.statistics.multiple_tests import benjamini_hochberg


def arrange(
    reference: list[float] | Floats, window: list[float] | Floats, clusters: list[int] | None = None
) -> tuple[drift.Rows, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return one series with its periods; every row its own cluster unless told."""
    scores = np.concatenate([reference, window]).astype(np.float64)
    codes = np.arange(len(scores)) if clusters is None else np.array(clusters)
    rows = drift.arrange_rows(np.zeros(len(scores), dtype=np.int64), codes, scores, 1)
    is_window = rows.order >= len(reference)
    return rows, ~is_window, is_window


def error(reference: list[float] | Floats, window: list[float] | Floats, clusters: list[int] | None = None) -> float:
    rows, is_reference, is_window = arrange(reference, window, clusters)
    periods = (drift.describe_period(rows, part) for part in (is_reference, is_window))
    return float(drift.error_by_cluster(rows, *periods)[0])


def test_a_period_counts_siblings_as_one() -> None:
    # clusters 0, 0, 1: K = 9 / 5; means without a cluster: 1 (without 0) and .5 (without 1), around 2 / 3
    rows, is_reference, _ = arrange([0.0, 1.0, 1.0], [], [0, 0, 1])
    period = drift.describe_period(rows, is_reference)
    assert (period.count[0], period.count_clusters[0]) == (3, 2)
    assert_allclose(period.effective, 9 / 5)
    assert_allclose(period.mean, 2 / 3)
    assert_allclose(sorted(period.deviations), sorted([2 / 3 - 1, 2 / 3 - 1 / 2]))
    assert_allclose(period.variance, ((1 / 3) ** 2 + (1 / 6) ** 2) / 2)


def test_a_weight_counts_as_so_many_rows_of_the_cluster() -> None:
    codes, scores, weights = np.array([0, 0, 1, 2]), np.array([0.0, 1.0, 1.0, 0.5]), np.array([2, 1, 3, 1])
    series, copies = np.zeros(7, dtype=np.int64), np.repeat(np.arange(4), weights)
    of_weights = drift.arrange_rows(series[:4], codes, scores, 1, weights.astype(np.float64))
    of_copies = drift.arrange_rows(series, codes[copies], scores[copies], 1)
    found, expected = (drift.describe_period(rows, rows.weights > 0) for rows in (of_weights, of_copies))
    for name in ("weight", "effective", "mean", "variance", "deviations"):
        assert_allclose(getattr(found, name), getattr(expected, name))


def test_a_wide_window_has_the_error_of_welch() -> None:
    random = np.random.default_rng(3)
    reference, window = random.normal(0, 1, 200), random.normal(0.4, 2, 60)
    expected = (window.mean() - reference.mean()) / stats.ttest_ind(window, reference, equal_var=False).statistic
    assert_allclose(error(reference, window), expected)


def test_a_rare_failure_that_did_not_occur_is_no_drift() -> None:
    # 1 in 100 of 5,000 fails; none of 150 does, which happens in 22 of 100 weeks. The window alone has no spread.
    reference = np.repeat([0.0, 1.0], [50, 4_950])
    assert 0.01 / error(reference, np.ones(150)) < 1.3
    naive = 0.01 / math.sqrt(0.01 * 0.99 / 5_000)
    assert naive > 7


def test_the_same_queries_every_week_are_their_own_control() -> None:
    random = np.random.default_rng(4)
    effect = random.normal(0, 1, 50)
    reference, window = effect + random.normal(0, 0.1, 50), effect + 0.2 + random.normal(0, 0.1, 50)
    paired, apart = error(reference, window, [*range(50), *range(50)]), error(reference, window)
    assert paired < 0.2 * apart


def test_constant_scores_have_no_error_and_a_jump_between_constants_has_one() -> None:
    assert math.isnan(error([0.1] * 30, [0.1] * 20))
    # one differing cluster is the least error
    assert_allclose(error([0.1] * 30, [0.3] * 20), 0.2 / 20)


def test_what_is_not_tested_is_no_member_of_the_family() -> None:
    q_values = benjamini_hochberg(np.array([0.01, np.nan, 0.04]))
    assert_allclose(q_values, [0.02, np.nan, 0.04])
    assert_allclose(rejection_limit(np.array([0.5, np.nan, 0.9]), 0.01), 0.005)
    # two of four are rejected: as many are up to twice a quarter of the level
    assert_allclose(rejection_limit(np.array([0.001, 0.02, 0.04, 0.9]), 0.05), 0.025)
    assert rejection_limit(np.array([np.nan]), 0.01) == 0.01
