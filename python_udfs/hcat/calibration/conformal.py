"""Prediction sets with finite-sample promises: stage 2 of the calibration with people, as docs/calibration.md has it.

Sources: Sudjianto et al. 2024, section 5.2; Vovk, Gammerman and Shafer 2005; Angelopoulos and Bates 2023; with clusters
Lee, Barber and Willett 2023 and Dunn, Wasserman and Ramdas 2022. Sets need exchangeable clusters; tests need clusters
that are independent and alike. y = 1 means that people accept.

- Compare S = 1 - P(Y = y | x) with q, never P with 1 - q: rounding would decide the ties that the promise counts.
- Labels of unequal inclusion probability weigh by 1 / pi, and the mass at infinity is that of the largest weight,
  because the weight of the new row is not known (Tibshirani et al. 2019).
- No set is empty: coverage only rises, and a set that holds nothing would tell nobody anything.
"""

import math
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers, Keys
from hcat.statistics.clusters import sum_by_cluster

STRATIFICATIONS: Final = ("marginal", "label_conditional")
SET_KINDS: Final = ("single", "several", "all")
SCOPES: Final = ("marginal", "label", "group", "label_and_group")

#: Name of the single group of a fit without groups, and of the one cell that holds every group without a cell.
ALL_GROUPS: Final = "all"
OTHER_GROUP: Final = "other"

# sums of 1 / n_k are rounded; a quantile or a budget may be missed by this much of one cluster
_TOLERANCE = 1e-9


class ConformalCell(NamedTuple):
    """The quantile of one stratum of the labels."""

    label: int | None  # None where classes share a quantile
    group: str  # or OTHER_GROUP, or ALL_GROUPS
    count_clusters: int
    count_rows: int
    quantile: float  # largest nonconformity that enters a set, in [0, 1]; infinite where insufficient
    status: str  # `conformalized` or `insufficient`
    arguments: tuple[Any, ...]  # of conformal_quantile

    def p_values(self, scores: Floats, without: Any = None) -> Floats:
        """Return the conformal p-value of each nonconformity, in (0, 1], among all clusters but one, shape (n,)."""
        known, _, clusters, weights = self.arguments
        order = np.argsort(known, kind="stable")
        order = order[clusters[order] != without]
        above = np.append(np.cumsum(_masses(clusters, weights, len(known)).rows[order][::-1])[::-1], 0.0)
        return np.asarray((above[np.searchsorted(known[order], scores)] + 1) / (above[0] + 1))


class PredictionSets(NamedTuple):
    """Sets of labels, one per row."""

    includes: Flags  # (n, n_labels): is the label in the set?
    kinds: Keys  # (n,), of SET_KINDS; with two labels `all` is the set of both, and `several` never occurs


class Conformalizer(NamedTuple):
    """Fitted quantiles."""

    groups: tuple[str, ...]  # those with cells of their own, then OTHER_GROUP; or only ALL_GROUPS
    cells: tuple[ConformalCell, ...]  # by group in the order of `groups`, then by label

    def predict(
        self, probabilities: Floats, groups: Keys | None = None, clusters: Keys | None = None
    ) -> PredictionSets:
        """Return the set of every row: each label y with 1 - P(Y = y | x) <= q, else the one of largest p-value."""
        scores = nonconformity(probabilities)
        index = _group_index(self.groups, groups, len(scores))
        by_group = np.array([cell.quantile for cell in self.cells]).reshape(len(self.groups), -1)
        quantiles, count = by_group[index], by_group.shape[1]
        if clusters is not None:
            left_out = [leave_out_quantiles(*cell.arguments) for cell in self.cells]
            for row, (key, group) in enumerate(zip(clusters.tolist(), index.tolist(), strict=True)):
                for column in range(count):
                    quantiles[row, column] = left_out[group * count + column].get(key, by_group[group, column])
        # one cell without a quantile and the group's sets hold every label: the set that excludes only what could be
        # tested would read as certainty about the class that could not
        quantiles[np.isinf(quantiles).any(axis=1)] = np.inf
        includes = scores <= quantiles
        for row in np.flatnonzero(~includes.any(axis=1)).tolist():
            cells = self.cells[index[row] * count :][:count] * (scores.shape[1] // count)
            own = None if clusters is None else clusters[row]
            likely = [cell.p_values(score, own) for cell, score in zip(cells, scores[row, :, None], strict=True)]
            includes[row, np.argmax(likely)] = True
        sizes = includes.sum(axis=1)
        return PredictionSets(
            includes, np.array(SET_KINDS)[np.where(sizes == scores.shape[1], 2, np.minimum(sizes, 2) - 1)]
        )


class CoverageCheck(NamedTuple):
    """How many new clusters sets cover, beside the law of that number; no P-value without new clusters or quantile."""

    count_covered: int
    count_test: int
    expected_coverage: float | None = None  # k / (n + 1), in (0, 1)
    p_value: float | None = None  # probability of so few or fewer covered


def conformal_rank(count: int, alpha: float) -> int:
    """Return k = ceil((n + 1)(1 - alpha)), 1 to n + 1; k = n + 1 stands for an infinite quantile."""
    return math.ceil((count + 1) * (1 - exact_alpha(alpha)))


def clusters_needed(alpha: float) -> int:
    """Return ceil(1 / alpha) - 1, the fewest clusters with a finite quantile: 9 at alpha = .1, 19 at .05, 99 at .01."""
    return math.ceil(1 / exact_alpha(alpha)) - 1


def nonconformity(probabilities: Floats) -> Floats:
    """Return S = 1 - P(Y = y | x) of every label, shape (n, n_labels), in [0, 1]."""
    values = np.asarray(probabilities, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"probabilities must lie in [0, 1], got {values[~((values >= 0) & (values <= 1))][0]}")
    # |y - f(x)| of the text: the score of class 0 is f itself, not 1 - (1 - f)
    return np.column_stack([values, 1 - values]) if values.ndim == 1 else 1 - values


class _Masses(NamedTuple):
    """Mass of every row beside a mass of 1 at infinity: 1 / n_k, less where its weight is not the largest."""

    rows: Floats
    names: Keys
    codes: Integers
    by_cluster: Floats

    @property
    def total(self) -> float:
        return math.fsum(self.by_cluster.tolist())


def _masses(clusters: Keys | None, weights: Floats | None, count: int) -> _Masses:
    keys = np.arange(count) if clusters is None else clusters
    names, codes, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    if weights is None:
        return _Masses(1.0 / sizes[codes], names, codes, np.ones(len(names)))
    rows = weights / sizes[codes]
    return _Masses(rows, names, codes, sum_by_cluster(rows, codes, len(names)))


def conformal_quantile(
    scores: Floats, alpha: float, clusters: Keys | None = None, weights: Floats | None = None
) -> float:
    """Return the conformal quantile of scores with siblings, by weights in (0, 1]; infinite with few clusters."""
    target = 1 - exact_alpha(alpha)
    masses = _masses(clusters, weights, len(scores))
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(masses.rows[order]) >= (masses.total + 1) * float(target) - _TOLERANCE
    return float(scores[order][np.argmax(reached)]) if reached.any() else math.inf


def leave_out_quantiles(
    scores: Floats, alpha: float, clusters: Keys | None = None, weights: Floats | None = None
) -> dict[Any, float]:
    """Return what :func:`conformal_quantile` gives without each cluster, by cluster."""
    share = float(1 - exact_alpha(alpha))
    masses = _masses(clusters, weights, len(scores))
    if not len(scores):
        return {}
    order = np.argsort(scores, kind="stable")
    ordered, reached = scores[order], np.cumsum(masses.rows[order])
    places = np.argsort(order, kind="stable")
    by_cluster = np.split(
        places[np.argsort(masses.codes, kind="stable")], np.cumsum(np.bincount(masses.codes))[:-1].tolist()
    )
    total, found = masses.total, {}
    for name, mass, rows in zip(masses.names.tolist(), masses.by_cluster.tolist(), by_cluster, strict=True):
        target = (total - mass + 1) * share - _TOLERANCE
        own = np.sort(rows)
        first, last = np.searchsorted(reached, [target, target + mass])
        window = np.arange(first, min(int(last) + 1, len(ordered)))
        removed = np.concatenate([[0.0], np.cumsum(masses.rows[order[own]])])[np.searchsorted(own, window, "right")]
        is_reached = reached[window] - removed >= target
        found[name] = float(ordered[window[np.argmax(is_reached)]]) if is_reached.any() else math.inf
    return found


def groups_with_cells(groups: Keys, alpha: float, clusters: Keys, least_class_share: float = 1.0) -> tuple[str, ...]:
    """Return the groups that get cells of their own, sorted; every other group is merged into one `other` cell."""
    needed = math.ceil(clusters_needed(alpha) / least_class_share - _TOLERANCE)
    names = [name for name in np.unique(groups).tolist() if name != OTHER_GROUP]
    return tuple(name for name in names if len(np.unique(clusters[groups == name])) >= needed)


def fit_conformal(
    probabilities: Floats,
    labels: Integers,
    alpha: float,
    *,
    stratification: str = "label_conditional",
    groups: Keys | None = None,
    clusters: Keys | None = None,
    least_class_share: float = 1.0,
    weights: Floats | None = None,
) -> Conformalizer:
    """Return the conformal quantiles of labels whose probabilities do not depend on them."""
    scores = nonconformity(probabilities)
    count, count_labels = scores.shape
    keys = np.arange(count) if clusters is None else clusters
    observed = scores[np.arange(count), labels]
    names: tuple[str, ...] = (ALL_GROUPS,)
    if groups is not None:
        names = (*groups_with_cells(groups, alpha, keys, least_class_share), OTHER_GROUP)
    index = _group_index(names, groups, count)
    cells = []
    for position, name in enumerate(names):
        for label in range(count_labels) if stratification == "label_conditional" else (None,):
            rows = index == position if label is None else (index == position) & (labels == label)
            arguments = (observed[rows], alpha, keys[rows], None if weights is None else weights[rows])
            quantile = conformal_quantile(*arguments)
            status = "insufficient" if math.isinf(quantile) else "conformalized"
            counts = (len(np.unique(keys[rows])), int(rows.sum()))
            cells.append(ConformalCell(label, name, *counts, quantile, status, arguments))
    return Conformalizer(names, tuple(cells))


def measure_coverage(sets: PredictionSets, labels: Integers, groups: Keys, clusters: Keys) -> list[dict[str, Any]]:
    """Return the coverage over all rows, per true label, per group, and per label and group, with the kinds of sets."""
    count, count_labels = sets.includes.shape
    covered = sets.includes[np.arange(count), labels]
    found = []
    for name in (None, *np.unique(groups).tolist()):
        for label in (None, *range(count_labels)):
            rows = np.ones(count, dtype=np.bool_) if label is None else labels == label
            if name is not None:
                rows = rows & (groups == name)
            if rows.any():
                hits, total = _covered_clusters(covered[rows], clusters[rows])
                row = {
                    "scope": SCOPES[2 * (name is not None) + (label is not None)],
                    "stratum": name,
                    "label": label,
                    "count_labels": int(rows.sum()),
                    "count_clusters": total,
                    "count_covered": int(covered[rows].sum()),
                    # what the promise is about: the mean over clusters of the share of covered rows
                    "coverage": hits / total,
                }
                found.append(row | {f"share_{kind}": float(np.mean(sets.kinds[rows] == kind)) for kind in SET_KINDS})
    return sorted(found, key=lambda row: SCOPES.index(row["scope"]))


def check_coverage(
    count_covered: int, count_test: int, count_calibration: int, alpha: float, *, has_siblings: bool = False
) -> CoverageCheck:
    """Return the one-sided test that new clusters are covered as promised, against its exact law."""
    from scipy.stats import betabinom

    rank = conformal_rank(count_calibration, alpha)
    if rank > count_calibration or count_test == 0:
        return CoverageCheck(count_covered, count_test)
    if has_siblings:
        rank = max(1, math.floor((count_calibration + 1) * (1 - exact_alpha(alpha))))
    law = betabinom(count_test, rank, count_calibration + 1 - rank)
    expected = rank / (count_calibration + 1)
    return CoverageCheck(count_covered, count_test, expected, min(1.0, float(law.cdf(count_covered))))


def check_sets(
    conformalizer: Conformalizer, alpha: float, probabilities: Floats, labels: Integers, groups: Keys, clusters: Keys
) -> tuple[CoverageCheck, ...]:
    """Return a check of every promise of a fit on new labelled rows, in the order of its cells."""
    sets = conformalizer.predict(probabilities, groups, clusters)
    index = _group_index(conformalizer.groups, groups, len(labels))
    covered = sets.includes[np.arange(len(labels)), labels]
    checks = []
    for cell in conformalizer.cells:
        rows = index == conformalizer.groups.index(cell.group)
        if cell.label is not None:
            rows = rows & (labels == cell.label)
        hits, total = _covered_clusters(covered[rows], clusters[rows])
        has_siblings = cell.count_rows > cell.count_clusters or int(rows.sum()) > total
        # part of a cluster counts as a whole one: no failure by rounding
        hits = math.ceil(hits - _TOLERANCE)
        checks.append(check_coverage(hits, total, cell.count_clusters, alpha, has_siblings=has_siblings))
    return tuple(checks)


def exact_alpha(alpha: float) -> Fraction:
    """Return alpha as the fraction that was meant: .1 and 1 - .9 are both one tenth."""
    exact = Fraction(float(alpha)).limit_denominator(10**9) if 0 < alpha < 1 else Fraction(0)
    if not 0 < exact < 1:
        raise ValueError(f"alpha must lie in (0, 1), got {alpha}")
    return exact


def _covered_clusters(is_covered: Flags, clusters: Keys) -> tuple[float, int]:
    """Return the sum over clusters of the share of covered rows, and the number of clusters."""
    _, inverse, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    return math.fsum((1.0 / sizes[inverse])[is_covered].tolist()), len(sizes)


def _group_index(names: tuple[str, ...], groups: Keys | None, count: int) -> Integers:
    """Return the position of each row's group among names, the last one for a group that has none."""
    if names == (ALL_GROUPS,) or groups is None:
        return np.zeros(count, dtype=np.int64)
    positions = {name: position for position, name in enumerate(names)}
    return np.array([positions.get(key, len(names) - 1) for key in groups.tolist()], dtype=np.int64)
