"""What a cut-off and a probability are worth: F1, balanced accuracy, calibration error and slope, by source.

A positive is a failure (a hallucinated answer), as in `benchmarks.discrimination`; a probability is that of a grounded
answer. Intervals resample whole sources, with the same draws for every score.
"""

import numpy as np

from benchmarks.discrimination import COUNT_DRAWS, Estimate, estimate_from_draws, resample_rows
from hcat.statistics.arrays import Flags, Floats

COUNT_BINS = 10
_NEWTON_STEPS = 30
_LOGIT_BOUND = 15.0


def f1(is_flagged: Flags, is_positive: Flags, sources: np.ndarray, count_draws: int = COUNT_DRAWS) -> Estimate:
    """Return F1 = 2 TP / (2 TP + FP + FN) of flagging failures, in [0, 1]; 0 when nothing is flagged."""

    def value(weights: Floats) -> Floats:
        hits = weights @ (is_flagged & is_positive)
        total = weights @ is_flagged + weights @ is_positive
        return np.divide(2 * hits, total, out=np.full(len(weights), np.nan), where=total > 0)

    return _bootstrap(value, sources, count_draws)


def balanced_accuracy(
    is_flagged: Flags, is_positive: Flags, sources: np.ndarray, count_draws: int = COUNT_DRAWS
) -> Estimate:
    """Return the mean of the shares of failures flagged and of grounded answers passed, in [0, 1]."""

    def value(weights: Floats) -> Floats:
        failures, others = weights @ is_positive, weights @ ~is_positive
        with np.errstate(invalid="ignore", divide="ignore"):
            return (
                (weights @ (is_flagged & is_positive)) / failures + (weights @ (~is_flagged & ~is_positive)) / others
            ) / 2

    return _bootstrap(value, sources, count_draws)


def expected_calibration_error(
    probabilities: Floats, is_positive: Flags, sources: np.ndarray, count_draws: int = COUNT_DRAWS
) -> Estimate:
    """Return the mean distance between probability and share of grounded answers over bins of like size, in [0, 1].

    Bins follow the order of the probabilities and never split equal ones. The interval shows the spread of resampled
    sources and is no bootstrap percentile test: the error is bounded by 0 and biased upwards in small bins.
    """
    bins = _bins(probabilities)
    grounded = (~is_positive).astype(np.float64)
    members = np.eye(bins.max() + 1)[bins]

    def value(weights: Floats) -> Floats:
        gaps = np.abs((weights * (grounded - probabilities)) @ members)
        return gaps.sum(axis=1) / weights.sum(axis=1)

    return _bootstrap(value, sources, count_draws)


def calibration_error_by_chance(probabilities: Floats, count_draws: int = COUNT_DRAWS, seed: int = 20260101) -> float:
    """Return the 95 % limit of the calibration error of a perfect model: labels redrawn from the probabilities."""
    bins = _bins(probabilities)
    members = np.eye(bins.max() + 1)[bins]
    drawn = np.random.default_rng(seed).random((count_draws, len(probabilities))) < probabilities
    errors = np.abs((drawn - probabilities) @ members).sum(axis=1) / len(probabilities)
    return float(np.quantile(errors, 0.95))


def calibration_slope(
    probabilities: Floats, is_positive: Flags, sources: np.ndarray, count_draws: int = COUNT_DRAWS
) -> Estimate:
    """Return the slope of a logistic regression of grounded on the log odds of the probability; 1 is calibrated.

    Below 1 the probabilities are too extreme, above 1 too timid. NaN where one class is missing or separates.
    """
    clipped = np.clip(probabilities, 1 / (1 + np.exp(_LOGIT_BOUND)), 1 / (1 + np.exp(-_LOGIT_BOUND)))
    log_odds = np.log(clipped) - np.log1p(-clipped)
    grounded = (~is_positive).astype(np.float64)

    def value(weights: Floats) -> Floats:
        return _slopes(log_odds, grounded, weights)

    return _bootstrap(value, sources, count_draws)


def _slopes(log_odds: Floats, grounded: Floats, weights: Floats) -> Floats:
    """Return the slope for each row of weights by Newton's method, all rows at once."""
    center, scale = log_odds.mean(), max(float(log_odds.std()), 1e-9)
    values = (log_odds - center) / scale
    intercepts, slopes = np.zeros(len(weights)), np.zeros(len(weights))
    for _ in range(_NEWTON_STEPS):
        shares = 1 / (1 + np.exp(-np.clip(intercepts[:, None] + slopes[:, None] * values, -30, 30)))
        residual, curvature = weights * (grounded - shares), weights * shares * (1 - shares)
        first, second = residual.sum(axis=1), residual @ values
        a, b, c = curvature.sum(axis=1), curvature @ values, curvature @ values**2
        determinant = a * c - b * b
        with np.errstate(invalid="ignore", divide="ignore"):
            intercepts = intercepts + (c * first - b * second) / determinant
            slopes = slopes + (a * second - b * first) / determinant
    # a separated draw has no finite slope
    return np.where(np.abs(slopes) < 1e3, slopes, np.nan) / scale


def _bins(probabilities: Floats) -> np.ndarray:
    order = np.argsort(probabilities, kind="stable")
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    raw = ranks * COUNT_BINS // len(order)
    _, first, inverse = np.unique(probabilities, return_index=True, return_inverse=True)
    # equal probabilities go to the bin of their lowest rank
    lowest = np.full(len(first), len(order))
    np.minimum.at(lowest, inverse, ranks)
    tied = lowest[inverse] * COUNT_BINS // len(order)
    return np.unique(np.minimum(raw, tied), return_inverse=True)[1]


def _bootstrap(value, sources: np.ndarray, count_draws: int) -> Estimate:  # type: ignore[no-untyped-def]
    point = value(np.ones((1, len(sources))))
    return estimate_from_draws(float(point[0]), value(resample_rows(sources, count_draws)))
