"""Failure rates: hand-worked answers, agreement with ppi-python and statsmodels, and coverage on simulated truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy.special import ndtri
from scipy.stats import t as student

from hcat.statistics import prediction_powered
from hcat.statistics.clustered import rate_interval
from hcat.statistics.intervals import wilson_interval
from hcat.statistics.prediction_powered import estimate_failure_rate


def make(count_labels: int, count_others: int, rows_per_cluster: int = 1, seed: int = 1):
    """Return labels with predictions and clusters, and all interactions with theirs, the labelled ones first."""
    random = np.random.default_rng(seed)
    count = count_labels + count_others
    predictions = random.beta(2, 3, count)
    is_failure = random.random(count) < 0.15 + 0.7 * predictions
    clusters = np.arange(count) // rows_per_cluster
    return is_failure[:count_labels], predictions[:count_labels], clusters[:count_labels], predictions, clusters


@pytest.fixture
def few_are_enough(monkeypatch):
    """Let predictions count however few failures there are, and tune nothing: lambda is 1."""
    monkeypatch.setattr(prediction_powered, "LEAST_EXPECTED", 0.0)
    monkeypatch.setattr(prediction_powered, "_tune", lambda *sums: 1.0)


@pytest.mark.usefixtures("few_are_enough")
def test_four_labels_by_hand():
    # Y = 1, 1, 0, 0 with f = .8, .6, .4, .2 in four clusters; the 8 interactions have f = .5 on average.
    # labels only: .5; lambda = 1: .5 + (.5 - .5) = .5; e = .2, .4, -.4, -.2 with mean 0.
    is_failure = np.array([True, True, False, False])
    label_predictions = np.array([0.8, 0.6, 0.4, 0.2])
    predictions = np.concatenate([label_predictions, [0.9, 0.7, 0.3, 0.1]])
    found = estimate_failure_rate(is_failure, label_predictions, np.arange(4), predictions, np.arange(8))
    # the f part of each cluster is added before squaring; labelled clusters hold both parts; m / (m - 1) = 4 / 3
    of_labelled = np.array([0.3, 0.1, -0.1, -0.3]) / 8 + np.array([0.2, 0.4, -0.4, -0.2]) / 4
    of_others = np.array([0.4, 0.2, -0.2, -0.4]) / 8
    variance = (of_labelled**2).sum() + (of_others**2).sum()
    assert_allclose(found.prediction_powered.standard_error, np.sqrt(variance * 4 / 3), rtol=1e-12)
    assert_allclose(found.labels_only.standard_error, np.sqrt(1.0 / 16 * 4 / 3), rtol=1e-12)
    assert_allclose([found.prediction_powered.estimate, found.labels_only.estimate], [0.5, 0.5])
    # p (1 - p) over the mean of the jackknife's 1 / 12 and of .25 / 4
    assert found.effective_n == pytest.approx(0.25 / ((1 / 12 + 1 / 16) / 2))


def test_siblings_are_added_before_squaring():
    # two clusters of two labels each that agree: the variance is that of two rows, not of four
    found = estimate_failure_rate(
        np.array([True, True, False, False]),
        np.full(4, 0.5),
        np.array(["a", "a", "b", "b"]),
        np.full(400, 0.5),
        np.repeat(["a", "b", "c", "d"], 100),
    )
    # psi = (.5 + .5) / 4 and its negative; m / (m - 1) = 2
    assert_allclose(found.labels_only.standard_error, np.sqrt((0.25**2 + 0.25**2) * 2))
    # the jackknife says .5 of two clusters, wholly alike siblings .25 / 2
    assert_allclose(found.effective_n, 0.25 / ((0.25 + 0.125) / 2))


def test_weights_are_inverse_inclusion_probabilities():
    # 12 failures drawn with pi = .5 stand for 24, 12 passes drawn with .25 for 48: a third fails
    labels = np.repeat([True, False], 12)
    found = estimate_failure_rate(
        labels, np.full(24, 0.3), np.arange(24), np.full(72, 0.3), np.arange(72), np.repeat([2.0, 4.0], 12)
    )
    assert_allclose(found.chosen.estimate, 1 / 3)
    # Kish's 72^2 / (12 x 4 + 12 x 16) = 21.6, and a little more, because the failures weigh less than the passes
    assert 21.6 < found.effective_n <= 24


def test_few_failures_leave_the_labels_alone():
    is_failure = np.zeros(100, dtype=bool)
    is_failure[:5] = True
    labels = (np.full(100, 0.1), np.arange(100), np.full(1000, 0.1), np.arange(1000))
    found = estimate_failure_rate(is_failure, *labels, confidence=0.9)
    assert (found.status, found.count_failures) == ("labels_only", 5)
    assert found.prediction_powered is found.width_ratio is found.power_tuning is None
    alone = rate_interval(is_failure, np.arange(100), confidence=0.9)
    assert_allclose([found.chosen.low, found.chosen.high], [alone.low, alone.high])
    passes = estimate_failure_rate(~is_failure, *labels, confidence=0.9)
    assert_allclose([passes.chosen.low, passes.chosen.high], [1 - found.chosen.high, 1 - found.chosen.low])


@pytest.mark.parametrize("fails", [False, True])
def test_equal_labels_of_siblings_count_as_one(fails):
    # 40 labels in 8 clusters, all alike: nothing shows how much siblings differ
    found = estimate_failure_rate(
        np.full(40, fails), np.full(40, 0.2), np.repeat(np.arange(8), 5), np.full(400, 0.2), np.arange(400) // 5
    )
    assert found.status == "labels_only"
    assert_allclose(found.effective_n, 8.0)
    assert_allclose(
        [found.chosen.low, found.chosen.high], wilson_interval(float(fails), 8.0, student.ppf(0.975, 7)), atol=1e-12
    )


def test_a_predictor_right_on_every_label_does_not_make_certainty():
    is_failure = np.arange(200) % 4 == 0
    f = is_failure.astype(float)
    found = estimate_failure_rate(is_failure[:80], f[:80], np.arange(80), f, np.arange(200))
    assert (found.status, found.power_tuning) == ("labels_only", None)
    assert found.chosen.low < 0.25 < found.chosen.high


def test_clusters_of_equal_rates_do_not_make_certainty():
    found = estimate_failure_rate(
        np.tile([True, False], 20), np.full(40, 0.5), np.repeat([0, 1], 20), np.full(400, 0.5), np.arange(400) // 20
    )
    assert found.prediction_powered is None
    assert found.chosen.high - found.chosen.low > 0.5


@pytest.mark.parametrize("power_tuning", [0.4, 1.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_process_agrees_with_ppi_python(power_tuning, confidence, monkeypatch):
    monkeypatch.setattr(prediction_powered, "_tune", lambda *sums: power_tuning)
    is_failure, f, _, predictions, _ = make(120, 1500)
    others = predictions[120:]
    found = estimate_failure_rate(is_failure, f, np.arange(120), others, np.arange(1000, 2500), confidence=confidence)
    labels = is_failure.astype(float)
    low, high = ppi_mean_ci(labels, f, others, alpha=1 - confidence, lam=power_tuning)
    powered = found.prediction_powered
    assert_allclose(powered.estimate, ppi_mean_pointestimate(labels, f, others, lam=power_tuning), atol=1e-9)
    # theirs is the normal quantile and n, ours Student's and n - 1
    theirs = powered.standard_error * np.sqrt(119 / 120) * ndtri((1 + confidence) / 2)
    assert_allclose([powered.estimate - theirs, powered.estimate + theirs], [low[0], high[0]], atol=1e-9)


def test_tuning_is_the_closed_form_of_ppi_plus_plus():
    is_failure, f, _, predictions, _ = make(4000, 16000)
    others = predictions[4000:]
    found = estimate_failure_rate(is_failure, f, np.arange(4000), others, np.arange(4000, 20000))
    covariance = np.cov(is_failure, f, bias=True)[0, 1]
    by_hand = covariance / (f.var() + 4000 / 16000 * others.var())
    assert_allclose(found.power_tuning, by_hand, rtol=1e-9)
    # ppi-python pools the two variances of f, which are estimates of one
    pooled = covariance / ((1 + 4000 / 16000) * np.concatenate([f, others]).var(ddof=1))
    estimate = ppi_mean_pointestimate(is_failure.astype(float), f, others, lam=pooled)
    assert_allclose(ppi_mean_pointestimate(is_failure.astype(float), f, others), estimate, rtol=1e-9)
    assert_allclose(found.power_tuning, pooled, rtol=0.02)
    assert_allclose(found.prediction_powered.estimate, estimate, atol=1e-4)
