"""Stage 1: hand-worked answers, agreement with scikit-learn and statsmodels, rows that SQL applies, and the choice."""

import functools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from hcat.calibration.calibrators import (
    FAMILIES,
    choose_calibrator,
    cross_fit,
    fit_calibrator,
    label_scores,
    log_losses,
)


def draw_binary(count, seed, intercept=0.4, slope=1.3):
    random = np.random.default_rng(seed)
    scores = random.standard_normal(count)
    return scores, (random.random(count) < expit(intercept + slope * scores)).astype(int), np.arange(count) // 3


def draw_graded(count, seed, slope=1.2):
    random = np.random.default_rng(seed)
    scores = random.standard_normal(count)
    latent = slope * scores + random.logistic(size=count)
    return scores, (latent > -1).astype(int) + (latent > 1), np.arange(count) // 3


@functools.cache
def fitted(family, sign=1):
    scores, labels, clusters = draw_graded(1050, 1)
    direction = "higher_is_better" if sign > 0 else "lower_is_better"
    data = label_scores(sign * scores, labels, clusters, direction=direction, count_scale_points=3, accept_from=2)
    found = fit_calibrator(data, family)
    assert found.status == "fitted"
    return found.calibrator


def value(calibrator, parameter):
    return calibrator.values(parameter)


def test_logistic_is_weighted_logistic_regression():
    import statsmodels.api as statsmodels

    scores, labels, clusters = draw_binary(900, 2)
    weights = np.random.default_rng(3).uniform(0.5, 6, 900)
    found = fit_calibrator(label_scores(scores, labels, clusters, weights), "logistic").calibrator
    ours = [value(found, "intercept")[0], value(found, "slope")[0]]
    peer = statsmodels.GLM(
        labels, statsmodels.add_constant(scores), statsmodels.families.Binomial(), freq_weights=weights
    )
    assert_allclose(ours, peer.fit(tol=1e-12).params, atol=5e-5)


def test_ordinal_is_the_proportional_odds_model():
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    scores, labels, clusters = draw_graded(1200, 4)
    data = label_scores(scores, labels, clusters, count_scale_points=3, accept_from=2)
    found = fit_calibrator(data, "ordinal").calibrator
    model = OrderedModel(labels, scores[:, None], distr="logit")
    peer = model.fit(method="bfgs", gtol=1e-10, disp=0)
    assert_allclose(value(found, "slope"), peer.params[:1], atol=2e-5)
    assert_allclose(value(found, "cut_point"), model.transform_threshold_params(peer.params)[1:-1], atol=2e-5)
    assert_allclose(found.scale_point_probabilities(scores), model.predict(peer.params), atol=1e-5)


def test_trees_are_those_of_scikit_learn():
    from sklearn.ensemble import HistGradientBoostingClassifier

    from hcat.calibration.calibrators import _BOOSTED

    scores, labels, clusters = draw_binary(1500, 7)
    found = fit_calibrator(label_scores(scores, labels, clusters), "boosted").calibrator
    peer = HistGradientBoostingClassifier(monotonic_cst=[1], random_state=20260101, **_BOOSTED)
    expected = peer.fit(scores[:, None], labels).predict_proba(scores[:, None])[:, 1]
    assert_allclose(found.apply(scores), expected, atol=1e-12)


def four_scores(shares, values=(1.0, 2.0, 3.0, 4.0)):
    labels = np.concatenate([np.arange(250) < 250 * share for share in shares]).astype(int)
    return np.repeat(values, 250), labels, np.arange(1000) % 50


def test_isotonic_steps_by_hand():
    # shares .2, .6, .4, .9: the middle two violate the order and pool to .5; blocks part half way
    found = fit_calibrator(label_scores(*four_scores([0.2, 0.6, 0.4, 0.9])), "isotonic").calibrator
    steps = [row for row in found.rows if row["parameter"] == "step"]
    assert [row["lower_bound"] for row in steps] == [None, 1.5, 3.5]
    assert_allclose([row["probability"] for row in steps], [0.2, 0.5, 0.9], atol=1e-12)
    assert_allclose(found.apply([-9, 1.49, 1.5, 3.4, 3.5, 99]), [0.2, 0.2, 0.5, 0.5, 0.9, 0.9], atol=1e-12)


def test_neighbours_in_double_precision_keep_their_steps():
    upper = np.nextafter(1.0, 2.0)
    scores, labels, clusters = four_scores([0.2, 0.3, 0.8, 0.9], values=(0.5, 1.0, upper, 2.0))
    found = fit_calibrator(label_scores(scores, labels, clusters), "isotonic").calibrator
    assert_allclose(found.apply([1.0, upper]), [0.3, 0.8], atol=1e-12)


def test_separable_scores_converge_and_say_so():
    scores = np.concatenate([np.linspace(-2, -0.1, 30), np.linspace(0.1, 2, 30)])
    found = fit_calibrator(label_scores(scores, scores > 0, np.arange(60)), "logistic")
    assert found.status == "fitted"
    assert found.is_separated
    assert 5 < value(found.calibrator, "slope")[0] < 100
    assert_allclose(value(found.calibrator, "intercept"), [0.0], atol=1e-8)
    assert not fit_calibrator(label_scores(*draw_binary(300, 1)), "logistic").is_separated


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sign", [1, -1])
def test_probability_never_falls_with_a_better_score(family, sign):
    calibrator = fitted(family, sign=sign)
    probabilities = calibrator.apply(sign * np.linspace(-6, 6, 4001))
    assert (np.diff(probabilities) >= 0).all()
    assert probabilities[-1] - probabilities[0] > 0.5
    assert ((probabilities >= 0) & (probabilities <= 1)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_each_failure_has_its_status(family):
    scores, labels, clusters = draw_graded(1050, 18)
    options = {"count_scale_points": 3, "accept_from": 2}

    def status(scores, labels, clusters, **changes):
        found = fit_calibrator(label_scores(scores, labels, clusters, **(options | changes)), family)
        assert (found.calibrator is None) == (found.status != "fitted")
        return found.status

    assert status(scores, labels, clusters) == "fitted"
    assert status(scores, np.full(1050, 2), clusters) == "one_class"
    assert status(scores, labels % 2, clusters) == "one_class"  # two scale points, neither accepted
    assert status(np.ones(1050), labels, clusters) == "constant_score"
    assert status(-scores, labels, clusters) == "wrong_direction"
    assert status(scores, labels, clusters, direction="lower_is_better") == "wrong_direction"
    assert status(scores, labels, clusters % 9) == "insufficient"
    assert status(scores[:30], labels[:30], clusters[:30]) == "insufficient"
    assert status([], [], []) == "insufficient"


def test_the_minimum_is_twenty_of_each_class_from_ten_clusters():
    def status(count_failed, count_failed_clusters):
        count = 100 + count_failed
        scores = np.linspace(0, 1, count)[::-1] + 0.3 * np.sin(np.arange(count))
        labels = np.concatenate([np.ones(100), np.zeros(count_failed)])
        clusters = np.concatenate([np.arange(100), 1000 + np.arange(count_failed) % count_failed_clusters])
        return fit_calibrator(label_scores(scores, labels, clusters), "logistic").status

    assert status(20, 10) == "fitted"
    assert status(19, 19) == "insufficient"
    assert status(60, 9) == "insufficient"


def test_choice_lists_every_family_and_follows_its_rule():
    scores, labels, clusters = draw_graded(1260, 20)
    data = label_scores(scores, labels, clusters, count_scale_points=3, accept_from=2)
    choice = choose_calibrator(data)
    assert [row.family for row in choice] == list(FAMILIES)
    best = min(choice, key=lambda row: row.log_loss)
    for row in choice:
        losses = log_losses(cross_fit(data, row.family)[0], data.is_accepted)
        assert_allclose(row.log_loss, losses.mean(), rtol=1e-12)
        by_cluster = np.bincount(data.clusters, losses - losses.mean())
        assert_allclose(row.log_loss_standard_error, np.sqrt(420 / 419 * (by_cluster**2).sum()) / 1260, rtol=1e-12)
        assert_allclose(row.excess_log_loss, row.log_loss - best.log_loss, atol=1e-12)
    allowed = [row.family for row in choice if row.excess_log_loss <= row.excess_log_loss_standard_error]
    assert [row.family for row in choice if row.is_chosen] == allowed[:1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [0.1, math.nan]}, "must be finite, got NaN or infinity"),
        ({"labels": [0, 0.5]}, r"whole numbers from 0 to 1, got \[0.5\]"),
        ({"labels": [0]}, "one length, got"),
        ({"weights": [1.0, 0.0]}, "finite and positive, got 0.0 to 1.0"),
        ({"scores": [0.1, 1.1], "is_probability": True}, r"must lie in \[0, 1\], got 0.1 to 1.1"),
    ],
)
def test_bad_labels_and_scores_are_refused(changes, message):
    good = {"scores": [0.1, 0.9], "labels": [0, 1], "clusters": ["a", "b"]}
    with pytest.raises(ValueError, match=message):
        label_scores(**(good | changes))
