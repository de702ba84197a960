"""Fusion: signs, hand-worked joins, an optimum that no step improves, and agreement with logistic regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from training.fusion import CERTAIN_LOG_ODDS, Fusion, fit_fusion, join_answers


def make(count: int, random: np.random.Generator, coefficients, intercept: float):
    features = random.standard_normal((count, len(coefficients)))
    log_odds = intercept + features @ np.array(coefficients)
    return features, random.random(count) < 1 / (1 + np.exp(-log_odds))


def test_an_answer_joins_its_lowest_sentence_and_its_average():
    # Odds 1 and 3: probabilities 1/2 and 3/4, their geometric mean is the root of 3/8. The lowest log odds, 0, are
    # raised by half of ln 2.
    expected = 0.75 * (0.5 * np.log(2)) + 0.25 * logit(np.sqrt(3 / 8))
    found = join_answers(np.array([0.0, np.log(3), np.log(3)]), np.array([0, 0, 2]), 3)
    assert_allclose(found, [expected, CERTAIN_LOG_ODDS, np.log(3)])


def test_a_sentence_that_claims_nothing_is_left_out():
    log_odds, answers = np.array([1.0, -9.0]), np.array([0, 0])
    assert_allclose(join_answers(log_odds, answers, 1, np.array([False, True])), [1.0])


def test_single_sentences_are_logistic_regression():
    random = np.random.default_rng(3)
    features, labels = make(4000, random, [1.0, -0.5], 0.3)
    found = fit_fusion(features, np.arange(4000), labels, penalty=1e-9, signs=[1, -1])
    standard = (features - found.centers) / found.scales
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(standard, labels)
    assert_allclose(found.coefficients, peer.coef_[0], atol=1e-3)
    assert_allclose(found.intercept, peer.intercept_[0], atol=1e-3)


def test_a_wrong_sign_is_never_learnt():
    random = np.random.default_rng(7)
    features, labels = make(2000, random, [-2.0, 1.0], 0.0)
    found = fit_fusion(features, np.arange(2000), labels, signs=[1, 1])
    assert found.coefficients[0] == 0.0
    assert found.coefficients[1] > 0.5


def test_contributions_add_up():
    fusion = Fusion(0.5, np.array([2.0, -1.0]), np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    parts = fusion.contributions(np.array([[3.0, 1.0]]))
    assert_allclose(parts, [[2.0, -1.0]])
    assert_allclose(fusion.sentence_log_odds(np.array([[3.0, 1.0]])), [1.5])


@pytest.mark.parametrize(
    ("labels", "value", "message"),
    [([True, True], 0.0, "both supported and unsupported"), ([True, False], np.nan, "finite")],
)
def test_useless_input_is_refused(labels, value, message):
    with pytest.raises(ValueError, match=message):
        fit_fusion(np.array([[0.0], [value]]), np.arange(2), np.array(labels), signs=[1])
