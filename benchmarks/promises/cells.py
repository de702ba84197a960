"""Weak cells: false flags of the headline family, planted weaknesses, false confirmations, and intervals."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

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
from benchmarks.promises.intervals import COVERAGE_LOW, Sizes, conversation_sizes
from hcat.statistics.arrays import Flags, Integers
from hcat.statistics.clusters import jackknife_cells, sum_by_cluster
from hcat.statistics.intervals import normal_quantile, t_tail
from hcat.weakness import statistics as shipped
from hcat.weakness.headline import HeadlineTests, Pieces, judge_headline

#: As shipped.
CONFIDENCE, MARGIN = 0.95, 0.03
#: Of the retest.
ERROR_RATE = 0.05
#: Of the builds with a planted weakness.
RATE, LIKENESS = 0.2, 0.3
LEAST_CLUSTERS_CONFIRMED = 10

NULL_PROMISE = "No cell of the headline family is flagged when none is worse, in 95 % of builds"
POWER_PROMISE = "A planted weakness of the headline family is flagged"
CONFIRMATION_PROMISE = "A cell that is no worse is confirmed on new clusters, about new documents"
COVERAGE_PROMISE = "A 95 % interval of the failure rate of a cell covers the true rate"

#: Draws that show most builds to be far from any flag, and the adjusted P-value from which they do.
FEW_DRAWS, SURELY_NOT = 199, 0.25
#: Added to the seed: no level was chosen on these null builds.
FRESH = 66_160_036
#: Runs of the other designs that draw: a fifth keeps the Monte Carlo error at .02.
_RUNS_PER_DRAWN = 5


class Build(NamedTuple):
    """Rows of one simulated build."""

    #: Shape (n_rows,).
    is_failing: Flags
    #: Shape (n_rows,).
    clusters: Integers
    #: Segment of each row in each dimension; shape (n_rows,).
    dimensions: list[Integers]
    #: Documents, users or days; the clusters without them.
    documents: Integers | None = None
    #: Rows of a cell that is worse.
    planted: Flags | None = None


Draw = Callable[[np.random.Generator], Build]


def designs(seed: int) -> Designs:
    """Return false flags, power, false confirmations and coverage, whose true rate is the mean over all builds."""
    found: dict[str, Callable[[int], list[Promise]]] = {}
    for number, (name, draw) in enumerate(NULL_BUILDS.items()):
        seeds = zip(itertools.repeat(seed + FRESH), itertools.repeat(number), itertools.count(), strict=False)
        found[name] = partial(_measure_flags, name, draw, None, map(np.random.default_rng, seeds))
        random = np.random.default_rng([seed, 3, number])
        found[f"confirmed: {name}"] = partial(_measure_confirmation, name, draw, random)
    for number, (name, (count_rows, count, difference, low)) in enumerate(PLANTED.items()):
        plant = partial(draw_planted, count_rows=count_rows, count_planted=count, difference=difference)
        known = f"{known_power(count_rows, count, difference):.2f} with known variances"
        random = np.random.default_rng([seed, 2, number])
        found[name] = partial(_measure_flags, name, plant, low, itertools.repeat(random), note=known)
    return found


# --- builds -----------------------------------------------------------------------------------------------------------


def draw_clustered(
    make_sizes: Sizes, count_clusters: int, rate: float, likeness: float, random: np.random.Generator
) -> Build:
    """Return a build whose topic belongs to clusters, while kind and version belong to rows; cells are triples too."""
    sizes = make_sizes(random, count_clusters)
    probabilities = failure_probabilities(random, rate, likeness, count_clusters)
    is_failing, clusters = failures_of_rows(random, probabilities, sizes)
    topic = random.integers(0, 8, count_clusters)[clusters]
    kind = random.choice(6, len(clusters), p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05])
    version = random.integers(0, 2, len(clusters))
    return Build(is_failing, clusters, [topic, kind, 100 * topic + 10 * kind + version])


def draw_crossed(random: np.random.Generator, likeness: float = 0.2, rate: float = 0.2) -> Build:
    """Return a build of 12 topics with four documents each; queries share documents, and each is asked twice."""
    count_documents = 48
    queries = np.repeat(np.arange(count_documents), 1 + random.poisson(4, count_documents))
    of_documents = failure_probabilities(random, rate, likeness, count_documents)
    # the two answers to a query are more alike than those to two queries about one document
    of_queries = random.beta(np.maximum(of_documents[queries], 1e-9), np.maximum(1 - of_documents[queries], 1e-9))
    clusters, kind = np.repeat(queries, 2), np.repeat(random.integers(0, 6, len(queries)), 2)
    is_failing = random.random(len(clusters)) < np.repeat(of_queries, 2)
    version = np.tile([0, 1], len(queries))
    return Build(is_failing, clusters, [clusters // 4, kind, 10 * kind + version])


def draw_clumped(random: np.random.Generator) -> Build:
    """Return a build in which 7 % of the clusters fail wholly and the others at 3 %: no beta distribution."""
    sizes = zipf_sizes(random, 120)
    rates = np.where(random.random(120) < 0.07, 1.0, 0.03)
    is_failing, clusters = failures_of_rows(random, rates, sizes)
    topic = random.integers(0, 8, 120)[clusters]
    kind = random.integers(0, 6, len(clusters))
    return Build(is_failing, clusters, [topic, kind, 10 * topic + random.integers(0, 2, len(clusters))])


def draw_documents(random: np.random.Generator, per_topic: int, count_topics: int, count_rows: int) -> Build:
    """Return queries that are clusters of their own, of documents (users) of likeness .3 in topics (departments)."""
    count = per_topic * count_topics
    documents, kind = random.integers(0, count, count_rows), random.integers(0, 6, count_rows)
    is_failing = random.random(count_rows) < failure_probabilities(random, 0.2, 0.3, count)[documents]
    topic = documents // per_topic
    return Build(is_failing, np.arange(count_rows), [topic, kind, 10 * topic + kind], documents)


def draw_users(random: np.random.Generator, count_documents: int, count_users: int, likeness: float) -> Build:
    """Return questions of users (clusters) about documents, both drawn for each question; likeness of each of both."""
    documents, users = random.integers(0, count_documents, 1_000), random.integers(0, count_users, 1_000)
    # each has half of a likeness four times as large
    of_documents, of_users = (
        failure_probabilities(random, 0.2, 4 * likeness, count) for count in (count_documents, count_users)
    )
    is_failing = random.random(1_000) < (of_documents[documents] + of_users[users]) / 2
    topic, department, kind = documents % 4, users % 4, random.integers(0, 5, 1_000)
    return Build(is_failing, users, [topic, department, kind, 10 * topic + department], documents)


def draw_outages(random: np.random.Generator) -> Build:
    """Return a build of conversations of two turns, in which a twentieth of the days of a channel fails wholly."""
    clusters = np.repeat(np.arange(750), 2)
    days, channel = random.integers(0, 60, 750)[clusters], random.integers(0, 4, 750)[clusters]
    kind = random.integers(0, 6, len(clusters))
    is_failing = (random.random((60, 4)) < 0.05)[days, channel] | (random.random(len(clusters)) < 0.1)
    return Build(is_failing, clusters, [channel, kind, 10 * channel + kind], days)


def draw_long(random: np.random.Generator) -> Build:
    """Return a build of conversations that fail the more often the longer they are; topics are drawn by turn."""
    sizes = conversation_sizes(random, 150)
    is_failing, clusters = failures_of_rows(random, np.minimum(0.05 * sizes, 0.6), sizes)
    topic, kind = random.integers(0, 8, len(clusters)), random.integers(0, 6, len(clusters))
    return Build(is_failing, clusters, [topic, kind, 10 * topic + kind])


def draw_planted(random: np.random.Generator, count_rows: int, count_planted: int, difference: float) -> Build:
    """Return a build of two answers a query, likeness .3, with a planted cell of whole queries."""
    count = count_rows // 2
    topic, kind = random.integers(0, 6, count), random.integers(0, 5, count)
    chosen = random.choice(count, count_planted // 2, replace=False)
    topic[chosen], kind[chosen] = 6, 0
    rates = np.full(count, RATE)
    rates[chosen] += difference
    clusters = np.repeat(np.arange(count), 2)
    is_failing = random.random(count_rows) < failure_probabilities(random, rates, LIKENESS, count)[clusters]
    dimensions = [kind[clusters], (10 * topic + kind)[clusters]]
    return Build(is_failing, clusters, dimensions, planted=np.isin(clusters, chosen))


NULL_BUILDS: Final[dict[str, Draw]] = {
    "25 users in each of 8 departments, queries as clusters": lambda random: draw_documents(random, 25, 8, 1_000),
    "outages by day and channel, conversations as clusters": draw_outages,
    "4 documents a topic, likeness 0.2, documents as clusters": draw_crossed,
    "100 Zipf clusters, 10 % failing, likeness 0.1": partial(draw_clustered, zipf_sizes, 100, 0.1, 0.1),
    "long conversations fail more": draw_long,
    "100 log-normal clusters, 30 % failing, likeness 0.5": partial(draw_clustered, heavy_sizes, 100, 0.3, 0.5),
    "100 clusters of equal size, 10 % failing, likeness 0.3": partial(draw_clustered, equal_sizes, 100, 0.1, 0.3),
    "100 Zipf clusters, 30 % failing, likeness 0.7": partial(draw_clustered, zipf_sizes, 100, 0.3, 0.7),
    "200 Zipf clusters, 2 % failing, likeness 0.3": partial(draw_clustered, zipf_sizes, 200, 0.02, 0.3),
    "120 Zipf clusters, 7 % of which fail wholly": draw_clumped,
    "6 documents a topic, queries as clusters": lambda random: draw_documents(random, 6, 12, 600),
    "40 documents x 60 users, likeness 0.15 of each": lambda random: draw_users(random, 40, 60, 0.15),
    "60 documents x 36 users, likeness 0.2 of each": lambda random: draw_users(random, 60, 36, 0.2),
}
#: Rows of the build and of the cell, the difference, and the least share of builds in which the cell is flagged.
PLANTED: Final[dict[str, tuple[int, int, float, float]]] = {
    "+45 points at n = 38 of 476": (476, 38, 0.45, 0.90),
    "+20 points at n = 120 of 3,000": (3_000, 120, 0.20, 0.70),
    "+30 points at n = 30 of 200": (200, 30, 0.30, 0.40),
    "+15 points at n = 100 of 1,000": (1_000, 100, 0.15, 0.50),
}


def known_power(count_rows: int, count_planted: int, difference: float) -> float:
    """Return the power of a test of one of 30 cells that knows all variances and gives each the same level."""
    of_rest = RATE * (1 - RATE) / (count_rows - count_planted)
    errors = [
        math.sqrt((1 + LIKENESS) * (rate * (1 - rate) / count_planted + of_rest)) for rate in (RATE, RATE + difference)
    ]
    critical = normal_quantile(1 - ERROR_RATE / shipped.HEADLINE_CELLS) * errors[0]
    return float(t_tail((critical - difference) / errors[1], np.inf))


# --- what a build does with them --------------------------------------------------------------------------------------


def choose_cells(build: Build) -> Flags:
    """Return the cells with clusters enough, those with most clusters first, shape (n_rows, n_cells)."""
    counted = []
    for segments in build.dimensions:
        for segment in np.unique(segments):
            is_member = segments == segment
            inside, outside = (len(np.unique(build.clusters[side])) for side in (is_member, ~is_member))
            known = np.arange(len(is_member)) if build.documents is None else build.documents
            documents = min(len(np.unique(known[side])) for side in (is_member, ~is_member))
            if min(inside, outside) >= shipped.HEADLINE_CLUSTERS and documents >= shipped.HEADLINE_DOCUMENTS:
                counted.append((inside, is_member))
    counted.sort(key=lambda one: -one[0])
    return np.column_stack([is_member for _, is_member in counted[: shipped.HEADLINE_CELLS]])


def estimate_cells(build: Build, members: Flags) -> tuple[shipped.Cells, shipped.Cells]:
    """Return the cells as a build estimates them, by cluster and by document; the first one is all rows."""
    everything = np.column_stack([np.ones(len(members), dtype=bool), members]).astype(np.float64)
    documents = build.clusters if build.documents is None else build.documents
    found, pairs = [], np.zeros(0)
    for key in (build.clusters * (documents.max() + 1) + documents, build.clusters, documents):
        codes = np.unique(key, return_inverse=True)[1]
        counts, sums = (sum_by_cluster(everything * values, codes) for values in (1.0, build.is_failing[:, None]))
        estimates = jackknife_cells(counts, sums, counts[:, 0], sums[:, 0])
        spread = np.sqrt(estimates.value * (1 - estimates.value))
        clusters = (counts > 0).sum(axis=0).astype(np.float64)
        pairs = pairs if len(pairs) else clusters
        wholes = np.zeros(len(clusters), dtype=np.int64)
        found.append(shipped.with_whole(estimates._asdict() | {"pairs": pairs}, clusters, spread, wholes))
    return found[1], found[2]


def judge_build(build: Build, members: Flags, seed: int) -> tuple[HeadlineTests, Flags]:
    """Return the tests of the cells, and which are flagged."""
    documents = build.clusters if build.documents is None else build.documents
    keys, codes = np.unique(np.column_stack([build.clusters, documents, members]), axis=0, return_inverse=True)
    codes = codes.ravel()
    clusters, documents = keys[:, :2].T.astype(np.int64)
    is_member = keys[:, 2:].astype(bool)
    # the dimension of a cell holds one segment there, and others elsewhere
    own = [[len(set(segments[cell]) - set(segments[~cell])) for segments in build.dimensions] for cell in members.T]
    dimensions = np.argmax(np.array(own) == 1, axis=1)
    counts = np.bincount(codes).astype(np.float64)
    sums = np.bincount(codes, weights=build.is_failing).astype(np.float64)
    partitions = np.ones_like(is_member)
    pieces = Pieces(clusters, clusters, documents, counts, sums, is_member, partitions, dimensions, None)
    tests = judge_headline(pieces, shipped.HEADLINE_LEVEL, FEW_DRAWS, seed)
    if tests.adjusted_p_value.min() <= SURELY_NOT:
        tests = judge_headline(pieces, shipped.HEADLINE_LEVEL, shipped.HEADLINE_DRAWS, seed)
    bounds = tests.bound(estimate_cells(build, members)[0].difference[1:], tests.errors, CONFIDENCE)
    return tests, (tests.adjusted_p_value <= shipped.HEADLINE_LEVEL) & (bounds > MARGIN)


# --- promises ---------------------------------------------------------------------------------------------------------


def _measure_flags(
    name: str, draw: Draw, low: float | None, randoms: Iterator[np.random.Generator], count_runs: int, note: str = ""
) -> list[Promise]:
    """Return how often a planted cell is flagged, or any cell where none is worse."""
    found, tested = [], 0
    count = count_runs if low is None else max(2, count_runs // _RUNS_PER_DRAWN)
    for run, random in zip(range(count), randoms, strict=False):
        build = draw(random)
        members = choose_cells(build)
        is_meant = build.planted is None or (members == build.planted[:, None]).all(axis=0)
        found.append(bool((judge_build(build, members, run)[1] & is_meant).any()))
        tested += members.shape[1]
    note = f"{tested / len(found):.0f} cells{', ' if note else ''}{note}"
    text, high = (NULL_PROMISE, ERROR_RATE) if low is None else (POWER_PROMISE, None)
    return [promise_of_share(text, name, found, low, high, note)]


def _measure_confirmation(name: str, draw: Draw, random: np.random.Generator, count_runs: int) -> list[Promise]:
    """Return how often a cell of new clusters is confirmed: one test, as the register of findings makes it."""
    confirmed, rates, bounds = [], [], []
    for _ in range(max(2, count_runs // _RUNS_PER_DRAWN)):
        build = draw(random)
        cells, documents = estimate_cells(build, choose_cells(build))
        rates.append(float(cells.value[0]))
        found = np.array(shipped.cell_share_bounds(cells, documents, CONFIDENCE))
        bounds.append(found[:, random.integers(1, len(cells.value))])
        cells = shipped.with_documents(cells, documents)
        # any cell may have been flagged before; the new clusters know nothing of it
        can_be_tested = (cells.jackknife_groups >= LEAST_CLUSTERS_CONFIRMED) & (cells.test_error > 0)
        positions = np.flatnonzero(can_be_tested & (cells.jackknife_groups_rest >= LEAST_CLUSTERS_CONFIRMED))
        if not len(positions):
            confirmed.append(False)
            continue
        chosen = random.choice(positions)
        statistic = cells.difference[chosen] / cells.test_error[chosen]
        confirmed.append(bool(t_tail(statistic, cells.degrees_of_freedom[chosen]) <= ERROR_RATE))
    low, high = np.array(bounds).T
    is_covered = (low <= np.mean(rates)) & (np.mean(rates) <= high)
    return [
        promise_of_share(CONFIRMATION_PROMISE, name, confirmed, high=ERROR_RATE),
        promise_of_share(COVERAGE_PROMISE, name, is_covered, COVERAGE_LOW),
    ]
