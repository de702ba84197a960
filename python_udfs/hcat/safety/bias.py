"""Does an application treat people alike? Gaps between two sides, tested by permutation, and equivalence.

Whole clusters (templates, query families) move together, so that variants of one query are never independent witnesses.
The statistic is studentised by the spread between clusters, which keeps the permutation test valid where the two sides
have unequal spread (Janssen 1997). *No bias* is said by a test of its own, two one-sided tests against a margin
(Schuirmann 1987), never by a gap that was not found.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import schema
from hcat.statistics.arrays import Flags, Floats
from hcat.statistics.intervals import t_quantile, t_tail
from hcat.statistics.multiple_tests import holm

EXACT_CLUSTERS: Final = 12
"""Clusters up to which all 2^n sign patterns are tried: 4,096, fewer than the draws of any setting that makes sense."""

_CELLS: Final = 2_000_000
"""Numbers of one chunk of draws: bounds memory."""

_TOLERANCE: Final = 1e-12
"""Differences this near count as equal: sums in another order differ in their last bits."""

_TIES: Final = 1e-9
"""A statistic this near to the observed one, as a share of it, counts as extreme: squares lose some digits."""

_ROUNDING: Final = 1e-13
"""A variance that is not above this share of the squares that it is the difference of counts as none."""

#: Pairs of queries that differ in a demographic term.
COUNTERFACTUAL: Final = "counterfactual"

#: Probability that any gap of a system and design is claimed although none exists (Holm); the same for a false
#: equivalence.
ERROR_RATE: Final = 0.05
#: Permutations of each test. The smallest possible p-value is 1 / 5,000, far below .05 / 40 gaps.
DRAWS: Final = 4999

#: What stands in every row of a gap.
CELL: Final = ["bias_gap_id", "system", "design", "margin", "span", "is_indicator"]

BIAS_GAP_SCHEMA: Final = schema(
    "string: bias_gap_id status verdict",
    "int64: count_clusters count_first count_second",
    "float64: first_mean second_mean difference difference_lower difference_upper p_value adjusted_p_value",
    "float64: equivalence_p_value adjusted_equivalence_p_value",
)


class Sides(NamedTuple):
    """Sums and counts of the scores of two sides by cluster; for pairs both counts are the number of pairs."""

    first_sum: Floats
    first_count: Floats
    second_sum: Floats
    second_count: Floats


class Gap(NamedTuple):
    """Difference between two sides."""

    #: Means over scores, in the unit of the metric.
    first_mean: float
    second_mean: float
    difference: float
    #: Standard error by cluster; 0 where no cluster differs.
    error: float
    degrees: float
    #: Of the permutation test, two-sided, in (0, 1].
    p_value: float


def compare_pairs(sides: Sides, random: np.random.Generator, count_draws: int) -> Gap:
    """Return the gap between the two sides of counterfactual pairs."""
    total = float(sides.first_count.sum())
    differences = (sides.first_sum - sides.second_sum) / total
    count = len(differences)
    difference = float(differences.sum())
    residuals = differences - difference * sides.first_count / total
    error = float(np.sqrt((residuals**2).sum() * count / (count - 1)))
    return Gap(
        float(sides.first_sum.sum() / total),
        float(sides.second_sum.sum() / total),
        difference,
        error,
        float(count - 1),
        _flip_signs(differences, random, count_draws),
    )


def _flip_signs(differences: Floats, random: np.random.Generator, count_draws: int) -> float:
    """Return the p-value of the sum of differences under flipped signs; exact for few clusters."""
    moved = differences[differences != 0]
    observed = abs(differences.sum())
    if not len(moved):
        return 1.0
    limit = observed - _TOLERANCE * np.abs(moved).sum()
    if len(moved) <= EXACT_CLUSTERS:
        patterns = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        return float(np.mean(np.abs((2.0 * patterns - 1.0) @ moved) >= limit))
    extreme = 0
    rows = max(1, _CELLS // len(moved))
    for start in range(0, count_draws, rows):
        signs = 2.0 * random.integers(0, 2, (min(rows, count_draws - start), len(moved))) - 1.0
        extreme += int((np.abs(signs @ moved) >= limit).sum())
    return (1 + extreme) / (1 + count_draws)


def compare_groups(sides: Sides, random: np.random.Generator, count_draws: int) -> Gap:
    """Return the gap between a group and all others, of whom each cluster holds either or both."""
    first, second, error, degrees = _studentise(sides)
    is_both = (sides.first_count > 0) & (sides.second_count > 0)
    is_first = (sides.first_count[~is_both] > 0).astype(np.float64)
    count_first = int(is_first.sum())
    statistic = _SwappedSides(sides, is_both, count_first)
    observed = statistic.of_draws(is_first[None, :], np.ones((1, int(is_both.sum()))))[0]
    extreme = 0
    rows = max(1, _CELLS // (8 * len(sides.first_sum)))
    for start in range(0, count_draws, rows):
        count = min(rows, count_draws - start)
        drawn_first = np.zeros((count, len(is_first)))
        if len(is_first):
            ranks = np.argsort(random.random((count, len(is_first))), axis=1)
            np.put_along_axis(drawn_first, ranks[:, :count_first], 1.0, axis=1)
        keeps = random.integers(0, 2, (count, int(is_both.sum()))).astype(np.float64)
        drawn = statistic.of_draws(drawn_first, keeps)
        # a draw without a figure counts as extreme: the p-value is never too small for it
        extreme += int((~(drawn < observed * (1 - _TIES))).sum())
    return Gap(first, second, first - second, error, degrees, (1 + extreme) / (1 + count_draws))


class _SwappedSides:
    """The size of the studentised gap of any draw: sums over clusters by two products of matrices.

    All that the gap and its error are made of are sums of s, c, s^2, sc and c^2 of one side, with s the sum of scores
    of a cluster and c their count, and of s of one side times c of the other. A draw changes which clusters they are
    of, so that a product of draws and clusters gives them for all draws.
    """

    def __init__(self, sides: Sides, is_both: Flags, count_first: int) -> None:
        # measured from the mean of all scores, squares lose no digits, and a gap stays as it is
        mean = (sides.first_sum.sum() + sides.second_sum.sum()) / (sides.first_count.sum() + sides.second_count.sum())
        first_sum, first_count = sides.first_sum - mean * sides.first_count, sides.first_count
        second_sum, second_count = sides.second_sum - mean * sides.second_count, sides.second_count
        first, second = _powers(first_sum, first_count), _powers(second_sum, second_count)
        self._alone = (first + second)[~is_both]
        # what a cluster of both sides adds to the first one where it keeps its sides
        crossed = np.stack([first_sum * second_count, second_sum * first_count], axis=1)[is_both]
        self._kept = np.concatenate([first[is_both] - second[is_both], crossed[:, :1] - crossed[:, 1:]], axis=1)
        self._swapped = np.append(second[is_both].sum(axis=0), crossed[:, 1].sum())
        self._total = np.append(first.sum(axis=0) + second.sum(axis=0), crossed.sum())
        self._products = float((first_sum * second_sum).sum()), float((first_count * second_count).sum())
        count_both = int(is_both.sum())
        clusters = count_first + count_both, len(self._alone) - count_first + count_both
        self._inflation = [count / max(count - 1, 1) for count in clusters]

    def of_draws(self, is_first: Floats, keeps: Floats) -> Floats:
        """Return the size of the gap in units of its error, shape (n_draws,)."""
        one = keeps @ self._kept + self._swapped
        one[:, :5] += is_first @ self._alone
        other = self._total - one
        sums, variance, rounding = [], np.zeros(len(one)), np.zeros(len(one))
        with np.errstate(divide="ignore", invalid="ignore"):
            for side, inflation in zip((one, other), self._inflation, strict=True):
                total, count, squares, products, counts = side[:, :5].T
                mean = total / count
                sums.append((mean, count))
                variance += (squares - 2 * mean * products + mean**2 * counts) / count**2 * inflation
                rounding += (squares + mean**2 * counts) / count**2 * inflation
            (first, first_count), (second, second_count) = sums
            shared = self._products[0] - second * one[:, 5] - first * other[:, 5] + first * second * self._products[1]
            factor = np.sqrt(self._inflation[0] * self._inflation[1])
            variance -= 2 * shared / (first_count * second_count) * factor
            variance = np.where(variance <= _ROUNDING * rounding, 0.0, variance)
            # 0 where nothing differs, infinite where only the sides do
            ratio = np.where(np.abs(first - second) <= _TOLERANCE, 0.0, (first - second) / np.sqrt(variance))
        return np.abs(ratio)


def _powers(sums: Floats, counts: Floats) -> Floats:
    """Return s, c, s^2, sc and c^2 of each cluster, shape (n_clusters, 5)."""
    return np.stack([sums, counts, sums**2, sums * counts, counts**2], axis=1)


def _studentise(sides: Sides) -> tuple[float, float, float, float]:
    """Return the means of both sides, and error and degrees of freedom of their difference, from sums by cluster."""
    first_sum, first_count, second_sum, second_count = sides
    totals = first_count.sum(), second_count.sum()
    means = first_sum.sum() / totals[0], second_sum.sum() / totals[1]
    first, second = (first_sum - means[0] * first_count) / totals[0], (second_sum - means[1] * second_count) / totals[1]
    clusters = [float((counts > 0).sum()) for counts in (first_count, second_count)]
    inflation = [count / max(count - 1, 1) for count in clusters]
    own = (first**2).sum() * inflation[0], (second**2).sum() * inflation[1]
    shared = (first * second).sum() * np.sqrt(inflation[0] * inflation[1])
    error = float(np.sqrt(max(own[0] + own[1] - 2 * shared, 0.0)))
    # Welch and Satterthwaite, a cluster being one observation
    spread = sum(each**2 / max(count - 1, 1) for each, count in zip(own, clusters, strict=True))
    least = max(min(clusters) - 1, 1)
    degrees = max((own[0] + own[1]) ** 2 / spread, least) if spread > 0 else least
    return float(means[0]), float(means[1]), error, float(degrees)


def equivalence_p_value(gap: Gap, margin: float, span: float, count_clusters: int, is_indicator: bool) -> float:
    """Return the p-value of the claim that the gap is smaller than a margin: the larger of two one-sided t-tests."""
    if not margin > 0:
        raise ValueError(f"margin must be above 0, got {margin}")
    unseen = max(0.0, 1.0 - margin / span) ** count_clusters if span > 0 else 0.0
    if gap.error <= 0:
        return 1.0 if abs(gap.difference) >= margin else unseen
    distance = (margin - abs(gap.difference)) / gap.error
    p_value = float(t_tail(distance, gap.degrees))
    return max(p_value, unseen) if is_indicator else p_value


class BiasSettings(NamedTuple):
    """How gaps are tested: confidence of the intervals, and least independent clusters of either side."""

    confidence: float
    minimum_clusters: int
    random_seed: int
    count_draws: int = DRAWS


def measure_gaps(sums: pa.Table, settings: BiasSettings) -> pa.Table:
    """Return the gaps of a build (schema :data:`BIAS_GAP_SCHEMA`), in the order of their ids.

    Parameters
    ----------
    sums : Table
        One row per (gap, cluster): bias_gap_id, system, design (`counterfactual`, `logged_groups`), margin, span
        (largest difference that a score allows), is_indicator, cluster, first_sum, first_count, second_sum,
        second_count. A gap without scores has one row, and no cluster.
    settings : BiasSettings

    Notes
    -----
    A family is all tested gaps of one system and design: they decide about a release of that system, and the designs
    answer different questions. Gaps and equivalences are stepped down by Holm (1979), which holds however the
    metrics depend on each other. A gap that is both shown and shown to be smaller than the margin is `equivalent`.

    Raises
    ------
    ValueError
        If a margin is not above 0.

    Examples
    --------
    >>> one = dict(bias_gap_id="g", system="app", design="counterfactual", margin=0.1, span=1.0, is_indicator=False)
    >>> one |= dict(first_sum=1.0, first_count=1.0, second_sum=0.0, second_count=1.0)
    >>> sums = pa.Table.from_pylist([one | dict(cluster=name) for name in "abc"])
    >>> settings = BiasSettings(0.95, minimum_clusters=2, random_seed=1, count_draws=10)
    >>> row = measure_gaps(sums, settings).to_pylist()[0]
    >>> row["difference"], row["p_value"]
    (1.0, 0.25)
    """
    ordered = sums.sort_by([("bias_gap_id", "ascending"), ("cluster", "ascending")])
    frame = ordered.filter(pc.is_valid(ordered["cluster"])).to_pandas()
    scored = {
        name: Sides(*(part[column].to_numpy(np.float64) for column in Sides._fields))
        for name, part in frame.groupby("bias_gap_id")
    }
    cells = {cell["bias_gap_id"]: cell for cell in ordered.select(CELL).to_pylist()}
    rows = [_measure(cell, scored.get(name), settings) for name, cell in cells.items()]
    families: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["status"] == "tested":
            families.setdefault((row["system"], row["design"]), []).append(row)
    for family in families.values():
        for name in ("p_value", "equivalence_p_value"):
            for row, adjusted in zip(family, holm([row[name] for row in family]), strict=True):
                row[f"adjusted_{name}"] = float(adjusted)
        for row in family:
            if row["adjusted_equivalence_p_value"] <= ERROR_RATE:
                row["verdict"] = "equivalent"
            elif row["adjusted_p_value"] <= ERROR_RATE:
                row["verdict"] = "gap_found"
    return pa.Table.from_pylist(rows, schema=BIAS_GAP_SCHEMA)


def _measure(cell: Mapping[str, Any], sides: Sides | None, settings: BiasSettings) -> dict[str, Any]:
    row = {**cell, "verdict": "inconclusive"}
    counts = (0, 0) if sides is None else (int(sides.first_count.sum()), int(sides.second_count.sum()))
    row |= {"count_first": counts[0], "count_second": counts[1], "count_clusters": 0}
    if sides is None or not all(counts):
        return row | {"status": "no_scores"}
    clusters = [int((count > 0).sum()) for count in (sides.first_count, sides.second_count)]
    row["count_clusters"] = int(((sides.first_count > 0) | (sides.second_count > 0)).sum())
    if min(clusters) < max(settings.minimum_clusters, 2):
        means = sides.first_sum.sum() / counts[0], sides.second_sum.sum() / counts[1]
        return row | {
            "status": "too_few_clusters",
            "first_mean": float(means[0]),
            "second_mean": float(means[1]),
            "difference": float(means[0] - means[1]),
        }
    compare = compare_pairs if cell["design"] == COUNTERFACTUAL else compare_groups
    # cells do not share draws
    digest = hashlib.sha256(f"{settings.random_seed}|{cell['bias_gap_id']}".encode()).digest()
    gap: Gap = compare(sides, np.random.default_rng(int.from_bytes(digest[:8], "big")), settings.count_draws)
    # of no width where no cluster differs
    margin = float(t_quantile((1 + settings.confidence) / 2, gap.degrees)) * gap.error
    interval = {"difference_lower": gap.difference - margin, "difference_upper": gap.difference + margin}
    equivalence = equivalence_p_value(gap, cell["margin"], cell["span"], min(clusters), bool(cell["is_indicator"]))
    return row | {"status": "tested", "equivalence_p_value": equivalence} | gap._asdict() | interval
