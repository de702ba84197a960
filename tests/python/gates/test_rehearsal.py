"""Rehearsed gates agree with fresh draws of a made-up assistant, and know the rule of each gate."""

from typing import Any

import numpy as np
import pytest

from hcat.gates.rehearsal import list_rehearsed, rehearse
from hcat.statistics.clustered import rate_interval

GATE: dict[str, Any] = {
    "gate_name": "release",
    "measurement": "share_failing",
    "comparison": "at_most",
    "burden": "prove_safe",
    "threshold": 0.2,
    "confidence": 0.95,
}


def build(random: np.random.Generator, rate: float, count_clusters: int) -> dict[str, Any]:
    """Return the gate on three answers of each cluster, siblings being alike by .2."""
    rates = random.beta(4 * rate, 4 * (1 - rate), count_clusters)
    is_failing = (random.random((count_clusters, 3)) < rates[:, None]).ravel()
    found = rate_interval(is_failing, np.repeat(np.arange(count_clusters), 3))
    meets, proves = found.estimate <= GATE["threshold"], found.high <= GATE["threshold"]
    return {
        **GATE,
        "measured_value": found.estimate,
        "lower_bound": found.low,
        "upper_bound": found.high,
        "verdict": "passed" if proves else "undecided" if meets else "failed",
    }


@pytest.mark.parametrize(
    ("rate", "count_clusters", "tolerance"), [(0.15, 300, 0.06), (0.3, 100, 0.04), (0.17, 100, 0.06)]
)
def test_fresh_draws_differ_as_often_as_rehearsed(rate: float, count_clusters: int, tolerance: float) -> None:
    random = np.random.default_rng(20260101)
    builds = [build(random, rate, count_clusters) for _ in range(200)]
    verdicts = [one["verdict"] for one in builds]
    # of two builds, drawn one after the other
    differs = 1 - sum((verdicts.count(verdict) / len(verdicts)) ** 2 for verdict in set(verdicts))
    rehearsed = rehearse(builds)
    assert np.mean([one.share_other_verdict for one in rehearsed]) == pytest.approx(differs, abs=tolerance)
    worse = [build(random, rate + 0.05, count_clusters)["verdict"] != "passed" for _ in range(200)]
    stopped = [one.shares_stopped[0] for one in rehearsed if one.shares_stopped]
    assert np.mean(stopped) == pytest.approx(np.mean(worse), abs=tolerance)


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
