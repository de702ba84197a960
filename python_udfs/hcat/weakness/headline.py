"""The headline family: few cells of one metric, declared in advance, tested by a bootstrap of whole clusters.

A piece is the set of rows of one cluster that lie in the same cells. With d = v - r the difference between a cell and
its rest (higher = worse), the statistic is T = d / max(s_J, s_0). s_J is the jackknife error of
:mod:`hcat.weakness.statistics`, and s_0 the error that d has when the cell is like all others,

    s_0^2 = spread^2 (D / n + D_rest / n_rest),   D = 1 + rho (sum_g n_g^2 / n - 1),

n_g the rows of cluster g on that side. The likeness of siblings rho is estimated over all rows by moments: the mean of
((S_g - n_g p)^2 / spread^2 - n_g) / (n_g (n_g - 1)), S_g the sum of cluster g; a cluster weighs by its rows.

What T does by chance depends on where the rows lie: on the number of clusters in the cell, on their sizes, on cells
that overlap, and on how rare failures are. Student's distribution knows none of it. So new values are drawn for the
rows where they lie, with no cell worse than another. Each cluster gets a rate of its own from the beta distribution
with the observed rate p and likeness rho, and each piece a binomial number of failures at that rate. (Scores: a normal
effect of the cluster, and normal errors.) Every draw estimates p, rho, s_J and s_0 anew.

P is the share of draws in which T of that cell is at least as large. The adjusted P is that of Westfall and Young
(1993), stepping down from the smallest P: the share of draws in which the smallest P of this cell, and of all cells
with a larger P, is at most as large. It bounds the probability that any cell of the family is flagged although none is
worse, and it spends nothing on the dependence of cells.

``python -m benchmarks.promises --part cells`` measures both under uneven clusters and shared documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import sum_by_cluster

#: Numbers that a block of draws holds at once: bounds the memory.
_BLOCK: Final = 4_000_000
#: The beta distribution needs a likeness inside (0, 1).
_NO_LIKENESS: Final = 1e-6


class Pieces(NamedTuple):
    """Rows of one metric, by cluster and by the cells in which they lie."""

    #: Codes from 0 of the cluster, and of the jackknife group with which it leaves; shape (n_pieces,).
    clusters: Integers
    groups: Integers
    #: Rows with a value, at least 1, and the sum of their values; higher = worse.
    counts: Floats
    sums: Floats
    #: Does the piece lie in the cell? In the cell or its rest? Shape (n_pieces, n_cells).
    members: Flags
    partitions: Flags
    #: Standard deviation of the values of all rows; None for a share, whose values are 0 and 1.
    spread: float | None


class HeadlineTests(NamedTuple):
    """Results by cell, each of shape (n_cells,)."""

    #: T of the module; 0 where it cannot be computed.
    statistic: Floats
    p_value: Floats
    adjusted_p_value: Floats
    #: T above which the cell is flagged, given which other cells are.
    critical: Floats
    #: P up to which a cell is flagged, in [0, 1).
    cut_off: float
    #: T of each draw, ascending in each cell; shape (n_draws, n_cells).
    drawn: Floats

    def bound(self, differences: Floats, errors: Floats, confidence: float) -> Floats:
        """Return one-sided lower bounds of the differences: d - q s, q the quantile of T among the draws, at least
        0."""
        quantiles = self.drawn[int(np.ceil(confidence * len(self.drawn))) - 1]
        bounds: Floats = differences - np.maximum(quantiles, 0) * errors
        return bounds


def judge_headline(pieces: Pieces, level: float, count_draws: int, random_seed: int) -> HeadlineTests:
    """Return the tests of all cells of the family."""
    layout = _Layout(pieces)
    estimates = layout.estimate(pieces.sums[None, :])
    random = np.random.default_rng(random_seed)
    drawn = np.concatenate(
        [
            layout.estimate(sums).statistic
            for sums in layout.draw(random, float(estimates.rate[0]), float(estimates.likeness[0]), count_draws)
        ]
    )
    return step_down(estimates.statistic[0], drawn, level)


def step_down(statistic: Floats, drawn: Floats, level: float) -> HeadlineTests:
    """Return P-values from draws without any difference, adjusted by Westfall and Young's (1993) step-down."""
    count, count_cells = drawn.shape
    ordered = np.sort(drawn, axis=0)

    def count_reached(values: Floats) -> Floats:
        """Return how many draws of each cell are at least as large, shape of the values."""
        below = [np.searchsorted(ordered[:, cell], values[:, cell]) for cell in range(count_cells)]
        reached: Floats = count - np.column_stack(below).astype(np.float64)
        return reached

    p_value = (count_reached(statistic[None, :])[0] + 1) / (count + 1)
    drawn_p = count_reached(drawn) / count
    order = np.argsort(p_value, kind="stable")
    # smallest P of this cell and of those with a larger one, draw by draw
    least = np.minimum.accumulate(drawn_p[:, order[::-1]], axis=1)[:, ::-1]
    reached = (np.sum(least <= p_value[order], axis=0) + 1) / (count + 1)
    adjusted = np.empty(count_cells)
    adjusted[order] = np.minimum(np.maximum.accumulate(reached), 1)
    # the next cell is flagged up to this P: the cells that are not flagged yet decide
    next_cell = min(int(np.sum(adjusted <= level)), count_cells - 1)
    candidates = np.sort(least[:, next_cell])
    # as many draws may lie at or below it, the observed one counted in
    allowed = int(level * (count + 1)) - 1
    rank = round(float(candidates[allowed]) * count) if 0 <= allowed < count else 0
    critical = ordered[count - rank] if rank else np.full(count_cells, np.inf)
    return HeadlineTests(statistic, p_value, adjusted, critical, rank / (count + 1), ordered)


class _Cell(NamedTuple):
    """Where the rows of a cell and of its rest lie."""

    #: Pieces of the cell, in the order of their groups.
    pieces: Integers
    #: First position of each group in `pieces`, and its code.
    starts: Integers
    groups: Integers
    #: Rows of the cell by own group, and of the rest by every group.
    rows_by_group: Floats
    rest_by_group: Floats
    rows: float
    rest: float
    #: sum_g n_g^2 / n of both sides: rows of its own cluster that a row meets there, itself included.
    siblings: float
    rest_siblings: float
    partition: int


class _Estimates(NamedTuple):
    """Statistics of draws, shape (n_draws, n_cells), with rate and likeness of each draw, shape (n_draws,)."""

    statistic: Floats
    rate: Floats
    likeness: Floats


class _Layout:
    """Everything that does not depend on the values."""

    def __init__(self, pieces: Pieces) -> None:
        self.spread = pieces.spread
        # by cluster, so that the pieces of one stand together
        order = np.argsort(pieces.clusters, kind="stable")
        self.order = order
        self.counts = pieces.counts[order]
        self.codes: Integers = np.unique(pieces.clusters[order], return_inverse=True)[1].astype(np.int64)
        self.starts = np.flatnonzero(np.diff(self.codes, prepend=-1))
        self.sizes = sum_by_cluster(self.counts, self.codes)
        self.groups = pieces.groups[order]
        self.count_groups = int(self.groups.max()) + 1
        members = pieces.members[order]
        distinct, codes = np.unique(pieces.partitions[order], axis=1, return_inverse=True)
        # pieces of each partition in the order of their groups, and the first piece of each group
        self.partitions = [self._by_group(column) for column in distinct.T]
        self.cells = [
            self._locate(members[:, cell], distinct[:, code], code) for cell, code in enumerate(codes.ravel().tolist())
        ]

    def _by_group(self, is_chosen: Flags) -> tuple[Integers, Integers, Integers]:
        pieces = np.flatnonzero(is_chosen)
        pieces = pieces[np.argsort(self.groups[pieces], kind="stable")]
        starts = np.flatnonzero(np.diff(self.groups[pieces], prepend=-1))
        return pieces, starts, self.groups[pieces][starts]

    def _locate(self, is_member: Flags, in_partition: Flags, partition: int) -> _Cell:
        pieces, starts, groups = self._by_group(is_member)
        is_rest = in_partition & ~is_member
        rest_by_group = sum_by_cluster(self.counts[is_rest], self.groups[is_rest], self.count_groups)
        return _Cell(
            pieces,
            starts,
            groups,
            np.add.reduceat(self.counts[pieces], starts),
            rest_by_group,
            float(self.counts[pieces].sum()),
            float(rest_by_group.sum()),
            self._siblings(is_member),
            self._siblings(is_rest),
            partition,
        )

    def _siblings(self, is_chosen: Flags) -> float:
        by_cluster = sum_by_cluster(self.counts[is_chosen], self.codes[is_chosen])
        return float(by_cluster @ by_cluster / by_cluster.sum())

    def estimate(self, sums: Floats) -> _Estimates:
        """Return T of every cell for each row of sums, shape (n_draws, n_pieces), as the pieces were given."""
        values = sums[:, self.order]
        rate = values.sum(axis=1) / self.counts.sum()
        variance = rate * (1 - rate) if self.spread is None else np.full(len(rate), self.spread**2)
        likeness = self._likeness(values, rate, variance)
        of_partitions = []
        for pieces, starts, groups in self.partitions:
            by_group = np.zeros((len(values), self.count_groups))
            by_group[:, groups] = np.add.reduceat(values[:, pieces], starts, axis=1)
            of_partitions.append(by_group)
        statistic = np.zeros((len(values), len(self.cells)))
        for position, cell in enumerate(self.cells):
            own = np.add.reduceat(values[:, cell.pieces], cell.starts, axis=1)
            rest = of_partitions[cell.partition].copy()
            rest[:, cell.groups] -= own
            mean, rest_mean = own.sum(axis=1) / cell.rows, rest.sum(axis=1) / cell.rest
            with np.errstate(divide="ignore", invalid="ignore"):
                # what each group moves when it leaves: the rest first, in place
                rest -= rest_mean[:, None] * cell.rest_by_group
                rest /= cell.rest - cell.rest_by_group
                own -= mean[:, None] * cell.rows_by_group
                own /= cell.rows - cell.rows_by_group
                rest[:, cell.groups] -= own
                jackknife = (self.count_groups - 1) / self.count_groups * np.einsum("dg,dg->d", rest, rest)
            by_rows = (1 + likeness * (cell.siblings - 1)) / cell.rows
            by_rest = (1 + likeness * (cell.rest_siblings - 1)) / cell.rest
            error = np.sqrt(np.maximum(jackknife, variance * (by_rows + by_rest)))
            has_error = np.isfinite(error) & (error > 0)
            np.divide(mean - rest_mean, error, out=statistic[:, position], where=has_error)
        return _Estimates(statistic, rate, likeness)

    def _likeness(self, values: Floats, rate: Floats, variance: Floats) -> Floats:
        by_cluster = np.add.reduceat(values, self.starts, axis=1)
        has_siblings = self.sizes > 1
        sizes = self.sizes[has_siblings]
        if not len(sizes):
            return np.zeros(len(values))
        squares = (by_cluster[:, has_siblings] - rate[:, None] * sizes) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            products = (squares / variance[:, None] - sizes) / (sizes - 1)
        found = products.sum(axis=1) / sizes.sum()
        return np.where(np.isfinite(found), np.clip(found, 0, 1), 0.0)

    def draw(self, random: np.random.Generator, rate: float, likeness: float, count_draws: int) -> Iterator[Floats]:
        """Yield blocks of drawn sums, each of shape (n_block, n_pieces), as the pieces were given."""
        block = max(1, _BLOCK // max(len(self.counts), self.count_groups))
        for start in range(0, count_draws, block):
            shape = (min(block, count_draws - start), len(self.counts))
            drawn = (
                self._draw_share(random, rate, likeness, shape)
                if self.spread is None
                else self._draw_scores(random, self.spread, likeness, shape)
            )
            given = np.empty(shape)
            given[:, self.order] = drawn
            yield given

    def _draw_share(self, random: np.random.Generator, rate: float, likeness: float, shape: tuple[int, int]) -> Floats:
        # the only row of a cluster fails at the common rate, whatever the likeness; that is most of a production log
        is_single = self.sizes[self.codes] == 1
        drawn = np.empty(shape)
        drawn[:, is_single] = random.random((shape[0], int(is_single.sum()))) < rate
        codes = np.unique(self.codes[~is_single], return_inverse=True)[1]
        count = int(codes.max()) + 1 if len(codes) else 0
        if likeness < _NO_LIKENESS or not 0 < rate < 1:
            rates = np.full((shape[0], count), rate)
        elif likeness > 1 - _NO_LIKENESS:
            rates = (random.random((shape[0], count)) < rate).astype(np.float64)
        else:
            precision = 1 / likeness - 1
            rates = random.beta(rate * precision, (1 - rate) * precision, (shape[0], count))
        drawn[:, ~is_single] = random.binomial(self.counts[~is_single].astype(np.int64), rates[:, codes])
        return drawn

    def _draw_scores(
        self, random: np.random.Generator, spread: float, likeness: float, shape: tuple[int, int]
    ) -> Floats:
        effects = random.standard_normal((shape[0], len(self.sizes))) * np.sqrt(likeness)
        errors = random.standard_normal(shape) * np.sqrt((1 - likeness) * self.counts)
        drawn: Floats = spread * (self.counts * effects[:, self.codes] + errors)
        return drawn
