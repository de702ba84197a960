"""Where is the system worse than elsewhere: cells against the rest of their metric, by whole cluster.

docs/weakness.md has the test and its errors: s_J leaves out whole clusters (CR3 of Bell and McCaffrey 2002; groups of
them, Kott 2001), and s_0 is that of a cell like all others. It is the denominator of a score test, and what a
permutation of whole clusters sees. In its D = 1 + rho (m - 1), m is the siblings that a row meets, itself included
(n / k with Kish's effective number of clusters k; n over the clusters where these leave in groups), and rho, in [0, 1],
is (D_all - 1) / (m_all - 1). Without s_0, a cell that by chance holds only equal scores would have a boundless t: with
failures at .80, cells of ten failures of ten are common, and nine runs of ten would flag one (docs/benchmarks.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers, ratio
from hcat.statistics.clustered import (
    DOMINANT_SHARE,
    degrees_of_rates,
    design_effects,
    effective_rows,
    mean_bounds,
    rate_bounds,
)
from hcat.statistics.intervals import normal_quantile, t_quantile, t_tail
from hcat.statistics.multiple_tests import benjamini_hochberg
from hcat.weakness.headline import HeadlineTests

SHARES: Final = ("share_failing", "share_failing_of_all")
#: Cells of the headline family at most, those with most clusters first: more cells make each test stricter.
HEADLINE_CELLS: Final = 30
#: Clusters that each of them and its rest need: its test draws new values for whole clusters, and knows how little four
#: of them say.
HEADLINE_CLUSTERS: Final = 4
#: Documents from which a cell speaks of others too: with six, .06 of builds without a weakness flag a headline cell.
HEADLINE_DOCUMENTS: Final = 7
#: Level of the headline family. The promise is that at most .05 of builds flag any cell although none is worse; the
#: draws know rate and likenesses by estimate only, which costs a point or two (docs/promises.md).
HEADLINE_LEVEL: Final = 0.035
#: With 1,999 draws the smallest P-value is .0005; the most extreme of 30 cells is flagged up to about .0015.
HEADLINE_DRAWS: Final = 1999
#: Documents that a cell and its rest need outside the headline: Student's t does not know how little seven of them say.
LEAST_DOCUMENTS: Final = 10

#: New interactions over those that the observed difference asks for.
SELECTION: Final = 1.5
#: Halvings of an interval that is searched for a root: below the last bit of a double.
_HALVINGS = 60
#: Newton's method doubles the digits with each step; more than enough.
_NEWTON_STEPS = 100
#: Relative differences below it are rounding.
_NEGLIGIBLE = 1e-12


class WeaknessSettings(NamedTuple):
    """What is declared before the data are seen."""

    #: Of the intervals and of the one-sided bounds.
    confidence: float
    #: Clusters that a cell and its rest need for a test.
    minimum_clusters: int
    #: Average share of false flags among all cells flagged as weak but those of the headline.
    error_rate: float = 0.05
    #: With which a difference as large as the minimum detectable one would be flagged.
    power: float = 0.8


@dataclass(frozen=True, slots=True)
class Cells:
    """Estimates of cells, each array of shape (n_cells,); NaN = none."""

    #: Rows with a value (of unequal weight: Kish's number of them), their jackknife groups, and Kish's number of these.
    count_scored: Floats
    jackknife_groups: Floats
    clusters_effective: Floats
    #: Kish's number of the groups with a failure, or of those with a pass, the smaller of both; not read for means.
    clusters_carrying: Floats
    #: Share of the rows that the largest group holds, in (0, 1].
    largest_share: Floats
    value: Floats
    #: By the jackknife.
    standard_error: Floats
    count_scored_rest: Floats
    jackknife_groups_rest: Floats
    rest_value: Floats
    #: value - rest_value, in the metric's own sign.
    difference: Floats
    difference_standard_error: Floats
    #: Clusters with a value in the cell; more than their groups where clusters leave in groups.
    clusters: Floats
    #: Of all rows of the cell's metric: standard deviation, design effect of the mean (at least 1), likeness of
    #: siblings rho in [0, 1], carrying groups (which show rho), and effective groups over groups, in (0, 1].
    whole_spread: Floats
    whole_design_effect: Floats
    whole_likeness: Floats
    whole_carrying: Floats
    whole_evenness: Floats
    #: Documents of the cell or of its rest, the fewer; effective ones where they widen the error, else NaN.
    documents: Floats = field(default_factory=lambda: np.array(np.nan))
    documents_effective: Floats = field(default_factory=lambda: np.array(np.nan))
    #: Rows with a value, whatever their weight, and pairs of cluster and document.
    count_rows: Floats = field(default_factory=lambda: np.array(np.nan))
    pairs: Floats = field(default_factory=lambda: np.array(np.nan))
    #: Standard error of the difference that the draws of the headline have; NaN elsewhere.
    headline_error: Floats = field(default_factory=lambda: np.array(np.nan))

    @property
    def siblings(self) -> Floats:
        """Rows of its own cluster that a row of the cell meets, itself included."""
        return count_siblings(self.count_scored, self.clusters, self.jackknife_groups, self.clusters_effective)

    @property
    def design_effect(self) -> Floats:
        """D of the cell: variance of its mean over that of as many independent rows."""
        return 1 + self.whole_likeness * (self.siblings - 1)

    @property
    def is_dominated(self) -> Flags:
        """Whether one cluster holds more than a fifth of the rows: the others say little about the cell."""
        return np.asarray(self.largest_share > DOMINANT_SHARE)

    @property
    def degrees_of_freedom(self) -> Floats:
        """min(k, k_rest) - 1: the side with fewer clusters, or documents, decides how well the variance is known."""
        # the rest is taken to be as even as all rows
        clusters = np.minimum(self.clusters_effective, self.jackknife_groups_rest * self.whole_evenness)
        return np.fmin(clusters, self.documents_effective) - 1

    @property
    def value_null_error(self) -> Floats:
        """Standard error of the value of a cell that is like all others."""
        return self.whole_spread * np.sqrt(ratio(self.design_effect, self.count_scored))

    @property
    def difference_null_error(self) -> Floats:
        """s_0 of the module: standard error of the difference of a cell that is like all others."""
        rest = ratio(self.whole_design_effect, self.count_scored_rest)
        return self.whole_spread * np.sqrt(ratio(self.design_effect, self.count_scored) + rest)

    @property
    def test_error(self) -> Floats:
        """The larger of the jackknife's and the null standard error of the difference; in the headline its own."""
        error = np.fmax(self.difference_standard_error, self.difference_null_error)
        return np.where(np.isnan(self.headline_error), error, self.headline_error)


class Judgement(NamedTuple):
    """What one family of tests says, each array of shape (n_cells,); NaN where a cell is not tested."""

    #: One-sided P, and Benjamini-Hochberg's q.
    p_value: Floats
    q_value: Floats
    #: One-sided lower bound of the difference.
    difference_bound: Floats
    is_weak: Flags
    #: P-value up to which the cell would be flagged, given what the other cells say.
    cut_off: Floats
    #: Standard errors of the difference that give this P-value.
    critical: Floats


def count_siblings(count: Floats, clusters: Floats, groups: Floats, effective: Floats) -> Floats:
    """Return m, the siblings that a row meets, itself included, at least 1."""
    return np.fmax(ratio(count, np.where(groups < clusters, clusters, effective)), 1)


def estimate_likeness(design_effect: Floats, siblings: Floats) -> Floats:
    """Return rho, the likeness of siblings, in [0, 1]; 0 where there are none."""
    return np.nan_to_num(np.clip(ratio(design_effect - 1, siblings - 1), 0, 1))


def with_whole(estimates: Mapping[str, Floats], clusters: Floats, spread: Floats, wholes: Integers) -> Cells:
    """Return cells that know what all rows of their metric look like."""
    count, groups = estimates["count_scored"], estimates["jackknife_groups"]
    effective = estimates["clusters_effective"]
    # chance alone makes it smaller than 1 in half of the samples without likeness
    design_effect = np.fmax(ratio(estimates["standard_error"] ** 2 * count, spread**2), 1)
    siblings = count_siblings(count, clusters, groups, effective)
    return Cells(
        **estimates,
        clusters=clusters,
        whole_spread=spread[wholes],
        whole_design_effect=design_effect[wholes],
        whole_likeness=estimate_likeness(design_effect, siblings)[wholes],
        whole_carrying=estimates["clusters_carrying"][wholes],
        whole_evenness=np.nan_to_num(ratio(effective, groups), nan=1.0)[wholes],
    )


def with_documents(cells: Cells, documents: Cells) -> Cells:
    """Return cells by cluster whose differences have the error of both keys, from the cells by document."""
    found, of_documents = cells.difference_standard_error, documents.difference_standard_error
    sides = np.fmin(documents.clusters_effective, documents.jackknife_groups_rest)
    nothing = np.full_like(sides, np.nan)
    joined, effective = _join_keys(cells, documents, (found**2, of_documents**2), (nothing, sides))
    return replace(
        cells,
        documents=np.fmin(documents.jackknife_groups, documents.jackknife_groups_rest),
        documents_effective=effective,
        difference_standard_error=np.sqrt(joined),
        headline_error=nothing,
    )


def _join_keys(
    cells: Cells, documents: Cells, variances: Sequence[Floats], degrees: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return variances A + B - AB from those by cluster A and by document B, and degrees, the fewer where wider."""
    own, of_documents = variances
    # AB is that of pairs of both: clusters of fewer siblings, by as much as they are more
    siblings = np.fmax(cells.siblings * ratio(cells.clusters, cells.pairs), 1)
    joined = own * (1 - (1 + cells.whole_likeness * (siblings - 1)) / cells.design_effect) + of_documents
    # of few documents a cell speaks alone
    is_wider = (documents.jackknife_groups >= HEADLINE_DOCUMENTS) & (joined > own)
    return np.where(is_wider, joined, own), np.where(is_wider, np.fmin(*degrees), degrees[0])


def judge_cells(cells: Cells, is_tested: Flags, margins: Floats, settings: WeaknessSettings) -> Judgement:
    """Return P, q and verdict of the tested cells, which together are the family."""
    count = int(is_tested.sum())
    error, degrees = cells.test_error, cells.degrees_of_freedom
    p_value, q_value, bound, critical = np.full((4, len(is_tested)), np.nan)
    p_value[is_tested] = t_tail(ratio(cells.difference, error)[is_tested], degrees[is_tested])
    q_value[is_tested] = benjamini_hochberg(p_value[is_tested])
    quantile = t_quantile(settings.confidence, degrees[is_tested])
    bound[is_tested] = cells.difference[is_tested] - quantile * error[is_tested]
    is_discovery = q_value <= settings.error_rate
    is_weak = is_discovery & (bound > margins)
    # one more discovery would have this rank, one of the discoveries their number
    ranks = np.maximum(int(is_discovery.sum()) + ~is_discovery, 1)
    cut_off = np.where(is_tested, settings.error_rate * ranks / max(count, 1), np.nan)
    critical[is_tested] = -t_quantile(cut_off[is_tested], degrees[is_tested])
    return Judgement(p_value, q_value, bound, is_weak, cut_off, critical)


def add_headline(
    judged: Judgement,
    tests: HeadlineTests,
    positions: Integers,
    cells: Cells,
    margins: Floats,
    settings: WeaknessSettings,
    level: float,
) -> Judgement:
    """Return the judgement of the other family with that of the headline cells."""
    merged = judged._replace(**{name: column.copy() for name, column in judged._asdict().items()})
    merged.p_value[positions] = tests.p_value
    # the step-down holds under any dependence
    merged.q_value[positions] = tests.adjusted_p_value
    bound = tests.bound(cells.difference[positions], tests.errors, settings.confidence)
    merged.difference_bound[positions] = bound
    merged.is_weak[positions] = (tests.adjusted_p_value <= level) & (bound > margins[positions])
    merged.cut_off[positions] = tests.cut_off
    merged.critical[positions] = tests.critical
    return merged


def can_be_tested(cells: Cells, minimum_clusters: int) -> Flags:
    """Return which cells and rests have clusters enough and a standard error above 0, shape (n_cells,)."""
    has_groups = np.minimum(cells.jackknife_groups, cells.jackknife_groups_rest) >= minimum_clusters
    has_error = (cells.degrees_of_freedom > 0) & (cells.test_error > 0)
    return np.asarray(has_groups & has_error & np.isfinite(cells.difference))


def detectable_difference(
    cells: Cells, is_share: Flags, margins: Floats, critical: Floats, settings: WeaknessSettings
) -> Floats:
    """Return the least true difference that would be flagged with the declared power; NaN where none would."""
    is_tested = np.isfinite(critical)
    found = np.full(len(critical), np.nan)
    degrees = cells.degrees_of_freedom[is_tested]
    power = t_quantile(settings.power, degrees)
    by_test = critical[is_tested] + power
    by_margin = t_quantile(settings.confidence, degrees) + power
    margin = margins[is_tested]

    def is_detected(differences: Floats, errors: Floats) -> Flags:
        return np.asarray((differences >= by_test * errors) & (differences >= margin + by_margin * errors))

    error = cells.test_error[is_tested]
    of_mean = np.maximum(by_test * error, margin + by_margin * error)
    rest = cells.rest_value[is_tested]
    variance_rest = (
        np.clip(rest * (1 - rest), 0, 1) * ratio(cells.whole_design_effect, cells.count_scored_rest)[is_tested]
    )
    factor = ratio(cells.design_effect, cells.count_scored)[is_tested]
    least_error = cells.difference_null_error[is_tested]

    def error_at(differences: Floats) -> Floats:
        rate = np.clip(rest + differences, 0, 1)
        return np.maximum(np.sqrt(factor * rate * (1 - rate) + variance_rest), least_error)

    low, high = np.zeros_like(rest), np.clip(1 - rest, 0, 1)
    # a cell in which everything fails: when not even that is detected, nothing is
    is_possible = is_detected(high, error_at(high))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_enough = is_detected(middle, error_at(middle))
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    of_share = np.where(is_possible, high, np.nan)
    found[is_tested] = np.where(is_share[is_tested], of_share, of_mean)
    return found


def interactions_needed(
    cells: Cells, margins: Floats, cut_off: Floats, settings: WeaknessSettings
) -> tuple[Floats, Floats]:
    """Return the interactions with which a cell would be flagged, and the new ones with which it would be confirmed."""
    power = normal_quantile(settings.power)
    is_worse = np.isfinite(cut_off) & (cut_off > 0) & (cells.difference > margins)
    flag, confirm = np.full((2, len(cut_off)), np.nan)
    count, error = cells.count_scored[is_worse], cells.test_error[is_worse]
    difference, excess = cells.difference[is_worse], (cells.difference - margins)[is_worse]
    by_test = (power - t_quantile(cut_off[is_worse], np.inf)) * error / difference
    by_margin = (power + normal_quantile(settings.confidence)) * error / excess
    by_retest = (power + normal_quantile(1 - settings.error_rate)) * error / difference
    flag[is_worse] = np.ceil(count * np.maximum(by_test, by_margin) ** 2)
    # a cell that was picked for being large is smaller than it looks, and the retest asks for clusters
    by_clusters = settings.minimum_clusters * count / np.fmax(cells.clusters[is_worse], 1)
    confirm[is_worse] = np.ceil(np.maximum(SELECTION * count * by_retest**2, by_clusters))
    return flag, confirm


def cell_share_bounds(cells: Cells, documents: Cells, confidence: float) -> tuple[Floats, Floats]:
    """Return the bounds of the interval of a share by both keys, in [0, 1] (:mod:`hcat.statistics.clustered`)."""
    variances, degrees = [], []
    for key in (cells, documents):
        design_effect = design_effects(key.siblings, key.whole_likeness, key.whole_carrying)
        rows = effective_rows(key.value, key.standard_error**2, key.count_scored, design_effect)
        variances.append(ratio(np.ones_like(rows), rows))
        # half is the jackknife's, known by the clusters of the cell; half is of a likeness that all rows show
        own = np.fmax(key.clusters_effective, 1)
        others = np.fmax(own, key.jackknife_groups_rest * key.whole_evenness)
        jackknife, alike = key.standard_error**2, key.value * (1 - key.value) * ratio(design_effect, key.count_scored)
        of_both = ratio(jackknife, np.sqrt(own - 1)) + ratio(alike, np.sqrt(others - 1))
        known = np.fmax(ratio(jackknife + alike, of_both) ** 2 + 1, own)
        degrees.append(degrees_of_rates(known, key.clusters_carrying, design_effect))
    variance, of_variance = _join_keys(cells, documents, variances, degrees)
    return rate_bounds(cells.value, ratio(np.ones_like(variance), variance), of_variance, confidence)


def cell_mean_bounds(cells: Cells, documents: Cells, confidence: float) -> tuple[Floats, Floats]:
    """Return the bounds of the interval of a mean by both keys; NaN with one group."""
    keys = (cells, documents)
    errors = [np.where(key.standard_error > 0, key.standard_error, key.value_null_error) for key in keys]
    degrees = [key.clusters_effective - 1 for key in keys]
    variance, of_variance = _join_keys(cells, documents, [error**2 for error in errors], degrees)
    return mean_bounds(cells.value, np.sqrt(variance), of_variance, confidence)


def shrink(values: Floats, errors: Floats, design: Floats) -> tuple[Floats, float]:
    """Return empirical-Bayes means of values around their fit, and tau^2, the variance beyond sampling error."""
    degrees = len(values) - int(np.linalg.matrix_rank(design))
    tau_squared = 0.0
    for _ in range(_NEWTON_STEPS):
        weights = 1 / (errors**2 + tau_squared)
        roots = np.sqrt(weights)
        coefficients = np.linalg.lstsq(design * roots[:, None], values * roots, rcond=None)[0]
        fitted: Floats = design @ coefficients
        residuals = values - fitted
        excess = float(weights @ residuals**2) - degrees
        if degrees <= 0 or excess <= _NEGLIGIBLE * degrees:
            break
        # the misfit falls and is convex in tau^2, with this slope at the best fit: Newton's steps never overshoot
        tau_squared += excess / float(weights**2 @ residuals**2)
    return fitted + tau_squared / (tau_squared + errors**2) * residuals, tau_squared
