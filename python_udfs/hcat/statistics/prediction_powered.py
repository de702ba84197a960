"""Failure rates of many interactions from few labels of people: prediction-powered or labels-only.

The rate takes the mean prediction over all N interactions and corrects it by the labelled ones (Angelopoulos, Bates,
Fannjiang, Jordan and Zrnic 2023), in Hájek form (Särndal, Swensson and Wretman 1992, section 6.3): docs/thresholds.md.
It is valid for any predictor; a better one only makes it narrower. Here Y = 1 is a failure: the complement of the
calibrators' y = 1, accepted.

The rate is that of the process that made these interactions: clusters are independent draws. Variance, by the jackknife
over whole clusters. With S = sum s over all N, W = sum w, and e = Y - lambda f with weighted mean e_bar, the part of
cluster g in the error of theta is to first order

    psi_g = lambda sum_(i in g, all N) s_i (f_i - mean_N(f)) / S + sum_(i in g, labelled) w_i (e_i - e_bar) / W.

When g leaves, theta moves by about psi_g / (1 - h_g), h_g the share of W in g, and the variance is (m - 1) / m times
the sum of the squares, m labelled clusters. Adding the two parts before squaring keeps their covariance when a cluster
has labelled interactions among the N. With labels that are not among the N, one row a cluster and w = 1, this is about
the variance of PPI: lambda^2 var_N(f) / N + var_n(Y - lambda f) / n.

psi_g is linear in lambda, psi_g / (1 - h_g) = y_g + lambda x_g, so that lambda = - sum y_g x_g / sum x_g^2 has the
smallest variance: the power tuning of Angelopoulos, Duchi and Zrnic 2023 (PPI++, section 6; for the mean
lambda = cov_n(Y, f) / ((1 + n / N) var(f)), to which it reduces for independent rows), by cluster, clipped to
[0, 1].
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Keys
from hcat.statistics.clustered import crossed_keys, crossed_rate_interval, join_crossed
from hcat.statistics.clusters import sum_by_cluster
from hcat.statistics.intervals import t_quantile, wilson_interval

Status = Literal["prediction_powered", "labels_only", "insufficient"]

#: Failures and passes (each) among the effective labels below which the labels stand alone.
LEAST_EXPECTED = 5.0
#: Width of a prediction-powered interval, over that of the labels alone, above which the labels stand alone.
MOST_WIDTH = 0.95

#: Effective clusters above which lambda can be tuned: one degree of freedom is left.
_LEAST_TO_TUNE = 3.0
#: Squared sums below this share of their terms are rounding.
_NEGLIGIBLE = 1e-20


class RateInterval(NamedTuple):
    """A failure rate with its interval, all in [0, 1], low <= estimate <= high."""

    estimate: float
    low: float
    high: float
    standard_error: float = math.nan  # by the jackknife; 0 when the labels are all equal, where there still is a width


class FailureRate(NamedTuple):
    """The failure rate of a system or a segment; `insufficient` (fewer than 2 labelled clusters) has no number."""

    status: Status
    count_labels: int
    count_failures: int
    count_clusters: int
    effective_n: float | None = None  # independent labels that say as much about the labels-only rate
    power_tuning: float | None = None  # lambda; None where no prediction-powered rate was made
    chosen: RateInterval | None = None  # what the status names
    prediction_powered: RateInterval | None = None  # None where the labels are too few for it
    labels_only: RateInterval | None = None
    width_ratio: float | None = None  # its square is the share of labels that predictions leave to be made


def estimate_failure_rate(
    is_failure: Flags,
    label_predictions: Floats,
    label_clusters: Keys,
    predictions: Floats,
    clusters: Keys,
    label_weights: Floats | None = None,
    confidence: float = 0.95,
    sampling_weights: Floats | None = None,
    label_second_clusters: Keys | None = None,
    second_clusters: Keys | None = None,
    label_raters: Keys | None = None,
) -> FailureRate:
    """Return the failure rate of what made N interactions, of which n have a label; of raters, each label has one."""
    count_labels = len(is_failure)
    label_seconds = np.zeros(count_labels, int) if label_second_clusters is None else label_second_clusters
    seconds = np.zeros(len(predictions), int) if second_clusters is None else second_clusters
    count_clusters = len(np.unique(label_clusters))
    found = FailureRate("insufficient", count_labels, int(is_failure.sum()), count_clusters)
    if count_clusters < 2:
        return found
    weights = np.ones(count_labels) if label_weights is None else label_weights
    parts = np.full(len(predictions), 1.0) if sampling_weights is None else sampling_weights
    parts = parts / max(parts.sum(), _NEGLIGIBLE)
    interval = crossed_rate_interval(is_failure, label_clusters, label_seconds, weights, confidence, label_raters)
    rate, shares = interval.estimate, weights / weights.sum()
    labels_only = RateInterval(rate, interval.low, interval.high, interval.standard_error)
    effective_n = min(interval.effective_n, count_labels)
    found = found._replace(status="labels_only", effective_n=effective_n, labels_only=labels_only, chosen=labels_only)
    # what the labels alone owe to the likeness of siblings, but not to raters, is independent rows as well
    within = rate * (1 - rate) / interval.effective_n - interval.of_raters
    # clusters of equal rates leave no variance between them: a coincidence of few, and no certainty
    is_degenerate = interval.standard_error**2 <= _NEGLIGIBLE * float(shares @ shares)
    if is_degenerate or rate * (1 - rate) * min(rate, 1 - rate) < LEAST_EXPECTED * within:
        return found

    mean_prediction, mean_labelled = float(parts @ predictions), float(shares @ label_predictions)
    of_labels = shares * (is_failure - rate)
    of_predictions = shares * (label_predictions - mean_labelled)
    of_all = parts * (predictions - mean_prediction)
    # the pairs of all rows and of the labelled ones must have the same codes
    joint = crossed_keys(np.concatenate([label_clusters, clusters]), np.concatenate([label_seconds, seconds]))
    keys = [np.asarray(key) for key in joint[: len(crossed_keys(label_clusters, label_seconds))]]
    by_cluster = _moves(keys[0], shares, of_labels, np.zeros(len(of_all)))
    tuning = _tune(by_cluster, _moves(keys[0], shares, -of_predictions, of_all))
    if tuning == 0 or interval.effective_clusters <= _LEAST_TO_TUNE:
        return found._replace(power_tuning=0.0, prediction_powered=labels_only, width_ratio=1.0)
    influences = of_labels - tuning * of_predictions
    squares = influences**2
    # how many rows carry the variance, (sum x^2)^2 / sum x^4: n when all are alike, 0 when all are 0
    is_negligible = float(squares.sum()) <= _NEGLIGIBLE * float(of_labels @ of_labels)
    if is_negligible or float(squares.sum()) ** 2 / float(squares @ squares) < LEAST_EXPECTED:
        return found
    moves = [_moves(key, shares, influences, tuning * of_all) for key in keys]
    squared = join_crossed([float(moved @ moved) for moved in moves])
    error = math.sqrt(squared + interval.of_raters)
    # what the labels alone owe to the likeness of siblings and to raters, this rate owes as well
    of_labels_only = math.sqrt(within + interval.of_raters)
    widened = math.sqrt(squared * within / interval.standard_error**2 + interval.of_raters)
    degrees = np.array([interval.degrees - 1, interval.degrees])
    quantile, quantile_of_labels = t_quantile((1 + confidence) / 2, degrees).tolist()
    estimate = rate + tuning * (mean_prediction - mean_labelled)
    powered = _interval(estimate, quantile, widened, error)
    width_ratio = quantile * widened / (quantile_of_labels * of_labels_only)
    if interval.of_raters > 0:
        # the posterior of raters reaches farther to one side
        ends = [estimate + width_ratio * (end - rate) for end in (interval.low, interval.high)]
        low, high = np.clip(ends, 0, 1).tolist()
        powered = powered._replace(low=low, high=high)
    found = found._replace(power_tuning=tuning, prediction_powered=powered, width_ratio=width_ratio)
    return found if width_ratio > MOST_WIDTH else found._replace(status="prediction_powered", chosen=powered)


def _moves(key: Keys, shares: Floats, of_labels: Floats, of_all: Floats) -> Floats:
    """Return how far the rate moves when each value of a key leaves: the squares add up to the variance."""
    codes = np.unique(key, return_inverse=True)[1].astype(np.int64)
    sums = sum_by_cluster(np.concatenate([of_labels, of_all]), codes)
    left_out = sum_by_cluster(shares, codes[: len(shares)], len(sums))
    count = int((left_out > 0).sum())
    return np.asarray(math.sqrt((count - 1) / count) * sums / (1 - np.where(left_out > 0, left_out, 1 / count)))


def _tune(by_cluster: Floats, by_prediction: Floats) -> float:
    """Return the lambda in [0, 1] with the least sum (y_g + lambda x_g)^2; 0 for predictions that are all equal."""
    spread = float(by_prediction @ by_prediction)
    if spread <= _NEGLIGIBLE * float(by_cluster @ by_cluster):
        return 0.0
    return min(1.0, max(0.0, -float(by_cluster @ by_prediction) / spread))


def _interval(estimate: float, quantile: float, error: float, standard_error: float) -> RateInterval:
    """Return the interval of a corrected rate, whose error is the standard error as it was widened."""
    # a corrected estimate may leave [0, 1], where no score interval exists
    if error > 0 and 0 < estimate < 1:
        low, high = wilson_interval(estimate, estimate * (1 - estimate) / error**2, quantile)
        return RateInterval(estimate, low, high, standard_error)
    low, middle, high = np.clip([estimate - quantile * error, estimate, estimate + quantile * error], 0, 1).tolist()
    return RateInterval(middle, low, high, standard_error)
