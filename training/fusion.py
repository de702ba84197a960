"""Join several signals into one probability of groundedness: a monotone logistic model per sentence.

Sentence i with features f_i is supported with probability p_i = 1 / (1 + exp(-z_i)), z_i = b + sum_k c_k (f_ik - m_k) /
s_k. Each coefficient has a fixed sign, so that more support never lowers a score. Each term of the sum is a
contribution that a reader can check.

The errors of the sentences of one answer go together, so that their product fails long answers for their length. The
log odds of an answer of n sentences have two parts, :data:`LOWEST_SHARE` of the
first and the rest of the second:

- the lowest z_i, raised by :data:`LENGTH_BONUS` x ln n, because the lowest of many is low by chance;
- the log odds of the geometric mean of the p_i.

An answer of one sentence has the log odds of that sentence. The form was chosen on sets that were left out of the fit
(docs/model-card.md): product, lowest sentence, powers of the product and mixtures were compared.

The same code fits the shipped prior and a refit on your own labels. Labels of answers suffice, because the likelihood
is that of the joined score (multiple-instance learning). A labelled sentence is an answer of one sentence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.statistics.arrays import Floats

#: Feature -> sign of its effect. In order: logit of entailment; logit of contradiction; cosine with the best context
#: sentence; share of the words of the sentence in context or query; that share in the window of evidence; unsupported
#: numbers; unsupported names; contradicted fields of records; how much better another number, and another name, of the
#: context fits the place (:mod:`hcat.metrics.placement`).
FEATURES: Mapping[str, int] = {
    "entailment_logit": 1,
    "contradiction_logit": -1,
    "similarity": 1,
    "share_words_supported": 1,
    "evidence_overlap": 1,
    "count_numbers_unsupported": -1,
    "count_entities_unsupported": -1,
    "count_fields_contradicted": -1,
    "number_displacement": -1,
    "entity_displacement": -1,
}

#: Bounds of single features. Labels teach nothing beyond them, and one extreme value must not decide.
ENTAILMENT_LOGIT_BOUND = 8.0
COUNT_BOUND = 3.0

#: Share of the lowest sentence in the log odds of an answer; the rest is that of the geometric mean.
LOWEST_SHARE = 0.75
#: What the lowest sentence is raised by for each unit of the logarithm of the number of sentences.
LENGTH_BONUS = 0.5

#: Log odds of an answer that claims nothing: nothing in it can fail.
CERTAIN_LOG_ODDS = 20.0

_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fitted monotone fusion; coefficients, centers and scale units are in the order of :data:`FEATURES`."""

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


def bounded_log_odds(probability: float) -> float:
    """Return the log odds of a probability within +-:data:`ENTAILMENT_LOGIT_BOUND`, as the macro of that name."""
    tiny = float(np.exp(-ENTAILMENT_LOGIT_BOUND - 1))
    log_odds = float(np.log(max(probability, tiny)) - np.log(max(1 - probability, tiny)))
    return min(max(log_odds, -ENTAILMENT_LOGIT_BOUND), ENTAILMENT_LOGIT_BOUND)


class _Joined(NamedTuple):
    """Answers joined from sentences, and what the slope of the joined log odds needs."""

    log_odds: Floats
    lowest: Floats
    counts: Floats
    failure_of_mean: Floats


def _join(log_odds: Floats, answers: npt.NDArray[np.int64], count_answers: int) -> _Joined:
    counts = np.bincount(answers, minlength=count_answers).astype(np.float64)
    filled = np.maximum(counts, 1.0)
    lowest = np.full(count_answers, np.inf)
    np.minimum.at(lowest, answers, log_odds)
    log_shares = -np.logaddexp(0.0, -log_odds)
    mean = np.minimum(np.bincount(answers, weights=log_shares, minlength=count_answers) / filled, -_TINY)
    failure = -np.expm1(mean)
    joined = LOWEST_SHARE * (lowest + LENGTH_BONUS * np.log(filled)) + (1 - LOWEST_SHARE) * (mean - np.log(failure))
    return _Joined(np.where(counts > 0, joined, CERTAIN_LOG_ODDS), lowest, filled, failure)


def join_answers(
    log_odds: Floats,
    answers: npt.NDArray[np.int64],
    count_answers: int,
    claims_nothing: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """Return the log odds that every sentence of an answer is supported, shape (count_answers,)."""
    if claims_nothing is not None:
        log_odds, answers = log_odds[~claims_nothing], answers[~claims_nothing]
    return _join(log_odds, answers, count_answers).log_odds


def fit_fusion(
    features: Floats,
    answers: npt.NDArray[np.int64],
    is_supported: npt.NDArray[np.bool_],
    weights: Floats | None = None,
    penalty: float = 1.0,
    signs: Sequence[int] | None = None,
) -> Fusion:
    """Return the fusion with the largest penalised likelihood among those with the given signs."""
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
        joined = _join(log_odds, answers, len(is_supported))
        losses = np.logaddexp(0.0, np.where(is_supported, -joined.log_odds, joined.log_odds))
        slopes = (1.0 / (1.0 + np.exp(-joined.log_odds)) - is_supported) * weights
        # Of the joined log odds by those of a sentence: the lowest sentence, and its part of the geometric mean.
        is_lowest = log_odds <= joined.lowest[answers]
        of_mean = 1.0 / (1.0 + np.exp(log_odds)) / (joined.counts * joined.failure_of_mean)[answers]
        by_sentence = slopes[answers] * (LOWEST_SHARE * is_lowest + (1 - LOWEST_SHARE) * of_mean)
        gradient = np.concatenate([[by_sentence.sum()], standard.T @ by_sentence + 2 * penalty * parameters[1:]])
        return float((losses * weights).sum() + penalty * (parameters[1:] ** 2).sum()), gradient

    bounds = [(None, None), *[(0.0, None) if sign > 0 else (None, 0.0) if sign < 0 else (None, None) for sign in signs]]
    start = np.concatenate([[2.0], 0.1 * np.sign(signs)])
    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 1000})
    return Fusion(float(found.x[0]), np.asarray(found.x[1:]), centers, scales)
