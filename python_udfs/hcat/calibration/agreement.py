"""Agreement of raters, a report on each rater, and one label per unit from several ratings.

Ratings are an array of shape (n_units, n_raters). Its values are points of a scale; its gaps are NaN.

All figures are 1 - observed / expected disagreement. A table by cluster holds how often point k met point l in one
unit: of the first and the second rater (Cohen), or of all pairs of a unit, which weigh 1 / (m - 1) with m ratings
(Fleiss, Krippendorff). The distance of k and l is 1 unless they are equal (nominal), their squared difference
(quadratic), or the squared number of ratings between them (ordinal). Draws of clusters add up tables.

An agreement that is high because nothing varies has a status and no number. Intervals resample whole clusters, because
siblings (variants of a query) are rated alike. Clusters have the shape (n_units,), or (n_units, 2) with a crossed key.

References
----------
Cohen (1960), Educational and Psychological Measurement 20, 37-46. Cohen (1968), Psychological Bulletin 70, 213-220.
Fleiss (1971), Psychological Bulletin 76, 378-382. Krippendorff (2011), Computing Krippendorff's alpha-reliability.
Dawid and Skene (1979), Applied Statistics 28, 20-28. Efron (1979), Annals of Statistics 7, 1-26. Kish (1965), Survey
Sampling. Dempster, Laird and Rubin (1977), JRSS B 39, 1-38.
"""

import math
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Keys, ratio
from hcat.statistics.clustered import crossed_keys, crossed_rate_interval, join_crossed
from hcat.statistics.clusters import draw_clusters, sum_by_cluster
from hcat.statistics.intervals import kish

Level = Literal["nominal", "ordinal", "quadratic"]

#: Draws of whole clusters for an interval.
COUNT_DRAWS: Final = 1_000
CONFIDENCE: Final = 0.95
SEED: Final = 20260101

#: Below this the percentile interval over clusters is too narrow to show; the same minimum as for a weakness cell. A
#: nominal 95 % covered 88 % at 10 clusters, 92 % at 25 and 93 % at 40 in simulation: read it with the clusters beside
#: it.
MINIMUM_CLUSTERS: Final = 10
#: Draws without variation have no value; when more than a tenth lack one, the others are a selected lot.
MINIMUM_SHARE_USABLE_DRAWS: Final = 0.9
MINIMUM_SHARED_UNITS: Final = 20
MINIMUM_RATERS: Final = 3
MINIMUM_RATINGS_PER_UNIT: Final = 2.0
#: A scale has few points (a slider of 0 to 100 is the largest in use); more distinct values are no ratings.
MAXIMUM_SCALE_POINTS: Final = 101

#: Numbers of the tables of draws held at once.
_CELLS = 2_000_000
#: Two posteriors nearer than this are a tie: the stop of the iteration leaves that much noise.
_TIE = 1e-6
#: Draws that differ by less differ by rounding.
_SPREAD = 1e-12


class Agreement(NamedTuple):
    """An agreement figure with its percentile interval over clusters; counts are of units with two ratings or more."""

    statistic: str
    status: str
    value: float | None = None  # at most 1; 0 at chance, but for percent agreement
    interval_status: str = "no_estimate"
    low: float | None = None
    high: float | None = None
    count_units: int = 0
    count_ratings: int = 0
    count_clusters: int = 0


def percent_agreement(ratings: Floats, clusters: Keys, count_draws: int = COUNT_DRAWS, seed: int = SEED) -> Agreement:
    """Return the share of agreeing pairs of ratings of a unit, in [0, 1]; not corrected for chance."""
    units = _pair(ratings, clusters)
    return _estimate("percent_agreement", units, "nominal", "all", count_draws, seed)


def cohen_kappa(
    ratings: Floats, clusters: Keys, level: Level = "nominal", count_draws: int = COUNT_DRAWS, seed: int = SEED
) -> Agreement:
    """Return Cohen's kappa of two raters on the units that both rated, in [-1, 1]."""
    statistic = "cohen_kappa" if level == "nominal" else f"cohen_kappa_{level}"
    active = ratings[:, ~np.isnan(ratings).all(axis=0)]
    if active.shape[1] > 2:
        return Agreement(statistic, "more_than_two_raters")
    units = _pair(active, clusters, is_ordered=True)
    return _estimate(statistic, units, level, "with_replacement", count_draws, seed)


def fleiss_kappa(ratings: Floats, clusters: Keys, count_draws: int = COUNT_DRAWS, seed: int = SEED) -> Agreement:
    """Return Fleiss' kappa of units that all have the same number m >= 2 of ratings, by whichever raters."""
    units = _pair(ratings, clusters)
    count_ratings = (~np.isnan(ratings)).sum(axis=1)
    if len(np.unique(count_ratings[count_ratings > 0])) > 1:
        return Agreement("fleiss_kappa", "unequal_ratings_per_unit")
    return _estimate("fleiss_kappa", units, "nominal", "with_replacement", count_draws, seed)


def krippendorff_alpha(ratings: Floats, clusters: Keys, count_draws: int = COUNT_DRAWS, seed: int = SEED) -> Agreement:
    """Return Krippendorff's alpha of points with an order; any number of raters, gaps allowed."""
    units = _pair(ratings, clusters)
    return _estimate("krippendorff_alpha_ordinal", units, "ordinal", "without_replacement", count_draws, seed)


#: Points of the scale, how often they met by each key, (n_clusters, n_points, n_points), numbers of units and ratings.
_Units = tuple[Floats, list[Floats], int, int]


def _pair(ratings: Floats, clusters: Keys, is_ordered: bool = False) -> _Units | None:
    """Return the tables of units of at least two ratings, None when there are none."""
    rows = (~np.isnan(ratings)).sum(axis=1) >= 2
    if not rows.any():
        return None
    points, counts = count_values(ratings[rows])
    if is_ordered:
        first, second = (column[:, None] == points for column in ratings[rows].T)
        pairs = first[:, :, None] & second[:, None, :]
    else:
        own = np.eye(len(points)) * counts[:, :, None]
        pairs = (counts[:, :, None] * counts[:, None, :] - own) / (counts.sum(axis=1) - 1)[:, None, None]
    flat, keys = pairs.reshape(len(pairs), -1).astype(np.float64), clusters[rows]
    codes = [np.unique(key, return_inverse=True)[1] for key in (crossed_keys(*keys.T) if keys.ndim > 1 else [keys])]
    tables = [sum_by_cluster(flat, own).reshape(-1, len(points), len(points)) for own in codes]
    return points, tables, int(rows.sum()), int(counts.sum())


def _estimate(
    statistic: str, units: _Units | None, level: Level, chance: str, count_draws: int, seed: int
) -> Agreement:
    """Return the figure and its percentile interval (Efron 1979)."""
    if units is None:
        return Agreement(statistic, "no_pairable_values")
    points, tables, *_ = units
    count_clusters = len(tables[0])
    point = float(_measure(tables[0].sum(axis=0)[None], points, level, chance)[0])
    found = Agreement(statistic, "estimated", point, "too_few_clusters", None, None, *units[2:], count_clusters)
    if np.isnan(point):
        return found._replace(status="no_variation", value=None, interval_status="no_estimate")
    if count_clusters < MINIMUM_CLUSTERS:
        return found
    draws = []
    for own in tables:
        random, block = np.random.default_rng(seed), max(1, _CELLS // max(len(own), MAXIMUM_SCALE_POINTS**2))
        sizes = (min(block, count_draws - start) for start in range(0, count_draws, block))
        sums = (np.tensordot(draw_clusters(random, len(own), size), own, 1) for size in sizes)
        draws.append(np.concatenate([_measure(each, points, level, chance) for each in sums]))
    return close_interval(found, point, draws)


def close_interval(found: Agreement, value: float, draws: list[Floats]) -> Agreement:
    """Return a figure with the percentile interval of its draws by each of crossed keys, or why it has none."""
    bounds = []
    for own in draws:
        usable = own[np.isfinite(own)]
        if len(usable) < MINIMUM_SHARE_USABLE_DRAWS * len(own):
            return found._replace(interval_status="too_few_usable_draws")
        if np.ptp(usable) < _SPREAD:
            return found._replace(interval_status="no_spread")
        bounds.append(np.quantile(usable, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]))
    # either side is as far away as the variances under both keys say
    below, above = (math.sqrt(join_crossed(list(side))) for side in (np.array(bounds).T - value) ** 2)
    return found._replace(interval_status="estimated", low=value - below, high=min(1.0, value + above))


def _measure(tables: Floats, points: Floats, level: Level, chance: str) -> Floats:
    """Return 1 - observed / expected disagreement of tables (m, k, k), shape (m,); NaN where nothing varies."""
    # chance: two points of the margins with replacement (kappas), without (alpha), or all differ (percent agreement)
    first, second = tables.sum(axis=2), tables.sum(axis=1)
    total = first.sum(axis=1)
    if level == "nominal":
        distances = 1 - np.eye(len(points))[None]
    else:
        between = np.cumsum(first, axis=1) - first / 2
        positions = between if level == "ordinal" else np.broadcast_to(points, between.shape)
        distances = (positions[:, :, None] - positions[:, None, :]) ** 2
    observed = (tables * distances).sum(axis=(1, 2)) / total
    if chance == "all":
        return np.asarray(1 - observed)
    expected = (first[:, :, None] * second[:, None, :] * distances).sum(axis=(1, 2)) / total
    expected = ratio(expected, total - 1 if chance == "without_replacement" else total)
    varies = ((first + second) > 0).sum(axis=1) >= 2
    return np.where(varies, 1 - ratio(observed, expected), np.nan)


def report_rater(ratings: Floats, clusters: Keys, rater: int) -> dict[str, Any]:
    """Return one rater, a column of the ratings, against the majority of at least two others, where they have one."""
    points, counts = count_values(ratings)
    own = ratings[:, rater]
    is_rated = ~np.isnan(own)
    others = counts - (own[:, None] == points)
    majority, is_tie = most_frequent(points, others)
    has_others = others.sum(axis=1) >= 2
    is_shared = is_rated & has_others & ~is_tie
    keys = np.atleast_2d(clusters[is_shared].T)
    by_cluster = np.unique(keys[0], return_counts=True)[1].astype(np.float64)
    found: dict[str, Any] = {"count_ratings": int(is_rated.sum()), "count_shared_units": int(is_shared.sum())}
    found["count_effective"] = kish(by_cluster)
    if (~np.isnan(ratings)).any(axis=0).sum() < MINIMUM_RATERS:
        return found | {"status": "fewer_than_three_raters"}
    if is_shared.sum() < MINIMUM_SHARED_UNITS:
        return found | {"status": "too_few_shared_units"}
    met = crossed_rate_interval((own == majority)[is_shared], keys[0], keys[-1], confidence=CONFIDENCE)
    agreeing, pairable = (others * (others - 1)).sum(axis=1), others.sum(axis=1)
    agreeing = agreeing / np.maximum(pairable - 1, 1)
    same = has_others & is_rated
    of_others = float(agreeing[same].sum() / pairable[same].sum())
    everywhere = float(agreeing[has_others].sum() / pairable[has_others].sum())
    pair = np.column_stack([own, majority])[is_shared]
    return found | {
        "status": "estimated",
        "agreement": met.estimate,
        "low": met.low,
        "high": met.high,
        "kappa": cohen_kappa(pair, np.zeros(len(pair), dtype=np.int64)).value,
        "agreement_of_others": of_others,
        "disagrees_with_everyone": met.high < min(of_others, everywhere),
    }


def compare_strictness(ratings: Floats, accept_from: int | None) -> list[dict[str, Any]]:
    """Return how many answers each rater fails, and the chance of such a gap among raters who are alike (Pearson)."""
    # answers are dealt at random: shares of raters without a single common answer can be compared
    from scipy.stats import chi2_contingency

    if accept_from is None:
        return [{}] * ratings.shape[1]
    failed, rated = (ratings < accept_from).sum(axis=0), (~np.isnan(ratings)).sum(axis=0)
    differs = len(rated) > 1 and 0 < failed.sum() < rated.sum()
    chance = float(chi2_contingency([failed, rated - failed], correction=False).pvalue) if differs else None
    return [
        {"count_failed": int(one), "share_failed": one / every, "chance_of_gap": chance}
        for one, every in zip(failed, rated, strict=True)
    ]


class DawidSkene(NamedTuple):
    """A fit of the model of Dawid and Skene (1979); without one, every unit that has ratings carries the reason."""

    labels: Floats  # (n_units,), NaN unless labelled
    statuses: list[str]  # by unit
    posterior: Floats | None = None  # (n_units, n_points) of the units with ratings
    confusion: Floats | None = None  # [r, k, l] = probability that rater r with ratings gives l when the point is k


def dawid_skene(ratings: Floats, pseudo_count: float = 0.5, maximum_iterations: int = 2_000) -> DawidSkene:
    """Return the points of units by maximum a posteriori EM, with confusion matrices of raters."""
    is_given = ~np.isnan(ratings)
    is_rated, is_active = is_given.sum(axis=1) > 0, is_given.sum(axis=0) > 0
    kept = ratings[np.ix_(is_rated, is_active)]
    points, counts = count_values(kept)
    labels = np.full(len(ratings), np.nan)

    def without_fit(status: str) -> DawidSkene:
        return DawidSkene(labels, [status if rated else "no_ratings" for rated in is_rated.tolist()])

    if is_active.sum() < MINIMUM_RATERS or counts.sum(axis=1).mean() < MINIMUM_RATINGS_PER_UNIT:
        return without_fit("insufficient")
    if len(points) < 2:
        return without_fit("no_variation")

    given = (kept[:, :, None] == points).astype(np.float64)  # (n_units, n_raters, n_points); none where not rated
    posterior = counts / counts.sum(axis=1, keepdims=True)
    for _ in range(maximum_iterations):
        prior = posterior.sum(axis=0) + pseudo_count
        confusion = np.einsum("uk,url->rkl", posterior, given) + pseudo_count
        confusion /= confusion.sum(axis=2, keepdims=True)
        joint = np.log(prior / prior.sum()) + np.einsum("url,rkl->uk", given, np.log(confusion))
        previous, posterior = posterior, np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        if np.abs(posterior - previous).max() <= 1e-8:
            break
    else:
        return without_fit("not_converged")
    is_tie = (posterior > posterior.max(axis=1, keepdims=True) - _TIE).sum(axis=1) > 1
    labels[is_rated] = np.where(is_tie, np.nan, points[posterior.argmax(axis=1)])
    statuses = np.full(len(ratings), "no_ratings")
    statuses[is_rated] = np.where(is_tie, "tie", "labelled")
    return DawidSkene(labels, statuses.tolist(), posterior, confusion)


def count_values(ratings: Floats) -> tuple[Floats, Floats]:
    """Return the distinct ratings in ascending order, and how often each unit has each, shape (n_units, n_distinct)."""
    points = np.unique(ratings[~np.isnan(ratings)])
    if len(points) > MAXIMUM_SCALE_POINTS:
        raise ValueError(f"ratings must lie on a scale of at most {MAXIMUM_SCALE_POINTS} points, got {len(points)}")
    counts = np.column_stack([np.zeros((len(ratings), 0)), *((ratings == point).sum(axis=1) for point in points)])
    return points, counts


def most_frequent(points: Floats, counts: Floats) -> tuple[Floats, Flags]:
    """Return the value of the largest count of each row (NaN without any), and whether another count equals it."""
    best = counts.max(axis=1)
    is_tie = (best > 0) & ((counts == best[:, None]).sum(axis=1) > 1)
    return np.where(best > 0, points[counts.argmax(axis=1)], np.nan), is_tie
