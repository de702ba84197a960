"""The control chart of weeks: Student's test by hand, weeks of unequal volume, strata and mixes."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from hcat.monitoring.drift.chart import (
    center_on_strata,
    chart_weeks,
    compare_mixes,
    correlate_weeks,
    pool_correlations,
    widen_errors,
)
from hcat.monitoring.drift.statistics import arrange_rows
from hcat.statistics.arrays import Flags, Floats

REFERENCE, WINDOW = 26, 3


def flags(reference: int = REFERENCE, window: int = WINDOW) -> tuple[Flags, Flags]:
    weeks = np.arange(reference + window)
    return weeks < reference, weeks >= reference


def draw_weeks(spread: float, volumes: Floats, count: int, seed: int) -> tuple[Floats, Floats]:
    """Return rows and means of many quiet series whose weeks differ by chance."""
    random = np.random.default_rng(seed)
    means = spread * random.standard_normal((count, len(volumes)))
    means += random.standard_normal((count, len(volumes))) / np.sqrt(volumes)
    return np.broadcast_to(volumes, means.shape), means


def test_weeks_of_one_size_have_the_t_test_of_their_means() -> None:
    counts, means = draw_weeks(0.3, np.full(29, 200.0), 50, 1)
    found = chart_weeks(counts, means, *flags(), np.ones(50), np.zeros(50))
    expected = stats.ttest_ind(means[:, 26:], means[:, :26], axis=1)
    assert_allclose(found.statistic, expected.statistic)
    assert_allclose(found.p_value, expected.pvalue)
    assert_array_equal(found.degrees, np.full(50, 27.0))
    assert_allclose(found.difference, found.window - found.reference)


def test_weeks_that_correlate_widen_the_error_as_their_matrix_says() -> None:
    correlation, sizes = 0.6, (26, 3)
    matrices = [correlation ** np.abs(np.subtract.outer(np.arange(size), np.arange(size))) for size in sizes]
    wanted = sum(matrix.mean() for matrix in matrices) / sum(1 / size for size in sizes)
    held = sum(np.trace(matrix) - size * matrix.mean() for matrix, size in zip(matrices, sizes, strict=True)) / 27
    factor, share = widen_errors(correlation, np.array([26.0, 26.0]), np.array([3.0, 1.0]))
    assert_allclose(factor[0], np.sqrt(wanted / held))
    assert_allclose(share, (1 - 0.36) / (1 + 0.36))
    assert_allclose(widen_errors(0.0, np.array([26.0]), np.array([3.0])), 1.0)


def test_correlation_is_pooled_freed_of_its_bias_and_asks_for_twenty_weeks() -> None:
    series = np.tile([1.0, 1.0, -1.0, -1.0], 6)
    found = correlate_weeks(np.full(24, 9.0), series)
    assert_allclose(found, 1 / 24)
    assert_allclose(pool_correlations(np.array([0.3, np.nan, 0.5]), 25, 20), 0.4 + 2.2 / 25)
    assert pool_correlations(np.array([0.4]), 19, 20) == pool_correlations(np.array([-0.4]), 25, 20) == 0
    assert pool_correlations(np.array([np.nan]), 25, 20) == 0


def test_a_holiday_weighs_less_only_where_interactions_limit_the_precision() -> None:
    volumes = np.array([100.0] * 8 + [1.0, 100.0])
    is_reference, is_window = flags(8, 2)
    # one interaction of a holiday says 1; weeks that agree: it is noise
    noisy = np.array([[0.0, 0.1] * 4 + [1.0, 0.0]])
    counts = np.broadcast_to(volumes, noisy.shape)
    few = chart_weeks(counts, noisy, is_reference, is_window, np.full(1, 4.0), np.full(1, 0.01))
    assert_allclose(few.window, 1 / 101)
    # weeks that differ by far more than their interactions explain: it counts as a week
    apart = np.array([[-1.0, 1.0] * 4 + [1.0, 0.0]])
    equal = chart_weeks(counts, apart, is_reference, is_window, np.full(1, 0.01), np.full(1, 0.01))
    assert_allclose(equal.window, 0.5, atol=0.02)


def test_a_change_of_the_mix_is_no_change_and_a_change_inside_is() -> None:
    random = np.random.default_rng(4)
    topics = np.concatenate([np.arange(400) % 2, (np.arange(200) % 10 > 0).astype(int)])
    is_late = np.arange(600) >= 400
    scores = 2.0 * topics + random.normal(0, 0.1, 600) + 0.5 * is_late
    rows = arrange_rows(np.zeros(600, dtype=np.int64), np.arange(600), scores, 1)
    centred = center_on_strata(rows, ~is_late[rows.order], topics[rows.order], 2, 30)
    late = is_late[rows.order]
    assert rows.scores[late].mean() - rows.scores[~late].mean() > 1.2
    assert_allclose(centred[late].mean() - centred[~late].mean(), 0.5, atol=0.03)
    assert_allclose(centred[~late].mean(), rows.scores[~late].mean())


def test_small_strata_are_one_and_too_few_rows_stay() -> None:
    scores = np.array([0.0] * 4 + [1.0, 3.0] + [5.0])
    rows = arrange_rows(np.zeros(7, dtype=np.int64), np.arange(7), scores, 1)
    strata = np.array([0, 0, 0, 0, 1, 2, 3])[rows.order]
    is_reference = rows.order < 6
    # the rows 1 and 3 are one stratum of mean 2, and so is what only the window holds; the whole has the mean 2 / 3
    assert_allclose(center_on_strata(rows, is_reference, strata, 4, 2) - 2 / 3, [0, 0, 0, 0, -1, 1, 3], atol=1e-12)
    # two rows are fewer than three: they stay
    assert_allclose(center_on_strata(rows, is_reference, strata, 4, 3) - scores, [2 / 3] * 4 + [0, 0, 0], atol=1e-12)


def test_several_segments_pay_for_their_number_and_rare_ones_are_joined() -> None:
    is_reference, is_window = flags(4, 1)
    counts = np.array([[60.0] * 5, [36.0] * 5, [2.0, 2.0, 2.0, 2.0, 1.0], [2.0, 2.0, 2.0, 2.0, 3.0]])
    # the rare two together expect 4 of 100: still too few, and join the rarest of the others
    pair = compare_mixes(counts, is_reference, is_window, 400.0, 100.0, 5.0)
    assert (pair.count_compared, pair.p_value) == (1, 1.0)
    three = compare_mixes(counts, is_reference, is_window, 400.0, 100.0, 3.0)
    assert three.count_compared == 3
    assert compare_mixes(counts, is_reference, is_window, 400.0, 100.0, 50.0).count_compared == 0
    assert compare_mixes(np.zeros((2, 5)), is_reference, is_window, 0.0, 0.0, 1.0).count_compared == 0
