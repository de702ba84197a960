"""What a calibrated probability is worth on labels that its calibrator never saw, with intervals by cluster.

y = 1 means that people accept the answer; a probability is P(y = 1). A type I error is a false accept: an answer that
people fail passes the cut-off. A type II error is a false reject: an answer that people accept does not pass. Sarmah et
al. 2024 (step 1C) call type I the false positive and type II the false negative of an evaluation whose positive is a
pass. They map the risk appetite to the tolerated share of hallucinations that are let through, which is type I.
Sudjianto et al. 2024 (section 5) name both errors without a definition. F1 elsewhere takes the failure as its positive;
these two rates do not turn with it.

Siblings are not independent, and intervals resample whole clusters (percentile bootstrap, Efron and Tibshirani 1993,
section 13.3). Every figure of the same rows has the same draws, so that differences are paired. The bootstrap cannot
see what is missing where one side of a share has fewer than 10 cases, or the share fewer than 10 clusters. The
interval is then that of Wilson (1927) on Kish's effective number of clusters, (sum n)^2 / sum n^2. Labels of unequal
inclusion probability pi weigh 1 / pi.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import draw_cluster_counts, error_of_mean, sum_by_cluster
from hcat.statistics.intervals import effective_clusters, normal_quantile, t_quantile, wilson_interval

#: `one_class`: a class that the figure needs is missing; `separated`: the slope would be infinite; `no_threshold`: no
#: cut-off was given.
STATUSES = ("measured", "insufficient", "one_class", "constant_score", "separated", "no_threshold")
INTERVAL_METHODS = ("cluster_bootstrap", "wilson", "linearised")

COUNT_BINS = 10
COUNT_DRAWS = 1_000
CONFIDENCE = 0.95
MINIMUM_CLUSTERS = 10
#: Below this many cases on one side of a share its interval is Wilson's.
MINIMUM_CASES = 10
SEED = 20260101

#: Log odds are held within this distance of 0, log losses within the matching probability.
LOGIT_BOUND = 15.0
LOG_LOSS_BOUND = 1e-12
_NEWTON_STEPS = 60
_NEWTON_REACH = 3.0
_LARGEST_LOG_ODDS = 30.0
#: Newton converges quadratically: a last step of this length leaves an error far below it.
_NEWTON_TOLERANCE = 1e-7
#: Share of draws in which a figure must exist (both classes drawn, no separation), else it is `insufficient`.
_USABLE_DRAWS = 0.95
#: Numbers held at once: draws are taken in blocks of this many cells.
_BLOCK_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of quality; value, low and high are None unless status is `measured`.

    Attributes
    ----------
    name, status : str
        What it is, and one of :data:`STATUSES`.
    method : str or None
        How the interval was made, one of :data:`INTERVAL_METHODS`.
    value, low, high : float or None
        Estimate and its 95 % interval.
    draws : ndarray, shape (n_draws,), or None
        Bootstrap draws; NaN where a draw has no value.
    """

    name: str
    status: str
    method: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    draws: Floats | None = field(default=None, compare=False, repr=False)

    def minus(self, other: Figure, name: str) -> Figure:
        """Return the paired difference of two figures of the same rows, draw by draw."""
        if self.value is None or self.draws is None:
            return Figure(name, self.status)
        if other.value is None or other.draws is None:
            return Figure(name, other.status)
        if self.draws.shape != other.draws.shape:
            raise ValueError(f"figures must have the same draws, got {self.draws.shape} and {other.draws.shape}")
        return _figure(name, self.value - other.value, self.draws - other.draws)


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of the reliability diagram.

    Attributes
    ----------
    position : int
        From 0, by rising probability.
    lowest, highest : float
        Range of the probabilities in it.
    count_labels, count_clusters : int
        Rows and clusters in it.
    mean_prediction, share_accepted : float
        Weighted means; a calibrated bin has them equal.
    low, high : float
        95 % Wilson interval of share_accepted on the Kish effective number of clusters.
    """

    position: int
    lowest: float
    highest: float
    count_labels: int
    count_clusters: int
    mean_prediction: float
    share_accepted: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """Expected calibration error beside what chance alone makes; figures are None unless status is `measured`.

    Attributes
    ----------
    status : str
        One of :data:`STATUSES`.
    value : float or None
        ECE: mean over bins of |share accepted - mean prediction|, in [0, 1]; above 0 even for a perfect model.
    expected_by_chance, limit_by_chance : float or None
        Mean and 95 % limit of the ECE of a perfect model on these rows: labels redrawn independently.
    limit_by_chance_of_clusters : float or None
        95 % limit when siblings share their errors; it exceeds limit_by_chance where labels cluster by cluster. A value
        above the larger of both limits is no chance.
    debiased : float or None
        Root mean square calibration error over bins without the part that noise adds, in [0, 1].
    count_bins : int
        Bins made; fewer than asked for where scores are tied.
    """

    status: str
    value: float | None
    expected_by_chance: float | None
    limit_by_chance: float | None
    limit_by_chance_of_clusters: float | None
    debiased: float | None
    count_bins: int


@dataclass(frozen=True, slots=True)
class SystemCalibration:
    """Calibration-in-the-large of one system; difference, low and high are None unless status is `measured`.

    Attributes
    ----------
    system, status : str
        Which system, and one of :data:`STATUSES`.
    method : str or None
        `linearised` or `wilson`.
    count_labels, count_clusters : int
        Rows and clusters of the system.
    share_accepted, mean_prediction : float
        Weighted means of label and prediction.
    difference, low, high : float or None
        share_accepted - mean_prediction with its 95 % interval; below 0 the probabilities flatter the system.
    """

    system: str
    status: str
    method: str | None
    count_labels: int
    count_clusters: int
    share_accepted: float
    mean_prediction: float
    difference: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Quality:
    """All figures of one calibrator.

    Attributes
    ----------
    figures : tuple of Figure
        brier_score, log_loss, the same with suffix `_base_rate` (the base rate in place of the prediction) and
        `_difference` (calibrator - base rate: below 0 it is worth having), auroc, type_one_error, type_two_error,
        calibration_slope, calibration_intercept.
    calibration_error : CalibrationError
        ECE and its limits by chance.
    bins : tuple of Bin
        Of the same bins.
    count_labels, count_clusters : int
        Rows and clusters measured.
    """

    figures: tuple[Figure, ...]
    calibration_error: CalibrationError
    bins: tuple[Bin, ...]
    count_labels: int
    count_clusters: int

    def figure(self, name: str) -> Figure:
        """Return a figure by its name; KeyError when there is none."""
        return {figure.name: figure for figure in self.figures}[name]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Checked rows: probabilities, labels as 0.0 or 1.0, codes of clusters from 0, weights of mean 1."""

    probabilities: Floats
    labels: Floats
    clusters: Integers
    weights: Floats

    @property
    def count_clusters(self) -> int:
        return int(self.clusters.max()) + 1 if len(self.clusters) else 0

    def take(self, chosen: Flags) -> _Rows:
        codes = np.unique(self.clusters[chosen], return_inverse=True)[1].astype(np.int64)
        return _Rows(self.probabilities[chosen], self.labels[chosen], codes, self.weights[chosen])


def measure_quality(
    probabilities: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    base_rate: float | Floats,
    cut_off: float | None = None,
    weights: npt.ArrayLike | None = None,
    count_bins: int = COUNT_BINS,
    count_draws: int = COUNT_DRAWS,
    seed: int = SEED,
) -> Quality:
    """Return every figure of quality of out-of-fold probabilities."""
    base_rates = np.broadcast_to(np.asarray(base_rate, dtype=np.float64), np.shape(probabilities))
    if not ((base_rates > 0) & (base_rates < 1)).all():
        raise ValueError(f"base_rate must lie in (0, 1), got {base_rate}")
    if cut_off is not None and not 0 <= cut_off <= 1:
        raise ValueError(f"cut_off must lie in [0, 1], got {cut_off}")
    if count_bins < 1 or count_draws < 1:
        raise ValueError(f"count_bins and count_draws must be at least 1, got {count_bins} and {count_draws}")
    rows = _check(probabilities, labels, clusters, weights)
    counts = draw_cluster_counts(np.random.default_rng(seed), rows.count_clusters, count_draws)
    p, y, constant = rows.probabilities, rows.labels, base_rates
    ones = np.ones(len(y))
    figures = []
    for name, loss in (("brier_score", _brier), ("log_loss", _log_loss)):
        of_model = _ratio(name, loss(p, y), ones, rows, counts)
        of_base_rate = _ratio(f"{name}_base_rate", loss(constant, y), ones, rows, counts)
        figures += [of_model, of_base_rate, of_model.minus(of_base_rate, f"{name}_difference")]
    figures.append(_auroc(rows, counts))
    for name, of_class, is_error in (
        ("type_one_error", 1 - y, p >= (cut_off or 0.0)),
        ("type_two_error", y, p < (cut_off or 0.0)),
    ):
        figure = Figure(name, "no_threshold")
        if cut_off is not None:
            figure = _share(name, is_error.astype(np.float64), of_class, rows, counts)
        figures.append(figure)
    figures += [_slope(rows, counts), _intercept(rows, counts)]
    error, bins = _calibration_error(rows, count_bins, count_draws, seed)
    return Quality(tuple(figures), error, bins, len(y), rows.count_clusters)


def calibration_in_the_large(
    probabilities: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    systems: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
) -> tuple[SystemCalibration, ...]:
    """Return mean label - mean prediction of each system with an interval by cluster, in the order of the names."""
    rows = _check(probabilities, labels, clusters, weights)
    names = np.asarray(systems)
    if names.shape != rows.labels.shape:
        raise ValueError(f"systems and labels must have one length, got {names.shape} and {rows.labels.shape}")
    found = []
    for system in np.unique(names).tolist():
        one = rows.take(names == system)
        share = float(np.average(one.labels, weights=one.weights))
        prediction = float(np.average(one.probabilities, weights=one.weights))
        difference, count = share - prediction, one.count_clusters
        head = (len(one.labels), count, share, prediction)
        if count < MINIMUM_CLUSTERS:
            found.append(SystemCalibration(str(system), "insufficient", None, *head, None, None, None))
        elif _is_rare(one.labels, np.ones(len(one.labels))):
            low, high = _wilson(share, effective_clusters(one.clusters, one.weights))
            bounds = (low - prediction, high - prediction)
            found.append(SystemCalibration(str(system), "measured", "wilson", *head, difference, *bounds))
        else:
            residuals = one.weights * (one.labels - one.probabilities - difference)
            error = error_of_mean(residuals, one.clusters, one.weights.sum())
            reach = float(t_quantile((1 + CONFIDENCE) / 2, count - 1)) * error
            bounds = (difference - reach, difference + reach)
            found.append(SystemCalibration(str(system), "measured", "linearised", *head, difference, *bounds))
    return tuple(found)


# --- figures ----------------------------------------------------------------------------------------------------------


def _brier(probabilities: Floats, labels: Floats) -> Floats:
    result: Floats = (probabilities - labels) ** 2
    return result


def _log_loss(probabilities: Floats, labels: Floats) -> Floats:
    clipped = np.clip(probabilities, LOG_LOSS_BOUND, 1 - LOG_LOSS_BOUND)
    result: Floats = -np.where(labels > 0, np.log(clipped), np.log1p(-clipped))
    return result


def _figure(name: str, value: float, draws: Floats) -> Figure:
    usable = draws[np.isfinite(draws)]
    if len(usable) < _USABLE_DRAWS * len(draws):
        return Figure(name, "insufficient")
    low, high = np.quantile(usable, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Figure(name, "measured", "cluster_bootstrap", value, float(low), float(high), draws)


def _ratio(name: str, values: Floats, members: Floats, rows: _Rows, counts: Floats) -> Figure:
    """Return the mean of values over members (0 or 1 per row)."""
    if rows.count_clusters < MINIMUM_CLUSTERS:
        return Figure(name, "insufficient")
    if not members.any():
        return Figure(name, "one_class")
    sums = sum_by_cluster(rows.weights * members * values, rows.clusters)
    totals = sum_by_cluster(rows.weights * members, rows.clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = (counts @ sums) / (counts @ totals)
    return _figure(name, float(sums.sum() / totals.sum()), draws)


def _share(name: str, cases: Floats, members: Floats, rows: _Rows, counts: Floats) -> Figure:
    """Return the share of cases among members, its interval by Wilson where one side is rare."""
    figure = _ratio(name, cases, members, rows, counts)
    is_member = members > 0
    is_rare = _is_rare(cases, members) or len(np.unique(rows.clusters[is_member])) < MINIMUM_CLUSTERS
    if figure.value is None or not is_rare:
        return figure
    low, high = _wilson(figure.value, effective_clusters(rows.clusters[is_member], rows.weights[is_member]))
    return Figure(name, "measured", "wilson", figure.value, low, high, figure.draws)


def _auroc(rows: _Rows, counts: Floats) -> Figure:
    status = _status_of_classes(rows)
    if status != "measured":
        return Figure("auroc", status)
    order = np.argsort(rows.probabilities, kind="stable")
    ordered = rows.probabilities[order]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1])
    is_accepted = rows.labels[order]

    def values(weights: Floats) -> Floats:
        accepted = np.add.reduceat(weights[:, order] * is_accepted, starts, axis=1)
        failed = np.add.reduceat(weights[:, order] * (1 - is_accepted), starts, axis=1)
        concordant = (accepted * (np.cumsum(failed, axis=1) - failed / 2)).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = concordant / (accepted.sum(axis=1) * failed.sum(axis=1))
        return result

    return _bootstrap("auroc", values, rows, counts)


def _slope(rows: _Rows, counts: Floats) -> Figure:
    name = "calibration_slope"
    status = _status_of_classes(rows)
    log_odds = _log_odds(rows.probabilities)
    if status == "measured" and np.ptp(log_odds) == 0:
        status = "constant_score"
    if status != "measured":
        return Figure(name, status)
    lows, highs = _extremes(log_odds, rows)
    is_separated = _is_separated(lows, highs, np.ones((1, rows.count_clusters)))
    if is_separated.any():
        return Figure(name, "separated")
    point = _regress(log_odds, rows.labels, rows.weights[None, :], np.zeros((2, 1)))

    def values(weights: Floats) -> Floats:
        slopes: Floats = _regress(log_odds, rows.labels, weights, point)[1]
        return slopes

    figure = _bootstrap(name, values, rows, counts)
    if figure.value is None or figure.draws is None:
        return figure
    draws = np.where(_is_separated(lows, highs, counts), np.nan, figure.draws)
    return _figure(name, figure.value, draws)


def _intercept(rows: _Rows, counts: Floats) -> Figure:
    status = _status_of_classes(rows)
    if status != "measured":
        return Figure("calibration_intercept", status)
    log_odds = _log_odds(rows.probabilities)

    def values(weights: Floats) -> Floats:
        intercepts, step = np.zeros(len(weights)), np.full(len(weights), np.inf)
        for _ in range(_NEWTON_STEPS):
            shares = _bounded_expit(intercepts[:, None] + log_odds)
            residual = (weights * (rows.labels - shares)).sum(axis=1)
            curvature = (weights * shares * (1 - shares)).sum(axis=1)
            step = np.clip(residual / np.maximum(curvature, 1e-300), -_NEWTON_REACH, _NEWTON_REACH)
            intercepts = intercepts + step
            if np.abs(step).max() < _NEWTON_TOLERANCE:
                break
        # a draw of one class has no finite intercept
        is_finite = (weights @ rows.labels > 0) & (weights @ (1 - rows.labels) > 0)
        result: Floats = np.where(is_finite & (np.abs(step) < _NEWTON_TOLERANCE), intercepts, np.nan)
        return result

    return _bootstrap("calibration_intercept", values, rows, counts)


def _status_of_classes(rows: _Rows) -> str:
    by_class = [len(np.unique(rows.clusters[rows.labels == label])) for label in (0, 1)]
    if rows.count_clusters < MINIMUM_CLUSTERS or 0 < min(by_class) < MINIMUM_CLUSTERS:
        return "insufficient"
    return "measured" if min(by_class) else "one_class"


def _log_odds(probabilities: Floats) -> Floats:
    bound = 1 / (1 + np.exp(LOGIT_BOUND))
    clipped = np.clip(probabilities, bound, 1 - bound)
    # scipy.special.logit rounds the last bit otherwise, and stored slopes must not move
    result: Floats = np.log(clipped) - np.log1p(-clipped)
    return result


def _regress(log_odds: Floats, labels: Floats, weights: Floats, start: Floats) -> Floats:
    """Return intercept and slope of logistic regressions, shape (2, m), one per row of weights, shape (m, n)."""
    found = np.tile(start, len(weights))
    step = np.full_like(found, np.inf)
    # products of standardised values are of one size
    center, scale = log_odds.mean(), log_odds.std()
    values = (log_odds - center) / scale
    found = np.stack([found[0] + found[1] * center, found[1] * scale])
    for _ in range(_NEWTON_STEPS):
        shares = _bounded_expit(found[0][:, None] + found[1][:, None] * values)
        residual, curvature = weights * (labels - shares), weights * shares * (1 - shares)
        first, second = residual.sum(axis=1), residual @ values
        a, b, c = curvature.sum(axis=1), curvature @ values, curvature @ values**2
        determinant = np.maximum(a * c - b * b, 1e-300)
        step = np.stack([(c * first - b * second) / determinant, (a * second - b * first) / determinant])
        step = np.clip(step, -_NEWTON_REACH, _NEWTON_REACH)
        found = found + step
        if np.abs(step).max() < _NEWTON_TOLERANCE:
            break
    slopes = found[1] / scale
    has_converged = np.abs(step).max(axis=0) < _NEWTON_TOLERANCE
    result: Floats = np.where(has_converged, np.stack([found[0] - slopes * center, slopes]), np.nan)
    return result


def _bounded_expit(log_odds: Floats) -> Floats:
    """Return probabilities of log odds, which are held so that a curvature never is 0."""
    from scipy.special import expit

    result: Floats = expit(np.clip(log_odds, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS))
    return result


def _extremes(values: Floats, rows: _Rows) -> tuple[Floats, Floats]:
    """Return the least and the largest value of failed and accepted rows per cluster, each shape (2, n_clusters)."""
    lows = np.full((2, rows.count_clusters), np.inf)
    highs = np.full((2, rows.count_clusters), -np.inf)
    classes = rows.labels.astype(np.int64)
    np.minimum.at(lows, (classes, rows.clusters), values)
    np.maximum.at(highs, (classes, rows.clusters), values)
    return lows, highs


def _is_separated(lows: Floats, highs: Floats, counts: Floats) -> Flags:
    """Return per draw whether a cut parts the classes: no finite slope exists (Albert and Anderson 1984)."""
    low = [np.where(counts > 0, lows[label], np.inf).min(axis=1) for label in (0, 1)]
    high = [np.where(counts > 0, highs[label], -np.inf).max(axis=1) for label in (0, 1)]
    result: Flags = (high[0] <= low[1]) | (high[1] <= low[0])
    return result


# --- calibration error ------------------------------------------------------------------------------------------------


def _calibration_error(
    rows: _Rows, count_bins: int, count_draws: int, seed: int
) -> tuple[CalibrationError, tuple[Bin, ...]]:
    """Return the expected calibration error with its null, and the bins."""
    bins = _bins(rows.probabilities, count_bins)
    found = int(bins.max()) + 1 if len(bins) else 0
    table = tuple(_describe_bin(position, rows.take(bins == position)) for position in range(found))
    if rows.count_clusters < MINIMUM_CLUSTERS:
        return CalibrationError("insufficient", None, None, None, None, None, found), table
    members = np.eye(found)[bins]
    total = rows.weights.sum()
    residuals = rows.labels - rows.probabilities
    masses = rows.weights @ members
    gaps = (rows.weights * residuals) @ members / masses
    random = np.random.default_rng(seed)
    by_chance = []
    for block in _blocks(count_draws, len(bins)):
        redrawn = random.random((block, len(bins))) < rows.probabilities
        by_chance.append(np.abs((rows.weights * (redrawn - rows.probabilities)) @ members).sum(axis=1) / total)
    null = np.concatenate(by_chance)
    signs = random.integers(0, 2, (count_draws, rows.count_clusters)) * 2.0 - 1.0
    deviations = sum_by_cluster((rows.weights * residuals)[:, None] * members, rows.clusters)
    null_of_clusters = np.abs(signs @ deviations).sum(axis=1) / total
    about_gap = sum_by_cluster((rows.weights * (residuals - gaps[bins]))[:, None] * members, rows.clusters)
    count_in_bin = np.array([one.count_clusters for one in table])
    variances = count_in_bin / np.maximum(count_in_bin - 1, 1) * (about_gap**2).sum(axis=0) / masses**2
    error = CalibrationError(
        status="measured",
        value=float(masses @ np.abs(gaps) / total),
        expected_by_chance=float(null.mean()),
        limit_by_chance=float(np.quantile(null, CONFIDENCE)),
        limit_by_chance_of_clusters=float(np.quantile(null_of_clusters, CONFIDENCE)),
        debiased=float(np.sqrt(max(0.0, masses @ (gaps**2 - variances) / total))),
        count_bins=found,
    )
    return error, table


def _bins(probabilities: Floats, count_bins: int) -> Integers:
    """Return the bin of each row: ranks cut into equal counts, equal probabilities in the bin of their lowest rank."""
    ordered = np.sort(probabilities)
    lowest_ranks = np.searchsorted(ordered, probabilities, side="left")
    raw = lowest_ranks * count_bins // max(len(probabilities), 1)
    return np.unique(raw, return_inverse=True)[1].astype(np.int64)


def _describe_bin(position: int, rows: _Rows) -> Bin:
    share = float(np.average(rows.labels, weights=rows.weights))
    low, high = _wilson(share, effective_clusters(rows.clusters, rows.weights))
    return Bin(
        position=position,
        lowest=float(rows.probabilities.min()),
        highest=float(rows.probabilities.max()),
        count_labels=len(rows.labels),
        count_clusters=rows.count_clusters,
        mean_prediction=float(np.average(rows.probabilities, weights=rows.weights)),
        share_accepted=share,
        low=low,
        high=high,
    )


# --- resampling and small helpers -------------------------------------------------------------------------------------


def _blocks(count_draws: int, count_rows: int) -> list[int]:
    """Return numbers of draws that add up to count_draws and hold at most _BLOCK_CELLS numbers each."""
    size = max(1, _BLOCK_CELLS // max(count_rows, 1))
    return [min(size, count_draws - start) for start in range(0, count_draws, size)]


def _bootstrap(name: str, values: Callable[[Floats], Floats], rows: _Rows, counts: Floats) -> Figure:
    """Return the figure of a function from row weights, shape (m, n), to values, shape (m,)."""
    point = float(values(rows.weights[None, :])[0])
    draws, start = [], 0
    for block in _blocks(len(counts), len(rows.labels)):
        draws.append(values(counts[start : start + block][:, rows.clusters] * rows.weights))
        start += block
    return _figure(name, point, np.concatenate(draws))


def _is_rare(cases: Floats, members: Floats) -> bool:
    count = float(cases @ members)
    return min(count, float(members.sum()) - count) < MINIMUM_CASES


def _wilson(share: float, count: float) -> tuple[float, float]:
    """Return the Wilson (1927) interval of a share on an effective count."""
    # a mean of ones may exceed 1 by rounding
    return wilson_interval(min(1.0, share), count, normal_quantile((1 + CONFIDENCE) / 2))


def _check(
    probabilities: npt.ArrayLike, labels: npt.ArrayLike, clusters: npt.ArrayLike, weights: npt.ArrayLike | None
) -> _Rows:
    p = np.asarray(probabilities, dtype=np.float64)
    y: npt.NDArray[Any] = np.asarray(labels)
    groups: npt.NDArray[Any] = np.asarray(clusters)
    weight = np.ones(len(p)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not p.shape == y.shape == groups.shape == weight.shape == (len(p),):
        raise ValueError(
            "probabilities, labels, clusters and weights must have one length, got "
            f"{p.shape}, {y.shape}, {groups.shape}, {weight.shape}"
        )
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"probabilities must lie in [0, 1], got {p.min()} to {p.max()}")
    if not np.isin(y, [0, 1]).all():
        raise ValueError(f"labels must be 0 or 1, got {np.unique(y).tolist()}")
    if not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError(f"weights must be finite and positive, got {weight.min()} to {weight.max()}")
    codes = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    return _Rows(p, y.astype(np.float64), codes, weight / weight.mean() if len(weight) else weight)
