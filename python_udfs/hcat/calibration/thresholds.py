"""Thresholds of a metric from labels and risk appetite: acceptance thresholds, and monitoring floors beside them.

docs/thresholds.md says what the two kinds limit. A score that is equal to the threshold or better is accepted
(:func:`accepts`). Direction is handled once, at the entrance: scores of a lower-is-better metric are negated, bounds
with them, and a threshold is negated back at the exit. Inside, higher is better.

Method -> what of the appetite it reads -> does the threshold rise with confidence?

- ``roc_youden``: nothing; the same threshold for every appetite.
- ``roc_cost``, ``kde_crossing``: costs; by themselves, because costs that fall with confidence are refused.
- ``logistic``, ``polynomial_logistic``: confidence; by themselves, because a fit that is not increasing is refused.
- ``conformal``: confidence; by itself, an order statistic whose rank rises.
- ``normal_floor``, ``normal_floor_fold_mean``, ``normal_floor_fold_strictest``, ``pass_quantile``: confidence; falls.

The methods are those of Sarmah et al. 2024 (arXiv 2412.12148, "How to Choose a Threshold for an Evaluation Metric for
Large Language Models"). The paper gives no data; formulas beyond mean - z sd are those of the cited literature.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.calibration.calibrators import DIRECTIONS, LOGIT_BOUND, fit_calibrator, label_scores
from hcat.calibration.conformal import conformal_quantile
from hcat.calibration.risk_appetites import RiskAppetite, order_appetites
from hcat.calibration.targets import RANGE_TOLERANCE
from hcat.statistics.arrays import Flags, Floats, Integers, Keys
from hcat.statistics.clustered import crossed_rate_interval
from hcat.statistics.clusters import deal_folds, sum_by_cluster
from hcat.statistics.intervals import kish

#: Method -> kind. The order is that of the rows of :func:`fit_all`.
METHODS: Final[Mapping[str, str]] = dict.fromkeys(
    ("roc_youden", "roc_cost", "logistic", "polynomial_logistic", "kde_crossing", "conformal"), "acceptance"
) | dict.fromkeys(
    ("normal_floor", "normal_floor_fold_mean", "normal_floor_fold_strictest", "pass_quantile"), "monitoring"
)

#: The declared family: the promise, the trade and the floor. The other methods are an appendix that compares them.
SHOWN: Final = ("conformal", "roc_cost", "pass_quantile")

#: Status -> meaning. Only `ok` carries a number.
STATUSES: Final[Mapping[str, str]] = {
    "ok": "a number",
    "insufficient": "too few rows or clusters of a class that the method needs",
    "one_class": "a class that the method needs is missing",
    "constant_score": "the scores do not vary (for `kde_crossing` and floors: those of one class)",
    "no_unique_crossing": "the weighted densities cross never, more than once or downwards between the class medians",
    "not_monotone": "the fitted probability of acceptance does not rise with the score over the searched range",
    "out_of_range": "the number lies outside the range of the metric, or of the observed scores for a curved model",
    "no_threshold": "the method chooses to accept all or none, cannot keep its promise, or nothing was decided",
}

#: Fewer labels say nothing that a person should sign (the same limits as for calibrators).
MINIMUM_PER_CLASS: Final = 20
MINIMUM_CLUSTERS: Final = 10
COUNT_FOLDS: Final = 5
#: The share of failed scores below the one at which the method conformal asks how alike siblings are.
_LIKENESS_AT: Final = 0.75
SEED: Final = 20260101

_GRID = 513
_LARGEST = float(np.finfo(np.float64).max)
_TINY = 1e-12
#: Of the quadratic log odds: two distinct scores leave the curvature free.
_RIDGE = 1e-6


class Threshold(NamedTuple):
    """One threshold of one metric, by one method, for one appetite."""

    kind: str  # `acceptance` or `monitoring`
    method: str  # of METHODS
    appetite: RiskAppetite
    threshold: float | None  # in the unit of the metric; None unless the status is `ok`
    status: str  # of STATUSES
    accepts: str | None  # `all` or `none` where the method found that every or no score is good enough
    count_accepted: int
    count_failed: int
    count_clusters: int
    # mean over folds of the share of held-out accepted rows that the fold's floor flags (Sarmah et al. 2024, step 4)
    held_out_flag_share: float | None = None


class _Cut(NamedTuple):
    """Oriented threshold: -inf accepts all, +inf none, NaN has no number; status of a number that is not usable."""

    value: float
    status: str = "ok"
    held_out_flag_share: float | None = None


class OrientedRows(NamedTuple):
    """Checked and oriented rows: higher is better; weights sum to the number of rows."""

    values: Floats
    is_accepted: Flags
    weights: Floats
    clusters: Integers
    second_clusters: Keys
    low: float
    high: float
    sign: int
    is_probability: bool
    assurance: float | None
    seed: int


def accepts(scores: npt.ArrayLike, threshold: float, direction: str) -> Flags:
    """Return which scores are accepted, shape (n,): those equal to the threshold or better."""
    sign = DIRECTIONS[direction]
    return np.asarray(sign * np.asarray(scores, dtype=np.float64) >= sign * threshold)


def fit_all(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    appetites: Sequence[RiskAppetite],
    *,
    direction: str,
    bounds: tuple[float | None, float | None] = (None, None),
    weights: npt.ArrayLike | None = None,
    second_clusters: npt.ArrayLike | None = None,
    methods: Sequence[str] = tuple(METHODS),
    is_probability: bool = False,
    assurance: float | None = None,
    seed: int = SEED,
) -> tuple[Threshold, ...]:
    """Return one threshold per method and appetite for one metric."""
    ordered = order_appetites(appetites)
    # the rows are turned so that higher is better, in an order that does not depend on the input's
    values, flags, sign = np.asarray(scores, dtype=np.float64), np.asarray(labels) == 1, DIRECTIONS[direction]
    row_weights = np.ones(values.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    low = -math.inf if bounds[0] is None else bounds[0]
    high = math.inf if bounds[1] is None else bounds[1]
    if len(values) and not low - RANGE_TOLERANCE <= values.min() <= values.max() <= high + RANGE_TOLERANCE:
        raise ValueError(f"scores must lie in [{low}, {high}], got [{values.min()}, {values.max()}]")
    values = np.clip(values, low, high) * sign
    low, high = (low, high) if sign > 0 else (-high, -low)
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64)
    order = np.lexsort((row_weights, flags, codes, values))
    scaled = row_weights * (len(values) / row_weights.sum()) if len(values) else row_weights
    seconds = np.asarray(clusters if second_clusters is None else second_clusters)
    oriented = (values[order], flags[order], scaled[order], codes[order], seconds[order])
    data = OrientedRows(*oriented, low, high, sign, is_probability, assurance, seed)
    counts = (int(data.is_accepted.sum()), int((~data.is_accepted).sum()), len(np.unique(data.clusters)))
    rows: list[Threshold] = []
    for method, kind in METHODS.items():
        if method not in methods:
            continue
        status = _status_of_data(data, method)
        cuts = [_Cut(math.nan, status)] * len(ordered) if status != "ok" else _FITS[method](data, ordered)
        for appetite, cut in zip(ordered, cuts, strict=True):
            is_below, is_above = cut.value < max(data.low, -_LARGEST), cut.value > min(data.high, _LARGEST)
            status = "out_of_range" if cut.status == "ok" and (is_below or is_above) else cut.status
            beyond = "all" if is_below else "none" if is_above else None
            # + 0.0: a negated zero is 0
            threshold = data.sign * cut.value + 0.0 if status == "ok" else None
            accepted = beyond if kind == "acceptance" else None
            flagged = cut.held_out_flag_share if status == "ok" else None
            rows.append(Threshold(kind, method, appetite, threshold, status, accepted, *counts, flagged))
    return tuple(rows)


def _fit_roc_youden(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Largest J = 1 - false accept rate - false reject rate (Youden 1950)."""
    return [_cheapest_cut(data, 1.0, 1.0)] * len(appetites)


def _fit_roc_cost(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Smallest expected cost: prevalence x cost of each error (Metz 1978; Zweig and Campbell 1993)."""
    share_failed = float(data.weights[~data.is_accepted].sum() / data.weights.sum())
    return [_cheapest_cut(data, share_failed * a.cost_ratio, 1 - share_failed) for a in appetites]


def _cheapest_cut(data: OrientedRows, cost_accept: float, cost_reject: float) -> _Cut:
    """Minimise cost_accept x false accept rate + cost_reject x false reject rate over the observed scores."""
    levels, codes = np.unique(data.values, return_inverse=True)
    failed = sum_by_cluster(data.weights * ~data.is_accepted, codes)
    good = sum_by_cluster(data.weights * data.is_accepted, codes)
    # entry i accepts levels i and up; the last entry accepts none
    false_accept = 1 - np.concatenate([[0.0], np.cumsum(failed)]) / failed.sum()
    false_reject = np.concatenate([[0.0], np.cumsum(good)]) / good.sum()
    cost = (cost_accept * false_accept + cost_reject * false_reject) / (cost_accept + cost_reject)
    best = int(np.flatnonzero(cost <= cost.min() + _TINY)[-1])
    if best == 0:
        return _Cut(-math.inf, "no_threshold")
    return _Cut(math.inf, "no_threshold") if best == len(levels) else _Cut(float(levels[best]))


def _fit_logistic(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Score at which the logistic calibrator's P(accept) reaches the confidence (Sarmah et al. 2024, other methods)."""
    labelled = label_scores(
        data.sign * data.values,
        data.is_accepted.astype(np.int64),
        data.clusters,
        data.weights,
        direction=next(name for name, sign in DIRECTIONS.items() if sign == data.sign),
        is_probability=data.is_probability,
    )
    calibrator = fit_calibrator(labelled, "logistic").calibrator
    if calibrator is None:
        return [_Cut(math.nan, "not_monotone")] * len(appetites)
    intercept, slope = calibrator.values("intercept")[0], calibrator.values("slope")[0]
    farthest = _log_odds(1 - LOGIT_BOUND)
    cuts = []
    for appetite in appetites:
        value = float((_log_odds(appetite.confidence) - intercept) / slope)
        if data.is_probability:
            # beyond the bound all scores have one log odds: every one is good enough, or none
            value = math.copysign(math.inf, value) if abs(value) > farthest else 1 / (1 + math.exp(-value))
        cuts.append(_Cut(data.sign * value))
    return cuts


def _fit_polynomial(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """As `logistic` with a quadratic log odds, searched over the observed scores: curves are not extrapolated."""
    from scipy.optimize import brentq
    from sklearn.linear_model import LogisticRegression

    center, scale = _mean_and_deviation(data.values, data.weights)

    def basis(values: Floats) -> Floats:
        standard = (values - center) / scale
        return np.column_stack([standard, standard**2])

    # smoothed targets (Platt 1999): each row counts a little as one of the other class
    count_accepted, count_failed = int(data.is_accepted.sum()), int((~data.is_accepted).sum())
    targets = np.where(data.is_accepted, (count_accepted + 1) / (count_accepted + 2), 1 / (count_failed + 2))
    classes = np.repeat([1, 0], len(targets))
    doubled = np.concatenate([targets, 1 - targets]) * np.tile(data.weights, 2)
    model = LogisticRegression(C=1 / _RIDGE, solver="newton-cholesky", tol=1e-10)
    model.fit(np.tile(basis(data.values), (2, 1)), classes, sample_weight=doubled)

    def log_odds(values: Floats) -> Floats:
        return np.asarray(model.decision_function(basis(values)))

    grid = np.linspace(data.values.min(), data.values.max(), _GRID)
    at_grid = log_odds(grid)
    # a slope of rounding size is flat
    if np.diff(at_grid).min() < -1e-9 or at_grid[-1] - at_grid[0] < 1e-9:
        return [_Cut(math.nan, "not_monotone")] * len(appetites)
    cuts = []
    for appetite in appetites:
        wanted = _log_odds(appetite.confidence)
        if at_grid[0] >= wanted or at_grid[-1] < wanted:
            cuts.append(_Cut(-math.inf if at_grid[0] >= wanted else math.inf, "out_of_range"))
            continue
        found = brentq(lambda value, wanted=wanted: log_odds(np.array([value]))[0] - wanted, grid[0], grid[-1])
        cuts.append(_Cut(float(found)))
    return cuts


def _fit_kde(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Where the density of good answers overtakes that of failed ones, each times prevalence x cost."""
    from scipy.optimize import brentq

    failed, good = ~data.is_accepted, data.is_accepted
    if min(np.ptp(data.values[failed]), np.ptp(data.values[good])) <= _TINY:
        return [_Cut(math.nan, "constant_score")] * len(appetites)
    of_failed, of_good = _log_density(data, failed), _log_density(data, good)
    low, high = (_quantile(data.values[rows], data.weights[rows], 0.5) for rows in (failed, good))
    if low >= high:
        return [_Cut(math.nan, "no_unique_crossing")] * len(appetites)
    grid = np.linspace(low, high, _GRID)
    log_ratio = of_good(grid) - of_failed(grid)
    log_prevalence = math.log(data.weights[good].sum() / data.weights[failed].sum())
    cuts = []
    for appetite in appetites:
        limit = math.log(appetite.cost_ratio) - log_prevalence
        is_above = log_ratio > limit
        crossings = np.flatnonzero(is_above[1:] != is_above[:-1])
        if len(crossings) != 1 or is_above[0]:
            cuts.append(_Cut(math.nan, "no_unique_crossing"))
            continue
        left, right = grid[crossings[0]], grid[crossings[0] + 1]
        found = brentq(lambda value, limit=limit: (of_good(value) - of_failed(value))[0] - limit, left, right)
        cuts.append(_Cut(float(found)))
    return cuts


def _fit_conformal(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Better than a limit that a new failed answer exceeds with probability at most 1 - confidence."""
    failed = ~data.is_accepted
    values, clusters, weights = data.values[failed], data.clusters[failed], data.weights[failed]
    levels = np.unique(data.values)
    cuts = []
    for appetite in appetites:
        share = round(1 - appetite.confidence, 12)
        if data.assurance is None:
            limit = conformal_quantile(values, share, clusters, weights / data.weights.max())
        else:
            limit = _assured_limit(values, (clusters, data.second_clusters[failed]), weights, share, data.assurance)
        better = levels[levels > limit]
        cuts.append(_Cut(float(better[0])) if len(better) else _Cut(math.inf, "no_threshold"))
    return cuts


def _assured_limit(values: Floats, keys: tuple[Keys, Keys], weights: Floats, share: float, assurance: float) -> float:
    """Return the lowest limit that at most a share of new failed answers exceeds, with probability assurance."""
    from scipy.stats import beta

    # siblings tell of fewer answers; how alike they are shows where both sides have answers enough, near the limit
    count = crossed_rate_interval(values > np.quantile(values, _LIKENESS_AT), *keys, weights).effective_n
    order = np.argsort(values, kind="stable")[::-1]
    above = np.append(0.0, np.cumsum(weights[order])[:-1]) / weights.sum() * count
    # the law of the share above an order statistic (Wilks 1941)
    is_assured = beta.sf(share, above + 1, count - above) <= 1 - assurance
    # equal scores stand together: the first of them in the order counts
    held = values[order][: np.argmin(np.append(is_assured, False))]
    return float(held[-1]) if len(held) else math.inf


def _fit_normal_floor(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Mean - z sd of accepted answers, z one-sided: 1.282, 1.645, 2.326 at 90, 95, 99 % (Sarmah et al., step 3)."""
    return [_Cut(_normal_floor(data, data.is_accepted, appetite.confidence)) for appetite in appetites]


def _fit_fold_floors(
    join: Callable[[Floats], np.float64], data: OrientedRows, appetites: Sequence[RiskAppetite]
) -> list[_Cut]:
    """Join the floors of K - 1 folds, each held against its held-out fold (Sarmah et al. 2024, steps 3 to 5)."""
    folds = np.where(data.is_accepted, deal_folds(data.clusters, data.is_accepted, COUNT_FOLDS, data.seed), -1)
    cuts = []
    for appetite in appetites:
        floors, flagged = np.empty(COUNT_FOLDS), np.empty(COUNT_FOLDS)
        for fold in range(COUNT_FOLDS):
            is_held_out = folds == fold
            floors[fold] = _normal_floor(data, data.is_accepted & ~is_held_out, appetite.confidence)
            flagged[fold] = np.average(data.values[is_held_out] < floors[fold], weights=data.weights[is_held_out])
        cuts.append(_Cut(float(join(floors)), held_out_flag_share=float(flagged.mean())))
    return cuts


def _fit_pass_quantile(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Empirical quantile of accepted answers: at most 1 - confidence of them lie below, whatever their distribution."""
    values, weights = data.values[data.is_accepted], data.weights[data.is_accepted]
    return [_Cut(_quantile(values, weights, 1 - appetite.confidence)) for appetite in appetites]


_FITS: Final[Mapping[str, Callable[[OrientedRows, Sequence[RiskAppetite]], list[_Cut]]]] = {
    "roc_youden": _fit_roc_youden,
    "roc_cost": _fit_roc_cost,
    "logistic": _fit_logistic,
    "polynomial_logistic": _fit_polynomial,
    "kde_crossing": _fit_kde,
    "conformal": _fit_conformal,
    "normal_floor": _fit_normal_floor,
    "normal_floor_fold_mean": partial(_fit_fold_floors, np.mean),
    "normal_floor_fold_strictest": partial(_fit_fold_floors, np.max),
    "pass_quantile": _fit_pass_quantile,
}


def _log_density(data: OrientedRows, rows: Flags) -> Callable[[float | Floats], Floats]:
    """Return the logarithm of the kernel density of some rows, reflected at the bounds."""
    from scipy.stats import gaussian_kde

    values, weights = data.values[rows], data.weights[rows]
    deviation = _mean_and_deviation(values, weights)[1]
    spread = (_quantile(values, weights, 0.75) - _quantile(values, weights, 0.25)) / 1.34
    width = 0.9 * (min(deviation, spread) if spread > 0 else deviation) * kish(weights) ** -0.2
    mirrors = [values, *(2 * bound - values for bound in (data.low, data.high) if math.isfinite(bound))]
    density = gaussian_kde(np.concatenate(mirrors), weights=np.tile(weights, len(mirrors)))
    # in units of the spread of all mirrors
    density.set_bandwidth(width / math.sqrt(density.covariance[0, 0] / density.factor**2))
    # mirrors weigh as much as the rows themselves
    return lambda points: density.logpdf(points) + math.log(len(mirrors))


def _status_of_data(data: OrientedRows, method: str) -> str:
    """Return why the rows cannot serve a method at all, or `ok`."""
    needs = [data.is_accepted] if METHODS[method] == "monitoring" else [data.is_accepted, ~data.is_accepted]
    if not len(data.values):
        return "insufficient"
    if not all(rows.any() for rows in needs):
        return "one_class"
    # conformal ranks have a limit of their own, which follows from the confidence
    if method != "conformal":
        for rows in needs:
            count_clusters = len(np.unique(data.clusters[rows]))
            if rows.sum() < MINIMUM_PER_CLASS or count_clusters < MINIMUM_CLUSTERS:
                return "insufficient"
    read = data.values[data.is_accepted] if METHODS[method] == "monitoring" else data.values
    return "constant_score" if np.ptp(read) <= _TINY else "ok"


def _normal_floor(data: OrientedRows, rows: Flags, confidence: float) -> float:
    mean, deviation = _mean_and_deviation(data.values[rows], data.weights[rows])
    return mean - NormalDist().inv_cdf(confidence) * deviation


def _mean_and_deviation(values: Floats, weights: Floats) -> tuple[float, float]:
    """Return weighted mean and sample standard deviation (divisor n - 1 when the weights are equal)."""
    mean = float(np.average(values, weights=weights))
    variance = float(np.average((values - mean) ** 2, weights=weights))
    return mean, math.sqrt(variance * len(values) / (len(values) - 1))


def _quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the smallest value that at least this weighted share does not exceed: an order statistic."""
    # 1 - 0.95 is above 0.05 by rounding and would take the next one
    return float(np.quantile(values, round(share, 12), weights=weights, method="inverted_cdf"))


def _log_odds(share: float) -> float:
    return math.log(share) - math.log1p(-share)
