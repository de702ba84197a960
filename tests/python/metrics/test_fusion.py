"""Fusion: signs, hand-worked products, the gradient's optimum, and agreement with logistic regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from hcat.metrics.fusion import Fusion, fit_fusion, join_answers


def make(count: int, random: np.random.Generator, coefficients, intercept: float):
    features = random.standard_normal((count, len(coefficients)))
    log_odds = intercept + features @ np.array(coefficients)
    return features, random.random(count) < 1 / (1 + np.exp(-log_odds))


def test_an_answer_is_as_good_as_all_its_sentences():
    # .5 x .5 = .25; an answer without sentences cannot fail
    assert_allclose(join_answers(np.array([0.0, 0.0, np.log(3)]), np.array([0, 0, 2]), 3), [0.25, 1.0, 0.75])


def test_single_sentences_are_logistic_regression():
    random = np.random.default_rng(3)
    features, labels = make(4000, random, [1.0, -0.5], 0.3)
    found = fit_fusion(features, np.arange(4000), labels, penalty=1e-9, signs=[1, -1])
    standard = (features - found.centers) / found.scales
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(standard, labels)
    assert_allclose(found.coefficients, peer.coef_[0], atol=1e-3)
    assert_allclose(found.intercept, peer.intercept_[0], atol=1e-3)


def test_answer_labels_find_the_sentence_model():
    random = np.random.default_rng(5)
    features, is_good = make(12000, random, [1.5], 2.0)
    answers = np.repeat(np.arange(3000), 4)
    labels = np.bincount(answers, weights=~is_good) == 0
    found = fit_fusion(features, answers, labels, penalty=1e-6, signs=[1])
    assert_allclose(found.coefficients / found.scales, [1.5], atol=0.15)
    assert_allclose(found.intercept - (found.coefficients * found.centers / found.scales).sum(), 2.0, atol=0.2)


def test_a_wrong_sign_is_never_learnt():
    random = np.random.default_rng(7)
    features, labels = make(2000, random, [-2.0, 1.0], 0.0)
    found = fit_fusion(features, np.arange(2000), labels, signs=[1, 1])
    assert found.coefficients[0] == 0.0
    assert found.coefficients[1] > 0.5


def test_more_support_never_lowers_a_score():
    random = np.random.default_rng(9)
    features, labels = make(500, random, [1.0, 0.2, -0.7], 0.5)
    found = fit_fusion(features, np.arange(500), labels, signs=[1, 1, -1])
    better = features + np.array([0.5, 0.5, -0.5])
    assert (found.sentence_log_odds(better) >= found.sentence_log_odds(features)).all()


def test_contributions_add_up():
    fusion = Fusion(0.5, np.array([2.0, -1.0]), np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    parts = fusion.contributions(np.array([[3.0, 1.0]]))
    assert_allclose(parts, [[2.0, -1.0]])
    assert_allclose(fusion.sentence_log_odds(np.array([[3.0, 1.0]])), [1.5])


def test_weights_count_as_repeats():
    random = np.random.default_rng(11)
    features, labels = make(300, random, [1.0], 0.0)
    repeats = random.integers(1, 4, size=300)
    weighted = fit_fusion(features, np.arange(300), labels, weights=repeats.astype(float), signs=[1])
    rows = np.repeat(np.arange(300), repeats)
    repeated = fit_fusion(features[rows], np.arange(len(rows)), labels[rows], signs=[1])
    grid = np.linspace(-2, 2, 9)[:, None]
    assert_allclose(weighted.sentence_log_odds(grid), repeated.sentence_log_odds(grid), atol=2e-2)


@pytest.mark.parametrize(
    ("labels", "value", "message"),
    [([True, True], 0.0, "both supported and unsupported"), ([True, False], np.nan, "finite")],
)
def test_useless_input_is_refused(labels, value, message):
    with pytest.raises(ValueError, match=message):
        fit_fusion(np.array([[0.0], [value]]), np.arange(2), np.array(labels), signs=[1])
