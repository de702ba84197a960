"""The headline family: few cells of one metric, declared in advance, tested by a bootstrap of whole clusters.

docs/weakness.md has the test, and decision 27 its reasons. A piece is the set of rows of one cluster that lie in the
same cells. In T = d / max(s_J, s_0), with two keys of siblings,

    s_0^2 = spread^2 (D / n + D_rest / n_rest),   D = 1 + a (sum_g n_g^2 / n - 1) + b (sum_h n_h^2 / n - 1),

n_g the rows of cluster g on that side, n_h those of document h (of unequal weight: sums of weights, in D over those of
their squares, and n is Kish's number of rows). The likeness b of rows of one document is estimated over all rows by
moments: the mean of ((S_h - n_h p)^2 / spread^2 - n_h) / (n_h (n_h - 1)), S_h the sum of document h; a document weighs
by its rows. In the same way rows of one cluster have the likeness a + c b, with c the share of the siblings of a row
that are about its document too, weighted alike: 1 where clusters are parts of documents, 0 where users ask about all.

Clusters and documents draw rates of their own from the beta distribution with the observed rate p and the likeness
(sqrt(a) + sqrt(b))^2. A piece has the rate of its cluster with the weight sqrt(a) / (sqrt(a) + sqrt(b)) and that of its
document with the rest, so that rows of one cluster have the likeness a, those of one document b. Its failures are
binomial at that rate. (Scores: normal effects and errors.) Every draw estimates p, a, b, s_J and s_0 anew.
"""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import sum_by_cluster

#: Numbers that a block of draws holds at once: bounds the memory.
_BLOCK: Final = 4_000_000
#: Share of the draws that are the tail of a cell, and the least mean excess: draws may all be equal.
_TAIL: Final = 0.025
_NO_EXCESS: Final = 1e-9
#: The beta distribution needs a likeness inside (0, 1).
_NO_LIKENESS: Final = 1e-6


class Pieces(NamedTuple):
    """Rows of one metric, by cluster and by the cells in which they lie."""

    #: Codes from 0 of the cluster, and of the jackknife group with which it leaves; shape (n_pieces,).
    clusters: Integers
    groups: Integers
    #: Code of the document, or of the group of documents, with which it leaves too.
    documents: Integers
    #: Rows with a value, at least 1, and the sum of their values; higher = worse.
    counts: Floats
    sums: Floats
    #: Does the piece lie in the cell? In the cell or its rest? Shape (n_pieces, n_cells).
    members: Flags
    partitions: Flags
    #: Code of the dimensions of each cell, whose segments do not overlap; shape (n_cells,).
    dimensions: Integers
    #: Standard deviation of the values of all rows; None for a share, whose values are 0 and 1.
    spread: float | None
    #: Sampling weight of each row of the piece; None where all have the same.
    weights: Floats | None = None


class HeadlineTests(NamedTuple):
    """Results by cell, each of shape (n_cells,)."""

    #: T of the module; 0 where it cannot be computed.
    statistic: Floats
    p_value: Floats
    adjusted_p_value: Floats
    #: T above which the cell is flagged, given which other cells are.
    critical: Floats
    #: P up to which the cell is flagged, in [0, 1].
    cut_off: Floats
    #: T of each draw, ascending in each cell; shape (n_draws, n_cells).
    drawn: Floats
    #: max(s_J, s_0).
    errors: Floats

    def bound(self, differences: Floats, errors: Floats, confidence: float) -> Floats:
        """Return one-sided lower bounds of the differences: d - q s, q the quantile of T among draws, at least 0."""
        quantiles = self.drawn[int(np.ceil(confidence * len(self.drawn))) - 1]
        return np.asarray(differences - np.maximum(quantiles, 0) * errors)


def judge_headline(pieces: Pieces, level: float, count_draws: int, random_seed: int) -> HeadlineTests:
    """Return the tests of all cells of the family."""
    layout = _Layout(pieces)
    estimates = layout.estimate(pieces.sums[None, :])
    random = np.random.default_rng(random_seed)
    drawn = np.concatenate(
        [
            layout.estimate(sums).statistic
            for sums in layout.draw(random, count_draws, float(estimates.rate[0]), estimates.alike[:, 0])
        ]
    )
    return step_down(estimates.statistic[0], drawn, level, layout.sides[0][0])._replace(errors=estimates.errors[0])


def step_down(statistic: Floats, drawn: Floats, level: float, rows: Floats) -> HeadlineTests:
    """Return P-values from draws without any difference, adjusted by Westfall and Young's (1993) step-down."""
    count, count_cells = drawn.shape
    ordered = np.sort(drawn, axis=0)
    # a cell gets of the level in proportion to its rows (Genovese, Roeder and Wasserman 2006)
    weights = rows / rows.mean()
    # few draws say little about the tail: beyond u, which _TAIL of them reach, _TAIL exp(-(T - u) / mean excess) is
    # read, for draws and cells alike, so that the level holds whatever the tail
    start = ordered[-math.ceil(_TAIL * count)]
    excess = np.maximum(np.maximum(ordered - start, 0).sum(axis=0) / (_TAIL * count), _NO_EXCESS)

    def find_tails(values: Floats) -> Floats:
        """Return the weighted share of the draws of each cell that are at least as large, shape of the values."""
        below = [np.searchsorted(ordered[:, cell], values[:, cell]) for cell in range(count_cells)]
        reached = 1 - np.column_stack(below) / count
        beyond = np.maximum(values - start, 0) / excess
        return np.asarray(np.where(beyond > 0, _TAIL * np.exp(-beyond), reached) / weights)

    tails, drawn_p = find_tails(statistic[None, :])[0], find_tails(drawn)
    p_value = (np.sum(drawn >= statistic, axis=0) + 1) / (count + 1)
    order = np.argsort(tails, kind="stable")
    # smallest P of this cell and of those with a larger one, draw by draw
    least = np.minimum.accumulate(drawn_p[:, order[::-1]], axis=1)[:, ::-1]
    reached = (np.sum(least <= tails[order], axis=0) + 1) / (count + 1)
    adjusted = np.empty(count_cells)
    adjusted[order] = np.maximum.accumulate(np.maximum(reached, p_value[order]))
    # the next cell is flagged up to this P: the cells that are not flagged yet decide
    next_cell = min(int(np.sum(adjusted <= level)), count_cells - 1)
    # as many draws may lie at or below it, the observed one counted in
    allowed = max(int(level * (count + 1)) - 1, 0)
    cut_off = np.minimum(np.sort(least[:, next_cell])[allowed] * weights, 1)
    beyond = start + excess * np.log(_TAIL / cut_off)
    # rounding must not allow one draw more
    within = ordered[count - np.ceil(cut_off * count - _NO_EXCESS).astype(int), np.arange(count_cells)]
    critical = np.where(cut_off < _TAIL, beyond, within)
    return HeadlineTests(statistic, p_value, adjusted, critical, cut_off, ordered, np.full(count_cells, np.nan))


class _Key(NamedTuple):
    """Pieces by cluster or document."""

    #: Code of each piece, pieces in the order of their codes, and the first position of each code there.
    codes: Integers
    order: Integers
    starts: Integers
    #: By code: weights of rows W, their squares Q, and (W^2 - Q) / W, the weight of its siblings that a row meets.
    sizes: Floats
    squares: Floats
    pairs: Floats


class _Cell(NamedTuple):
    """Where the rows of a cell and of its rest lie."""

    #: Pieces of the cell, in the order of their groups.
    pieces: Integers
    #: First position of each group in `pieces`, and its code.
    starts: Integers
    groups: Integers
    #: Weights of the cell by own group, and of the rest by every group; squared weights, and (W^2 - Q) / W as in _Key.
    rows_by_group: Floats
    rest_by_group: Floats
    squares_by_group: Floats
    pairs_by_group: Floats
    partition: int


class _Estimates(NamedTuple):
    """Statistics of draws, shape (n_draws, n_cells), with rates, shape (n_draws,), and a and b, shape (2, n_draws)."""

    statistic: Floats
    errors: Floats
    rate: Floats
    alike: Floats


class _Groups:
    """Groups that leave one after the other, with their rows in every cell and its rest."""

    def __init__(self, groups: Integers, weights: Floats, squares: Floats, members: Flags, partitions: Flags) -> None:
        self.groups = groups
        self.count = int(groups.max()) + 1
        distinct, codes = np.unique(partitions, axis=1, return_inverse=True)
        # pieces of each partition in the order of their groups, and the first piece of each group
        self.partitions = [self._order(column) for column in distinct.T]
        self.cells = []
        for cell, partition in enumerate(codes.ravel().tolist()):
            pieces, starts, own = self._order(members[:, cell])
            is_rest = distinct[:, partition] & ~members[:, cell]
            rest = sum_by_cluster(weights[is_rest], groups[is_rest], self.count)
            sums, of_squares = (np.add.reduceat(values[pieces], starts) for values in (weights, squares))
            pairs = (sums**2 - of_squares) / sums
            self.cells.append(_Cell(pieces, starts, own, sums, rest, of_squares, pairs, partition))
        # rows that have siblings in their cell, and the siblings that a row of the cell meets, itself included
        self.alike_rows = np.array([cell.rows_by_group[cell.pairs_by_group > 0].sum() for cell in self.cells])
        self.siblings = np.array(
            [cell.rows_by_group @ cell.rows_by_group / cell.squares_by_group.sum() for cell in self.cells]
        )

    def _order(self, is_chosen: Flags) -> tuple[Integers, Integers, Integers]:
        pieces = np.flatnonzero(is_chosen)
        pieces = pieces[np.argsort(self.groups[pieces], kind="stable")]
        starts = np.flatnonzero(np.diff(self.groups[pieces], prepend=-1))
        return pieces, starts, self.groups[pieces][starts]

    def compare(self, values: Floats, rate: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the differences of cells and rests, their jackknife variances, and the summed likeness of the groups
        inside the cell, shape (n_draws, n_cells)."""
        of_partitions = []
        for pieces, starts, groups in self.partitions:
            by_group = np.zeros((len(values), self.count))
            by_group[:, groups] = np.add.reduceat(values[:, pieces], starts, axis=1)
            of_partitions.append(by_group)
        differences, variances, alike = np.zeros((3, len(values), len(self.cells)))
        for position, cell in enumerate(self.cells):
            own = np.add.reduceat(values[:, cell.pieces], cell.starts, axis=1)
            rest = of_partitions[cell.partition].copy()
            rest[:, cell.groups] -= own
            rows, rest_rows = cell.rows_by_group.sum(), cell.rest_by_group.sum()
            mean, rest_mean = own.sum(axis=1) / rows, rest.sum(axis=1) / rest_rows
            differences[:, position] = mean - rest_mean
            sizes, is_many = cell.rows_by_group, cell.pairs_by_group > 0
            with np.errstate(divide="ignore", invalid="ignore"):
                squares = (own[:, is_many] - rate[:, None] * sizes[is_many]) ** 2 / spread[:, None]
                excess = squares - cell.squares_by_group[is_many]
                alike[:, position] = (excess / cell.pairs_by_group[is_many]).sum(axis=1)
                # what each group moves when it leaves: the rest first, in place
                rest -= rest_mean[:, None] * cell.rest_by_group
                rest /= rest_rows - cell.rest_by_group
                own -= mean[:, None] * cell.rows_by_group
                own /= rows - cell.rows_by_group
                rest[:, cell.groups] -= own
                variances[:, position] = (self.count - 1) / self.count * np.einsum("dg,dg->d", rest, rest)
        return differences, variances, alike


class _Layout:
    """Everything that does not depend on the values."""

    def __init__(self, pieces: Pieces) -> None:
        self.spread = pieces.spread
        # by cluster and document, so that draws do not depend on the order of the pieces
        order = np.lexsort((pieces.documents, pieces.clusters))
        self.order = order
        self.counts = pieces.counts[order]
        self.weights = np.ones(len(order)) if pieces.weights is None else pieces.weights[order]
        self.row_weights = self.counts * self.weights
        self.squares = self.row_weights * self.weights
        self.clusters = self._key(pieces.clusters[order])
        self.documents = self._key(pieces.documents[order])
        members, partitions = pieces.members[order], pieces.partitions[order]
        self.sides = [self._siblings(members), self._siblings(partitions & ~members)]
        groupings = [pieces.groups[order]]
        pairs = self._key(self.clusters.codes * len(self.documents.sizes) + self.documents.codes)
        owners = self.clusters.codes[pairs.order[pairs.starts]]
        is_many = self.clusters.pairs > 0
        shared = sum_by_cluster(pairs.pairs * pairs.sizes, owners)[is_many] / self.clusters.pairs[is_many]
        # c of the module
        self.shared = float(shared.sum()) / max(float(self.clusters.sizes[is_many].sum()), 1.0)
        # a document of one cluster says nothing beside it
        if len(pairs.sizes) > len(self.documents.sizes):
            groupings.append(self.documents.codes)
        self.groupings = [_Groups(groups, self.row_weights, self.squares, members, partitions) for groups in groupings]
        self.is_alike = (pieces.dimensions[:, None] == pieces.dimensions).astype(np.float64)

    def _key(self, codes: Integers) -> _Key:
        found = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        order = np.argsort(found, kind="stable")
        starts = np.flatnonzero(np.diff(found[order], prepend=-1))
        sizes, squares = (sum_by_cluster(values, found) for values in (self.row_weights, self.squares))
        return _Key(found, order, starts, sizes, squares, (sizes**2 - squares) / sizes)

    def _siblings(self, is_chosen: Flags) -> tuple[Floats, Floats]:
        """Return effective rows of one side of each cell, and sum_g W_g^2 / Q, sum_h W_h^2 / Q, shape (2, n_cells)."""
        rows, squares = is_chosen * self.row_weights[:, None], self.squares @ is_chosen
        siblings = [(sum_by_cluster(rows, key.codes) ** 2).sum(axis=0) for key in (self.clusters, self.documents)]
        return rows.sum(axis=0) ** 2 / squares, siblings / squares

    def estimate(self, sums: Floats) -> _Estimates:
        """Return T of every cell for each row of sums, shape (n_draws, n_pieces), as the pieces were given."""
        values = sums[:, self.order] * self.weights
        rate = values.sum(axis=1) / self.row_weights.sum()
        spread = rate * (1 - rate) if self.spread is None else np.full(len(rate), self.spread**2)
        total = self._likeness(self.clusters, values, rate, spread)
        of_documents = np.zeros(len(rate))
        if len(self.groupings) > 1:
            of_documents = self._likeness(self.documents, values, rate, spread)
        alike = np.stack([np.maximum(total - self.shared * of_documents, 0), of_documents])
        compared = [groups.compare(values, rate, spread) for groups in self.groupings]
        of_cell, of_rest = (1 + alike.T @ (siblings - 1) for _, siblings in self.sides)
        for groups, (*_, products) in zip(self.groupings[1:], compared[1:], strict=True):
            # documents may fail together inside the segments of a dimension, and not beyond them
            within = products @ self.is_alike / np.maximum(groups.alike_rows @ self.is_alike, 1)
            of_cell = np.fmax(of_cell, 1 + np.clip(within, 0, 1) * (groups.siblings - 1))
        least = spread[:, None] * (of_cell / self.sides[0][0] + of_rest / self.sides[1][0])
        # a variance that nothing gives is NaN, and so is the largest
        errors = np.sqrt(np.maximum.reduce([least, *(variances for _, variances, _ in compared)]))
        has_error = np.isfinite(errors) & (errors > 0)
        statistic = np.divide(compared[0][0], errors, out=np.zeros_like(errors), where=has_error)
        return _Estimates(statistic, errors, rate, alike)

    def _likeness(self, key: _Key, values: Floats, rate: Floats, spread: Floats) -> Floats:
        """Return the likeness of rows of one cluster or document in each draw."""
        is_many = key.pairs > 0
        sizes = key.sizes[is_many]
        with np.errstate(divide="ignore", invalid="ignore"):
            sums = np.add.reduceat(values[:, key.order], key.starts, axis=1)
            squares = (sums[:, is_many] - rate[:, None] * sizes) ** 2 / spread[:, None]
            found = ((squares - key.squares[is_many]) / key.pairs[is_many]).sum(axis=1) / max(sizes.sum(), 1.0)
        return np.where(np.isfinite(found), np.clip(found, 0, 1), 0.0)

    def draw(self, random: np.random.Generator, count_draws: int, rate: float, alike: Floats) -> Iterator[Floats]:
        """Yield blocks of drawn sums, each of shape (n_block, n_pieces), as the pieces were given."""
        block = max(1, _BLOCK // max(len(self.counts), *(groups.count for groups in self.groupings)))
        draw_sums = self._draw_share if self.spread is None else self._draw_scores
        for start in range(0, count_draws, block):
            count = min(block, count_draws - start)
            given = np.empty((count, len(self.counts)))
            given[:, self.order] = draw_sums(random, rate, alike, count)
            yield given

    def _draw_share(self, random: np.random.Generator, rate: float, alike: Floats, count: int) -> Floats:
        roots = np.sqrt(alike)
        likeness = min(float(roots.sum()) ** 2, 1.0)
        own = float(roots[0] / roots.sum()) if likeness else 1.0
        # the only row of a cluster fails at the common rate, whatever the likeness; that is most of a production log
        is_single = self.clusters.pairs[self.clusters.codes] == 0
        rates = np.full((count, len(self.counts)), own * rate)
        codes = np.unique(self.clusters.codes[~is_single], return_inverse=True)[1]
        rates[:, ~is_single] = own * _draw_rates(random, rate, likeness, count, codes)
        if own < 1:
            rates += (1 - own) * _draw_rates(random, rate, likeness, count, self.documents.codes)
        drawn = np.empty(rates.shape)
        drawn[:, is_single] = random.random((count, int(is_single.sum()))) < rates[:, is_single]
        # rounding must not push a rate past 1
        counts = self.counts[~is_single].astype(np.int64)
        drawn[:, ~is_single] = random.binomial(counts, np.minimum(rates[:, ~is_single], 1.0))
        return drawn

    def _draw_scores(self, random: np.random.Generator, _: float, alike: Floats, count: int) -> Floats:
        effects = np.zeros((count, len(self.counts)))
        for likeness, key in zip(alike.tolist(), (self.clusters, self.documents), strict=True):
            effects += np.sqrt(likeness) * random.standard_normal((count, len(key.sizes)))[:, key.codes]
        errors = random.standard_normal(effects.shape) * np.sqrt(max(1 - alike.sum(), 0.0) * self.counts)
        return np.asarray((self.spread or 0.0) * (self.counts * effects + errors))


def _draw_rates(random: np.random.Generator, rate: float, likeness: float, count: int, codes: Integers) -> Floats:
    """Return drawn rates of the clusters or documents of some pieces, shape (count, n_pieces)."""
    count_codes = int(codes.max()) + 1 if len(codes) else 0
    if likeness < _NO_LIKENESS or not 0 < rate < 1:
        rates = np.full((count, count_codes), rate)
    else:
        precision = 1 / min(likeness, 1 - _NO_LIKENESS) - 1
        rates = random.beta(rate * precision, (1 - rate) * precision, (count, count_codes))
    return np.asarray(rates[:, codes])
