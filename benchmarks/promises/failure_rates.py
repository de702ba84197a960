"""Failure rates from few labels: coverage where whole clusters are labelled and their sizes are uneven."""

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.promises.common import Designs, Promise, failure_probabilities, failures_of_rows, promise_of_share
from benchmarks.promises.intervals import COVERAGE_HIGH, COVERAGE_LOW, SIZES
from hcat.calibration.failure_rates import Interactions, Rows, estimate_cell, predict_failures
from hcat.statistics.arrays import Integers
from hcat.statistics.prediction_powered import estimate_failure_rate

PROMISE = "A 95 % interval of fct_failure_rates covers the true failure rate"
MISSING = "The same where labels miss low scores"
COUNT_CLUSTERS = 300
COUNTS_LABELLED = (12, 24, 60)
RATES = ((0.02, 0.3), (0.1, 0.3), (0.3, 0.3), (0.3, 0.7))
#: How far the predicted probability of a failure lies from that of the cluster, in log odds.
NOISE = 1.0


def designs(seed: int) -> Designs:
    """Return coverage by design; the note says how often predictions took part."""
    found: dict[str, Callable[[int], list[Promise]]] = {}
    for number, (sizes_name, make_sizes) in enumerate(SIZES.items()):
        for count in COUNTS_LABELLED:
            for rate, likeness in RATES:
                random = np.random.default_rng([seed, number, count, round(100 * rate), round(10 * likeness), 1])
                design = f"{count} labelled {sizes_name}, {rate:.0%} failing, likeness {likeness}"
                found[design] = partial(_cover, random, design, make_sizes, count, rate, likeness)
    for count, rate in ((100, 0.18), (100, 0.3), (300, 0.18), (300, 0.3)):
        random = np.random.default_rng([seed, count, round(100 * rate), 2])
        design = f"{count} labels, ten times as many of answers that score above the median, {rate:.0%} failing"
        found[design] = partial(_cover_without_low_scores, random, design, count, rate)
    return found


def _cover_without_low_scores(
    random: np.random.Generator, design: str, count_labels: int, rate: float, count_runs: int
) -> list[Promise]:
    covered = [_is_covered_without_low_scores(random, count_labels, rate) for _ in range(count_runs)]
    return [promise_of_share(MISSING, design, covered, COVERAGE_LOW, COVERAGE_HIGH)]


def _is_covered_without_low_scores(random: np.random.Generator, count_labels: int, rate: float) -> bool:
    count, is_failing = 1_000, random.random(1_000) < rate
    score = random.normal(0, 1, count) - 1.19 * is_failing  # AUROC .80
    chances = np.where(score > np.median(score), 10.0, 1.0)
    rows = random.choice(count, count_labels, replace=False, p=chances / chances.sum())
    labels, nothing, zeros, ones = np.full(count, np.nan), np.full(count, np.nan), np.zeros(count, int), np.ones(count)
    labels[rows] = ~is_failing[rows]
    single = np.arange(count), [str(row) for row in range(count)]
    share = ones * count_labels / count
    asked = ones, ones > 0, nothing, nothing, labels, zeros, share, (ones, ones)
    known = Interactions(None, zeros, [("", "")], *single, *single, *asked)
    read = Rows(known, ones > 0, labels, share, zeros, ones, ones, nothing, score[:, None])
    reason, predictions, ranks = predict_failures(read, 1)
    found = estimate_cell(read, np.arange(count), predictions, ranks, reason, 0.95)
    return bool(found["failure_rate_lower"] <= rate <= found["failure_rate_upper"])


def _cover(
    random: np.random.Generator,
    design: str,
    make_sizes: Callable[[np.random.Generator, int], Integers],
    count_labelled: int,
    rate: float,
    likeness: float,
    count_runs: int,
) -> list[Promise]:
    from scipy.special import expit, logit

    covered, count_powered = [], 0
    for _ in range(count_runs):
        sizes = random.permutation(make_sizes(random, COUNT_CLUSTERS))
        probabilities = failure_probabilities(random, rate, likeness, COUNT_CLUSTERS)
        is_failing, clusters = failures_of_rows(random, probabilities, sizes)
        seen = logit(np.clip(probabilities[clusters], 0.01, 0.99)) + random.normal(0, NOISE, len(clusters))
        predictions = expit(seen)
        rows = np.flatnonzero(np.isin(clusters, random.choice(COUNT_CLUSTERS, count_labelled, replace=False)))
        found = estimate_failure_rate(is_failing[rows], predictions[rows], clusters[rows], predictions, clusters)
        covered.append(found.chosen is not None and found.chosen.low <= rate <= found.chosen.high)
        count_powered += found.status == "prediction_powered"
    # with a failing cluster or none among the labels, an interval can only cover more often than promised
    high = COVERAGE_HIGH if count_labelled * rate > 2 else None
    note = f"prediction-powered in {count_powered / count_runs:.0%}"
    return [promise_of_share(PROMISE, design, covered, COVERAGE_LOW, high, note)]
