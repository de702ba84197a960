"""Rehearsed gates agree with fresh draws of a made-up assistant, and know the rule of each gate."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from benchmarks.promises.looks import build_gate
from hcat.gates.rehearsal import list_rehearsed, rehearse

GATE: dict[str, Any] = {
    "gate_name": "release",
    "measurement": "share_failing",
    "comparison": "at_most",
    "burden": "prove_safe",
    "threshold": 0.2,
    "confidence": 0.95,
}


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer draws than for a table, whose last digits they would move."""
    monkeypatch.setattr("hcat.gates.rehearsal._DRAWS", 500)


@pytest.mark.usefixtures("few_draws")
def test_fresh_draws_differ_as_often_as_rehearsed_where_truths_spread_evenly() -> None:
    random = np.random.default_rng(20260101)
    rates = random.uniform(0.02, 0.45, 400)
    builds, others, worse = ([build_gate(random, rate + more, 100) for rate in rates] for more in (0.0, 0.0, 0.05))
    rehearsed = rehearse(builds)
    differs = np.mean([one["verdict"] != other["verdict"] for one, other in zip(builds, others, strict=True)])
    assert np.mean([one.share_other_verdict for one in rehearsed]) == pytest.approx(differs, abs=0.03)
    stopped = [one.shares_stopped[0] for one in rehearsed if one.shares_stopped]
    assert np.mean(stopped) == pytest.approx(np.mean([one["verdict"] != "passed" for one in worse]), abs=0.03)


@pytest.mark.usefixtures("few_draws")
def test_the_range_holds_the_share_of_the_truth() -> None:
    random = np.random.default_rng(20260101)
    builds = [build_gate(random, 0.2, 100) for _ in range(200)]
    verdicts = [one["verdict"] for one in builds]
    differs = [1 - verdicts.count(verdict) / 200 for verdict in verdicts]
    ranges = [one.range_other_verdict for one in rehearse(builds)]
    # .05 of the intervals miss the truth, and 200 builds show a share to .035
    assert np.mean([low - 0.04 <= one <= high + 0.04 for one, (low, high) in zip(differs, ranges, strict=True)]) > 0.93


def test_no_rule_of_one_build_is_right_at_every_truth() -> None:
    # in standard errors: up to -1.96 a measured value passes, up to 0 it is undecided
    values, truths = np.arange(-9, 7, 0.1), np.arange(-6, 4.1, 0.2)
    chance = stats.norm.pdf(values - truths[:, None]) * 0.1
    below = stats.norm.cdf(np.array([[-np.inf], [-1.96], [0], [np.inf]]) - truths)
    differs = 1 - (np.diff(below, axis=0) ** 2).sum(axis=0)
    # the rule, a share for each value, whose mean over builds is least off at the truth where it is most off
    off = np.ones((len(truths), 1))
    limits = np.block([[chance, -off], [-chance, -off]])
    bounds = [(0, 1)] * len(values) + [(0, None)]
    found = optimize.linprog(np.eye(len(bounds))[-1], limits, np.concatenate([differs, -differs]), bounds=bounds)
    assert found.fun == pytest.approx(0.036, abs=0.001)


def test_the_rule_of_the_gate_decides() -> None:
    near = GATE | {"measured_value": 0.19, "lower_bound": 0.15, "upper_bound": 0.24, "verdict": "undecided"}
    change = {"measurement": "version_difference", "comparison": "at_least", "threshold": -0.05, "verdict": "passed"}
    change |= {"measured_value": 0.0, "lower_bound": -0.04, "upper_bound": 0.04}
    safe, harm, versions, mean = rehearse(
        [near, near | {"burden": "prove_harm"}, GATE | change, near | {"measurement": "mean_score"}]
    )
    # harm has to be shown before a gate stops anything
    assert safe.shares_stopped is not None
    assert harm.shares_stopped is not None
    assert safe.shares_stopped[0] > 0.9 > harm.shares_stopped[0]
    assert versions.smallest_stopped == pytest.approx(0.03)
    assert mean.shares_stopped is None
    assert [line.split()[:2] for _, line in list_rehearsed([versions])[1:]] == [["passed", "36"]]


def test_what_no_interval_decided_is_not_drawn() -> None:
    exact = {"measured_value": 0.1, "lower_bound": 0.1, "upper_bound": 0.1, "verdict": "passed"}
    nothing = {"measured_value": None, "lower_bound": None, "upper_bound": None, "verdict": "not_evaluated"}
    assert rehearse([GATE | exact, GATE | nothing]) == []
