"""The interval of a rate or a mean whose rows come in clusters: one definition for every room.

Siblings (rows of one cluster) are not independent, so whole clusters are left out, one after the other (the jackknife,
CR3 of Bell and McCaffrey 2002). With W_g the weight of cluster g of K, W their sum, p the weighted mean and p_g that of
the cluster, the estimate moves by W_g (p - p_g) / (W - W_g) when g leaves, and

    s_J^2 = (K - 1) / K sum_g (W_g (p - p_g) / (W - W_g))^2.

How well s_J is known depends on how evenly the rows are spread: its degrees of freedom are k - 1, with Kish's effective
number of clusters k = W^2 / sum W_g^2. K - 1 promises too much where few clusters hold most rows.

A rate near 0 needs more: when few clusters hold a failure, s_J is too small exactly where the rate came out too small.
So the variance of a rate is the mean of s_J^2 and of v (1 + rho (m - 1)), the variance of clusters that are all alike,

    m = sum_g W_g^2 / sum w^2,    v the mean of sum w^2 (y - p)^2 / W^2 and p (1 - p) sum w^2 / W^2,

w the weights of rows and rho the likeness of siblings. Few failing clusters show neither rho, which is shrunk towards 1
(:func:`design_effects`), nor how large s is: f of them leave 2 f degrees of freedom (Satterthwaite 1946), more where
siblings add only the share phi = rho (m - 1) / (1 + rho (m - 1)) to it (:func:`degrees_of_rates`). The bounds are those
of Wilson (1927) on n = p (1 - p) / s^2 and Student's t, as Korn and Graubard (1998) and Franco, Little, Louis and Slud
(2019) do for other variances.

docs/decisions/0028-one-interval-of-clustered-rates.md has two crossed keys and raters. Rows of very unequal weight, as
labels that stand for a band of scores, leave at most 2 (sum w^2)^2 / sum w^4 degrees: few rows make most of the
variance, and half of it is observed.
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Flags, Floats, Integers, ratio
from hcat.statistics.clusters import sum_by_cluster
from hcat.statistics.intervals import kish, t_quantile, wilson_interval, wilson_rows

#: Clusters of wholly alike siblings that the estimate of the likeness is mixed with. Chosen among 0, .25, .5, 1 and 2.
PRIOR_CLUSTERS: Final = 0.25
#: Degrees of freedom beside those of the carrying clusters. Chosen among 1, 1.5, 2, 3 and 4.
LEAST_DEGREES: Final = 1.0
#: Values of a second key below which a rate speaks of these values alone.
LEAST_VALUES: Final = 10
#: Degrees of freedom of each row that makes the variance by its weight. Chosen among 1, 2 and no limit.
HEAVY_DEGREES: Final = 2.0
#: Most likeness of what one rater fails, and the beta prior of its share of that: raters are alike, or far apart.
RATER_LIKENESS: Final = 0.5
RATER_PRIOR: Final = (0.3, 0.5)
#: A cluster with more than this share of the rows is said to dominate them: the others say little about it.
DOMINANT_SHARE: Final = 0.2

#: Shares below it are rounding.
_ROUNDING = 1e-9
#: Points of likeness, and of the rate, at which the posterior of raters is known; its tail outside of the second look.
_LIKENESSES, _RATES, _TAIL = 20, 100, 1e-5


class ClusteredInterval(NamedTuple):
    """A rate or a mean with its interval; with one cluster a mean has no bounds (NaN), and a rate those of 0 and 1."""

    estimate: float
    low: float
    high: float
    standard_error: float  # by the jackknife; NaN with a single cluster
    effective_n: float  # independent rows that would tell as much; NaN for a mean
    count_rows: int
    count_clusters: int
    effective_clusters: float  # Kish's number, in [1, count_clusters]
    degrees: float  # of freedom of the interval, at most effective_clusters - 1
    largest_share: float  # of the weight, that the largest cluster holds, in (0, 1]
    of_raters: float = 0.0  # variance that widens the interval as much as the choice of raters, beside standard_error^2


def rate_interval(
    is_hit: Flags, clusters: npt.ArrayLike, weights: Floats | None = None, confidence: float = 0.95
) -> ClusteredInterval:
    """Return the weighted share of hits with its interval by cluster."""
    rows = _summarise(np.asarray(is_hit, dtype=np.float64), clusters, weights, confidence)
    share, codes, effective_clusters = rows.found.estimate, rows.codes, rows.found.effective_clusters
    is_failing = sum_by_cluster(is_hit.astype(np.float64), codes) > 0
    is_passing = sum_by_cluster((~is_hit).astype(np.float64), codes) > 0
    carrying = min(kish(rows.weight_by_cluster[is_failing]), kish(rows.weight_by_cluster[is_passing]))
    # rows of equal weight that would vary as these do without clusters, and the siblings that one of them meets
    # summed exactly, so that the order of the rows moves no bit
    observed = math.fsum((rows.residuals**2).tolist()) / rows.weight_by_cluster.sum() ** 2
    variation, siblings = share * (1 - share), rows.effective_rows / effective_clusters
    without_clusters = (observed + variation / rows.effective_rows) / 2
    equal_rows = variation / without_clusters if variation > 0 else rows.effective_rows
    carriers = np.array([carrying])
    likeness, showing = _likeness(rows, share, is_failing, is_passing)
    design_effect = design_effects(np.array([siblings]), np.array([likeness]), np.array([showing]))
    effective = effective_rows(np.array([share]), np.array([rows.variance]), np.array([equal_rows]), design_effect)
    degrees = degrees_of_rates(np.array([effective_clusters]), carriers, design_effect)
    low, high = rate_bounds(np.array([share]), effective, degrees, confidence)
    return rows.found._replace(
        low=float(low[0]), high=float(high[0]), effective_n=float(effective[0]), degrees=float(degrees[0])
    )


def mean_interval(
    values: Floats, clusters: npt.ArrayLike, weights: Floats | None = None, confidence: float = 0.95
) -> ClusteredInterval:
    """Return the weighted mean with its interval by cluster, mean -+ t s_J with k - 1 degrees of freedom."""
    rows = _summarise(np.asarray(values, dtype=np.float64), clusters, weights, confidence)
    found = rows.found
    mean, error, degrees = np.array([[found.estimate], [found.standard_error], [found.degrees]])
    low, high = mean_bounds(mean, error, degrees, confidence)
    return found._replace(low=float(low[0]), high=float(high[0]))


def crossed_rate_interval(
    is_hit: Flags,
    clusters: npt.ArrayLike,
    second_clusters: npt.ArrayLike,
    weights: Floats | None = None,
    confidence: float = 0.95,
    raters: npt.ArrayLike | None = None,
) -> ClusteredInterval:
    """Return the weighted share of hits with its interval by two crossed keys, and by raters where they are several."""
    found = [rate_interval(is_hit, key, weights, confidence) for key in crossed_keys(clusters, second_clusters)]
    rate = found[0].estimate
    effective_n = 1 / join_crossed([1 / each.effective_n for each in found])
    degrees = min(each.degrees for each in found[:2])
    if weights is not None:
        degrees = min(degrees, HEAVY_DEGREES * float((weights**2).sum()) ** 2 / float((weights**4).sum()))
    bounds = rate_bounds(np.array([rate]), np.array([effective_n]), np.array([degrees]), confidence)
    low, high = (float(bound[0]) for bound in bounds)
    of_raters, variation = 0.0, rate * (1 - rate)
    if raters is not None and len(np.unique(raters)) > 1:
        codes = np.unique(raters, return_inverse=True)[1].astype(np.int64)
        rows = np.ones(len(codes)) if weights is None else weights
        failed, counts = (sum_by_cluster(part, codes) * effective_n / rows.sum() for part in (rows * is_hit, rows))
        of_all = _rater_bounds(failed, counts, confidence)
        low, high = min(low, of_all[0]), max(high, of_all[1])
        if variation > 0:
            told = wilson_rows(rate, high - low, float(t_quantile((1 + confidence) / 2, degrees)))
            told = min(effective_n, max(told, _ROUNDING))
            of_raters, effective_n = variation / told - variation / effective_n, told
    error = math.sqrt(join_crossed([each.standard_error**2 for each in found]))
    return found[0]._replace(
        low=low, high=high, standard_error=error, effective_n=effective_n, degrees=degrees, of_raters=of_raters
    )


def _rater_bounds(failed: Floats, counts: Floats, confidence: float) -> tuple[float, float]:
    """Return bounds of the rate of all raters from what each fails of some effective rows, counts at least 0."""
    from scipy.special import betaln
    from scipy.stats import beta

    likeness = RATER_LIKENESS * beta.ppf((np.arange(_LIKENESSES)[:, None] + 0.5) / _LIKENESSES, *RATER_PRIOR)
    precision, (failed, passed) = 1 / likeness - 1, np.stack([failed, counts - failed])[:, :, None, None]
    low, high, edges = 0.0, 1.0, np.arange(_RATES + 1) / _RATES
    for tail in (_TAIL, (1 - confidence) / 2):
        rates = low + (high - low) * (edges[1:] + edges[:-1]) / 2
        first, second = rates * precision, (1 - rates) * precision
        # each count is beta-binomial; before anything is known, no rate and none of the likenesses is more probable
        likelihood = (betaln(failed + first, passed + second) - betaln(first, second)).sum(axis=0)
        below = np.append(0.0, np.exp(likelihood - likelihood.max()).sum(axis=0).cumsum())
        low, high = low + (high - low) * np.interp(np.array([tail, 1 - tail]) * below[-1], below, edges)
    return float(low), float(high)


def crossed_keys(clusters: npt.ArrayLike, second_clusters: npt.ArrayLike) -> list[npt.ArrayLike]:
    """Return the first key, the second and their pairs; the first alone where the second has too few values."""
    if len(np.unique(np.asarray(second_clusters))) < LEAST_VALUES:
        return [clusters]
    return [clusters, second_clusters, _pairs(clusters, second_clusters)]


def join_crossed(variances: list[float]) -> float:
    """Return the variance under two crossed keys from those by each of :func:`crossed_keys`."""
    return max(*variances[:2], variances[0] + variances[1] - variances[2]) if len(variances) > 1 else variances[0]


def _pairs(first: npt.ArrayLike, second: npt.ArrayLike) -> Integers:
    """Return one code for each pair of values."""
    codes = [np.unique(np.asarray(key), return_inverse=True)[1].astype(np.int64) for key in (first, second)]
    return np.asarray(codes[0] * (codes[1].max() + 1) + codes[1])


def design_effects(siblings: Floats, likeness: Floats, showing: Floats) -> Floats:
    """Return how many times as large the variance of each rate is as without clusters, 1 + rho (m - 1), shape (n,)."""
    shrunk = (showing * likeness + PRIOR_CLUSTERS) / (showing + PRIOR_CLUSTERS)
    return 1 + shrunk * (siblings - 1)


def effective_rows(rates: Floats, jackknife_variances: Floats, rows: Floats, design_effect: Floats) -> Floats:
    """Return the independent rows that would tell as much about each rate, p (1 - p) / s^2, in (0, rows]."""
    variation = rates * (1 - rates)
    variance = (np.where(variation > 0, jackknife_variances, 0.0) + variation * ratio(design_effect, rows)) / 2
    found = np.where(variation > 0, ratio(variation, variance), ratio(rows, design_effect))
    return np.minimum(found, rows)


def degrees_of_rates(effective_clusters: Floats, carrying: Floats, design_effect: Floats) -> Floats:
    """Return the degrees of freedom of the error of each rate, min(k - 1, 1 + 2 f / phi), shape (n,)."""
    degrees = effective_clusters - 1
    of_siblings = np.maximum(1 - ratio(np.ones_like(design_effect), design_effect), _ROUNDING)
    of_carriers = LEAST_DEGREES + 2 * carrying / of_siblings
    return np.where(carrying > 0, np.minimum(degrees, of_carriers), degrees)


def rate_bounds(rates: Floats, effective_n: Floats, degrees: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return Wilson's bounds on n = effective_n and Student's t, shapes (n,)."""
    is_single = ~(degrees > _ROUNDING)
    quantile = t_quantile((1 + confidence) / 2, np.where(is_single, np.nan, degrees))
    low, high = wilson_interval(rates, effective_n, quantile)
    nothing = np.isnan(rates)
    return (
        np.where(nothing, np.nan, np.where(is_single, 0.0, low)),
        np.where(nothing, np.nan, np.where(is_single, 1.0, high)),
    )


def mean_bounds(means: Floats, standard_errors: Floats, degrees: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return mean -+ t x standard error, shapes (n,); NaN without degrees of freedom."""
    margin = t_quantile((1 + confidence) / 2, np.where(degrees > _ROUNDING, degrees, np.nan)) * standard_errors
    return means - margin, means + margin


class _Rows(NamedTuple):
    """What both intervals are made of."""

    found: ClusteredInterval  # of a mean, without its bounds
    variance: float
    effective_rows: float
    codes: Integers
    weights: Floats
    residuals: Floats
    weight_by_cluster: Floats


def _summarise(values: Floats, clusters: npt.ArrayLike, weights: Floats | None, confidence: float) -> _Rows:
    groups = np.asarray(clusters)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(values) == len(groups) == len(weights) or not len(values):
        raise ValueError(
            "values, clusters and weights must have one length of at least 1, "
            f"got {len(values)}, {len(groups)}, {len(weights)}"
        )
    if not (np.isfinite(weights) & (weights > 0)).all() or not np.isfinite(values).all():
        raise ValueError("values must be finite, and weights finite and above 0")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
    codes: Integers = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    by_cluster = sum_by_cluster(weights, codes)
    total, count = float(by_cluster.sum()), len(by_cluster)
    # rounding must not push a mean out of the range of its values
    mean = min(float(values.max()), max(float(values.min()), float(weights @ values) / total))
    residuals = weights * (values - mean)
    moved = ratio(sum_by_cluster(residuals, codes), total - by_cluster)
    variance = (count - 1) / count * float(moved @ moved) if count > 1 else np.nan
    effective, largest = kish(by_cluster), float(by_cluster.max()) / total
    error, nan = float(np.sqrt(variance)), math.nan
    found = ClusteredInterval(mean, nan, nan, error, nan, len(values), count, effective, effective - 1, largest)
    return _Rows(found, variance, total**2 / float(weights @ weights), codes, weights, residuals, by_cluster)


def _likeness(rows: _Rows, share: float, is_failing: Flags, is_passing: Flags) -> tuple[float, float]:
    """Return the estimate of rho, the mean product of residuals of two siblings over p (1 - p), and f'."""
    squares = sum_by_cluster(rows.weights**2, rows.codes)
    pairs = rows.weight_by_cluster**2 - squares
    has_pairs = pairs > _ROUNDING * rows.weight_by_cluster**2
    variation = share * (1 - share)
    if not has_pairs.any() or variation <= 0:
        return 0.0, 0.0
    showing = min(kish(np.where(has_pairs & carries, pairs, 0.0)) for carries in (is_failing, is_passing))
    products = sum_by_cluster(rows.residuals, rows.codes) ** 2 - sum_by_cluster(rows.residuals**2, rows.codes)
    weight = rows.weight_by_cluster[has_pairs]
    found = float(weight @ (products[has_pairs] / pairs[has_pairs])) / float(weight.sum()) / variation
    return min(1.0, max(0.0, found)), showing
