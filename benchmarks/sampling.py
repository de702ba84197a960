"""Stratified samples by the project's own SQL: plan met, shares unbiased, intervals that hold, over many seeds.

The population are BANKING77's queries, each a chunk of its own; strata are clusters of their words, which differ from
the 77 intents whose shares are estimated. Each seed is another draw: the SQL of the models runs with it in its hashes.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.harness import BenchmarkError, Outcome, Table, data_folder, run_alone, verdict
from benchmarks.rendering import render_model
from hcat.statistics.arrays import Floats, Integers
from hcat.statistics.intervals import kish
from hcat.statistics.survey import estimate_shares
from hcat.test_set.allocation import allocate_chunks

TOTAL = 770
COUNT_STRATA = 77
COUNT_SEEDS = 1_000
#: Of the default design: one share of 77 in a thousand seeds leaves the limits by chance alone.
COUNT_SEEDS_DEFAULT = 4_000
SEED = 20260101
#: (allocation, probabilities inside of strata).
DESIGNS = (
    ("proportional", "equal"),
    ("proportional_to_size", "size"),
    ("equal", "equal"),
    ("importance", "importance"),
    ("neyman", "equal"),
)
#: |bias| of each share, in Monte Carlo standard errors.
LIMIT_BIAS = 4.0
#: Coverage of the intervals, mean over the shares.
LIMITS_COVERAGE = (0.93, 0.97)
#: Distance from these that the simulation of a single share's coverage cannot tell, in its standard errors: 77 shares.
LIMIT_COVERAGE_ERRORS = 3.0
#: Chunks of a stratum that the sample may be away from its plan.
LIMIT_PLAN = 1
#: Shares of queries that fail the checks, by stratum: post-stratification makes up for them.
REJECTED = (0.1, 0.5)
#: Designs whose queries also pass through the checks.
POST_STRATIFIED = ("proportional", "importance")

_MODELS = (
    "int_strata_scored",
    "int_strata_weighed",
    "int_strata_planned",
    "fct_sampled_chunks",
    "int_strata_weighted",
    "int_queries_weighted",
)
_SEED_PLACES = 2
_WORD_DIMENSIONS = 50


@dataclass(frozen=True, slots=True)
class Population:
    """Chunks to be sampled."""

    #: What shares are asked for, 0 to 76; shape (n,).
    intents: Integers
    #: Cluster of each query; shape (n,).
    strata: Integers
    #: Characters; shape (n,).
    sizes: Integers
    #: 1, or 3 for queries of every fifth intent: it differs inside of clusters; shape (n,).
    importance: Floats


@dataclass(frozen=True, slots=True)
class Simulated:
    """What many seeds gave for one design."""

    #: Allocation, probabilities inside of strata, and whether queries were rejected.
    design: str
    #: |mean estimate - share| in Monte Carlo standard errors; shape (77,).
    bias_errors: Floats
    #: Share of seeds whose interval holds the true share; shape (77,).
    coverage: Floats
    #: Mean width of the intervals.
    width: float
    #: Kish effective number of the weights, mean over seeds.
    effective_n: float
    #: Draws.
    count_seeds: int
    #: Largest |sampled - planned| of a stratum in any draw.
    largest_gap: int
    #: Were chunks of a stratum drawn with equal probabilities? The limits of coverage are those of such samples.
    is_equal_inside: bool = True


def read_population(data: Path) -> Population:
    """Return BANKING77's queries with clusters of their words: tf-idf, 50 singular vectors, seeded k-means."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = parquet.read_table(data / "banking77.parquet", columns=["text", "category"]).to_pydict()
    intents = np.unique(rows["category"], return_inverse=True)[1].astype(np.int64)
    words = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(rows["text"])
    vectors = TruncatedSVD(_WORD_DIMENSIONS, random_state=SEED % 2**31).fit_transform(words)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    strata = KMeans(COUNT_STRATA, n_init=1, random_state=SEED % 2**31).fit_predict(vectors).astype(np.int64)
    sizes = np.array([len(text) for text in rows["text"]], dtype=np.int64)
    return Population(intents, strata, sizes, np.where(intents % 5 == 0, 3.0, 1.0))


def render_models(allocation: str, within: str) -> dict[str, str]:
    """Return the SQL of the sampling models for an allocation, by name."""
    settings = {
        "hcat_sampling_total": TOTAL,
        "hcat_sampling_allocation": allocation,
        "hcat_sampling_within": within,
        "hcat_random_seed": SEED,
    }
    return {name: render_model(name, settings) for name in _MODELS}


class Sampler:
    """The models over a population, in a database of their own."""

    def __init__(self, models: dict[str, str], population: Population, is_equal_inside: bool = True) -> None:
        self._models = models
        #: Compiled for equal draws inside of strata?
        self.is_equal_inside = is_equal_inside
        self._connection = duckdb.connect()
        self._write_inputs(population)
        self._run("int_strata_weighed")
        allocated = allocate_chunks(self._connection.table("int_strata_weighed").to_arrow_table())
        self._connection.register("allocated", allocated)
        self._connection.execute("create table int_strata_allocated as from allocated")
        self._run("int_strata_planned")
        planned = self._connection.execute(
            "select stratum_id::integer, count_planned from int_strata_planned order by 1"
        )
        self.planned = np.array([count for _, count in planned.fetchall()], dtype=np.int64)
        self.status = {
            str(row[0]): int(row[1])
            for row in self._connection.execute(
                "select allocation_status, count(*) from int_strata_planned group by all order by all"
            ).fetchall()
        }

    def _write_inputs(self, population: Population) -> None:
        count = len(population.strata)
        chunks = pa.table(
            {
                "chunk_id": [f"query_{number:05d}" for number in range(count)],
                "row": np.arange(count),
                "stratum_id": population.strata.astype(str),
                "stratum_label": population.strata.astype(str),
                "topic_id": population.strata.astype(str),
                "size_measure": population.sizes,
                "characters": population.sizes,
                "importance": population.importance,
            }
        )
        # scores as a last run could have left them: they fail where a query is long
        spread = [
            (str(stratum), 20, float(np.std(population.sizes[population.strata == stratum])))
            for stratum in np.unique(population.strata)
        ]
        scored = pa.table(
            dict(
                zip(("stratum_id", "count_scored", "score_standard_deviation"), zip(*spread, strict=True), strict=True)
            )
        )
        self._connection.register("chunks", chunks)
        self._connection.register("scored", scored)
        self._connection.execute(
            "create table int_chunk_strata as"
            " select *, null::varchar as document_id, 'short' as length_class from chunks"
        )
        self._connection.execute("create table int_strata_scored as select * from scored")

    def _run(self, model: str, seed: int = SEED) -> None:
        text, count = re.subn(rf"\|{SEED}\|", f"|{seed}|", self._models[model])
        if model == "fct_sampled_chunks" and count != _SEED_PLACES:
            raise BenchmarkError(f"{model}: expected the seed in {_SEED_PLACES} places, found {count}")
        self._connection.execute(f"create or replace table {model} as {text}")

    def draw(self, seed: int) -> tuple[Integers, Floats]:
        """Return (rows of the population that a seed draws, their sampling weights), by row."""
        self._run("fct_sampled_chunks", seed)
        return self._read("fct_sampled_chunks")

    def reject(self, seed: int) -> tuple[Integers, Floats]:
        """Return (rows, post-stratified weights) of what the checks leave of the last draw.

        A query is rejected by chance, more often in some strata than in others, as dull topics are.
        """
        low, high = REJECTED
        self._connection.execute(
            "create or replace table int_queries_checked as"
            " select chunk_id as query_id, chunk_id, stratum_id, topic_id,"
            f" case when hash('rejected', {seed}, chunk_id) / 2.0^64"
            f" < {low} + {high - low} * (stratum_id::integer % 5) / 4.0 then 'duplicate' else 'accepted' end"
            " as check_status from fct_sampled_chunks"
        )
        self._run("int_strata_weighted")
        self._run("int_queries_weighted")
        return self._read("int_queries_weighted")

    def _read(self, model: str) -> tuple[Integers, Floats]:
        found = self._connection.execute(
            f"select int_chunk_strata.row, sampled.sampling_weight from {model} as sampled"
            " inner join int_chunk_strata on sampled.chunk_id = int_chunk_strata.chunk_id order by int_chunk_strata.row"
        ).fetchnumpy()
        return np.asarray(found["row"], dtype=np.int64), np.asarray(found["sampling_weight"], dtype=np.float64)


def simulate(
    sampler: Sampler, population: Population, design: str, count_seeds: int, is_rejecting: bool = False
) -> list[Simulated]:
    """Return bias, coverage and width of the shares of all intents over seeds 1 to ``count_seeds``.

    One element for the samples as drawn and, if asked for, one for what the checks leave of the same samples.
    """
    count_intents = int(population.intents.max()) + 1
    truth = np.bincount(population.intents, minlength=count_intents) / len(population.intents)
    names = [design, f"{design}, post-stratified"][: 1 + is_rejecting]
    estimates = np.zeros((len(names), count_seeds, count_intents))
    covered = np.zeros((len(names), count_intents))
    widths, effective = np.zeros(len(names)), np.zeros(len(names))
    largest_gap = 0
    for seed in range(1, count_seeds + 1):
        drawn = sampler.draw(seed)
        gaps = np.bincount(population.strata[drawn[0]], minlength=len(sampler.planned)) - sampler.planned
        largest_gap = max(largest_gap, int(np.abs(gaps).max()))
        for place, (rows, weights) in enumerate([drawn, sampler.reject(seed)] if is_rejecting else [drawn]):
            is_hit = population.intents[rows][:, None] == np.arange(count_intents)
            found = estimate_shares(is_hit, population.strata[rows], weights)
            estimates[place, seed - 1] = found.shares
            # a bound that equals the share up to rounding holds it
            covered[place] += (found.low <= truth + 1e-12) & (truth <= found.high + 1e-12)
            widths[place] += (found.high - found.low).mean()
            effective[place] += kish(weights)
    errors = estimates.std(axis=1, ddof=1) / np.sqrt(count_seeds)
    bias_errors = np.abs(estimates.mean(axis=1) - truth) / errors
    return [
        Simulated(
            name,
            bias_errors[place],
            covered[place] / count_seeds,
            float(widths[place] / count_seeds),
            float(effective[place] / count_seeds),
            count_seeds,
            largest_gap,
            sampler.is_equal_inside,
        )
        for place, name in enumerate(names)
    ]


def judge(found: Simulated) -> tuple[bool, bool, bool]:
    """Return whether plan, bias and coverage are within their limits.

    The mean coverage must lie within the limits, and no share's beyond what the simulation can tell from them.
    """
    low, high = LIMITS_COVERAGE
    error = float(np.sqrt(low * (1 - low) / found.count_seeds))
    inside = low <= found.coverage.mean() <= high
    near = found.coverage.min() >= low - LIMIT_COVERAGE_ERRORS * error
    near &= found.coverage.max() <= high + LIMIT_COVERAGE_ERRORS * error
    return found.largest_gap <= LIMIT_PLAN, bool(found.bias_errors.max() <= LIMIT_BIAS), bool(inside and near)


def run(is_quick: bool = False, _folder: Path | None = None) -> Outcome | None:
    """Return the outcome; None when the data are not there."""
    data = data_folder("banking77")
    if data is None:
        return None
    population = read_population(data)
    designs = DESIGNS[:2] if is_quick else DESIGNS
    found: list[Simulated] = []
    statuses: list[str] = []
    for allocation, within in designs:
        sampler = Sampler(render_models(allocation, within), population, within == "equal")
        if sampler.planned.sum() != TOTAL:
            raise BenchmarkError(f"{allocation}: the plan must add up to {TOTAL}, got {sampler.planned.sum()}")
        name = f"{allocation}, {within} inside"
        statuses.append(f"{name}: " + ", ".join(f"{count} {status}" for status, count in sampler.status.items()))
        count_seeds = COUNT_SEEDS_DEFAULT if (allocation, within) == DESIGNS[0] else COUNT_SEEDS
        count_seeds = 40 if is_quick else count_seeds
        found += simulate(sampler, population, name, count_seeds, allocation in POST_STRATIFIED)
    met = all(all(judge(one)[: 3 if one.is_equal_inside else 2]) for one in found)
    sizes = np.bincount(population.strata, minlength=COUNT_STRATA)
    low, high = REJECTED
    notes = [
        f"{len(population.strata):,} queries in {COUNT_STRATA} strata of {sizes.min()} to {sizes.max()}; samples of "
        f"{TOTAL}; shares of {population.intents.max() + 1} intents, .6 to 1.7 % each: 4 to 13 queries of a sample.",
        "The SQL is that of the models, rendered for each allocation and run once per seed.",
        f"Post-stratified: {low:.0%} to {high:.0%} of the queries, by stratum, are rejected by chance beforehand.",
        "Bias: |mean estimate - share| in Monte Carlo standard errors, largest of all shares. Standard error of a "
        f"single share's coverage: {np.sqrt(0.05 * 0.95 / COUNT_SEEDS):.4f} in {COUNT_SEEDS:,} seeds. With 4 to 13 "
        "expected hits an estimate takes few values, so that the coverage of any interval differs from share to "
        f"share; the limit applies to the mean, and to each share up to {LIMIT_COVERAGE_ERRORS:g} standard errors. "
        "Inside: shares within the limits.",
        "Draws by size or importance within strata give rare shares few and unequal weights: their intervals are "
        "shown without a limit, and the default draws equally.",
        "Interval: `hcat.statistics.survey.estimate_shares` (Jeffreys on the effective n of a variance whose strata "
        "lean on the "
        "overall one, t of the design's degrees of freedom).",
        *(f"Plan of {status}." for status in statuses),
    ]
    table = tabulate(found)
    return Outcome("sampling", "Stratified samples and their weights", [table], notes, is_quick, is_quick or met)


def tabulate(found: Sequence[Simulated]) -> Table:
    """Return the table of all designs."""
    lines: list[Sequence[str]] = []
    for one in found:
        is_planned, is_unbiased, is_covered = judge(one)
        low, high = LIMITS_COVERAGE
        inside = int(((one.coverage >= low) & (one.coverage <= high)).sum())
        cells: list[Any] = [
            one.design,
            f"{one.count_seeds:,}",
            one.largest_gap,
            verdict(is_planned),
            f"{one.bias_errors.max():.2f}",
            verdict(is_unbiased),
            f"{one.coverage.mean():.4f}",
            f"{one.coverage.min():.3f} to {one.coverage.max():.3f}",
            f"{inside} of {len(one.coverage)}",
            verdict(is_covered) if one.is_equal_inside else f"{verdict(is_covered)}, shown only",
            f"{one.width:.4f}",
            f"{one.effective_n:.0f}",
        ]
        lines.append([str(cell) for cell in cells])
    columns = (
        "design",
        "seeds",
        "gap to plan",
        f"<= {LIMIT_PLAN}",
        "bias",
        f"<= {LIMIT_BIAS:g}",
        "coverage",
        "of single shares",
        "inside",
        f"{LIMITS_COVERAGE[0]} to {LIMITS_COVERAGE[1]}",
        "width",
        "Kish n",
    )
    return Table("Shares of 77 intents", columns, lines)


if __name__ == "__main__":
    sys.exit(run_alone("sampling", __doc__, run))
