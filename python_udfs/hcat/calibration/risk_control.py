"""Acceptance thresholds with a promise on what passes them.

The first two promises depend on the ranks of the probabilities alone, so that a calibrator that rises with the score
may have seen the labels. The third tests thresholds in an order that no label decides. Two promises are means over
samples of labels and one holds with a declared probability (:data:`PROMISES`). y = 1 means that people accept; the
machine accepts if and only if P(Y = 1 | x) > threshold; bad means y = 0. Thresholds in the mean need exchangeable
clusters; Learn then Test needs independent ones that are alike. Weights play no part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hcat.calibration.conformal import (
    TOLERANCE,
    check_keys,
    check_labels,
    clusters_needed,
    conformal_quantile,
    exact_alpha,
    nonconformity,
    shares_of_cluster,
)
from hcat.statistics.arrays import Floats, Integers, Keys

CONTROL_STATUSES = ("controlled", "insufficient", "no_threshold")
PROMISES = ("share_bad_and_accepted", "share_accepted_among_bad", "share_bad_among_accepted")

# the sequence of Learn then Test starts where this share of the rows is accepted: few enough to have room below the
# limit, many enough to show it
_START = 1 / 3


@dataclass(frozen=True, slots=True)
class RiskControl:
    """An acceptance threshold and its promise. Without a threshold nothing may be accepted.

    `insufficient`: too few clusters for this level, whatever their labels. `no_threshold`: none passes the test, or the
    one that does accepts no label.
    """

    promise: str  # of PROMISES: which risk is limited
    status: str  # of CONTROL_STATUSES
    threshold: float | None  # accept if and only if P(Y = 1 | x) > threshold, in [0, 1]
    level: float  # promised limit of the risk
    confidence: float | None  # probability over samples that the limit holds; None: a promise in the mean over samples
    count_clusters: int  # that the promise rests on
    share_accepted: float | None  # of the labels


def control_bad_and_accepted(
    probabilities: Floats, labels: Integers, alpha: float, clusters: Keys | None = None
) -> RiskControl:
    """Return the lowest threshold with P(accepted and bad) <= alpha for a new answer, by conformal risk control.

    The loss 1{P > t and y = 0} never rises with t, is right-continuous and at most B = 1, so
    t = inf{t: n / (n + 1) R_n(t) + B / (n + 1) <= alpha} has expected loss at most alpha (Angelopoulos, Bates, Fisch,
    Lei and Schuster 2022, theorem 1). With siblings the loss of a cluster is the mean over its rows, and the promise is
    for a row drawn at random from a new cluster. It is a mean over samples, and one over all answers: few accepted
    answers may hide a high share of bad ones among them.

    Parameters
    ----------
    probabilities : ndarray, shape (n,)
        P(Y = 1 | x) of stage 1.
    labels : ndarray of int, shape (n,)
        1 for answers that people accept, 0 for bad ones.
    alpha : float
        Promised limit, in (0, 1).
    clusters : ndarray, shape (n,), optional
        Cluster of each row; every row its own by default.

    Raises
    ------
    ValueError
        If an argument is outside its range or lengths differ.
    """
    values, labels = _binary(probabilities, labels)
    weights, count = shares_of_cluster(clusters, len(values))
    budget = float((count + 1) * exact_alpha(alpha)) - 1 + TOLERANCE
    if count < clusters_needed(alpha):
        return RiskControl(PROMISES[0], "insufficient", None, alpha, None, count, None)
    is_bad = labels == 0
    candidates, inverse = np.unique(np.append(values[is_bad], 0.0), return_inverse=True)
    # summed loss of the clusters at each candidate: bad rows strictly above it
    masses = np.bincount(inverse, weights=np.append(weights[is_bad], 0.0))
    above = np.append(np.cumsum(masses[::-1])[::-1][1:], 0.0)
    return _accept(PROMISES[0], values, float(candidates[np.argmax(above <= budget)]), alpha, None, count)


def control_accepted_among_bad(
    probabilities: Floats, labels: Integers, alpha: float, clusters: Keys | None = None
) -> RiskControl:
    """Return the threshold with P(accepted | bad) <= alpha for a new bad answer: a class-conditional quantile.

    Nonconformity of class 0 is P(Y = 1 | x); the threshold is its conformal quantile among bad answers, and an answer
    is accepted when class 0 is not in its label-conditional set (Vovk 2012; Sarmah et al. 2024).
    The promise is a mean over samples and says nothing about the share of bad ones among accepted answers.

    Parameters
    ----------
    probabilities, labels, alpha, clusters
        As in :func:`control_bad_and_accepted`; `count_clusters` is that of clusters with a bad answer.

    Raises
    ------
    ValueError
        If an argument is outside its range or lengths differ.

    Examples
    --------
    Four bad answers at alpha = .2: the rank is ceil(5 x .8) = 4, so that an answer must exceed the highest of them.

    >>> found = control_accepted_among_bad(np.array([0.1, 0.2, 0.3, 0.4, 0.9]), np.array([0, 0, 0, 0, 1]), 0.2)
    >>> found.status, found.threshold, found.share_accepted
    ('controlled', 0.4, 0.2)
    """
    values, labels = _binary(probabilities, labels)
    clusters = check_keys(clusters, len(values), "clusters")
    is_bad = labels == 0
    count = len(np.unique(clusters[is_bad]))
    quantile = conformal_quantile(values[is_bad], alpha, clusters[is_bad])
    if math.isinf(quantile):
        return RiskControl(PROMISES[1], "insufficient", None, alpha, None, count, None)
    return _accept(PROMISES[1], values, quantile, alpha, None, count)


def control_bad_among_accepted(
    probabilities: Floats,
    labels: Integers,
    alpha: float,
    delta: float,
    grid: Sequence[float] | Floats | None = None,
    clusters: Keys | None = None,
    seed: int = 20260101,
) -> RiskControl:
    """Return the lowest threshold with P(bad | accepted) <= alpha, with probability 1 - delta, by Learn then Test.

    Each threshold t of a declared grid, strictest first, is a hypothesis P(bad | P > t) > alpha. Given how many rows
    are accepted, the bad ones are binomial, so P(Bin(n_t, alpha) <= bad_t) is an exact P-value. Hypotheses are rejected
    in order while P <= delta, and the first that is not ends the sequence: no adjustment is needed, and all rejected
    ones hold at once (Angelopoulos, Bates, Candès, Jordan and Lei 2021, fixed sequence testing; Bauer 1991).

    The order must not come from the labels. Hence the default grid is made of observed scores, from the one that a
    third of the rows exceed downwards. Given that score, the rows above it are a sample of all answers above it, so
    that the P-value stays exact.

    With siblings one row per cluster is drawn, which keeps the binomial exact (subsampling once: Dunn, Wasserman and
    Ramdas 2022). The draw depends on seed and order of rows, never on labels.

    Parameters
    ----------
    probabilities, labels, clusters
        As in :func:`control_bad_and_accepted`.
    alpha : float
        Promised limit of the share of bad answers among accepted ones, in (0, 1).
    delta : float
        Probability, over samples, that the limit is broken, in (0, 1).
    grid : sequence of float, optional
        Thresholds in [0, 1], strictly falling; by default the observed ones that at least a third of the rows exceed.
    seed : int
        Of the draw within clusters.

    Raises
    ------
    ValueError
        If an argument is outside its range, lengths differ, or the grid does not fall.
    """
    from scipy.stats import binom

    values, labels = _binary(probabilities, labels)
    exact_alpha(alpha)
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie in (0, 1), got {delta}")
    drawn = _one_row_per_cluster(check_keys(clusters, len(values), "clusters"), seed)
    steps = _observed_grid(values[drawn]) if grid is None else np.asarray(grid, dtype=np.float64)
    if steps.ndim != 1 or not len(steps) or not ((steps >= 0) & (steps <= 1)).all() or (np.diff(steps) >= 0).any():
        raise ValueError(f"grid must fall strictly within [0, 1], got {steps.tolist()}")
    is_accepted = values[drawn] > steps[:, None]
    counts = is_accepted.sum(axis=1)
    p_values = binom.cdf(is_accepted[:, labels[drawn] == 0].sum(axis=1), counts, alpha)
    if (1 - alpha) ** counts[0] > delta:
        # not even a sample without bad rows would be rejected
        return RiskControl(PROMISES[2], "insufficient", None, alpha, 1 - delta, len(drawn), None)
    count_rejected = int(np.append(p_values > delta, True).argmax())
    if not count_rejected:
        return RiskControl(PROMISES[2], "no_threshold", None, alpha, 1 - delta, len(drawn), None)
    return _accept(PROMISES[2], values, float(steps[count_rejected - 1]), alpha, 1 - delta, len(drawn))


def _accept(
    promise: str, values: Floats, threshold: float, level: float, confidence: float | None, count: int
) -> RiskControl:
    share = float(np.mean(values > threshold))
    if share == 0:
        return RiskControl(promise, "no_threshold", None, level, confidence, count, None)
    return RiskControl(promise, "controlled", threshold, level, confidence, count, share)


def _observed_grid(values: Floats) -> Floats:
    """Return the observed values that at least a share :data:`_START` of the rows exceed, falling; at least one."""
    levels, counts = np.unique(values, return_counts=True)
    count_above = len(values) - np.cumsum(counts)
    steps: Floats = levels[count_above >= _START * len(values)][::-1]
    return steps if len(steps) else np.zeros(1)


def _one_row_per_cluster(clusters: Keys, seed: int) -> Integers:
    order = np.random.default_rng(seed).permutation(len(clusters))
    _, first = np.unique(clusters[order], return_index=True)
    rows: Integers = np.sort(order[first])
    return rows


def _binary(probabilities: Floats, labels: Integers) -> tuple[Floats, Integers]:
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"probabilities must have shape (n,), got {values.shape}")
    nonconformity(values)
    return values, check_labels(labels, len(values), 2)
