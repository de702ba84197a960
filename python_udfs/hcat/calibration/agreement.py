"""Agreement of raters, a report on each rater, and one label per unit from several ratings.

Ratings are an array of shape (n_units, n_raters). Its values are points of a scale; its gaps are NaN. Saeed and Barlow
(NatWest Group) aggregate the ratings of several labellers. Whether the labellers agree comes first. Agreement says
whether people mean the same thing by a scale point; it does not say whether they are right.

An estimate that cannot be made has a status and no number. An agreement that is high because nothing varies is not
shown as one. Intervals resample whole clusters, because siblings (variants of a query) are rated alike. A figure of
one person's two passes is intra-rater: it has its own names and is never a claim of agreement.

References
----------
Cohen (1960), Educational and Psychological Measurement 20, 37-46. Cohen (1968), Psychological Bulletin 70, 213-220.
Fleiss (1971), Psychological Bulletin 76, 378-382. Krippendorff (2011), Computing Krippendorff's alpha-reliability.
Dawid and Skene (1979), Applied Statistics 28, 20-28. Wilson (1927), JASA 22, 209-212. Efron (1979), Annals of
Statistics 7, 1-26. Fleiss and Cohen (1973), Educational and Psychological Measurement 33, 613-619. Kish (1965), Survey
Sampling. Dempster, Laird and Rubin (1977), JRSS B 39, 1-38.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Floats, Integers
from hcat.statistics.clustered import rate_interval
from hcat.statistics.clusters import draw_clusters, sum_by_cluster
from hcat.statistics.intervals import kish_effective_n

Statistic = Literal[
    "percent_agreement",
    "cohen_kappa",
    "cohen_kappa_quadratic",
    "fleiss_kappa",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
    "intra_rater_percent_agreement",
    "intra_rater_cohen_kappa",
    "intra_rater_cohen_kappa_quadratic",
]
AgreementStatus = Literal[
    "estimated", "no_pairable_values", "no_variation", "more_than_two_raters", "unequal_ratings_per_unit"
]
IntervalStatus = Literal["estimated", "no_estimate", "too_few_clusters", "too_few_usable_draws", "no_spread"]
RaterStatus = Literal["estimated", "fewer_than_three_raters", "too_few_shared_units"]
LabelStatus = Literal["labelled", "tie", "no_ratings", "insufficient", "no_variation", "not_converged"]
ModelStatus = Literal["estimated", "insufficient", "no_variation", "not_converged"]
Level = Literal["nominal", "ordinal", "interval"]
Weighting = Literal["unweighted", "quadratic"]

COUNT_DRAWS = 1_000
CONFIDENCE = 0.95
SEED = 20260101

#: Below this the percentile interval over clusters is too narrow to show; the same minimum as for a weakness cell. A
#: nominal 95 % covered 88 % at 10 clusters, 92 % at 25 and 93 % at 40 in simulation: read it with the clusters beside
#: it.
MINIMUM_CLUSTERS = 10
#: Draws without variation have no value; when more than a tenth lack one, the others are a selected lot.
MINIMUM_SHARE_USABLE_DRAWS = 0.9
MINIMUM_SHARED_UNITS = 20
MINIMUM_RATERS = 3
MINIMUM_RATINGS_PER_UNIT = 2.0
#: A scale has few points (a slider of 0 to 100 is the largest in use); more distinct values are no ratings.
MAXIMUM_SCALE_POINTS = 101

#: Weights of draws held at once.
_CELLS = 2_000_000
#: Two posteriors nearer than this are a tie: the stop of the iteration leaves that much noise.
_TIE = 1e-6
#: Draws that differ by less differ by rounding.
_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class Agreement:
    """An agreement figure with its interval.

    Attributes
    ----------
    statistic : str
        One of :data:`Statistic`.
    status : str
        One of :data:`AgreementStatus`; `value` is None unless it is `estimated`.
    value : float or None
        At most 1. Percent agreement lies in [0, 1]; the chance-corrected figures are 0 at chance and may be negative.
    interval_status : str
        One of :data:`IntervalStatus`; `low` and `high` are None unless it is `estimated`.
    low, high : float or None
        Percentile bootstrap interval over clusters. Full agreement leaves all draws at 1: that is the status
        `no_spread`, and no interval of width 0.
    count_units, count_ratings, count_clusters : int
        What the figure rests on: units with at least two ratings, their ratings, and their clusters.
    count_draws_usable : int
        Bootstrap draws in which the statistic exists.
    """

    statistic: Statistic
    status: AgreementStatus
    value: float | None
    interval_status: IntervalStatus
    low: float | None
    high: float | None
    count_units: int
    count_ratings: int
    count_clusters: int
    count_draws_usable: int


@dataclass(frozen=True, slots=True)
class IntraRaterAgreement:
    """How well one rater's second pass repeats the first; not evidence that two people agree.

    Attributes
    ----------
    percent_agreement, cohen_kappa, cohen_kappa_quadratic : Agreement
        Their statistics are named `intra_rater_...`, so that no table mixes them with figures between raters.
    """

    percent_agreement: Agreement
    cohen_kappa: Agreement
    cohen_kappa_quadratic: Agreement


@dataclass(frozen=True, slots=True)
class RaterReport:
    """One rater against the majority of the others; see :func:`rater_reports` for the rules.

    Attributes
    ----------
    rater : int
        Column of the ratings.
    status : str
        One of :data:`RaterStatus`; the figures below the counts are None unless it is `estimated`.
    count_ratings : int
        Ratings given by the rater.
    count_shared_units : int
        Units rated by the rater on which at least two others have a majority.
    count_effective : float
        Kish effective number of shared units, (sum n_s)^2 / sum n_s^2 over clusters s: siblings count as one.
    agreement, low, high : float or None
        Share of shared units on which the rater gives the majority's value, with its interval by cluster.
    kappa : Agreement or None
        Cohen's unweighted kappa of the rater with that majority; it may have a status of its own.
    agreement_of_others, agreement_of_others_everywhere : float or None
        Percent agreement of the other raters with each other, on the units that this rater rated and on all units.
    disagrees_with_everyone : bool or None
        True when `high` lies below both.
    """

    rater: int
    status: RaterStatus
    count_ratings: int
    count_shared_units: int
    count_effective: float
    agreement: float | None
    low: float | None
    high: float | None
    kappa: Agreement | None
    agreement_of_others: float | None
    agreement_of_others_everywhere: float | None
    disagrees_with_everyone: bool | None


@dataclass(frozen=True, slots=True)
class Adjudication:
    """One label per unit.

    Attributes
    ----------
    labels : ndarray of float, shape (n_units,)
        NaN unless the status is `labelled`.
    statuses : tuple of str, length n_units
        Of :data:`LabelStatus`.
    count_ratings : ndarray of int, shape (n_units,)
        Ratings of each unit: a label may rest on one.
    """

    labels: Floats
    statuses: tuple[LabelStatus, ...]
    count_ratings: Integers


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """A fit of the model of Dawid and Skene (1979).

    Attributes
    ----------
    status : str
        One of :data:`ModelStatus`; posterior, class_prior and confusion are None unless it is `estimated`.
    categories : ndarray, shape (n_categories,)
        The distinct ratings in ascending order, which are the classes.
    posterior : ndarray, shape (n_units, n_categories), or None
        Probability of each class given the ratings; NaN for a unit without ratings.
    class_prior : ndarray, shape (n_categories,), or None
        Share of each class.
    confusion : ndarray, shape (n_raters, n_categories, n_categories), or None
        [r, k, l] = probability that rater r gives category l when the class is k; NaN for a rater without ratings.
    log_likelihood, log_posterior : ndarray, shape (n_iterations,)
        After each iteration. The second adds the log density of the prior up to a constant; it is what the iteration
        climbs and never falls. The first may give way a little where the prior pulls.
    count_ratings : ndarray of int, shape (n_raters,)
        Ratings behind each confusion matrix.
    adjudication : Adjudication
        Most probable class of each unit; a `tie` when the two best are equal. Without a fit every unit that has
        ratings carries the status of the model.
    """

    status: ModelStatus
    categories: Floats
    posterior: Floats | None
    class_prior: Floats | None
    confusion: Floats | None
    log_likelihood: Floats
    log_posterior: Floats
    count_ratings: Integers
    adjudication: Adjudication


@dataclass(frozen=True, slots=True)
class _Units:
    """Units of at least two ratings: counts by category, shape (n, n_categories), and codes of their clusters."""

    categories: Floats
    counts: Floats
    clusters: Integers
    count_clusters: int

    def by_cluster(self, values: Floats) -> Floats:
        """Return sums of the rows of `values` by cluster, shape (n_clusters, n_columns)."""
        return sum_by_cluster(values, self.clusters, self.count_clusters)


def percent_agreement(
    ratings: Floats,
    clusters: Integers,
    count_draws: int = COUNT_DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Agreement:
    """Return the share of agreeing pairs of ratings of a unit, in [0, 1]; not corrected for chance."""
    _check_bootstrap(count_draws, confidence)
    units = _pairable(ratings, clusters)
    if units is None:
        return _without_number("percent_agreement", "no_pairable_values")
    totals = units.by_cluster(np.column_stack(_agreeing_and_pairable(units.counts)))

    def value(weights: Floats) -> Floats:
        sums: Floats = weights @ totals
        return sums[:, 0] / sums[:, 1]

    return _estimate("percent_agreement", value, units, count_draws, confidence, seed)


def cohen_kappa(
    ratings: Floats,
    clusters: Integers,
    weighting: Weighting = "unweighted",
    count_draws: int = COUNT_DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Agreement:
    """Return Cohen's kappa of two raters on the units that both rated, in [-1, 1]."""
    if weighting not in get_args(Weighting):
        raise ValueError(f"weighting must be one of {', '.join(get_args(Weighting))}, got {weighting}")
    _check_bootstrap(count_draws, confidence)
    statistic: Statistic = "cohen_kappa" if weighting == "unweighted" else "cohen_kappa_quadratic"
    ratings, clusters = _checked(ratings, clusters)
    active = ratings[:, ~np.isnan(ratings).all(axis=0)]
    if active.shape[1] > 2:
        return _without_number(statistic, "more_than_two_raters")
    units = _pairable(active, clusters)
    if units is None:
        return _without_number(statistic, "no_pairable_values")
    pairs = active[~np.isnan(active).any(axis=1)]
    first, second = (np.equal.outer(pairs[:, rater], units.categories).astype(np.float64) for rater in (0, 1))
    distances = np.subtract.outer(units.categories, units.categories) ** 2
    if weighting == "unweighted":
        distances = (distances > 0).astype(np.float64)
    rows, columns = units.by_cluster(first), units.by_cluster(second)
    observed = units.by_cluster(((first @ distances) * second).sum(axis=1, keepdims=True))[:, 0]

    def value(weights: Floats) -> Floats:
        drawn_rows = weights @ rows
        expected = ((drawn_rows @ distances) * (weights @ columns)).sum(axis=1) / drawn_rows.sum(axis=1)
        # a sum of exact zeros when both raters gave one value only
        return _one_minus_ratio(weights @ observed, expected, expected > 0)

    return _estimate(statistic, value, units, count_draws, confidence, seed)


def fleiss_kappa(
    ratings: Floats,
    clusters: Integers,
    count_draws: int = COUNT_DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Agreement:
    """Return Fleiss' kappa of units that all have the same number m >= 2 of ratings, by whichever raters."""
    _check_bootstrap(count_draws, confidence)
    ratings, clusters = _checked(ratings, clusters)
    units = _pairable(ratings, clusters)
    count_ratings = (~np.isnan(ratings)).sum(axis=1)
    if units is None:
        return _without_number("fleiss_kappa", "no_pairable_values")
    if len(np.unique(count_ratings[count_ratings > 0])) > 1:
        return _without_number("fleiss_kappa", "unequal_ratings_per_unit")
    agreeing = units.by_cluster(_agreeing_and_pairable(units.counts)[0][:, None])[:, 0]
    counts = units.by_cluster(units.counts)

    def value(weights: Floats) -> Floats:
        drawn = weights @ counts
        total = drawn.sum(axis=1)
        chance = ((drawn / total[:, None]) ** 2).sum(axis=1)
        return _one_minus_ratio(1 - (weights @ agreeing) / total, 1 - chance, _varies(drawn))

    return _estimate("fleiss_kappa", value, units, count_draws, confidence, seed)


def krippendorff_alpha(
    ratings: Floats,
    clusters: Integers,
    level: Level = "nominal",
    count_draws: int = COUNT_DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Agreement:
    """Return Krippendorff's alpha; any number of raters, gaps allowed."""
    if level not in get_args(Level):
        raise ValueError(f"level must be one of {', '.join(get_args(Level))}, got {level}")
    _check_bootstrap(count_draws, confidence)
    statistics: dict[Level, Statistic] = {
        "nominal": "krippendorff_alpha_nominal",
        "ordinal": "krippendorff_alpha_ordinal",
        "interval": "krippendorff_alpha_interval",
    }
    units = _pairable(ratings, clusters)
    if units is None:
        return _without_number(statistics[level], "no_pairable_values")
    counts = units.by_cluster(units.counts)
    lower, upper = np.triu_indices(len(units.categories), 1)
    shares = units.counts / (units.counts.sum(axis=1, keepdims=True) - 1)
    pairs = [
        sum_by_cluster(units.counts[:, first] * shares[:, second], units.clusters, units.count_clusters)
        for first, second in zip(lower, upper, strict=True)
    ]
    coincidences = np.array(pairs).reshape(len(lower), units.count_clusters).T

    def value(weights: Floats) -> Floats:
        drawn = weights @ counts
        total = drawn.sum(axis=1)
        if level == "nominal":
            distances = np.ones((1, len(lower)))
            expected = total**2 - (drawn**2).sum(axis=1)
        else:
            positions = np.cumsum(drawn, axis=1) - drawn / 2 if level == "ordinal" else units.categories[None, :]
            distances = (positions[:, lower] - positions[:, upper]) ** 2
            center = (drawn * positions).sum(axis=1) / total
            expected = 2 * total * (drawn * (positions - center[:, None]) ** 2).sum(axis=1)
        observed = 2 * ((weights @ coincidences) * distances).sum(axis=1)
        return _one_minus_ratio((total - 1) * observed, expected, _varies(drawn))

    return _estimate(statistics[level], value, units, count_draws, confidence, seed)


def agreement_statistics(
    ratings: Floats,
    clusters: Integers,
    count_draws: int = COUNT_DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> tuple[Agreement, ...]:
    """Return every statistic between raters once, in the order of :data:`Statistic`, each with its own status."""
    bootstrap = (count_draws, confidence, seed)
    return (
        percent_agreement(ratings, clusters, *bootstrap),
        cohen_kappa(ratings, clusters, "unweighted", *bootstrap),
        cohen_kappa(ratings, clusters, "quadratic", *bootstrap),
        fleiss_kappa(ratings, clusters, *bootstrap),
        krippendorff_alpha(ratings, clusters, "nominal", *bootstrap),
        krippendorff_alpha(ratings, clusters, "ordinal", *bootstrap),
        krippendorff_alpha(ratings, clusters, "interval", *bootstrap),
    )


def intra_rater_agreement(
    first_pass: Floats,
    second_pass: Floats,
    clusters: Integers,
    count_draws: int = COUNT_DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> IntraRaterAgreement:
    """Return how well one rater's second pass over the same units repeats the first (test and retest)."""
    first_pass, second_pass = np.asarray(first_pass, dtype=np.float64), np.asarray(second_pass, dtype=np.float64)
    if first_pass.ndim != 1 or first_pass.shape != second_pass.shape:
        raise ValueError(f"both passes must have one shape (n_units,), got {first_pass.shape} and {second_pass.shape}")
    passes = np.column_stack([first_pass, second_pass])
    bootstrap = (count_draws, confidence, seed)
    return IntraRaterAgreement(
        replace(percent_agreement(passes, clusters, *bootstrap), statistic="intra_rater_percent_agreement"),
        replace(cohen_kappa(passes, clusters, "unweighted", *bootstrap), statistic="intra_rater_cohen_kappa"),
        replace(cohen_kappa(passes, clusters, "quadratic", *bootstrap), statistic="intra_rater_cohen_kappa_quadratic"),
    )


def rater_reports(
    ratings: Floats,
    clusters: Integers,
    count_draws: int = COUNT_DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> tuple[RaterReport, ...]:
    """Return one report per rater, in the order of the columns."""
    ratings, clusters = _checked(ratings, clusters)
    _check_bootstrap(count_draws, confidence)
    categories, counts = _value_counts(ratings)
    count_raters = int((~np.isnan(ratings)).any(axis=0).sum())
    reports = []
    for rater in range(ratings.shape[1]):
        own = ratings[:, rater]
        is_rated = ~np.isnan(own)
        others = counts - (own[:, None] == categories)
        labels, is_tie = _most_frequent(categories, others)
        has_others = others.sum(axis=1) >= 2
        is_shared = is_rated & has_others & ~is_tie
        count_shared = int(is_shared.sum())
        by_cluster = np.unique(clusters[is_shared], return_counts=True)[1].astype(np.float64)
        count_effective = kish_effective_n(by_cluster) if count_shared else 0.0
        basis = (int(is_rated.sum()), count_shared, count_effective)
        if count_raters < MINIMUM_RATERS or count_shared < MINIMUM_SHARED_UNITS:
            status: RaterStatus = "fewer_than_three_raters" if count_raters < MINIMUM_RATERS else "too_few_shared_units"
            reports.append(RaterReport(rater, status, *basis, None, None, None, None, None, None, None))
            continue
        met = rate_interval(own[is_shared] == labels[is_shared], clusters[is_shared], confidence=confidence)
        agreeing, pairable = _agreeing_and_pairable(others[has_others])
        same = is_rated[has_others]
        of_others = float(agreeing[same].sum() / pairable[same].sum())
        everywhere = float(agreeing.sum() / pairable.sum())
        pair = np.column_stack([own, labels])[is_shared]
        kappa = cohen_kappa(pair, clusters[is_shared], "unweighted", count_draws, confidence, seed)
        disagrees = met.high < min(of_others, everywhere)
        interval = (met.estimate, met.low, met.high)
        reports.append(RaterReport(rater, "estimated", *basis, *interval, kappa, of_others, everywhere, disagrees))
    return tuple(reports)


def dawid_skene(
    ratings: Floats, pseudo_count: float = 0.5, maximum_iterations: int = 2_000, tolerance: float = 1e-8
) -> DawidSkene:
    """Return classes of units and confusion matrices of raters by maximum a posteriori EM."""
    if not pseudo_count > 0:
        raise ValueError(f"pseudo_count must be greater than 0, got {pseudo_count}")
    if maximum_iterations < 1 or not tolerance > 0:
        raise ValueError(
            f"maximum_iterations must be at least 1 and tolerance greater than 0, got {maximum_iterations}, {tolerance}"
        )
    ratings = _checked_ratings(ratings)
    categories, counts = _value_counts(ratings)
    by_unit, by_rater = (~np.isnan(ratings)).sum(axis=1), (~np.isnan(ratings)).sum(axis=0)
    is_rated, is_active = by_unit > 0, by_rater > 0

    def without_fit(status: Literal["insufficient", "no_variation", "not_converged"], trace: Floats) -> DawidSkene:
        nothing = np.full(len(ratings), np.nan)
        statuses: tuple[LabelStatus, ...] = tuple(status if rated else "no_ratings" for rated in is_rated)
        adjudication = Adjudication(nothing, statuses, by_unit)
        return DawidSkene(status, categories, None, None, None, trace[:, 0], trace[:, 1], by_rater, adjudication)

    no_trace = np.empty((0, 2))
    if is_active.sum() < MINIMUM_RATERS or by_unit[is_rated].mean() < MINIMUM_RATINGS_PER_UNIT:
        return without_fit("insufficient", no_trace)
    if len(categories) < 2:
        return without_fit("no_variation", no_trace)

    # one entry per rating, in the order of units
    kept = ratings[np.ix_(is_rated, is_active)]
    units, raters = np.nonzero(~np.isnan(kept))
    given = np.searchsorted(categories, kept[units, raters])
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    shape = (int(is_active.sum()), len(categories))
    cells = raters * len(categories) + given
    posterior = counts[is_rated] / by_unit[is_rated, None]
    trace: list[tuple[float, float]] = []
    for _ in range(maximum_iterations):
        class_prior = posterior.sum(axis=0) + pseudo_count
        class_prior /= class_prior.sum()
        by_class = [np.bincount(cells, weights, shape[0] * shape[1]).reshape(shape) for weights in posterior[units].T]
        confusion = np.stack(by_class, axis=1) + pseudo_count
        confusion /= confusion.sum(axis=2, keepdims=True)
        joint = np.log(class_prior) + np.add.reduceat(np.log(confusion)[raters, :, given], starts, axis=0)
        evidence = np.logaddexp.reduce(joint, axis=1)
        log_prior = pseudo_count * (np.log(class_prior).sum() + np.log(confusion).sum())
        trace.append((float(evidence.sum()), float(evidence.sum() + log_prior)))
        previous, posterior = posterior, np.exp(joint - evidence[:, None])
        if np.abs(posterior - previous).max() <= tolerance:
            break
    else:
        return without_fit("not_converged", np.array(trace))

    every_posterior = np.full((len(ratings), len(categories)), np.nan)
    every_posterior[is_rated] = posterior
    every_confusion = np.full((ratings.shape[1], len(categories), len(categories)), np.nan)
    every_confusion[is_active] = confusion
    labels, is_tie = np.full(len(ratings), np.nan), np.zeros(len(ratings), dtype=np.bool_)
    labels[is_rated] = categories[posterior.argmax(axis=1)]
    is_tie[is_rated] = (posterior > posterior.max(axis=1, keepdims=True) - _TIE).sum(axis=1) > 1
    log_likelihood, log_posterior = np.array(trace).T
    return DawidSkene(
        "estimated",
        categories,
        every_posterior,
        class_prior,
        every_confusion,
        log_likelihood,
        log_posterior,
        by_rater,
        _adjudicated(labels, is_tie, by_unit),
    )


def _adjudicated(
    labels: Floats,
    is_tie: npt.NDArray[np.bool_],
    count_ratings: Integers,
) -> Adjudication:
    statuses: tuple[LabelStatus, ...] = tuple(
        "no_ratings" if not count else "tie" if tie else "labelled"
        for count, tie in zip(count_ratings, is_tie, strict=True)
    )
    return Adjudication(np.where((count_ratings == 0) | is_tie, np.nan, labels), statuses, count_ratings)


def _most_frequent(categories: Floats, counts: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the value of the largest count of each row (NaN without any), and whether another count equals it."""
    if not len(categories):
        return np.full(len(counts), np.nan), np.zeros(len(counts), dtype=np.bool_)
    best = counts.max(axis=1)
    is_tie = (best > 0) & ((counts == best[:, None]).sum(axis=1) > 1)
    return np.where(best > 0, categories[counts.argmax(axis=1)], np.nan), is_tie


def _agreeing_and_pairable(counts: Floats) -> tuple[Floats, Floats]:
    """Return m_u P_u and m_u of each unit: P_u is the share of its ordered pairs of ratings that agree."""
    pairable = counts.sum(axis=1)
    return (counts * (counts - 1)).sum(axis=1) / (pairable - 1), pairable


def _varies(counts: Floats) -> npt.NDArray[np.bool_]:
    """Return whether a row of category counts has two categories: an exact test, where a variance of 0 is not."""
    result: npt.NDArray[np.bool_] = (counts > 0).sum(axis=1) >= 2
    return result


def _one_minus_ratio(numerator: Floats, denominator: Floats, is_defined: npt.NDArray[np.bool_]) -> Floats:
    ratio = np.divide(numerator, denominator, out=np.full(len(denominator), np.nan), where=is_defined)
    result: Floats = 1 - ratio
    return result


def _estimate(
    statistic: Statistic,
    value: Callable[[Floats], Floats],
    units: _Units,
    count_draws: int,
    confidence: float,
    seed: int,
) -> Agreement:
    """Return the figure and its percentile interval (Efron 1979)."""
    basis = (len(units.counts), int(units.counts.sum()), units.count_clusters)
    point = float(value(np.ones((1, units.count_clusters)))[0])
    if np.isnan(point):
        return Agreement(statistic, "no_variation", None, "no_estimate", None, None, *basis, 0)
    if units.count_clusters < MINIMUM_CLUSTERS:
        return Agreement(statistic, "estimated", point, "too_few_clusters", None, None, *basis, 0)
    random = np.random.default_rng(seed)
    chunk = max(1, _CELLS // max(units.count_clusters, MAXIMUM_SCALE_POINTS**2))
    values = np.concatenate(
        [
            value(draw_clusters(random, units.count_clusters, min(chunk, count_draws - start)))
            for start in range(0, count_draws, chunk)
        ]
    )
    usable = values[~np.isnan(values)]
    if len(usable) < MINIMUM_SHARE_USABLE_DRAWS * count_draws:
        return Agreement(statistic, "estimated", point, "too_few_usable_draws", None, None, *basis, len(usable))
    if np.ptp(usable) < _SPREAD:
        return Agreement(statistic, "estimated", point, "no_spread", None, None, *basis, len(usable))
    low, high = np.quantile(usable, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Agreement(statistic, "estimated", point, "estimated", float(low), float(high), *basis, len(usable))


def _without_number(statistic: Statistic, status: AgreementStatus) -> Agreement:
    return Agreement(statistic, status, None, "no_estimate", None, None, 0, 0, 0, 0)


def _pairable(ratings: Floats, clusters: Integers) -> _Units | None:
    """Return the units of at least two ratings, None when there are none."""
    ratings, clusters = _checked(ratings, clusters)
    is_pairable = (~np.isnan(ratings)).sum(axis=1) >= 2
    if not is_pairable.any():
        return None
    categories, counts = _value_counts(ratings[is_pairable])
    distinct, codes = np.unique(clusters[is_pairable], return_inverse=True)
    return _Units(categories, counts, codes, len(distinct))


def _value_counts(ratings: Floats) -> tuple[Floats, Floats]:
    """Return the distinct ratings in ascending order, and how often each unit has each, shape (n_units, n_distinct)."""
    categories = np.unique(ratings[~np.isnan(ratings)])
    counts = np.zeros((len(ratings), len(categories)))
    for column, category in enumerate(categories):
        counts[:, column] = (ratings == category).sum(axis=1)
    return categories, counts


def _checked_ratings(ratings: Floats) -> Floats:
    ratings = np.asarray(ratings, dtype=np.float64)
    if ratings.ndim != 2:
        raise ValueError(f"ratings must have the shape (n_units, n_raters), got {ratings.shape}")
    if np.isinf(ratings).any():
        raise ValueError(f"ratings must be finite or NaN, got {int(np.isinf(ratings).sum())} infinite ones")
    count_points = len(np.unique(ratings[~np.isnan(ratings)]))
    if count_points > MAXIMUM_SCALE_POINTS:
        raise ValueError(f"ratings must lie on a scale of at most {MAXIMUM_SCALE_POINTS} points, got {count_points}")
    return ratings


def _checked(ratings: Floats, clusters: Integers) -> tuple[Floats, Integers]:
    ratings, clusters = _checked_ratings(ratings), np.asarray(clusters)
    if clusters.dtype.kind not in "iu":
        raise ValueError(f"clusters must be integers, got {clusters.dtype}")
    if clusters.shape != (len(ratings),):
        raise ValueError(f"clusters must have the shape ({len(ratings)},) of the units, got {clusters.shape}")
    return ratings, clusters


def _check_bootstrap(count_draws: int, confidence: float) -> None:
    if count_draws < 1:
        raise ValueError(f"count_draws must be at least 1, got {count_draws}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
