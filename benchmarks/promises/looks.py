"""Repeated looks: gates at their limit night after night or on another draw, and audits of unequally strict raters."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
from scipy.special import expit, logit

from benchmarks.promises.common import Designs, Promise, failure_probabilities, promise_of_mean, promise_of_share
from hcat.calibration.audits import LEVEL, check_audits
from hcat.gates.rehearsal import rehearse
from hcat.statistics.arrays import Integers
from hcat.statistics.clustered import rate_interval

GATE: Final = "A release gate whose limit is the true rate passes on any of 60 nights"
NIGHTLY: Final = "The same where every build decides: nothing is promised"
REHEARSED: Final = "The rehearsed share of builds with another verdict, less the true share, where truths spread evenly"
ONE_TRUTH: Final = "The same at one truth: nothing is promised, for no rule of one build is within .036 at every truth"
AUDIT: Final = "Any audit fails although answers are as before"
#: Limit of the gate, builds between which nothing changes but more answers, and answers of each; which build decides.
LIMIT, BUILDS, ANSWERS = 0.2, 12, 30
DAYS: Final = {"declared day of decision": 6, "no declared day: every build decides": None}
#: Lowest and highest true rate, and how far rehearsed shares may be off. Gates look at clusters of three answers.
TRUTHS: Final = {
    "true rates from 0.02 to 0.45": (0.02, 0.45, 0.03),
    "the true rate is the limit": (LIMIT, LIMIT, None),
    "at a true rate of 0.15, half of the builds pass": (0.15, 0.15, None),
}
CLUSTERS, LIKENESS = 100, 0.2
MONTHS, LABELS, ALPHA = 6, 60, 0.1
#: Raters of each month out of four, and by how many log odds the last one is stricter.
RATERS: Final[dict[str, Callable[[np.random.Generator, Integers], Integers]]] = {
    "one rater a month in turns": lambda random, months: months % 4,
    "four raters of the same month": lambda random, months: random.integers(0, 4, len(months)),
    "the strict rater in the last month alone": lambda random, months: np.where(
        months == MONTHS - 1, 3, random.integers(0, 3, len(months))
    ),
}
STRICTER: Final = 1.0
_TARGETS: Final = pa.table(
    {"metric_name": ["m"], "criterion": ["c"], "direction": ["higher_is_better"], "unit": ["probability"]}
    | {"range_low": [0.0], "range_high": [1.0], "accept_from": [1], "count_scale_points": [2]}
)


def designs(seed: int) -> Designs:
    """Return false passes of gates and false alarms of audits."""
    found: dict[str, Callable[[int], list[Promise]]] = {}
    for number, (name, day) in enumerate(DAYS.items()):
        found[name] = partial(_of_gate, np.random.default_rng([seed, 1, number]), name, day)
    for number, (name, truths) in enumerate(TRUTHS.items()):
        found[name] = partial(_of_rehearsals, np.random.default_rng([seed, 3, number]), name, *truths)
    for number, (name, draw) in enumerate(RATERS.items()):
        found[name] = partial(_of_audits, np.random.default_rng([seed, 2, number]), name, draw)
    return found


def _of_gate(random: np.random.Generator, name: str, day: int | None, count_runs: int) -> list[Promise]:
    passed = []
    for _ in range(count_runs):
        is_failing = random.random(BUILDS * ANSWERS) < LIMIT
        counts = ANSWERS * np.arange(1, BUILDS + 1) if day is None else [ANSWERS * day]
        passed.append(any(rate_interval(is_failing[:count], np.arange(count)).high <= LIMIT for count in counts))
    text, most = (NIGHTLY, None) if day is None else (GATE, 0.025)
    return [promise_of_share(text, name, passed, high=most)]


def _of_rehearsals(
    random: np.random.Generator, name: str, low: float, high: float, most: float | None, count_runs: int
) -> list[Promise]:
    differences = []
    for _ in range(count_runs):
        rate = random.uniform(low, high)
        gate, other = (build_gate(random, rate, CLUSTERS) for _ in range(2))
        said = [one.share_other_verdict for one in rehearse([gate])]
        differences += [share - (gate["verdict"] != other["verdict"]) for share in said]
    least = None if most is None else -most
    return [promise_of_mean(REHEARSED if most else ONE_TRUTH, name, differences, least, most)]


def build_gate(random: np.random.Generator, rate: float, count_clusters: int) -> dict[str, Any]:
    """Return a gate that has to prove a failure rate of at most the limit, on three answers of each cluster."""
    probabilities = failure_probabilities(random, rate, LIKENESS, count_clusters)
    is_failing = (random.random((count_clusters, 3)) < probabilities[:, None]).ravel()
    found = rate_interval(is_failing, np.repeat(np.arange(count_clusters), 3))
    verdict = "passed" if found.high <= LIMIT else "undecided" if found.estimate <= LIMIT else "failed"
    rule: dict[str, Any] = {
        "gate_name": "release",
        "measurement": "share_failing",
        "comparison": "at_most",
        "burden": "prove_safe",
    }
    rule |= {"threshold": LIMIT, "confidence": 0.95, "verdict": verdict}
    return rule | {"measured_value": found.estimate, "lower_bound": found.low, "upper_bound": found.high}


def _of_audits(
    random: np.random.Generator, name: str, draw: Callable[[np.random.Generator, Integers], Integers], count_runs: int
) -> list[Promise]:
    failed = []
    months = np.repeat(np.arange(MONTHS), LABELS)
    ids = [f"{number:04}" for number in range(len(months))]
    same = dict.fromkeys(("system", "segment", "stratum"), ["all"] * len(ids)) | {"metric_name": ["m"] * len(ids)}
    for _ in range(count_runs):
        raters, probability = draw(random, months), random.beta(2, 1, len(ids))
        labels = (random.random(len(ids)) < expit(logit(probability) - STRICTER * (raters == 3))).astype(np.int64)
        rated = pa.table(
            {**dict.fromkeys(("interaction_id", "cluster_id", "second_cluster_id"), ids), "label": labels, **same}
            | {"scale_point": labels, "raw_score": probability, "inclusion_probability": np.ones(len(ids))}
            | {"is_audit": [True] * len(ids), "rated_month": months.astype(str), "rater_code": raters}
        )
        # what calibration learns of all raters together
        usual = expit(logit(probability) - STRICTER * np.mean(raters == 3))
        predicted = pa.table(
            {"interaction_id": ids, "metric_name": ["m"] * len(ids), "is_chosen": [True] * len(ids)}
            | {"family": ["logistic"] * len(ids), "probability": usual}
            | {"scale_point_probabilities": pa.nulls(len(ids))}
        )
        adjusted = check_audits(rated, _TARGETS, predicted, ALPHA)["p_value_adjusted"].to_pylist()
        failed.append(any(value is not None and value < LEVEL for value in adjusted))
    return [promise_of_share(AUDIT, name, failed, high=LEVEL)]
