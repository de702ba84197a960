"""Intervals of clustered rates and means: coverage, and width beside a plain jackknife."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from benchmarks.promises.common import (
    Promise,
    equal_sizes,
    failure_probabilities,
    failures_of_rows,
    heavy_sizes,
    promise_of_share,
    zipf_sizes,
)
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clustered import crossed_rate_interval, join_crossed, mean_interval, rate_bounds, rate_interval

COVERAGE_LOW, COVERAGE_HIGH = 0.93, 0.98
CONFIDENCE = 0.95
RATE_PROMISE = "A 95 % interval of a failure rate covers the true rate"
CROSSED_PROMISE = "A 95 % interval by two crossed keys, or by raters, covers the true rate"
MEAN_PROMISE = "A 95 % interval of a mean score covers the true mean"

Sizes = Callable[[np.random.Generator, int], Integers]
SIZES: Final[dict[str, Sizes]] = {
    "clusters of equal size": equal_sizes,
    "Zipf clusters, the largest a tenth of all rows": zipf_sizes,
    "log-normal clusters": heavy_sizes,
}
COUNTS = (12, 24, 60, 200)
RATES = ((0.02, 0.1), (0.02, 0.7), (0.1, 0.1), (0.1, 0.7), (0.3, 0.1), (0.3, 0.7))
#: Conversations: turns of a conversation on average and at most, likeness of its turns, shares failing.
MEAN_TURNS, MAXIMUM_TURNS = 4, 12
TURN_LIKENESS = 0.3
TURN_RATES = (0.05, 0.3)
#: Outages: one cluster in ten has many rows, the others have one; whole clusters fail.
OUTAGE_ROWS, OUTAGE_RATE = (10, 20), 0.08
#: The true rate, failures, and the two keys of a sample; and what draws one.
Drawn = tuple[float, Flags, Integers, Integers]
Draw = Callable[[np.random.Generator], Drawn]
#: Documents, users, the share of the variance that each has, and the share failing of 300 rows.
CROSSED = ((25, 40, 0.25, 0.25, 0.1), (25, 40, 0.25, 0.25, 0.3), (60, 12, 0.15, 0.3, 0.1), (60, 12, 0.15, 0.3, 0.3))
#: Raters of 200 rows, and likeness of what one fails: their log odds vary by about .5, .5, 1 and 1.
RATERS = ((2, 0.04), (4, 0.04), (4, 0.14), (12, 0.14))
#: Standard deviation of cluster means beside 1 within clusters, of the designs for means.
MEAN_SPREADS = (0.3, 1.5)


def measure(count_runs: int, seed: int) -> list[Promise]:
    """Return coverage by design; the note gives the mean width over that of a plain jackknife, and what that covers."""
    found = []
    for number, (sizes_name, make_sizes) in enumerate(SIZES.items()):
        for count_clusters in COUNTS:
            for rate, likeness in RATES:
                random = np.random.default_rng([seed, number, count_clusters, round(rate * 100), round(likeness * 10)])
                found.append(_of_rate(random, sizes_name, make_sizes, count_clusters, rate, likeness, count_runs))
            for spread in MEAN_SPREADS:
                random = np.random.default_rng([seed, number, count_clusters, round(spread * 10)])
                found.append(_of_mean(random, sizes_name, make_sizes, count_clusters, spread, count_runs))
    for count_clusters in COUNTS:
        for rate in TURN_RATES:
            random = np.random.default_rng([seed, len(SIZES), count_clusters, round(rate * 100)])
            name = f"conversations of 1 to {MAXIMUM_TURNS} turns"
            found.append(_of_rate(random, name, conversation_sizes, count_clusters, rate, TURN_LIKENESS, count_runs))
    for rows in OUTAGE_ROWS:

        def make_sizes(random: np.random.Generator, count_clusters: int, rows: int = rows) -> Integers:
            sizes: Integers = np.where(random.random(count_clusters) < 0.1, rows, 1)
            return sizes

        name = f"clusters, a tenth of them of {rows} rows and the others of one"
        found.append(
            _of_rate(np.random.default_rng([seed, rows]), name, make_sizes, 100, OUTAGE_RATE, 0.99, count_runs)
        )
    for design in CROSSED:
        random = np.random.default_rng([seed, *(round(100 * number) for number in design)])
        name = "{} documents x {} users, likeness {} and {}, {:.0%} failing".format(*design)
        found.append(_of_crossed(random, name, partial(draw_crossed, *design), count_runs))
    for count, likeness in RATERS:
        random = np.random.default_rng([seed, count, round(100 * likeness)])
        name = f"{count} raters, likeness of what one fails {likeness}"
        found.append(_of_crossed(random, name, partial(draw_rated, count, likeness), count_runs, count))
    return found


def draw_crossed(
    documents: int, users: int, of_documents: float, of_users: float, rate: float, random: np.random.Generator
) -> Drawn:
    """Return failures by a normal that has a part by document and one by user."""
    from scipy.special import ndtri

    first, second = random.integers(0, documents, 300), random.integers(0, users, 300)
    value = random.normal(0, of_documents**0.5, documents)[first] + random.normal(0, of_users**0.5, users)[second]
    value += random.normal(0, (1 - of_documents - of_users) ** 0.5, 300)
    return rate, value < ndtri(rate), first, second


def draw_rated(count_raters: int, likeness: float, random: np.random.Generator) -> Drawn:
    """Return failures by few raters of unequal strictness."""
    raters = random.permutation(np.arange(200) % count_raters)
    probabilities = failure_probabilities(random, 0.2, likeness, count_raters)
    return 0.2, random.random(200) < probabilities[raters], np.arange(200), raters


def _of_crossed(
    random: np.random.Generator, design: str, draw: Draw, count_runs: int, count_raters: int = 0
) -> Promise:
    covered, ratios = [], []
    for _ in range(count_runs):
        rate, is_failing, first, second = draw(random)
        other, raters = (first, second) if count_raters else (second, None)
        found = crossed_rate_interval(is_failing, first, other, raters=raters)
        covered.append(found.low <= rate <= found.high)
        parts = [rate_interval(is_failing, key) for key in (first, second, first * 1_000 + second)]
        error = join_crossed([part.standard_error**2 for part in parts]) ** 0.5
        effective = min(part.effective_clusters for part in parts)
        low, high = _plain_bounds(found.estimate, error, effective, len(first))
        ratios.append((found.high - found.low) / (high - low))
    # two raters cannot show how unequal raters are: what raters are like elsewhere then covers more than promised
    most = None if count_raters == 2 else 0.985
    note = f"{np.mean(ratios):.2f} x the width of a plain two-way jackknife; at most 1.2 is allowed"
    return promise_of_share(CROSSED_PROMISE, design, covered, 0.92, most, note)


def conversation_sizes(random: np.random.Generator, count_clusters: int) -> Integers:
    """Return turns by conversation, most of them few, shape (count_clusters,)."""
    turns: Integers = np.minimum(random.geometric(1 / MEAN_TURNS, count_clusters), MAXIMUM_TURNS)
    return turns


def _of_rate(
    random: np.random.Generator,
    sizes_name: str,
    make_sizes: Sizes,
    count_clusters: int,
    rate: float,
    likeness: float,
    count_runs: int,
) -> Promise:
    covered, is_plain_covered, width, plain_width = [], [], 0.0, 0.0
    for _ in range(count_runs):
        probabilities = failure_probabilities(random, rate, likeness, count_clusters)
        is_failing, clusters = failures_of_rows(random, probabilities, make_sizes(random, count_clusters))
        found = rate_interval(is_failing, clusters, confidence=CONFIDENCE)
        covered.append(found.low <= rate <= found.high)
        low, high = _plain_bounds(found.estimate, found.standard_error, found.effective_clusters, found.count_rows)
        is_plain_covered.append(low <= rate <= high)
        width += found.high - found.low
        plain_width += high - low
    return promise_of_share(
        RATE_PROMISE,
        f"{count_clusters} {sizes_name}, {rate:.0%} failing, likeness of siblings {likeness}",
        covered,
        COVERAGE_LOW,
        COVERAGE_HIGH,
        f"{width / plain_width:.2f} x the width of a plain jackknife, which covers {np.mean(is_plain_covered):.3f}",
    )


def _plain_bounds(rate: float, error: float, effective_clusters: float, count_rows: int) -> tuple[float, float]:
    """Return Wilson's bounds from the jackknife alone; Kish's clusters where all rows agree."""
    variation = rate * (1 - rate)
    effective = min(count_rows, variation / error**2) if variation > 0 and error > 0 else effective_clusters
    low, high = rate_bounds(np.array([rate]), np.array([effective]), np.array([effective_clusters - 1]), CONFIDENCE)
    return float(low[0]), float(high[0])


def _of_mean(
    random: np.random.Generator, sizes_name: str, make_sizes: Sizes, count_clusters: int, spread: float, count_runs: int
) -> Promise:
    covered = []
    for _ in range(count_runs):
        sizes = make_sizes(random, count_clusters)
        clusters = np.repeat(np.arange(count_clusters), sizes)
        values: Floats = random.normal(0, spread, count_clusters)[clusters] + random.normal(0, 1, len(clusters))
        found = mean_interval(values, clusters, confidence=CONFIDENCE)
        covered.append(found.low <= 0 <= found.high)
    return promise_of_share(
        MEAN_PROMISE,
        f"{count_clusters} {sizes_name}, spread of clusters {spread}",
        covered,
        COVERAGE_LOW,
        COVERAGE_HIGH,
    )
