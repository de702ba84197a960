"""The sequential test of drift: one look by hand, its guarantee by simulation, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numpy.testing import assert_allclose

from hcat.monitoring.drift.sequential import Watch, watch_means

Floats = npt.NDArray[np.float64]


def watch(effective: Floats, means: Floats, variances: Floats, base_weeks: int = 4, **changes: Any) -> Watch:
    options: dict[str, Any] = {
        "expected_shift": 0.3,
        "minimum_reference": 30.0,
        "minimum_window": 10.0,
        "confidence": 0.95,
    }
    return watch_means(effective, means, variances, base_weeks, **(options | changes))


def draw_weeks(random: np.random.Generator, count: int, weeks: int, weekly: int) -> tuple[Floats, Floats, Floats]:
    shape = (count, weeks)
    means = random.normal(0, 1 / math.sqrt(weekly), shape)
    return np.full(shape, float(weekly)), means, random.chisquare(weekly - 1, shape) / (weekly - 1) / weekly


def test_one_look_by_hand() -> None:
    # base: 2 weeks of 50 with mean 0, watched: one of 50 with mean .5, variance of a row 1 in each
    effective, means, variances = np.full((1, 3), 50.0), np.array([[0.0, 0.0, 0.5]]), np.full((1, 3), 1 / 50)
    found = watch(effective, means, variances, 2)
    variance = 1 / 100 + 1 / 50
    ratio = 0.09 / variance
    squared = 98 * math.log1p(0.25 / variance / 98)
    log_e = ratio / (1 + ratio) * squared / 2 - math.log1p(ratio) / 2
    # the change at this week has weight 1 / 2, the other half waits with e = 1
    assert_allclose(found.log_e_value, math.log(math.exp(log_e) / 2 + 1 / 2))
    assert_allclose(found.p_value, np.exp(-found.log_e_value))
    information = 1 / variance
    margin = math.sqrt((1 + 0.09 * information) / (0.09 * information**2) * (2 * math.log(20) + math.log1p(ratio)))
    assert_allclose([found.difference[0], found.lower[0], found.upper[0]], [0.5, 0.5 - margin, 0.5 + margin])


def test_the_promise_holds_at_all_looks_together() -> None:
    random = np.random.default_rng(10)
    found = watch(*draw_weeks(random, 4_000, 34, 40))
    for level in (0.1, 0.02):
        assert (found.p_value <= level).mean() <= level + 2 * math.sqrt(level * (1 - level) / 4_000)
    # the confidence sequence of every look covers, not only that of the last one
    outside = np.zeros(1_000, dtype=np.bool_)
    effective, means, variances = draw_weeks(random, 1_000, 24, 40)
    for until in range(5, 25):
        now = watch(effective[:, :until], means[:, :until], variances[:, :until])
        outside |= (now.lower > 0) | (now.upper < 0)
    assert outside.mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 1_000)


def test_a_t_test_at_every_look_breaks_its_promise() -> None:
    random = np.random.default_rng(11)
    effective, means, _ = draw_weeks(random, 2_000, 34, 40)
    fired = np.zeros(2_000, dtype=np.bool_)
    for until in range(5, 35):
        difference = means[:, 4:until].mean(axis=1) - means[:, :4].mean(axis=1)
        fired |= np.abs(difference) > 1.96 * math.sqrt(1 / 160 + 1 / (40 * (until - 4)))
    assert effective.shape == (2_000, 34)
    assert fired.mean() > 0.15


def test_a_late_change_is_found_and_stays_found() -> None:
    random = np.random.default_rng(12)
    effective, means, variances = draw_weeks(random, 200, 44, 200)
    means[:, 34:40] += 0.4
    before = watch(effective[:, :34], means[:, :34], variances[:, :34])
    after = watch(effective, means, variances)
    assert (before.p_value > 1e-4).all()
    assert (after.p_value < 1e-6).mean() > 0.95


def test_evidence_never_shrinks_with_further_looks() -> None:
    random = np.random.default_rng(13)
    weeks = draw_weeks(random, 50, 20, 30)
    effective, means, variances = weeks
    states = [watch(effective[:, :until], means[:, :until], variances[:, :until]).log_e_value for until in range(4, 21)]
    assert (np.diff(np.stack(states), axis=0) >= 0).all()
    assert_allclose(states[0], 0.0, atol=1e-12)


def test_sign_does_not_matter_to_the_watch_and_weeks_may_be_empty() -> None:
    random = np.random.default_rng(14)
    effective, means, variances = draw_weeks(random, 20, 12, 30)
    effective[:, 6], means[:, 6], variances[:, 6] = 0.0, np.nan, np.nan
    found, mirrored = watch(effective, means, variances), watch(effective, -means, variances)
    assert_allclose(found.log_e_value, mirrored.log_e_value)
    assert_allclose(found.lower, -mirrored.upper)
    assert found.is_watched.all()


def test_too_few_rows_and_constants_are_not_watched() -> None:
    few = watch(np.full((1, 6), 5.0), np.zeros((1, 6)), np.full((1, 6), 0.2))
    constant = watch(np.full((1, 6), 50.0), np.ones((1, 6)), np.zeros((1, 6)))
    for found in (few, constant):
        assert not found.is_watched[0]
        assert_allclose(found.p_value, 1.0)
        assert np.isnan(found.difference[0])
    jump = watch(np.full((1, 6), 50.0), np.array([[1.0, 1.0, 1.0, 1.0, 0.5, 0.5]]), np.zeros((1, 6)))
    assert jump.is_watched[0]
    assert jump.p_value[0] < 1e-6


@pytest.mark.parametrize(
    ("changes", "base_weeks", "message"),
    [
        ({"expected_shift": 0.0}, 4, "above 0, got 0.0"),
        ({"confidence": 1.0}, 4, r"in \(0, 1\), got 1.0"),
        ({}, 0, "at least 1, got 0"),
    ],
)
def test_bad_settings_of_the_watch(changes: dict[str, float], base_weeks: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        watch(np.ones((1, 5)), np.ones((1, 5)), np.ones((1, 5)), base_weeks, **changes)


def test_weeks_without_rows_may_be_left_out_and_change_nothing() -> None:
    random = np.random.default_rng(17)
    effective, means, variances = draw_weeks(random, 20, 30, 40)
    empty = np.isin(np.arange(30), [1, 6, 7, 8, 20, 29])
    effective[:, empty], means[:, empty], variances[:, empty] = 0.0, np.nan, np.nan
    whole = watch(effective, means, variances)
    kept = np.flatnonzero(~empty)
    cut = watch(effective[:, kept], means[:, kept], variances[:, kept], weeks=kept)
    assert_allclose(cut.log_e_value, whole.log_e_value, atol=1e-12)
    assert_allclose([cut.difference, cut.lower, cut.upper], [whole.difference, whole.lower, whole.upper])
    # without a gap, the numbers of the weeks change no bit
    same = watch(effective, means, variances, weeks=np.arange(30))
    assert same.log_e_value.tobytes() == whole.log_e_value.tobytes()
