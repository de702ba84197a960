"""Failure rates from few labels: coverage where whole clusters are labelled and their sizes are uneven."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from benchmarks.promises.common import (
    Promise,
    equal_sizes,
    failure_probabilities,
    heavy_sizes,
    promise_of_share,
    zipf_sizes,
)
from benchmarks.promises.intervals import COVERAGE_HIGH, COVERAGE_LOW
from hcat.statistics.arrays import Integers
from hcat.statistics.prediction_powered import estimate_failure_rate

PROMISE = "A 95 % interval of fct_failure_rates covers the true failure rate"
SIZES: Final[dict[str, Callable[[np.random.Generator, int], Integers]]] = {
    "clusters of equal size": equal_sizes,
    "Zipf clusters": zipf_sizes,
    "log-normal clusters": heavy_sizes,
}
COUNT_CLUSTERS = 300
COUNTS_LABELLED = (12, 24, 60)
RATES = ((0.02, 0.3), (0.1, 0.3), (0.3, 0.3), (0.3, 0.7))
#: How far the predicted probability of a failure lies from that of the cluster, in log odds.
NOISE = 1.0


def measure(count_runs: int, seed: int) -> list[Promise]:
    """Return coverage by design; the note says how often predictions took part."""
    found = []
    for number, (sizes_name, make_sizes) in enumerate(SIZES.items()):
        for count in COUNTS_LABELLED:
            for rate, likeness in RATES:
                random = np.random.default_rng([seed, number, count, round(100 * rate), round(10 * likeness), 1])
                design = f"{count} labelled {sizes_name}, {rate:.0%} failing, likeness {likeness}"
                found.append(_cover(random, make_sizes, count, rate, likeness, count_runs, design))
    return found


def _cover(
    random: np.random.Generator,
    make_sizes: Callable[[np.random.Generator, int], Integers],
    count_labelled: int,
    rate: float,
    likeness: float,
    count_runs: int,
    design: str,
) -> Promise:
    from scipy.special import expit, logit

    covered, count_powered = [], 0
    for _ in range(count_runs):
        sizes = random.permutation(make_sizes(random, COUNT_CLUSTERS))
        probabilities = failure_probabilities(random, rate, likeness, COUNT_CLUSTERS)
        clusters = np.repeat(np.arange(COUNT_CLUSTERS), sizes)
        is_failing = random.random(len(clusters)) < probabilities[clusters]
        seen = logit(np.clip(probabilities[clusters], 0.01, 0.99)) + random.normal(0, NOISE, len(clusters))
        predictions = expit(seen)
        rows = np.flatnonzero(np.isin(clusters, random.choice(COUNT_CLUSTERS, count_labelled, replace=False)))
        found = estimate_failure_rate(is_failing[rows], predictions[rows], clusters[rows], predictions, clusters)
        covered.append(found.chosen is not None and found.chosen.low <= rate <= found.chosen.high)
        count_powered += found.status == "prediction_powered"
    # with a failing cluster or none among the labels, an interval can only cover more often than promised
    high = COVERAGE_HIGH if count_labelled * rate > 2 else None
    note = f"prediction-powered in {count_powered / count_runs:.0%}"
    return promise_of_share(PROMISE, design, covered, COVERAGE_LOW, high, note)
