"""The benchmark of drift: its draws are what it says, and its verdicts are those of the product."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

# benchmarks is no installed package: it is run from the root of the repository
from benchmarks import drift
from benchmarks.__main__ import BENCHMARKS


def test_it_is_registered() -> None:
    assert BENCHMARKS["drift"] is drift.run


@pytest.mark.parametrize("scenario", [drift.INDEPENDENT, drift.SIBLINGS, drift.REPEATED, drift.RARE])
def test_scores_have_mean_0_and_deviation_1(scenario: drift.Scenario) -> None:
    found = drift.draw(np.random.default_rng(1), scenario, 300, 800, 200, 3)
    assert found.scores.shape == (300, 1_400)
    assert_allclose([found.scores.mean(), found.scores.std()], [0, 1], atol=0.03)
    assert_array_equal(np.unique(found.weeks, return_counts=True)[1], [200] * 7)
    expected = {drift.SIBLINGS.name: 7 * 50, drift.REPEATED.name: 200}.get(scenario.name, 1_400)
    assert len(np.unique(found.clusters)) == expected


def test_siblings_are_as_alike_as_said() -> None:
    found = drift.draw(np.random.default_rng(2), drift.SIBLINGS, 2_000, 800, 200, 1)
    correlation = np.corrcoef(found.scores[:, 0], found.scores[:, 1])[0, 1]
    assert abs(correlation - drift.SIBLINGS.likeness) < 0.06
    assert abs(np.corrcoef(found.scores[:, 0], found.scores[:, 4])[0, 1]) < 0.06


@pytest.mark.parametrize(("reference", "weekly"), [(800, 200), (5_000, 150), (100, 200)])
def test_the_reference_is_split_to_its_size(reference: int, weekly: int) -> None:
    sizes = drift._split_reference(reference, weekly)
    assert sum(sizes) == reference
    assert set(sizes[1:]) <= {weekly}


def test_a_large_shift_is_found_at_once_and_a_small_log_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    few = drift.share_found(drift.INDEPENDENT, 800, 50, 40)
    monkeypatch.setattr(drift, "SHIFT", 1.0)
    large = drift.share_found(drift.INDEPENDENT, 800, 200, 40)
    assert few["any"][0] < 0.1
    assert large["mean_shift"][0] == 1.0
    for shares in large.values():
        assert shares == sorted(shares)
        assert shares[-1] > 0.9


def test_nothing_alarms_in_a_few_quiet_weeks() -> None:
    assert drift.count_false_alarms(drift.SIBLINGS, 1, weekly=40)["any"] == 0
    assert drift.count_false_mixes(20) == 0


def test_verdicts_are_those_of_the_product() -> None:
    # 960 p-values of a window, one far below the limit of Benjamini and Hochberg
    columns = {
        "p_value": np.concatenate([[1e-9], np.full(959, 0.5)]),
        "share": np.ones(960),
        **{
            name: np.ones(960)
            for name in (
                "effective_reference",
                "effective_window",
                "degrees_of_freedom",
                "standard_error",
                "difference",
                "standard_deviation_reference",
                "value_reference",
            )
        },
    }
    assert_array_equal(np.flatnonzero(drift.alarms("mean_shift", columns)), [0])
    columns["p_value"][0] = 0.01 * 0.96 / 960 * 1.01
    assert not drift.alarms("mean_shift", columns).any()


def test_the_bare_limit_fires_in_small_windows() -> None:
    bare, five, one = drift.share_of_stability_alarms(50, 800, 500)
    assert bare > 0.7
    assert five < 0.08
    assert one < 0.03
