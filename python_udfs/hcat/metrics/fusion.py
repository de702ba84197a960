"""Join several signals into one probability of groundedness: a monotone logistic model per sentence.

Sentence i with features f_i is supported with probability p_i = 1 / (1 + exp(-(b + sum_k c_k (f_ik - m_k) / s_k))). An
answer is grounded if all its sentences are supported: P = product of p_i (noisy-or of the failures). Each coefficient
has a fixed sign, so that more support never lowers a score. Each term of the sum is a contribution that a reader can
check.

The same code fits the shipped prior and a refit on your own labels. Labels of answers suffice, because the likelihood
is that of the product (multiple-instance learning). A labelled sentence is an answer of one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Floats

#: Feature -> sign of its effect. In order: logit of entailment; cosine with the best context sentence; share of the
#: words of the sentence in context or query; that share in the window of evidence; unsupported numbers; unsupported
#: names; contradicted fields of records; logarithm of 1 + unsupported words.
FEATURES: Mapping[str, int] = {
    "entailment_logit": 1,
    "similarity": 1,
    "share_words_supported": 1,
    "evidence_overlap": 1,
    "count_numbers_unsupported": -1,
    "count_entities_unsupported": -1,
    "count_fields_contradicted": -1,
    "log_words_unsupported": -1,
}

#: Bounds of single features. Labels teach nothing beyond them, and one extreme value must not decide.
ENTAILMENT_LOGIT_BOUND = 8.0
COUNT_BOUND = 3.0

_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fitted monotone fusion.

    Attributes
    ----------
    intercept : float
        Log odds of a sentence with all features at their centers.
    coefficients, centers, scales : ndarray, shape (n_features,)
        Effect of one scale unit, center and scale unit of each feature, in the order of :data:`FEATURES`.

    Examples
    --------
    >>> fusion = Fusion(1.0, np.array([2.0]), np.array([0.5]), np.array([0.25]))
    >>> fusion.sentence_log_odds(np.array([[0.5], [0.75]])).tolist()
    [1.0, 3.0]
    """

    intercept: float
    coefficients: Floats
    centers: Floats
    scales: Floats

    def contributions(self, features: Floats) -> Floats:
        """Return what each feature adds to the log odds, shape (n, n_features); 0 at its center."""
        result: Floats = self.coefficients * (features - self.centers) / self.scales
        return result

    def sentence_log_odds(self, features: Floats) -> Floats:
        """Return the log odds that each sentence is supported, shape (n,)."""
        result: Floats = self.intercept + self.contributions(features).sum(axis=1)
        return result


def join_answers(log_odds: Floats, answers: npt.NDArray[np.int64], count_answers: int) -> Floats:
    """Return the probability that every sentence of an answer is supported, shape (count_answers,).

    Parameters
    ----------
    log_odds : ndarray, shape (n,)
        Log odds that each sentence is supported.
    answers : ndarray of int, shape (n,)
        Answer of each sentence, 0 to count_answers - 1.
    count_answers : int
        Number of answers. An answer without sentences gets 1, because nothing in it can fail.

    Examples
    --------
    Log odds of 0 are a probability of 1 / 2.

    >>> join_answers(np.zeros(3), np.array([0, 0, 1]), 3).round(6).tolist()
    [0.25, 0.5, 1.0]
    """
    log_shares = -np.logaddexp(0.0, -log_odds)
    joined: Floats = np.exp(np.bincount(answers, weights=log_shares, minlength=count_answers))
    return joined


def fit_fusion(
    features: Floats,
    answers: npt.NDArray[np.int64],
    is_supported: npt.NDArray[np.bool_],
    weights: Floats | None = None,
    penalty: float = 1.0,
    signs: Sequence[int] | None = None,
) -> Fusion:
    """Return the fusion with the largest penalised likelihood among those with the given signs.

    Parameters
    ----------
    features : ndarray, shape (n, n_features)
        Features of the sentences, in the order of :data:`FEATURES`; finite.
    answers : ndarray of int, shape (n,)
        Answer of each sentence.
    is_supported : ndarray of bool, shape (n_answers,)
        Label of each answer: True if all its sentences are supported.
    weights : ndarray, shape (n_answers,), optional
        Weight of each answer in the likelihood, for instance 1 / inclusion probability.
    penalty : float
        Half the weight of the squared standardised coefficients; the intercept is free.
    signs : sequence of int, optional
        +1, -1, or 0 for a coefficient that may have any sign; those of :data:`FEATURES` by default.

    Raises
    ------
    ValueError
        If features are not finite, or the labels are all equal.
    """
    from scipy.optimize import minimize

    if not np.isfinite(features).all():
        raise ValueError("features must be finite")
    if is_supported.all() or not is_supported.any():
        raise ValueError("labels must hold both supported and unsupported answers")
    signs = list(FEATURES.values()) if signs is None else signs
    weights = np.ones(len(is_supported)) if weights is None else weights
    centers = features.mean(axis=0)
    scales = features.std(axis=0)
    scales = np.where(scales > _TINY, scales, 1.0)
    standard = (features - centers) / scales

    def loss(parameters: Floats) -> tuple[float, Floats]:
        log_odds = parameters[0] + standard @ parameters[1:]
        log_shares = -np.logaddexp(0.0, -log_odds)
        joined = np.minimum(np.bincount(answers, weights=log_shares, minlength=len(is_supported)), -_TINY)
        failure = -np.expm1(joined)
        losses = np.where(is_supported, -joined, -np.log(failure))
        # Derivative of the loss by the joined log share: -1 for a supported answer, P / (1 - P) for a failed one.
        slopes = np.where(is_supported, -1.0, np.exp(joined) / failure) * weights
        by_sentence = slopes[answers] / (1.0 + np.exp(log_odds))
        gradient = np.concatenate([[by_sentence.sum()], standard.T @ by_sentence + 2 * penalty * parameters[1:]])
        return float((losses * weights).sum() + penalty * (parameters[1:] ** 2).sum()), gradient

    bounds = [(None, None), *[(0.0, None) if sign > 0 else (None, 0.0) if sign < 0 else (None, None) for sign in signs]]
    start = np.concatenate([[2.0], 0.1 * np.sign(signs)])
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 1000})
    return Fusion(float(found.x[0]), np.asarray(found.x[1:]), centers, scales)
