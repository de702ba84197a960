"""Failure rates estimated from labels of made-up interactions whose truth is known: what an estimator really covers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hcat.review.sampling import plan_review
from hcat.statistics.prediction_powered import SEED, Target, estimate_failure_rate


@dataclass(frozen=True, slots=True)
class SimulatedRates:
    """What :func:`simulate_failure_rates` found.

    Attributes
    ----------
    coverage, coverage_labels_only : float
        Share of intervals, as reported by the status and of the labels alone, that hold the truth.
    bias, bias_labels_only : float
        Mean of estimate - truth.
    bias_error, bias_error_labels_only : float
        Standard error of these means over the draws.
    share_prediction_powered : float
        Share of draws with the status ``prediction_powered``.
    width_ratio : float
        Mean over draws that have one; NaN without.
    variance_ratio : float
        Mean square of (estimate - truth), over that of the labels-only estimate: what predictions really gain.
    """

    coverage: float
    coverage_labels_only: float
    bias: float
    bias_labels_only: float
    bias_error: float
    bias_error_labels_only: float
    share_prediction_powered: float
    width_ratio: float
    variance_ratio: float


def simulate_failure_rates(
    rate: float,
    count_labels: int,
    count_draws: int,
    quality: float = 0.8,
    target: Target = "these_interactions",
    is_by_ambiguity: bool = False,
    rows_per_cluster: int = 1,
    likeness: float = 0.5,
    is_by_cluster: bool = False,
    count_interactions: int = 2_000,
    seed: int = SEED,
) -> SimulatedRates:
    """Return coverage, bias and width of the estimator on interactions whose truth is known."""
    from scipy.special import expit

    if count_interactions % rows_per_cluster:
        raise ValueError(
            f"count_interactions must be a multiple of rows_per_cluster, got {count_interactions}, {rows_per_cluster}"
        )
    if is_by_cluster and is_by_ambiguity:
        raise ValueError("labels are drawn by cluster or by ambiguity, got both")
    random = np.random.default_rng(seed)
    clusters = np.arange(count_interactions) // rows_per_cluster
    count_groups = count_interactions // rows_per_cluster
    intercept = _intercept_of(rate)
    covered, errors, is_powered, ratios = [], [], [], []
    for _ in range(count_draws):
        shared = random.standard_normal(count_groups)[clusters]
        x = math.sqrt(likeness) * shared + math.sqrt(1 - likeness) * random.standard_normal(count_interactions)
        noise = random.standard_normal(count_interactions)
        is_failure = random.random(count_interactions) < expit(intercept + 2 * x)
        predictions = expit(intercept + 2 * (quality * x + math.sqrt(1 - quality**2) * noise))
        inclusion = np.full(count_interactions, count_labels / count_interactions)
        if is_by_ambiguity:
            inclusion = plan_review(predictions, count_labels).inclusion_probabilities
        numbers = random.random(count_groups)[clusters] if is_by_cluster else random.random(count_interactions)
        rows = np.flatnonzero(numbers < inclusion)
        labels = (is_failure[rows], predictions[rows], clusters[rows])
        estimated = estimate_failure_rate(*labels, predictions, clusters, inclusion[rows], target=target)
        only = estimated.labels_only
        if only is None or estimated.estimate is None or estimated.low is None or estimated.high is None:
            continue
        truth = float(is_failure.mean()) if target == "these_interactions" else rate
        covered.append((estimated.low <= truth <= estimated.high, only.low <= truth <= only.high))
        errors.append((estimated.estimate - truth, only.estimate - truth))
        is_powered.append(estimated.status == "prediction_powered")
        if estimated.width_ratio is not None:
            ratios.append(estimated.width_ratio)
    bias, bias_only = np.mean(errors, axis=0)
    bias_error, bias_only_error = np.std(errors, axis=0, ddof=1) / math.sqrt(len(errors))
    coverage, coverage_only = np.mean(covered, axis=0)
    squared, squared_only = np.square(errors).mean(axis=0)
    return SimulatedRates(
        coverage=float(coverage),
        coverage_labels_only=float(coverage_only),
        bias=float(bias),
        bias_labels_only=float(bias_only),
        bias_error=float(bias_error),
        bias_error_labels_only=float(bias_only_error),
        share_prediction_powered=float(np.mean(is_powered)),
        width_ratio=float(np.mean(ratios)) if ratios else float("nan"),
        variance_ratio=float(squared / squared_only),
    )


def _intercept_of(rate: float) -> float:
    """Return b with E[logistic(b + 2 x)] = rate, x standard normal (Gauss-Hermite quadrature)."""
    from scipy.optimize import brentq
    from scipy.special import expit

    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    return float(brentq(lambda intercept: float(weights @ expit(intercept + 2 * nodes)) - rate, -30.0, 30.0))
