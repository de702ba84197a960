"""Failure rates of many interactions from few labels of people: prediction-powered or labels-only.

The mean of predicted probabilities is biased by whatever the predictor gets wrong, and the rate of the labels alone
leaves all other interactions unused. The prediction-powered rate takes the mean prediction over all N interactions and
corrects it by the labelled ones (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, the algorithm for the mean),
with weights for unequal sampling (the difference estimator of Särndal, Swensson and Wretman 1992, section 6.3, in
Hájek form):

    theta = lambda mean_N(f) + sum w (Y - lambda f) / sum w,    w = 1 / pi.

It is valid for any predictor; a better one only makes it narrower. lambda = 0 is the labels-only (Hájek 1971) rate,
lambda = 1 the untuned estimate. Here Y = 1 is a failure: the complement of the calibrators' y = 1, accepted.

Variance, by the jackknife over whole clusters. With W = sum w, and e = Y - lambda f with weighted mean e_bar, the part
of cluster g in the error of theta is to first order

    psi_g = lambda sum_(i in g, all N) (f_i - mean_N(f)) / N + sum_(i in g, labelled) w_i (e_i - e_bar) / W.

When g leaves, theta moves by about psi_g / (1 - h_g), h_g the share of W in g, and the variance is (m - 1) / m times
the sum of the squares, m labelled clusters. Adding the two parts before squaring keeps their covariance when a cluster
has labelled interactions among the N. Two targets:

- ``process``: the rate at which the process that made these interactions fails. Clusters are independent draws, and
  both parts count. With labels that are not among the N, one row a cluster and w = 1, this is about the variance of
  PPI: lambda^2 var_N(f) / N + var_n(Y - lambda f) / n.
- ``these_interactions``: the rate of these N. lambda mean_N(f) is then known, and only which interactions were labelled
  is random: the first part of psi_g is left out, and in the second w_i is multiplied by sqrt(1 - pi_i), because what is
  certain to be labelled adds no error. Exact for Poisson sampling of interactions one a cluster, or of whole clusters;
  with several labels in a cluster drawn one by one it is larger than the design's variance
  sum (1 - pi_i) w_i^2 (e_i - e_bar)^2 / W^2 as long as siblings tend to fail together. When all N are labelled it is 0.

psi_g is linear in lambda, psi_g = y_g + lambda h_g, so that lambda = - sum y_g h_g / sum h_g^2 has the smallest
variance: the power tuning of Angelopoulos, Duchi and Zrnic 2023 (PPI++, section 6; for the mean
lambda = cov_n(Y, f) / ((1 + n / N) var(f)), to which it reduces for independent rows), by cluster, clipped to
[0, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers, Keys
from hcat.statistics.clustered import rate_interval
from hcat.statistics.clusters import sum_by_cluster
from hcat.statistics.intervals import t_quantile, wilson_interval

Status = Literal["prediction_powered", "labels_only", "insufficient"]
Target = Literal["these_interactions", "process"]
Method = Literal["score", "normal", "known"]

#: What :attr:`FailureRate.status`, the argument ``target`` and :attr:`RateInterval.method` may say.
STATUSES: Final = ("prediction_powered", "labels_only", "insufficient")
TARGETS: Final = ("these_interactions", "process")
METHODS: Final = ("score", "normal", "known")

CONFIDENCE = 0.95
#: Failures and passes (each) among the effective labels below which the labels stand alone.
LEAST_EXPECTED = 10.0
#: Width of a prediction-powered interval, over that of the labels alone, above which the labels stand alone.
MOST_WIDTH = 0.95
SEED = 20260101

#: Effective clusters above which lambda can be tuned: one degree of freedom is left.
_LEAST_TO_TUNE = 3.0
#: Squared sums below this share of their terms are rounding.
_NEGLIGIBLE = 1e-20


@dataclass(frozen=True, slots=True)
class RateInterval:
    """A failure rate with its interval, all in [0, 1], low <= estimate <= high.

    Attributes
    ----------
    estimate, low, high : float
    standard_error : float
        By the jackknife over clusters; 0 when the labels are all equal, where the interval still has a width.
    method : str
        ``score`` (:func:`hcat.statistics.clustered.rate_interval`; for a prediction-powered rate the same form),
        ``normal`` (a corrected estimate outside (0, 1), clipped) or ``known`` (all interactions are labelled).
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    method: Method


@dataclass(frozen=True, slots=True)
class FailureRate:
    """The failure rate of a system or a segment.

    Attributes
    ----------
    status : str
        ``prediction_powered``; ``labels_only`` (too few failures, passes or wrong predictions among the labels for
        more; or the predictions narrow the interval by less than a twentieth; or all interactions are labelled);
        ``insufficient`` (fewer than 2 labelled clusters: no number).
    count_labels, count_failures, count_clusters, count_interactions : int
        Labels, failures among them, their clusters, and N.
    effective_n : float or None
        Independent labels of equal weight with as much information on the labels-only rate, at most count_labels.
    power_tuning : float or None
        lambda in [0, 1]; None where no prediction-powered rate was made.
    estimate, low, high : float or None
        What the status names.
    prediction_powered, labels_only : RateInterval or None
        Both, for comparison. The first is None where the labels are too few for it.
    width_ratio : float or None
        t s of the prediction-powered rate over that of the labels-only one; its square is the share of labels that
        predictions leave to be made. None without a prediction-powered rate.
    """

    status: Status
    count_labels: int
    count_failures: int
    count_clusters: int
    count_interactions: int
    effective_n: float | None = None
    power_tuning: float | None = None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    prediction_powered: RateInterval | None = None
    labels_only: RateInterval | None = None
    width_ratio: float | None = None


def estimate_failure_rate(
    is_failure: Flags,
    label_predictions: Floats,
    label_clusters: Keys,
    predictions: Floats,
    clusters: Keys,
    inclusion_probabilities: Floats | None = None,
    target: Target = "these_interactions",
    power_tuning: float | None = None,
    confidence: float = CONFIDENCE,
    least_expected: float = LEAST_EXPECTED,
) -> FailureRate:
    """Return the failure rate of N interactions, of which n have a label."""
    _check_rows(is_failure, label_predictions, label_clusters, predictions, clusters, inclusion_probabilities)
    _check_settings(target, power_tuning, confidence, least_expected)
    count_labels, count_interactions = len(is_failure), len(predictions)
    codes, label_codes, count_codes = _code_clusters(clusters, label_clusters)
    labels_by_cluster = np.bincount(label_codes, minlength=count_codes)
    count_clusters = int(np.count_nonzero(labels_by_cluster))
    found = FailureRate("insufficient", count_labels, int(is_failure.sum()), count_clusters, count_interactions)
    if target == "these_interactions":
        _check_labels_are_among(labels_by_cluster, np.bincount(codes, minlength=count_codes))
    if count_clusters < 2:
        return found

    weights = np.ones(count_labels) if inclusion_probabilities is None else 1.0 / inclusion_probabilities
    of_process = rate_interval(is_failure, label_codes, weights, confidence)
    rate = of_process.estimate
    found = replace(found, status="labels_only", effective_n=min(of_process.effective_n, count_labels))
    if target == "these_interactions" and count_labels == count_interactions:
        rate = float(is_failure.mean())
        return _show(found, RateInterval(rate, rate, rate, 0.0, "known"))

    shares = weights / weights.sum()
    # the part of each share that chance decides; pi is scaled so that the weights 1 / pi add up to N
    is_process = target == "process"
    uncertainty = np.sqrt(1.0 - np.minimum(1.0, 1.0 / (count_interactions * shares)))
    if is_process or not (uncertainty > 0).any():
        uncertainty = np.ones(count_labels)
    interval = of_process if is_process else rate_interval(is_failure, label_codes, weights, confidence, uncertainty)
    labels_only = RateInterval(rate, interval.low, interval.high, interval.standard_error, "score")
    # clusters of equal rates leave no variance between them: a coincidence of few, and no certainty
    is_degenerate = interval.standard_error**2 <= _NEGLIGIBLE * float(shares @ shares)
    if of_process.effective_n * min(rate, 1 - rate) < least_expected or is_degenerate:
        return _show(found, labels_only)

    residuals = is_failure.astype(np.float64) - rate
    centred = label_predictions - shares @ label_predictions
    by_cluster = sum_by_cluster(uncertainty * shares * residuals, label_codes, count_codes)
    by_prediction = -sum_by_cluster(uncertainty * shares * centred, label_codes, count_codes)
    mean_prediction = float(predictions.mean())
    if is_process:
        by_prediction += sum_by_cluster(predictions - mean_prediction, codes, count_codes) / count_interactions
    count_fitted = 1
    if power_tuning is None:
        power_tuning = _tune(by_cluster, by_prediction) if interval.effective_clusters > _LEAST_TO_TUNE else 0.0
        count_fitted = 2 if power_tuning > 0 else 1
    of_labels = uncertainty * shares * residuals
    carried = of_labels - power_tuning * uncertainty * shares * centred
    if power_tuning > 0 and _count_carrying(carried, of_labels) < least_expected:
        return _show(found, labels_only)
    estimate = rate + power_tuning * (mean_prediction - float(shares @ label_predictions))
    left_out = sum_by_cluster(shares, label_codes, count_codes)
    left_out[left_out == 0] = 1 / count_clusters
    moved = (by_cluster + power_tuning * by_prediction) / (1 - left_out)
    error = math.sqrt((count_clusters - 1) / count_clusters * float(moved @ moved))
    # what the labels alone owe to the likeness of siblings, this rate owes as well
    variance = rate * (1 - rate) / interval.effective_n
    widened = error * math.sqrt(variance) / interval.standard_error
    degrees = interval.degrees
    quantiles = t_quantile((1 + confidence) / 2, np.array([degrees + 1 - count_fitted, degrees]))
    powered = _interval(estimate, float(quantiles[0]), widened, error) if power_tuning > 0 else labels_only
    width_ratio = float(quantiles[0] * widened / (quantiles[1] * math.sqrt(variance))) if power_tuning > 0 else 1.0
    found = replace(
        _show(found, labels_only), power_tuning=power_tuning, prediction_powered=powered, width_ratio=width_ratio
    )
    if power_tuning == 0 or width_ratio > MOST_WIDTH:
        return found
    return replace(found, status="prediction_powered", estimate=powered.estimate, low=powered.low, high=powered.high)


def _tune(by_cluster: Floats, by_prediction: Floats) -> float:
    """Return the lambda in [0, 1] with the least sum (y_g + lambda h_g)^2; 0 for predictions that are all equal."""
    spread = float(by_prediction @ by_prediction)
    if spread <= _NEGLIGIBLE * float(by_cluster @ by_cluster):
        return 0.0
    return min(1.0, max(0.0, -float(by_cluster @ by_prediction) / spread))


def _count_carrying(influences: Floats, of_labels: Floats) -> float:
    """Return how many rows carry a variance, (sum x^2)^2 / sum x^4: n when all are alike, 0 when all are 0."""
    squares = influences**2
    if float(squares.sum()) <= _NEGLIGIBLE * float(of_labels @ of_labels):
        return 0.0
    return float(squares.sum()) ** 2 / float(squares @ squares)


def _interval(estimate: float, quantile: float, error: float, standard_error: float) -> RateInterval:
    """Return the interval of a corrected rate, whose error is the standard error as it was widened."""
    # a corrected estimate may leave [0, 1], where no score interval exists
    if error > 0 and 0 < estimate < 1:
        low, high = wilson_interval(estimate, estimate * (1 - estimate) / error**2, quantile)
        return RateInterval(estimate, low, high, standard_error, "score")
    bounds = (estimate - quantile * error, estimate, estimate + quantile * error)
    low, middle, high = (min(1.0, max(0.0, value)) for value in bounds)
    return RateInterval(middle, low, high, standard_error, "normal")


def _show(found: FailureRate, labels_only: RateInterval) -> FailureRate:
    return replace(
        found,
        labels_only=labels_only,
        estimate=labels_only.estimate,
        low=labels_only.low,
        high=labels_only.high,
    )


def _code_clusters(clusters: Keys, label_clusters: Keys) -> tuple[Integers, Integers, int]:
    distinct, codes = np.unique(np.concatenate([clusters, label_clusters]), return_inverse=True)
    codes = codes.astype(np.int64)
    return codes[: len(clusters)], codes[len(clusters) :], len(distinct)


def _check_labels_are_among(labels_by_cluster: Integers, rows_by_cluster: Integers) -> None:
    excess = np.flatnonzero(labels_by_cluster > rows_by_cluster)
    if len(excess):
        raise ValueError(
            "the labelled interactions must be among the interactions whose rate is asked for, "
            f"got a cluster with {labels_by_cluster[excess[0]]} labels and {rows_by_cluster[excess[0]]} interactions"
        )


def _check_rows(
    is_failure: Flags,
    label_predictions: Floats,
    label_clusters: Keys,
    predictions: Floats,
    clusters: Keys,
    inclusion_probabilities: Floats | None,
) -> None:
    of_labels = [len(is_failure), len(label_predictions), len(label_clusters)]
    if inclusion_probabilities is not None:
        of_labels.append(len(inclusion_probabilities))
    if len(set(of_labels)) > 1:
        raise ValueError(f"labels and what belongs to them must have one length, got {of_labels}")
    if len(predictions) != len(clusters):
        raise ValueError(f"predictions and clusters must have one length, got {len(predictions)} and {len(clusters)}")
    if not len(predictions):
        raise ValueError("there must be at least one interaction, got 0")
    if is_failure.dtype != np.bool_:
        raise ValueError(f"is_failure must be of type bool, got {is_failure.dtype}")
    for values in (label_predictions, predictions):
        outside = ~((values >= 0) & (values <= 1))
        if outside.any():
            raise ValueError(f"predictions must lie in [0, 1], got {values[outside][0]}")
    if inclusion_probabilities is not None:
        outside = ~((inclusion_probabilities > 0) & (inclusion_probabilities <= 1))
        if outside.any():
            raise ValueError(f"inclusion probabilities must lie in (0, 1], got {inclusion_probabilities[outside][0]}")


def _check_settings(target: str, power_tuning: float | None, confidence: float, least_expected: float) -> None:
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target}")
    if power_tuning is not None and not 0 <= power_tuning <= 1:
        raise ValueError(f"power_tuning must lie in [0, 1], got {power_tuning}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
    if not least_expected >= 0:
        raise ValueError(f"least_expected must be at least 0, got {least_expected}")
