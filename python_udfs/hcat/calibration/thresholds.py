"""Thresholds of a metric from labels and risk appetite: acceptance thresholds, and monitoring floors beside them.

Two kinds, never mixed. An *acceptance threshold* is fitted on answers that people accepted and on answers that people
failed, and limits false accepts; a lower risk appetite makes it stricter. A *monitoring floor* is fitted on accepted
answers alone and limits how often normal answers are flagged; a lower appetite (99 % instead of 90 %) makes it *laxer*,
because fewer normal answers may fall below it. A floor says nothing about bad answers and is no acceptance threshold.

One rule decides everywhere, the rule of the marts: a score that is equal to the threshold or better is accepted
(:func:`accepts`). Direction is handled once, at the entrance: scores of a lower-is-better metric are negated, bounds
with them, and a threshold is negated back at the exit. Inside, higher is better.

Method -> what of the appetite it reads -> does the threshold rise with confidence?

- ``roc_youden``: nothing; the same threshold for every appetite.
- ``roc_cost``, ``kde_crossing``: costs; by themselves, because costs that fall with confidence are refused.
- ``logistic``, ``polynomial_logistic``, ``gam``: confidence; by themselves, because a fit that is not increasing is
  refused.
- ``conformal``: confidence; by itself, an order statistic whose rank rises.
- ``normal_floor``, ``normal_floor_fold_mean``, ``normal_floor_fold_strictest``, ``pass_quantile``: confidence; falls.

Tolerated shares of an appetite do not shape a fit. The cross-validated rates are held against them
(:func:`hcat.calibration.threshold_quotes.judge`).

The methods are those of Sarmah et al. 2024 (arXiv 2412.12148, "How to Choose a Threshold for an Evaluation Metric for
Large Language Models"). The paper gives no data; formulas beyond mean - z sd are those of the cited literature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from hcat.calibration.calibrators import LOGIT_BOUND, fit_calibrator, label_scores
from hcat.calibration.conformal import conformal_quantile
from hcat.calibration.risk_appetites import RiskAppetite, order_appetites
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clustered import rate_interval
from hcat.statistics.clusters import deal_folds, sum_by_cluster
from hcat.statistics.intervals import kish_effective_n

#: Method -> kind. The order is that of the rows of :func:`fit_all`.
METHODS: Final[Mapping[str, str]] = {
    "roc_youden": "acceptance",
    "roc_cost": "acceptance",
    "logistic": "acceptance",
    "polynomial_logistic": "acceptance",
    "gam": "acceptance",
    "kde_crossing": "acceptance",
    "conformal": "acceptance",
    "normal_floor": "monitoring",
    "normal_floor_fold_mean": "monitoring",
    "normal_floor_fold_strictest": "monitoring",
    "pass_quantile": "monitoring",
}

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
DIRECTIONS: Final = ("higher_is_better", "lower_is_better")

#: Fewer labels say nothing that a person should sign (the same limits as for calibrators).
MINIMUM_PER_CLASS: Final = 20
MINIMUM_CLUSTERS: Final = 10
COUNT_FOLDS: Final = 5
SEED: Final = 20260101

#: Spline of the additive model: equally spaced cubic B-splines; strengths of smoothing, of equal loss the first wins.
_COUNT_KNOTS = 8
_PENALTIES = (1000.0, 100.0, 10.0, 1.0, 0.1)
_GRID = 513
#: Numbers of a density held at once.
_BLOCK_CELLS = 200_000
_LARGEST = float(np.finfo(np.float64).max)
_TINY = 1e-12

#: Cosines leave [-1, 1] by rounding.
_RANGE_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Threshold:
    """One threshold of one metric, by one method, for one appetite.

    Parameters
    ----------
    kind : str
        `acceptance` or `monitoring`.
    method : str
        One of :data:`METHODS`.
    appetite : str
        Name of the appetite.
    confidence : float
        Of the appetite.
    threshold : float or None
        In the unit of the metric; None unless the status is `ok`.
    status : str
        One of :data:`STATUSES`.
    accepts : str or None
        `all` or `none` where the method found that every or no score is good enough, else None.
    count_accepted, count_failed, count_clusters : int
        Labelled rows and clusters it was fitted on; a floor reads the accepted ones alone.
    held_out_flag_share : float or None
        Of the floors in folds: mean over folds of the share of held-out accepted rows that the fold's floor flags
        (Sarmah et al. 2024, step 4 of the cross-validation).
    """

    kind: str
    method: str
    appetite: str
    confidence: float
    threshold: float | None
    status: str
    accepts: str | None
    count_accepted: int
    count_failed: int
    count_clusters: int
    held_out_flag_share: float | None = None


@dataclass(frozen=True, slots=True)
class _Cut:
    """Oriented threshold: -inf accepts all, +inf none, NaN has no number; status of a number that is not usable."""

    value: float
    status: str = "ok"
    held_out_flag_share: float | None = None


@dataclass(frozen=True, slots=True)
class OrientedRows:
    """Checked and oriented rows: higher is better; weights sum to the number of rows."""

    values: Floats
    is_accepted: Flags
    weights: Floats
    clusters: Integers
    low: float
    high: float
    sign: int
    seed: int
    count_folds: int
    is_probability: bool = False
    assurance: float | None = None


def accepts(scores: npt.ArrayLike, threshold: float, direction: str) -> Flags:
    """Return which scores are accepted, shape (n,): those equal to the threshold or better."""
    sign = sign_of(direction)
    result: Flags = sign * np.asarray(scores, dtype=np.float64) >= sign * threshold
    return result


def fit_all(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    appetites: Sequence[RiskAppetite],
    *,
    direction: str,
    bounds: tuple[float | None, float | None] = (None, None),
    weights: npt.ArrayLike | None = None,
    methods: Sequence[str] = tuple(METHODS),
    is_probability: bool = False,
    assurance: float | None = None,
    count_folds: int = COUNT_FOLDS,
    seed: int = SEED,
) -> tuple[Threshold, ...]:
    """Return one threshold per method and appetite for one metric."""
    unknown = sorted(set(methods) - set(METHODS))
    if unknown:
        raise ValueError(f"methods must be among {', '.join(METHODS)}, got {', '.join(unknown)}")
    ordered = order_appetites(appetites)
    if assurance is not None and not 0.5 < assurance < 1:
        raise ValueError(f"assurance must lie in (0.5, 1), got {assurance}")
    data = replace(
        orient_rows(scores, labels, clusters, direction, bounds, weights, count_folds, seed),
        is_probability=is_probability,
        assurance=assurance,
    )
    sign = sign_of(direction)
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
            rows.append(
                Threshold(
                    kind=kind,
                    method=method,
                    appetite=appetite.name,
                    confidence=appetite.confidence,
                    # + 0.0: a negated zero is 0
                    threshold=sign * cut.value + 0.0 if status == "ok" else None,
                    status=status,
                    accepts=beyond if kind == "acceptance" else None,
                    count_accepted=int(data.is_accepted.sum()),
                    count_failed=int((~data.is_accepted).sum()),
                    count_clusters=len(np.unique(data.clusters)),
                    held_out_flag_share=cut.held_out_flag_share if status == "ok" else None,
                )
            )
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
        direction=DIRECTIONS[0] if data.sign > 0 else DIRECTIONS[1],
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
    center, scale = _mean_and_deviation(data.values, data.weights)

    def basis(values: Floats) -> Floats:
        standard = (values - center) / scale
        return np.column_stack([np.ones_like(standard), standard, standard**2])

    # two distinct scores leave the curvature free: then it is a straight line
    coefficients = _fit_log_odds(basis(data.values), data, np.diag([0.0, 0.0, 1e-6]))
    return _reach(lambda values: basis(values) @ coefficients, data, appetites)


def _fit_gam(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """As `polynomial_logistic` with a penalised spline (P-spline, second differences: Eilers and Marx 1996)."""
    from sklearn.preprocessing import SplineTransformer

    knots = np.linspace(data.values.min(), data.values.max(), _COUNT_KNOTS)[:, None]
    spline = SplineTransformer(degree=3, knots=knots).fit(data.values[:, None])

    def basis(values: Floats) -> Floats:
        return np.asarray(spline.transform(values[:, None]), dtype=np.float64)

    columns = basis(data.values)
    differences = np.diff(np.eye(columns.shape[1]), n=2, axis=0)
    roughness = differences.T @ differences
    folds = deal_folds(data.clusters, np.ones_like(data.is_accepted), data.count_folds, data.seed)

    def held_out_loss(penalty: float) -> float:
        loss = 0.0
        for fold in range(data.count_folds):
            is_held_out = folds == fold
            coefficients = _fit_log_odds(columns, data, penalty * roughness, ~is_held_out)
            log_odds = columns[is_held_out] @ coefficients
            signed = np.where(data.is_accepted[is_held_out], -log_odds, log_odds)
            loss += float(data.weights[is_held_out] @ np.logaddexp(0.0, signed))
        return loss

    chosen = min(_PENALTIES, key=held_out_loss)
    coefficients = _fit_log_odds(columns, data, chosen * roughness)
    return _reach(lambda values: basis(values) @ coefficients, data, appetites)


def _fit_kde(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Where the density of good answers overtakes that of failed ones, each times prevalence x cost."""
    from scipy.optimize import brentq

    failed, good = ~data.is_accepted, data.is_accepted
    densities = _log_density(data, failed), _log_density(data, good)
    if densities[0] is None or densities[1] is None:
        return [_Cut(math.nan, "constant_score")] * len(appetites)
    of_failed, of_good = densities[0], densities[1]
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

        def gap(value: float, limit: float = limit) -> float:
            point = np.array([value])
            return float(of_good(point)[0] - of_failed(point)[0]) - limit

        cuts.append(_Cut(float(brentq(gap, left, right, xtol=1e-12))))
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
            limit = _assured_limit(values, clusters, weights, share, data.assurance)
        better = levels[levels > limit]
        cuts.append(_Cut(float(better[0])) if len(better) else _Cut(math.inf, "no_threshold"))
    return cuts


def _assured_limit(values: Floats, clusters: Integers, weights: Floats, share: float, assurance: float) -> float:
    """Return the lowest limit that at most a share of new failed answers exceeds, with probability assurance."""
    distinct = np.unique(values)[::-1]
    new_cluster = np.append(clusters, clusters.max() + 1)
    new_weight = np.append(weights, weights.mean())
    limit, place = math.inf, 0
    while place < len(distinct):
        is_passing = np.append(values > distinct[place], True)
        if rate_interval(is_passing, new_cluster, new_weight, 2 * assurance - 1).high > share:
            break
        limit = float(distinct[place])
        place += max(1, place // 16)
    return limit


def _fit_normal_floor(data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Mean - z sd of accepted answers, z one-sided: 1.282, 1.645, 2.326 at 90, 95, 99 % (Sarmah et al., step 3)."""
    return [_Cut(_normal_floor(data, data.is_accepted, appetite.confidence)) for appetite in appetites]


def _fit_fold_floors(
    join: Callable[[Floats], np.float64], data: OrientedRows, appetites: Sequence[RiskAppetite]
) -> list[_Cut]:
    """Join the floors of K - 1 folds, each held against its held-out fold (Sarmah et al. 2024, steps 3 to 5)."""
    folds = np.where(data.is_accepted, deal_folds(data.clusters, data.is_accepted, data.count_folds, data.seed), -1)
    cuts = []
    for appetite in appetites:
        floors, flagged = np.empty(data.count_folds), np.empty(data.count_folds)
        for fold in range(data.count_folds):
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
    "gam": _fit_gam,
    "kde_crossing": _fit_kde,
    "conformal": _fit_conformal,
    "normal_floor": _fit_normal_floor,
    "normal_floor_fold_mean": partial(_fit_fold_floors, np.mean),
    "normal_floor_fold_strictest": partial(_fit_fold_floors, np.max),
    "pass_quantile": _fit_pass_quantile,
}


def _reach(log_odds: Callable[[Floats], Floats], data: OrientedRows, appetites: Sequence[RiskAppetite]) -> list[_Cut]:
    """Return where rising log odds reach each confidence among the observed scores."""
    from scipy.optimize import brentq

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

        def gap(value: float, wanted: float = wanted) -> float:
            return float(log_odds(np.array([value]))[0]) - wanted

        cuts.append(_Cut(float(brentq(gap, grid[0], grid[-1], xtol=1e-12))))
    return cuts


def _fit_log_odds(columns: Floats, data: OrientedRows, penalty: Floats, rows: Flags | None = None) -> Floats:
    """Return coefficients of the penalised logistic likelihood by Newton's method, shape (n_columns,)."""
    from scipy.special import expit

    count_accepted = int(data.is_accepted.sum())
    count_failed = len(data.is_accepted) - count_accepted
    targets = np.where(data.is_accepted, (count_accepted + 1) / (count_accepted + 2), 1 / (count_failed + 2))
    weights = data.weights if rows is None else data.weights * rows

    def loss(coefficients: Floats) -> float:
        log_odds = columns @ coefficients
        likelihood = weights @ (np.logaddexp(0.0, log_odds) - targets * log_odds)
        return float(likelihood + coefficients @ penalty @ coefficients / 2)

    found = np.zeros(columns.shape[1])
    for _ in range(100):
        shares = expit(columns @ found)
        gradient = columns.T @ (weights * (targets - shares)) - penalty @ found
        curvature = columns.T @ (columns * (weights * shares * (1 - shares))[:, None]) + penalty
        # the ridge serves columns without rows; it slows steps down and does not move the optimum
        step = np.linalg.solve(curvature + 1e-8 * np.eye(len(found)), gradient)
        before = loss(found)
        while loss(found + step) > before + 1e-9 and np.abs(step).max() > 1e-10:
            step = step / 2
        found = found + step
        if np.abs(step).max() < 1e-10:
            break
    return found


def _log_density(data: OrientedRows, rows: Flags) -> Callable[[Floats], Floats] | None:
    """Return the logarithm of the reflected kernel density of some rows; None when they do not vary."""
    from scipy.special import logsumexp

    weights = data.weights[rows]
    values = data.values[rows]
    deviation = _mean_and_deviation(values, weights)[1]
    if np.ptp(values) <= _TINY:
        return None
    spread = (_quantile(values, weights, 0.75) - _quantile(values, weights, 0.25)) / 1.34
    width = 0.9 * (min(deviation, spread) if spread > 0 else deviation) * kish_effective_n(weights) ** -0.2
    # rows of equal score share one kernel
    levels, codes = np.unique(values, return_inverse=True)
    log_weights = np.log(np.bincount(codes, weights=weights) / weights.sum())
    mirrors = [levels]
    mirrors += [2 * bound - levels for bound in (data.low, data.high) if math.isfinite(bound)]
    centers, log_heights = np.concatenate(mirrors), np.tile(log_weights, len(mirrors))

    def density(points: Floats) -> Floats:
        # some points at a time: memory stays bounded
        size = max(1, _BLOCK_CELLS // len(centers))
        log_sums = [
            logsumexp(log_heights - ((points[start : start + size, None] - centers) / width) ** 2 / 2, axis=1)
            for start in range(0, len(points), size)
        ]
        result: Floats = np.concatenate(log_sums) - math.log(width)
        return result

    return density


def orient_rows(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    direction: str,
    bounds: tuple[float | None, float | None],
    weights: npt.ArrayLike | None,
    count_folds: int,
    seed: int,
) -> OrientedRows:
    """Check the rows and turn them so that higher is better, in an order that does not depend on the input's."""
    sign = sign_of(direction)
    values = np.asarray(scores, dtype=np.float64)
    flags = np.asarray(labels)
    groups = np.asarray(clusters)
    row_weights = np.ones(values.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if not values.ndim == flags.ndim == groups.ndim == row_weights.ndim == 1 or not (
        len(values) == len(flags) == len(groups) == len(row_weights)
    ):
        raise ValueError(
            "scores, labels, clusters and weights must have one shape (n,), "
            f"got {values.shape}, {flags.shape}, {groups.shape}, {row_weights.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"scores must be finite, got {int((~np.isfinite(values)).sum())} that are not")
    if len(flags) and not np.isin(flags, (0, 1)).all():
        raise ValueError(f"labels must be 0 or 1, got {sorted(set(flags.tolist()) - {0, 1}, key=str)[:3]}")
    if not (np.isfinite(row_weights) & (row_weights > 0)).all():
        raise ValueError("weights must be positive and finite, got others")
    if count_folds < 2:
        raise ValueError(f"count_folds must be at least 2, got {count_folds}")
    low = -math.inf if bounds[0] is None else bounds[0]
    high = math.inf if bounds[1] is None else bounds[1]
    if not low < high:
        raise ValueError(f"the lower bound must be below the upper one, got {bounds[0]} and {bounds[1]}")
    if len(values) and not low - _RANGE_TOLERANCE <= values.min() <= values.max() <= high + _RANGE_TOLERANCE:
        raise ValueError(f"scores must lie in [{low}, {high}], got [{values.min()}, {values.max()}]")
    values = np.clip(values, low, high) * sign
    low, high = (low, high) if sign > 0 else (-high, -low)
    codes = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    order = np.lexsort((row_weights, flags, codes, values))
    total = row_weights.sum()
    scaled = row_weights * (len(values) / total) if len(values) else row_weights
    return OrientedRows(
        values[order], flags[order].astype(np.bool_), scaled[order], codes[order], low, high, sign, seed, count_folds
    )


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
            if rows.sum() < MINIMUM_PER_CLASS or count_clusters < max(MINIMUM_CLUSTERS, data.count_folds):
                return "insufficient"
    read = data.values[data.is_accepted] if METHODS[method] == "monitoring" else data.values
    return "constant_score" if np.ptp(read) <= _TINY else "ok"


def sign_of(direction: str) -> int:
    """Return 1 where a higher score is better and -1 where a lower one is."""
    if direction not in DIRECTIONS:
        raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}, got {direction!r}")
    return 1 if direction == "higher_is_better" else -1


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
