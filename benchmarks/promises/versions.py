"""Verdicts on two versions: how often a real gain is seen, and how often a verdict or a release answer is wrong."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from benchmarks.promises.common import (
    Designs,
    Promise,
    equal_sizes,
    failure_probabilities,
    heavy_sizes,
    promise_of_share,
    zipf_sizes,
)
from benchmarks.promises.intervals import COVERAGE_HIGH, COVERAGE_LOW, Sizes
from hcat.statistics.arrays import Floats, Integers
from hcat.statistics.clusters import sum_by_cluster
from hcat.weakness.versions import compare_versions

ONE_DAY = "The same where each version answered on one day: nothing is promised"
NO_CHANGE = "A version that is as good as its predecessor gets a verdict"
DAYS_GAIN = "The same where a version is 10 points better: called better"
GAIN = "A version that is 5 points better is called better"
LOSS = "A loss as large as the tolerated one is called excluded"
COVERAGE = "A 95 % interval of the difference of two versions covers the true one"
PLANNED = "As many queries as planned show the target difference"

SIZES: Final[Mapping[str, Sizes]] = {
    "single queries": lambda _, count: np.ones(count, dtype=np.int64),
    "clusters of five": lambda random, count: equal_sizes(random, count // 5),
    "Zipf clusters, the largest a tenth of all queries": lambda random, count: zipf_sizes(random, count // 5),
    "log-normal clusters": lambda random, count: heavy_sizes(random, count // 3),
}
COUNT_QUERIES = 200
#: Documents, drawn for each query, whose change has a standard deviation.
COUNT_DOCUMENTS, DOCUMENT_SPREADS = 12, (0.05, 0.1)
#: Days on which each version answers every query, and the standard deviation of what a day changes in all its answers.
DAYS: Final = ((1, 0.02), (2, 0.0), (2, 0.02), (2, 0.05), (3, 0.05))
#: Share failing, and likeness of two answers to a query: a tenth of them flip.
DAY_RATE, DAY_LIKENESS = 0.2, 0.69
#: Share of the queries whose outcome differs between the versions.
FLIPS = (0.02, 0.1, 0.3)
GAIN_POINTS = 0.05
#: Share of a cluster's queries that flip together.
TOGETHER = 0.3
RULE: Final = {
    "margin": 0.02,
    "tolerated_loss": GAIN_POINTS,
    "target_difference": GAIN_POINTS,
    "is_lower_by_design": False,
    "value_range": 1.0,
    "has_threshold": True,
    **dict.fromkeys(("noise", "noise_of_one", "candidate_value", "others_value", "count_other_clusters")),
    **dict.fromkeys(("day_standard_error", "day_degrees")),
}
SETTINGS: Final[dict[str, Any]] = {"confidence": 0.95, "minimum_clusters": 10}


def designs(seed: int) -> Designs:
    """Return the promises about versions; every run is the headline of a pair of its own."""
    found: dict[str, Callable[[int], list[Promise]]] = {}
    for number, (sizes_name, make_sizes) in enumerate(SIZES.items()):
        for flips in FLIPS:
            random = np.random.default_rng([seed, number, round(100 * flips)])
            design = f"{COUNT_QUERIES} queries, {sizes_name}, {flips:.0%} flips"
            is_demanded = number == 0 and flips == FLIPS[1]
            found[design] = partial(_of_sizes, random, design, make_sizes, flips, is_demanded)
    single = SIZES["single queries"]
    for spread in DOCUMENT_SPREADS:
        random = np.random.default_rng([seed, len(SIZES) + 1, round(100 * spread)])
        design = f"{COUNT_QUERIES} single queries, 10% flips, {COUNT_DOCUMENTS} documents change with sd {spread:g}"
        found[design] = partial(_of_documents, random, design, single, spread)
    for count, spread in DAYS:
        random = np.random.default_rng([seed, len(SIZES) + 2, count, round(100 * spread)])
        design = f"{COUNT_QUERIES} single queries, 10% flips, all answered on each of {count} days of sd {spread:g}"
        found[design] = partial(_of_days, random, design, count, spread)
    random = np.random.default_rng([seed, len(SIZES)])
    found["as planned"] = partial(_of_plan, random, single)
    return found


def _of_sizes(
    random: np.random.Generator, design: str, make_sizes: Sizes, flips: float, is_demanded: bool, count_runs: int
) -> list[Promise]:
    null = _compare(random, make_sizes, flips, 0.0, count_runs)
    verdicts = [row["verdict"] in ("better", "worse") for row in null]
    covered = [row["difference_lower"] <= 0 <= row["difference_upper"] for row in null]
    # an exact interval of few changes covers more often than promised
    high = COVERAGE_HIGH if flips > min(FLIPS) else None
    found = [
        promise_of_share(NO_CHANGE, design, verdicts, high=0.05),
        promise_of_share(COVERAGE, design, covered, COVERAGE_LOW, high),
    ]
    if flips < GAIN_POINTS:
        return found
    lost = _compare(random, make_sizes, flips, -GAIN_POINTS, count_runs)
    excluded = [row["release_answer"] == "loss_excluded" for row in lost]
    gained = _compare(random, make_sizes, flips, GAIN_POINTS, count_runs)
    better = [row["verdict"] == "better" for row in gained]
    found.append(promise_of_share(LOSS, design, excluded, high=0.05))
    return [*found, promise_of_share(GAIN, design, better, 0.5 if is_demanded else None)]


def _of_documents(
    random: np.random.Generator, design: str, make_sizes: Sizes, spread: float, count_runs: int
) -> list[Promise]:
    rows = _compare(random, make_sizes, 0.1, 0.0, count_runs, spread=spread)
    return [promise_of_share(NO_CHANGE, design, [row["verdict"] in ("better", "worse") for row in rows], high=0.05)]


def _of_days(
    random: np.random.Generator, design: str, count_days: int, spread: float, count_runs: int
) -> list[Promise]:
    """Return false verdicts, and how often a gain of 10 points is found."""
    found = []
    for gain in (0.0, 2 * GAIN_POINTS):
        cells = []
        for run in range(count_runs):
            rates = failure_probabilities(random, DAY_RATE, DAY_LIKENESS, COUNT_QUERIES)
            sides = [_answer_on_days(random, rates, random.normal(mean, spread, count_days)) for mean in (0.0, -gain)]
            cell = _cell(f"{run:06}", sides[0].mean(axis=1) - sides[1].mean(axis=1), np.arange(COUNT_QUERIES))
            if count_days > 1:
                variances = [side.mean(axis=0).var(ddof=1) / count_days for side in sides]
                cell |= {"day_standard_error": sum(variances) ** 0.5, "day_degrees": 2.0 * (count_days - 1)}
            cells.append(cell)
        found.append([row["verdict"] for row in _judge(cells)])
    verdicts, better = [row != "no_difference_shown" for row in found[0]], [row == "better" for row in found[1]]
    if count_days == 1:
        return [promise_of_share(ONE_DAY, design, verdicts)]
    return [promise_of_share(NO_CHANGE, design, verdicts, high=0.05), promise_of_share(DAYS_GAIN, design, better)]


def _answer_on_days(random: np.random.Generator, rates: Floats, shifts: Floats) -> Floats:
    """Return failures by query and day; a day turns passes into failures, or failures into passes."""
    fails = random.random((len(rates), len(shifts))) < rates[:, None]
    is_turned = random.random(fails.shape) < np.abs(shifts) / np.where(shifts > 0, 1 - DAY_RATE, DAY_RATE)
    return np.where(is_turned, shifts > 0, fails).astype(np.float64)


def _of_plan(random: np.random.Generator, make_sizes: Sizes, count_runs: int) -> list[Promise]:
    first = _compare(random, make_sizes, 0.1, GAIN_POINTS, 1, 10_000)[0]
    planned = _compare(random, make_sizes, 0.1, GAIN_POINTS, count_runs, first["queries_needed"])
    better = [row["verdict"] == "better" for row in planned]
    design = f"{first['queries_needed']} single queries, 10% flips, planned for a power of 80 %"
    return [promise_of_share(PLANNED, design, better, 0.77)]


def _compare(
    random: np.random.Generator,
    make_sizes: Sizes,
    flips: float,
    gain: float,
    count_runs: int,
    count_queries: int = COUNT_QUERIES,
    spread: float = 0.0,
) -> list[dict[str, Any]]:
    cells = []
    for run in range(count_runs):
        sizes = make_sizes(random, count_queries)
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        shares = [(flips + gain) / 2, (flips - gain) / 2, 1 - flips]
        of_clusters = random.choice([1.0, -1.0, 0.0], len(sizes), p=shares)
        of_queries = random.choice([1.0, -1.0, 0.0], len(clusters), p=shares)
        is_shared = random.random(len(clusters)) < TOGETHER
        differences = np.where(is_shared, of_clusters[clusters], of_queries)
        cell = _cell(f"{run:06}", differences, clusters)
        if spread:
            groups = random.integers(0, COUNT_DOCUMENTS, len(clusters))
            gains = random.normal(0, spread, COUNT_DOCUMENTS)[groups]
            is_up = random.random(len(clusters)) < 0.5 + gains / (2 * np.maximum(flips, np.abs(gains)))
            is_flipped = random.random(len(clusters)) < np.maximum(flips, np.abs(gains))
            differences = np.where(is_up, 1.0, -1.0) * is_flipped
            # what a single query and its document have in common is the query
            cell, other = (_cell(f"{run:06}", differences, key) for key in (clusters, groups))
            if other["standard_error"] > cell["standard_error"]:
                cell |= {name: other[name] for name in ("standard_error", "clusters_effective")}
        cells.append(cell)
    return _judge(cells)


def _judge(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = compare_versions(pa.Table.from_pylist(cells, schema=_CELLS), **SETTINGS).to_pylist()
    return rows


_CELLS: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("version_comparison_id", "version_pair_id", "family")),
        *((name, pa.int64()) for name in ("count_shared_queries", "count_pairs", "count_clusters")),
        *((name, pa.float64()) for name in ("clusters_effective", "difference", "standard_error", "gain", "loss")),
        *((name, pa.int64()) for name in ("count_clusters_better", "count_clusters_worse")),
        *((name, pa.bool_() if isinstance(value, bool) else pa.float64()) for name, value in RULE.items()),
    ]
)


def _cell(name: str, differences: Floats, clusters: Integers) -> dict[str, Any]:
    """Return what int_version_cells_measured says of the differences of queries."""
    sums = sum_by_cluster(differences, clusters)
    sizes = np.bincount(clusters).astype(np.float64)
    total, count = sizes.sum(), len(sizes)
    mean = sums.sum() / total
    moved = (sums - sizes * mean) / (total - sizes)
    return RULE | {
        "version_comparison_id": name,
        "version_pair_id": name,
        "family": "headline",
        "count_shared_queries": int(total),
        "count_pairs": int(total),
        "count_clusters": count,
        "clusters_effective": float(total**2 / (sizes @ sizes)),
        "difference": float(mean),
        "standard_error": float(np.sqrt((count - 1) / count * (moved @ moved))),
        "gain": float(np.maximum(sums, 0).sum() / total),
        "loss": float(np.maximum(-sums, 0).sum() / total),
        "count_clusters_better": int((sums > 0).sum()),
        "count_clusters_worse": int((sums < 0).sum()),
    }
