"""Weak cells outside the headline: how often noise is flagged, and how often a planted weakness is found.

The headline family and the intervals of cells are measured by `benchmarks.promises`.

Everything runs through `hcat.weakness.statistics` as a build does; only the sums per cluster, which a build makes in
SQL, are made here. Interactions are dealt to about 300 cells: segments of ten dimensions, of which five belong to whole
clusters (a topic) and five to single interactions (a system), and pairs of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.harness import Outcome, Table, argument_parser, finish, verdict
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import jackknife_cells
from hcat.weakness.statistics import (
    Cells,
    Judgement,
    WeaknessSettings,
    can_be_tested,
    detectable_difference,
    judge_cells,
    with_whole,
)

#: As shipped.
SETTINGS = WeaknessSettings(confidence=0.95, minimum_clusters=10)
MARGIN = 0.03
#: Clusters up to the first number are left out one by one, more of them in as many groups as the second.
COUNT_SINGLE_CLUSTERS, COUNT_GROUPS = 1000, 128

COUNT_RUNS = 500
#: Runs with a flagged cell: the declared level plus two standard errors of the simulation.
LIMIT_NOISE = 0.05
#: Runs in which the planted cell is flagged.
LIMIT_POWER = 0.80
SEED = 20260101

#: Declared metrics of the noise runs, their correlation, and the likeness of siblings.
COUNT_METRICS = 6
CORRELATION = 0.5
ICC = 0.3

#: Shares of the segments of each dimension.
_CLUSTER_DIMENSIONS = {
    "topic": [12, 10, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4],
    "query_type": [5, 4, 3, 2, 2, 2],
    "difficulty": [3, 2, 1],
    "language": [12, 3, 2, 1],
    "customer_group": [5, 3, 2],
}
_ROW_DIMENSIONS = {
    "system": [1, 1],
    "variant_type": [6, 2, 1],
    "answer_length": [3, 4, 3],
    "asked_week": [1] * 8,
    "channel": [4, 3, 2, 1],
}
_PAIRS = (
    ("topic", "query_type"),
    ("topic", "system"),
    ("query_type", "system"),
    ("topic", "answer_length"),
    ("topic", "difficulty"),
    ("query_type", "variant_type"),
    ("topic", "channel"),
    ("asked_week", "system"),
)
_RUNS_PER_DESIGN = 25
_CURVE_SIZES = (30, 60, 120, 250)
_CURVE_DIFFERENCES = (0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.50)


class Design(NamedTuple):
    """Interactions, their clusters and cells.

    Attributes
    ----------
    clusters : ndarray of int, shape (n_rows,)
        Ascending codes.
    members : ndarray of float, shape (n_rows, n_cells)
        1 where the row is in the cell; the first cell is all rows.
    counts : ndarray of float, shape (n_clusters, n_cells)
        Rows of each cluster in each cell.
    groups : ndarray of int, shape (n_clusters,)
        Jackknife group of each cluster.
    """

    clusters: Integers
    members: Floats
    counts: Floats
    groups: Integers


@dataclass(frozen=True, slots=True)
class Plant:
    """A weakness that is put into the scores.

    Parameters
    ----------
    count_rows : int
        Interactions of the planted cell.
    difference : float
        What its failure rate is above that of the others.
    by_cluster : bool
        The cell takes whole clusters; else interactions, one by one, of any cluster.
    """

    count_rows: int
    difference: float
    by_cluster: bool


class NoiseShares(NamedTuple):
    """Shares of runs with at least one flagged cell, by test, and the mean number of tests of a run.

    Attributes
    ----------
    by_hcat : float
        As shipped.
    by_jackknife : float
        With the jackknife's standard error alone, without the one under no difference.
    by_rows : float
        Naive: Welch's t test of rows, clusters ignored.
    count_tests : float
    """

    by_hcat: float
    by_jackknife: float
    by_rows: float
    count_tests: float


class Found(NamedTuple):
    """What became of a planted cell, as shares of runs; and of other cells.

    Attributes
    ----------
    flagged : float
        The planted cell.
    false_flagged : float
        Mean share, among the flagged cells, of cells that are truly no worse than their rest.
    excess : float
        Mean estimate - truth of the planted cell where it is flagged.
    detectable : float
        Median of its minimum detectable difference.
    count_tests : float
    """

    flagged: float
    false_flagged: float
    excess: float
    detectable: float
    count_tests: float


def deal(count_rows: int, rows_per_cluster: float, random: np.random.Generator, plant: Plant | None = None) -> Design:
    """Return a design; with a plant, its cell is the second one."""
    count_clusters = round(count_rows / rows_per_cluster)
    # every cluster has a row
    extra = random.integers(0, count_clusters, count_rows - count_clusters)
    clusters = np.sort(np.concatenate([np.arange(count_clusters), extra]))
    segments = {
        name: _draw(shares, count_clusters, random)[clusters] for name, shares in _CLUSTER_DIMENSIONS.items()
    } | {name: _draw(shares, count_rows, random) for name, shares in _ROW_DIMENSIONS.items()}
    cells = [np.ones(count_rows, dtype=bool)]
    if plant is not None:
        cells.append(_choose_rows(clusters, plant, random))
    cells += [values == code for values in segments.values() for code in np.unique(values)]
    for first, second in _PAIRS:
        joint = segments[first] * 100 + segments[second]
        cells += [joint == code for code in np.unique(joint)]
    # in place of a hash: where a cluster lies gives, with many clusters, its group
    positions = random.random(count_clusters)
    groups = np.arange(count_clusters)
    if count_clusters > COUNT_SINGLE_CLUSTERS:
        groups = np.floor(positions * COUNT_GROUPS).astype(np.int64)
    members = np.column_stack(cells).astype(np.float64)
    return Design(clusters, members, _sum_by_cluster(members, clusters), groups)


def _sum_by_cluster(rows: Floats, clusters: Integers) -> Floats:
    return np.add.reduceat(rows, np.searchsorted(clusters, np.arange(clusters[-1] + 1)), axis=0)


def _draw(shares: Sequence[float], count: int, random: np.random.Generator) -> Integers:
    return random.choice(len(shares), size=count, p=np.asarray(shares) / np.sum(shares)).astype(np.int64)


def _choose_rows(clusters: Integers, plant: Plant, random: np.random.Generator) -> Flags:
    if not plant.by_cluster:
        return np.isin(np.arange(len(clusters)), random.choice(len(clusters), plant.count_rows, replace=False))
    order = random.permutation(clusters[-1] + 1)
    sizes = np.bincount(clusters)[order].cumsum()
    return np.isin(clusters, order[: int(np.searchsorted(sizes, plant.count_rows)) + 1])


def draw_scores(design: Design, icc: float, count_metrics: int, random: np.random.Generator) -> Floats:
    """Return standard normal scores, shape (n_rows, n_metrics), of which clusters share `icc` of the variance.

    Both parts of the metrics correlate by :data:`CORRELATION`.
    """
    count_rows, count_clusters = len(design.clusters), design.clusters[-1] + 1

    def correlated(count: int) -> Floats:
        common, own = random.standard_normal((count, 1)), random.standard_normal((count, count_metrics))
        together: Floats = np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * own
        return together

    scores: Floats = np.sqrt(icc) * correlated(count_clusters)[design.clusters] + np.sqrt(1 - icc) * correlated(
        count_rows
    )
    return scores


def estimate_metric(design: Design, values: Floats, is_share: bool) -> Cells:
    """Return the cells of one metric, higher = worse."""
    sums = _sum_by_cluster(design.members * values[:, None], design.clusters)
    spread = float(values.std(ddof=1))
    counts, groups = design.counts, design.groups
    clusters = (counts > 0).sum(axis=0).astype(np.float64)
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    if len(starts) < len(groups):
        counts, sums = np.add.reduceat(counts[order], starts, axis=0), np.add.reduceat(sums[order], starts, axis=0)
    estimates = jackknife_cells(counts, sums, counts[:, 0], sums[:, 0])
    own_spread = np.sqrt(estimates.value * (1 - estimates.value)) if is_share else np.full(counts.shape[1], spread)
    return with_whole(estimates._asdict(), clusters, own_spread, np.zeros(counts.shape[1], dtype=np.int64))


def join(parts: Sequence[Cells]) -> Cells:
    """Return the cells of several metrics as one set: they are one family."""
    names = Cells.__dataclass_fields__
    return Cells(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def judge(cells: Cells, settings: WeaknessSettings = SETTINGS) -> Judgement:
    """Return the judgement of all cells that can be tested, but the one of all rows."""
    return judge_cells(cells, can_be_tested(cells, settings.minimum_clusters), _margins(cells), settings)


def _margins(cells: Cells) -> Floats:
    return np.full(len(cells.value), MARGIN)


def flag_by_rows(design: Design, values: Floats) -> Floats:
    """Return the P-values of Welch's one-sided t test of rows in each cell against the rest; NaN below 10 rows."""
    from scipy.special import stdtr

    counts = design.members.sum(axis=0)
    rest = len(values) - counts
    sums, squares = design.members.T @ values, design.members.T @ values**2
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, mean_rest = sums / counts, (values.sum() - sums) / rest
        variance = (squares / counts - mean**2) / (counts - 1)
        variance_rest = ((values**2).sum() - squares) / rest
        variance_rest = (variance_rest - mean_rest**2) / (rest - 1)
        degrees = (variance + variance_rest) ** 2 / (variance**2 / (counts - 1) + variance_rest**2 / (rest - 1))
        tested = stdtr(degrees, -(mean - mean_rest) / np.sqrt(variance + variance_rest))
    return np.where((counts >= SETTINGS.minimum_clusters) & (rest >= SETTINGS.minimum_clusters), tested, np.nan)


def is_any_found(p_values: Floats, level: float) -> bool:
    """Return whether Benjamini-Hochberg rejects anything among the P-values that are there."""
    known = np.sort(p_values[np.isfinite(p_values)])
    return bool((known <= level * np.arange(1, len(known) + 1) / len(known)).any())


def measure_noise(icc: float, rate: float | None, count_runs: int, seed: int = SEED) -> NoiseShares:
    """Return the shares of runs without any weakness in which a cell is flagged.

    2,000 interactions of 400 clusters, :data:`COUNT_METRICS` metrics; `rate` = share of failures, None = scores.
    """
    from scipy.special import ndtri, stdtr

    random = np.random.default_rng(seed)
    found: list[tuple[float, ...]] = []
    design = deal(2_000, 5.0, random)
    for number in range(count_runs):
        if number and number % _RUNS_PER_DESIGN == 0:
            design = deal(2_000, 5.0, random)
        values = draw_scores(design, icc, COUNT_METRICS, random)
        if rate is not None:
            values = (values > ndtri(1 - rate)).astype(np.float64)
        cells = join([estimate_metric(design, column, rate is not None) for column in values.T])
        naive = [flag_by_rows(design, column) for column in values.T]
        judged = judge(cells)
        is_tested = np.isfinite(judged.p_value)
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = stdtr(cells.degrees_of_freedom, -cells.difference / cells.difference_standard_error)
        found.append(
            (
                float(judged.is_weak.any()),
                float(is_any_found(np.where(is_tested, alone, np.nan), SETTINGS.error_rate)),
                float(is_any_found(np.concatenate(naive), SETTINGS.error_rate)),
                float(is_tested.sum()),
            )
        )
    return NoiseShares(*np.mean(found, axis=0).tolist())


def measure_plant(
    plant: Plant,
    count_rows: int,
    rows_per_cluster: float,
    icc: float,
    count_runs: int,
    rate: float = 0.20,
    count_metrics: int = 1,
    seed: int = SEED,
) -> Found:
    """Return what became of a planted weakness over `count_runs` runs.

    `rate` is the share of failures elsewhere. The planted cell is weak in the first metric only.
    """
    from scipy.special import ndtri

    random = np.random.default_rng(seed)
    found: list[tuple[float, ...]] = []
    for number in range(count_runs):
        if number % _RUNS_PER_DESIGN == 0:
            design = deal(count_rows, rows_per_cluster, random, plant)
            planted = design.members[:, 1]
            true_rates = np.where(planted > 0, rate + plant.difference, rate)
            sizes = design.members.sum(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                truth = design.members.T @ true_rates
                truth = truth / sizes - (true_rates.sum() - truth) / (count_rows - sizes)
            is_false = np.concatenate([~(truth > 0), np.ones((count_metrics - 1) * len(truth), dtype=bool)])
        scores = draw_scores(design, icc, count_metrics, random)
        limits = [true_rates] + [np.full(count_rows, rate)] * (count_metrics - 1)
        parts = [
            estimate_metric(design, (column > ndtri(1 - limit)).astype(np.float64), True)
            for column, limit in zip(scores.T, limits, strict=True)
        ]
        cells = join(parts)
        judged = judge(cells)
        margins = _margins(cells)
        is_share = np.ones(len(margins), dtype=bool)
        detectable = detectable_difference(cells, is_share, margins, judged.critical, SETTINGS)[1]
        flagged = bool(judged.is_weak[1])
        found.append(
            (
                float(flagged),
                float((judged.is_weak & is_false).sum() / max(judged.is_weak.sum(), 1)),
                cells.difference[1] - plant.difference if flagged else np.nan,
                detectable,
                float(np.isfinite(judged.p_value).sum()),
            )
        )
    columns = np.asarray(found).T
    means = [float(np.nanmean(column)) if np.isfinite(column).any() else float("nan") for column in columns]
    means[3] = float(np.nanmedian(columns[3])) if np.isfinite(columns[3]).any() else float("nan")
    return Found(*means)


def run(is_quick: bool = False) -> Outcome:
    """Return the outcome."""
    count_runs = COUNT_RUNS // 25 if is_quick else COUNT_RUNS
    noise, is_quiet = _tabulate_noise(count_runs)
    planted, is_found = _tabulate_plants(count_runs)
    curve = _tabulate_curve(count_runs // 5 if is_quick else count_runs // 2)
    notes = [
        f"Families: every metric's cells with at least {SETTINGS.minimum_clusters} clusters, "
        f"{SETTINGS.error_rate:.0%} false discoveries, margin {MARGIN}. Noise: {COUNT_METRICS} metrics together, "
        f"correlated by {CORRELATION}; 2,000 interactions of 400 clusters. One metric where a weakness is planted.",
        "`without s_0` uses the jackknife's standard error alone, which is 0 where the few clusters of a cell all "
        "fail by chance. `rows` is Welch's t test of rows and ignores clusters.",
        "`false` is the mean share of flagged cells of a run that are truly no worse than the rest; "
        "cells that share interactions with the planted one are truly a little worse. `excess` is by how much the "
        "estimate of the planted cell exceeds the truth where it is flagged: a cell that is picked because its "
        "failure rate is large is overestimated.",
        "A planted cell of whole clusters with siblings holds less information than its rows suggest: 60 rows are "
        "then 24 clusters.",
    ]
    return Outcome(
        "weaknesses",
        "Weak cells outside the headline: noise and planted weaknesses",
        [noise, planted, curve],
        notes,
        is_quick,
        is_quick or (is_quiet and is_found),
    )


def _tabulate_noise(count_runs: int) -> tuple[Table, bool]:
    limit = LIMIT_NOISE + 2 * float(np.sqrt(LIMIT_NOISE * (1 - LIMIT_NOISE) / count_runs))
    cases: dict[str, tuple[float, float | None]] = {
        "(a) independent scores": (0.0, None),
        f"(b) scores with cluster effects, ICC {ICC}": (ICC, None),
        "(c) failures at .10 with cluster effects": (ICC, 0.10),
        "failures at .50 with cluster effects": (ICC, 0.50),
        "failures at .80 with cluster effects": (ICC, 0.80),
    }
    lines, met = [], True
    for name, (icc, rate) in cases.items():
        found = measure_noise(icc, rate, count_runs)
        met &= found.by_hcat <= limit
        shares = (found.by_hcat, found.by_jackknife, found.by_rows)
        lines.append(
            (
                name,
                f"{found.count_tests:,.0f}",
                *(f"{share:.3f}" for share in shares),
                f"at most {limit:.3f}",
                verdict(found.by_hcat <= limit),
            )
        )
    columns = ("noise", "tests", "weak", "without s_0", "rows", "limit", "verdict")
    return Table(f"Share of {count_runs} runs without a weakness in which a cell is flagged", columns, lines), met


def _tabulate_plants(count_runs: int) -> tuple[Table, bool]:
    small, large = (60, 0.35, 2_000), (500, 0.10, 10_000)
    lines, met = [], True
    for rows, difference, total in (small, large):
        for name, rows_per_cluster, icc, by_cluster, is_limited in (
            ("one interaction a cluster", 1.0, 0.0, False, True),
            (f"2.5 a cluster, ICC {ICC}, cell cuts through clusters", 2.5, ICC, False, True),
            (f"2.5 a cluster, ICC {ICC}, cell of whole clusters", 2.5, ICC, True, False),
        ):
            found = measure_plant(Plant(rows, difference, by_cluster), total, rows_per_cluster, icc, count_runs)
            met &= found.flagged >= LIMIT_POWER or not is_limited
            lines.append(
                (
                    f"+{difference:.2f}, n = {rows} of {total:,}; {name}",
                    f"{found.count_tests:,.0f}",
                    f"{found.flagged:.3f}",
                    f"at least {LIMIT_POWER:.2f}" if is_limited else "none",
                    verdict(found.flagged >= LIMIT_POWER) if is_limited else "-",
                    f"{found.false_flagged:.3f}",
                    f"{found.excess:+.3f}",
                )
            )
    columns = ("planted", "tests", "flagged", "limit", "verdict", "false, flagged", "excess, flagged")
    return Table(f"Weakness planted in failures at .20, share of {count_runs} runs", columns, lines), met


def _tabulate_curve(count_runs: int) -> Table:
    lines = []
    for size in _CURVE_SIZES:
        found = [
            measure_plant(Plant(size, difference, False), 2_000, 1.0, 0.0, count_runs)
            for difference in _CURVE_DIFFERENCES
        ]
        quiet = measure_plant(Plant(size, 0.0, False), 2_000, 1.0, 0.0, count_runs)
        at = measure_plant(Plant(size, quiet.detectable, False), 2_000, 1.0, 0.0, count_runs)
        cells = [f"{one.flagged:.2f}" for one in found]
        lines.append((f"{size}", *cells, f"{quiet.detectable:.3f}", f"{at.flagged:.2f}"))
    differences = [f"+{difference:.2f}" for difference in _CURVE_DIFFERENCES]
    columns = ("n of 2,000", *differences, "minimum detectable", "flagged there")
    return Table(f"Power: share of {count_runs} runs that flag a cell, failures at .20 elsewhere", columns, lines)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    options = argument_parser("weaknesses", __doc__.splitlines()[0]).parse_args(arguments)
    return finish(run(options.quick), "python -m benchmarks.weaknesses")


if __name__ == "__main__":
    sys.exit(main())
