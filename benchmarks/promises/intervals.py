"""Intervals of clustered rates and means: coverage, and width where two keys cross."""

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from benchmarks.promises.common import (
    Designs,
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

#: With the margin: .92 to .985.
COVERAGE_LOW, COVERAGE_HIGH = 0.93, 0.975
CONFIDENCE = 0.95
RATE_PROMISE = "A 95 % interval of a failure rate covers the true rate"
CROSSED_PROMISE = "A 95 % interval by two crossed keys, or by raters, covers the true rate"
UNKNOWN_PROMISE = "The same where neither key is known: nothing is promised"
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


def designs(seed: int) -> Designs:
    """Return coverage by design; where keys cross, the note gives the width over that of a plain jackknife."""
    found: dict[str, Callable[[int], list[Promise]]] = {}
    for number, (sizes_name, make_sizes) in enumerate(SIZES.items()):
        for count_clusters in COUNTS:
            for rate, likeness in RATES:
                random = np.random.default_rng([seed, number, count_clusters, round(rate * 100), round(likeness * 10)])
                name = f"{count_clusters} {sizes_name}, {rate:.0%} failing, likeness of siblings {likeness}"
                found[name] = partial(_of_rate, random, name, make_sizes, count_clusters, rate, likeness)
            for spread in MEAN_SPREADS:
                random = np.random.default_rng([seed, number, count_clusters, round(spread * 10)])
                name = f"{count_clusters} {sizes_name}, spread of clusters {spread}"
                found[name] = partial(_of_mean, random, name, make_sizes, count_clusters, spread)
    for count_clusters in COUNTS:
        for rate in TURN_RATES:
            random = np.random.default_rng([seed, len(SIZES), count_clusters, round(rate * 100)])
            name = f"{count_clusters} conversations of 1 to {MAXIMUM_TURNS} turns, {rate:.0%} failing"
            found[name] = partial(_of_rate, random, name, conversation_sizes, count_clusters, rate, TURN_LIKENESS)
    for rows in OUTAGE_ROWS:
        random = np.random.default_rng([seed, rows])
        name = f"outages: 100 clusters, a tenth of them of {rows} rows and the others of one; {OUTAGE_RATE:.0%} fail"
        found[name] = partial(_of_rate, random, name, partial(outage_sizes, rows=rows), 100, OUTAGE_RATE, 0.99)
    for design in CROSSED:
        random = np.random.default_rng([seed, *(round(100 * number) for number in design)])
        name = "{} documents x {} users, likeness {} and {}, {:.0%} failing".format(*design)
        found[name] = partial(_of_crossed, random, name, partial(draw_crossed, *design), 0)
    for count, likeness in RATERS:
        random = np.random.default_rng([seed, count, round(100 * likeness)])
        name = f"{count} raters, likeness of what one fails {likeness}"
        found[name] = partial(_of_crossed, random, name, partial(draw_rated, count, likeness), count)
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
    random: np.random.Generator, design: str, draw: Draw, count_raters: int, count_runs: int
) -> list[Promise]:
    covered, is_blind_covered, ratios = [], [], []
    for _ in range(count_runs):
        rate, is_failing, first, second = draw(random)
        other, raters = (first, second) if count_raters else (second, None)
        found = crossed_rate_interval(is_failing, first, other, raters=raters)
        covered.append(found.low <= rate <= found.high)
        blind = rate_interval(is_failing, np.arange(len(first)))
        is_blind_covered.append(blind.low <= rate <= blind.high)
        parts = [rate_interval(is_failing, key) for key in (first, second, first * 1_000 + second)]
        error = join_crossed([part.standard_error**2 for part in parts]) ** 0.5
        effective = min(part.effective_clusters for part in parts)
        rate_found = np.array([found.estimate])
        plain = min(len(first), found.estimate * (1 - found.estimate) / error**2 if error > 0 else effective)
        low, high = np.ravel(rate_bounds(rate_found, np.array([plain]), np.array([effective - 1]), CONFIDENCE))
        ratios.append((found.high - found.low) / (high - low))
    note = f"{np.mean(ratios):.2f} x the width of a plain two-way jackknife; at most 1.2 is allowed"
    promised = promise_of_share(CROSSED_PROMISE, design, covered, COVERAGE_LOW, COVERAGE_HIGH, note)
    return [promised, promise_of_share(UNKNOWN_PROMISE, design, is_blind_covered)]


def conversation_sizes(random: np.random.Generator, count_clusters: int) -> Integers:
    """Return turns by conversation, most of them few, shape (count_clusters,)."""
    turns: Integers = np.minimum(random.geometric(1 / MEAN_TURNS, count_clusters), MAXIMUM_TURNS)
    return turns


def outage_sizes(random: np.random.Generator, count_clusters: int, rows: int) -> Integers:
    """Return many rows for one cluster in ten and one for each other, shape (count_clusters,)."""
    sizes: Integers = np.where(random.random(count_clusters) < 0.1, rows, 1)
    return sizes


def _of_rate(
    random: np.random.Generator,
    design: str,
    make_sizes: Sizes,
    count_clusters: int,
    rate: float,
    likeness: float,
    count_runs: int,
) -> list[Promise]:
    covered = []
    for _ in range(count_runs):
        probabilities = failure_probabilities(random, rate, likeness, count_clusters)
        is_failing, clusters = failures_of_rows(random, probabilities, make_sizes(random, count_clusters))
        found = rate_interval(is_failing, clusters, confidence=CONFIDENCE)
        covered.append(found.low <= rate <= found.high)
    return [promise_of_share(RATE_PROMISE, design, covered, COVERAGE_LOW, COVERAGE_HIGH)]


def _of_mean(
    random: np.random.Generator, design: str, make_sizes: Sizes, count_clusters: int, spread: float, count_runs: int
) -> list[Promise]:
    covered = []
    for _ in range(count_runs):
        sizes = make_sizes(random, count_clusters)
        clusters = np.repeat(np.arange(count_clusters), sizes)
        values: Floats = random.normal(0, spread, count_clusters)[clusters] + random.normal(0, 1, len(clusters))
        found = mean_interval(values, clusters, confidence=CONFIDENCE)
        covered.append(found.low <= 0 <= found.high)
    return [promise_of_share(MEAN_PROMISE, design, covered, COVERAGE_LOW, COVERAGE_HIGH)]
