"""Failure rates: hand-worked answers, agreement with ppi-python and statsmodels, and coverage on simulated truth."""

from dataclasses import astuple
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy.special import ndtri
from scipy.stats import t as student

from hcat.review.simulation import simulate_failure_rates
from hcat.statistics.clustered import rate_interval
from hcat.statistics.intervals import wilson_interval
from hcat.statistics.prediction_powered import (
    METHODS,
    MOST_WIDTH,
    STATUSES,
    TARGETS,
    FailureRate,
    estimate_failure_rate,
)


def make(count_labels: int, count_others: int, rows_per_cluster: int = 1, seed: int = 1):
    """Return labels with predictions and clusters, and all interactions with theirs, the labelled ones first."""
    random = np.random.default_rng(seed)
    count = count_labels + count_others
    predictions = random.beta(2, 3, count)
    is_failure = random.random(count) < 0.15 + 0.7 * predictions
    clusters = np.arange(count) // rows_per_cluster
    return is_failure[:count_labels], predictions[:count_labels], clusters[:count_labels], predictions, clusters


# hand-worked -----------------------------------------------------------------------------------------------------


def test_four_labels_by_hand():
    # Y = 1, 1, 0, 0 with f = .8, .6, .4, .2 in four clusters; the 8 interactions have f = .5 on average.
    # labels only: .5; lambda = 1: .5 + (.5 - .5) = .5; e = .2, .4, -.4, -.2 with mean 0.
    is_failure = np.array([True, True, False, False])
    label_predictions = np.array([0.8, 0.6, 0.4, 0.2])
    predictions = np.concatenate([label_predictions, [0.9, 0.7, 0.3, 0.1]])
    found = estimate_failure_rate(
        is_failure, label_predictions, np.arange(4), predictions, np.arange(8), power_tuning=1.0, least_expected=0
    )
    # pi = 4 / 8: sum (1 - pi) e^2 / 16 = .5 x .4 / 16, times m / (m - 1) = 4 / 3
    assert_allclose(found.prediction_powered.standard_error, np.sqrt(0.5 * 0.4 / 16 * 4 / 3), rtol=1e-12)
    assert_allclose(found.labels_only.standard_error, np.sqrt(0.5 * 1.0 / 16 * 4 / 3), rtol=1e-12)
    assert_allclose([found.estimate, found.labels_only.estimate], [0.5, 0.5])
    assert_allclose(found.width_ratio, np.sqrt(0.4))
    # p (1 - p) over the mean of the jackknife's 1 / 12 and of .25 / 4, without the finite population
    assert found.effective_n == pytest.approx(0.25 / ((1 / 12 + 1 / 16) / 2))

    # process: the f part of each cluster is added before squaring; labelled clusters hold both parts
    process = estimate_failure_rate(
        is_failure,
        label_predictions,
        np.arange(4),
        predictions,
        np.arange(8),
        target="process",
        power_tuning=1.0,
        least_expected=0,
    )
    of_labelled = np.array([0.3, 0.1, -0.1, -0.3]) / 8 + np.array([0.2, 0.4, -0.4, -0.2]) / 4
    of_others = np.array([0.4, 0.2, -0.2, -0.4]) / 8
    variance = (of_labelled**2).sum() + (of_others**2).sum()
    assert_allclose(process.prediction_powered.standard_error, np.sqrt(variance * 4 / 3), rtol=1e-12)


def test_siblings_are_added_before_squaring():
    # two clusters of two labels each that agree: the variance is that of two rows, not of four
    is_failure = np.array([True, True, False, False])
    found = estimate_failure_rate(
        is_failure,
        np.full(4, 0.5),
        np.array(["a", "a", "b", "b"]),
        np.full(400, 0.5),
        np.repeat(["a", "b", "c", "d"], 100),
        target="process",
        least_expected=0,
    )
    # psi = (.5 + .5) / 4 and its negative; m / (m - 1) = 2
    assert_allclose(found.labels_only.standard_error, np.sqrt((0.25**2 + 0.25**2) * 2))
    # the jackknife says .5 of two clusters, wholly alike siblings .25 / 2
    assert_allclose(found.effective_n, 0.25 / ((0.25 + 0.125) / 2))
    assert found.power_tuning == 0.0


def test_weights_are_inverse_inclusion_probabilities():
    # 12 failures drawn with pi = .5 stand for 24, 12 passes drawn with .25 for 48: a third fails
    labels = np.repeat([True, False], 12)
    found = estimate_failure_rate(
        labels, np.full(24, 0.3), np.arange(24), np.full(72, 0.3), np.arange(72), np.repeat([0.5, 0.25], 12)
    )
    assert_allclose(found.estimate, 1 / 3)
    # Kish's 72^2 / (12 x 4 + 12 x 16) = 21.6, and a little more, because the failures weigh less than the passes
    assert 21.6 < found.effective_n <= 24
    # sum (1 - pi) w^2 (Y - theta)^2 / N^2, w = 2 and 4
    # a label that leaves takes its weight along: 72 - 2 and 72 - 4 are left
    variance = 12 * (0.5 * 4 * (2 / 3) ** 2 / 70**2 + 0.75 * 16 * (1 / 3) ** 2 / 68**2) * 23 / 24
    assert_allclose(found.labels_only.standard_error, np.sqrt(variance))


def test_only_ratios_of_inclusion_probabilities_count():
    labels = make(60, 240)
    inclusion = np.linspace(0.2, 0.6, 60)
    first = estimate_failure_rate(*labels, inclusion)
    assert_allclose(astuple(first)[5:10], astuple(estimate_failure_rate(*labels, inclusion / 3))[5:10])
    equal = estimate_failure_rate(*labels, np.full(60, 0.2))
    assert_allclose(astuple(equal)[5:10], astuple(estimate_failure_rate(*labels))[5:10])


def test_few_failures_leave_the_labels_alone():
    is_failure = np.zeros(100, dtype=bool)
    is_failure[:5] = True
    labels = (np.full(100, 0.1), np.arange(100), np.full(1000, 0.1), np.arange(1000))
    found = estimate_failure_rate(is_failure, *labels, target="process", confidence=0.9)
    assert (found.status, found.count_failures, found.labels_only.method) == ("labels_only", 5, "score")
    assert found.prediction_powered is found.width_ratio is found.power_tuning is None
    alone = rate_interval(is_failure, np.arange(100), confidence=0.9)
    assert_allclose([found.low, found.high], [alone.low, alone.high])
    passes = estimate_failure_rate(~is_failure, *labels, target="process", confidence=0.9)
    assert_allclose([passes.low, passes.high], [1 - found.high, 1 - found.low])


@pytest.mark.parametrize("fails", [False, True])
def test_equal_labels_of_siblings_count_as_one(fails):
    # 40 labels in 8 clusters, all alike: nothing shows how much siblings differ
    found = estimate_failure_rate(
        np.full(40, fails),
        np.full(40, 0.2),
        np.repeat(np.arange(8), 5),
        np.full(400, 0.2),
        np.arange(400) // 5,
        target="process",
    )
    assert found.status == "labels_only"
    assert_allclose(found.effective_n, 8.0)
    assert_allclose([found.low, found.high], wilson_interval(float(fails), 8.0, student.ppf(0.975, 7)), atol=1e-12)


def test_a_census_is_known():
    is_failure, label_predictions, label_clusters, predictions, clusters = make(50, 0)
    found = estimate_failure_rate(
        is_failure, label_predictions, label_clusters, predictions, clusters, np.linspace(0.1, 1.0, 50)
    )
    assert found.labels_only.method == "known"
    assert found.low == found.estimate == found.high == is_failure.mean()
    # the process that made them is not known
    process = estimate_failure_rate(
        is_failure, label_predictions, label_clusters, predictions, clusters, target="process"
    )
    assert process.low < process.estimate < process.high


def test_a_predictor_right_on_every_label_does_not_make_certainty():
    is_failure = np.arange(200) % 4 == 0
    f = is_failure.astype(float)
    found = estimate_failure_rate(is_failure[:80], f[:80], np.arange(80), f, np.arange(200))
    assert (found.status, found.power_tuning) == ("labels_only", None)
    assert found.low < 0.25 < found.high


def test_clusters_of_equal_rates_do_not_make_certainty():
    found = estimate_failure_rate(
        np.tile([True, False], 20), np.full(40, 0.5), np.repeat([0, 1], 20), np.full(400, 0.5), np.arange(400) // 20
    )
    assert found.prediction_powered is None
    assert found.high - found.low > 0.5


# reference libraries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power_tuning", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_process_agrees_with_ppi_python(power_tuning, confidence):
    is_failure, f, _, predictions, _ = make(120, 1500)
    others = predictions[120:]
    found = estimate_failure_rate(
        is_failure,
        f,
        np.arange(120),
        others,
        np.arange(1000, 2500),
        target="process",
        power_tuning=power_tuning,
        confidence=confidence,
    )
    labels = is_failure.astype(float)
    low, high = ppi_mean_ci(labels, f, others, alpha=1 - confidence, lam=power_tuning)
    powered = found.prediction_powered
    assert_allclose(powered.estimate, ppi_mean_pointestimate(labels, f, others, lam=power_tuning), atol=1e-9)
    # theirs is the normal quantile and n, ours Student's and n - 1
    theirs = powered.standard_error * np.sqrt(119 / 120) * ndtri((1 + confidence) / 2)
    assert_allclose([powered.estimate - theirs, powered.estimate + theirs], [low[0], high[0]], atol=1e-9)


def test_these_interactions_leave_out_the_variance_of_the_predictions():
    # so that this target, and not the other, is below ppi-python by lambda^2 var(f) / N and the finite population
    is_failure, f, clusters, predictions, all_clusters = make(120, 1380)
    found = estimate_failure_rate(is_failure, f, clusters, predictions, all_clusters, power_tuning=1.0)
    residuals = is_failure - f
    expected = residuals.var() / 120 * (1 - 120 / 1500) * 120 / 119
    assert_allclose(found.prediction_powered.standard_error**2, expected, rtol=1e-9)


def test_tuning_is_the_closed_form_of_ppi_plus_plus():
    is_failure, f, _, predictions, _ = make(4000, 16000)
    others = predictions[4000:]
    found = estimate_failure_rate(is_failure, f, np.arange(4000), others, np.arange(4000, 20000), target="process")
    covariance = np.cov(is_failure, f, bias=True)[0, 1]
    by_hand = covariance / (f.var() + 4000 / 16000 * others.var())
    assert_allclose(found.power_tuning, by_hand, rtol=1e-9)
    # ppi-python pools the two variances of f, which are estimates of one
    pooled = covariance / ((1 + 4000 / 16000) * np.concatenate([f, others]).var(ddof=1))
    estimate = ppi_mean_pointestimate(is_failure.astype(float), f, others, lam=pooled)
    assert_allclose(ppi_mean_pointestimate(is_failure.astype(float), f, others), estimate, rtol=1e-9)
    assert_allclose(found.power_tuning, pooled, rtol=0.02)
    assert_allclose(found.prediction_powered.estimate, estimate, atol=1e-4)


def test_tuning_has_the_least_variance_of_clustered_labels():
    labels = make(300, 1200, rows_per_cluster=6)
    for target in TARGETS:
        found = estimate_failure_rate(*labels, target=target)
        assert 0 < found.power_tuning < 1
        ours = found.prediction_powered.standard_error
        for step in (-0.02, 0.02):
            other = estimate_failure_rate(*labels, target=target, power_tuning=found.power_tuning + step)
            assert other.prediction_powered.standard_error > ours


def test_score_interval_of_independent_labels_is_wilson():
    is_failure, f, clusters, predictions, all_clusters = make(150, 1350)
    found = estimate_failure_rate(
        is_failure, f, clusters, predictions, all_clusters, target="process", power_tuning=0.0
    )
    # n - 1 in half of the variance and Student's quantile are the only differences
    expected = wilson_interval(is_failure.mean(), 2 / (1 / 149 + 1 / 150), student.ppf(0.975, 149))
    assert_allclose([found.low, found.high], expected, rtol=1e-12)
    assert found.labels_only.method == "score"


# properties ------------------------------------------------------------------------------------------------------


@st.composite
def samples(draw):
    count = draw(st.integers(1, 60))
    count_labels = draw(st.integers(0, count))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    predictions = np.round(random.random(count) ** draw(st.sampled_from([0.2, 1.0, 5.0])), draw(st.integers(0, 3)))
    is_failure = random.random(count) < predictions ** draw(st.sampled_from([0.0, 0.3, 1.0, 4.0]))
    clusters = random.integers(0, draw(st.integers(1, 60)), count)
    inclusion = random.uniform(draw(st.sampled_from([0.01, 0.5, 1.0])), 1.0, count)
    rows = random.permutation(count)[:count_labels]
    return is_failure[rows], predictions[rows], clusters[rows], predictions, clusters, inclusion[rows]


@given(
    samples(),
    st.sampled_from(TARGETS),
    st.sampled_from([None, 0.0, 0.5, 1.0]),
    st.sampled_from([0.0, 3.0, 10.0]),
)
@settings(max_examples=300, deadline=None)
def test_a_result_is_a_rate_with_its_interval_or_a_status(sample, target, power_tuning, least_expected):
    found = estimate_failure_rate(*sample, target=target, power_tuning=power_tuning, least_expected=least_expected)
    assert found.status in STATUSES
    count_clusters = len(set(sample[2].tolist()))
    assert (found.count_labels, found.count_clusters, found.count_interactions) == (
        len(sample[0]),
        count_clusters,
        len(sample[3]),
    )
    if count_clusters < 2:
        assert found == FailureRate(
            "insufficient", len(sample[0]), int(sample[0].sum()), count_clusters, len(sample[3])
        )
        return
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert 0 < found.effective_n <= found.count_labels + 1e-9
    shown = found.prediction_powered if found.status == "prediction_powered" else found.labels_only
    assert (shown.estimate, shown.low, shown.high) == (found.estimate, found.low, found.high)
    for interval in (found.labels_only, found.prediction_powered):
        if interval is not None:
            assert interval.method in METHODS
            assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    if found.labels_only.method != "known":
        weights = 1 / sample[5]
        assert_allclose(found.labels_only.estimate, (weights @ sample[0]) / weights.sum(), atol=1e-12)
    if power_tuning == 0.0 and found.prediction_powered is not None:
        assert found.prediction_powered == found.labels_only
        assert (found.status, found.width_ratio) == ("labels_only", 1.0)
    if found.status == "prediction_powered":
        assert 0 < found.power_tuning <= 1
        assert found.width_ratio <= MOST_WIDTH


@given(samples(), st.sampled_from(TARGETS), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_order_and_names_of_clusters_do_not_matter(sample, target, shuffler):
    is_failure, f, label_clusters, predictions, clusters, inclusion = sample
    of_labels, of_all = list(range(len(is_failure))), list(range(len(predictions)))
    shuffler.shuffle(of_labels)
    shuffler.shuffle(of_all)
    first = estimate_failure_rate(*sample, target=target)
    second = estimate_failure_rate(
        is_failure[of_labels],
        f[of_labels],
        np.array([f"cluster {cluster}" for cluster in label_clusters[of_labels]], dtype=str),
        predictions[of_all],
        np.array([f"cluster {cluster}" for cluster in clusters[of_all]], dtype=str),
        inclusion[of_labels],
        target=target,
    )
    assert first.status == second.status
    for one, other in zip(astuple(first)[5:10], astuple(second)[5:10], strict=True):
        assert one is other is None or one == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("target", TARGETS)
def test_labels_that_are_all_predicted_right_leave_no_error_to_estimate_from(target):
    # what is left of each row is rounding, which depends on the order of the rows
    random = np.random.default_rng(7)
    statuses = set()
    for _ in range(40):
        is_failure = random.random(30) < 0.5
        clusters = random.integers(0, 5, 60)
        predictions = np.concatenate([is_failure, random.random(30) < 0.5]).astype(float)
        weights = random.uniform(0.5, 1, 30)
        found = estimate_failure_rate(
            is_failure, predictions[:30], clusters[:30], predictions, clusters, weights, target=target, power_tuning=1.0
        )
        statuses.add(found.status)
    assert statuses == {"labels_only"}


def test_predictions_that_are_all_equal_add_nothing():
    is_failure, _, clusters, _, all_clusters = make(100, 900)
    found = estimate_failure_rate(is_failure, np.full(100, 0.1), clusters, np.full(1000, 0.1), all_clusters)
    assert (found.status, found.power_tuning, found.width_ratio) == ("labels_only", 0.0, 1.0)
    assert_allclose(found.estimate, is_failure.mean())


def test_predictions_with_the_wrong_sign_add_nothing():
    is_failure, f, clusters, predictions, all_clusters = make(200, 1800)
    found = estimate_failure_rate(is_failure, 1 - f, clusters, 1 - predictions, all_clusters)
    assert (found.status, found.power_tuning) == ("labels_only", 0.0)


# simulated truth -------------------------------------------------------------------------------------------------


@cache
def simulated(rate: float, count_labels: int, **changes):
    return simulate_failure_rates(rate, count_labels, 1_000, **dict(changes))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("count_labels", [100, 200])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.3, 0.5])
def test_coverage(rate, count_labels, target):
    found = simulated(rate, count_labels, target=target)
    assert 0.93 <= found.coverage <= 0.975
    assert 0.93 <= found.coverage_labels_only <= 0.975
    assert abs(found.bias) <= 3.5 * found.bias_error


@pytest.mark.parametrize("target", TARGETS)
def test_unequal_probabilities_do_not_bias(target):
    for rate in (0.1, 0.3):
        found = simulated(rate, 200, target=target, is_by_ambiguity=True)
        # the ratio of two sums, and lambda tuned on the same labels, leave a bias of order 1 / n
        assert abs(found.bias) <= 3 * found.bias_error + 1 / 1000
        assert abs(found.bias_labels_only) <= 3 * found.bias_error_labels_only + 1 / 1000
        assert 0.93 <= found.coverage <= 0.975


def test_unequal_probabilities_bias_an_estimate_that_ignores_them():
    random = np.random.default_rng(4)
    p = random.beta(0.4, 1.2, 40_000)
    is_failure = random.random(40_000) < p
    inclusion = 0.02 + 0.4 * p * (1 - p)
    rows = np.flatnonzero(random.random(40_000) < inclusion)
    sample = (is_failure[rows], p[rows], rows, p, np.arange(40_000))
    truth = is_failure.mean()
    weighted = estimate_failure_rate(*sample, inclusion[rows], power_tuning=0.0)
    ignored = estimate_failure_rate(*sample, power_tuning=0.0)
    assert abs(weighted.estimate - truth) < 3 * weighted.labels_only.standard_error
    assert abs(ignored.estimate - truth) > 5 * ignored.labels_only.standard_error


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("is_by_cluster", [False, True])
def test_coverage_with_siblings(target, is_by_cluster):
    found = simulated(0.3, 200, target=target, is_by_cluster=is_by_cluster, rows_per_cluster=5)
    assert 0.93 <= found.coverage <= 0.975
    assert abs(found.bias) <= 3 * found.bias_error + 0.002


def test_siblings_taken_for_independent_rows_are_too_sure():
    random = np.random.default_rng(6)
    covered = []
    for _ in range(300):
        shared = random.random(40) < 0.3
        is_failure = np.repeat(shared, 5)
        one_each = estimate_failure_rate(
            is_failure, np.full(200, 0.3), np.arange(200), np.full(2000, 0.3), np.arange(2000), target="process"
        )
        by_cluster = estimate_failure_rate(
            is_failure,
            np.full(200, 0.3),
            np.arange(200) // 5,
            np.full(2000, 0.3),
            np.arange(2000) // 5,
            target="process",
        )
        covered.append((one_each.low <= 0.3 <= one_each.high, by_cluster.low <= 0.3 <= by_cluster.high))
    of_rows, of_clusters = np.mean(covered, axis=0)
    assert of_rows < 0.75
    assert of_clusters > 0.92


def test_good_predictions_narrow_and_noise_does_not_widen():
    moderate = simulated(0.3, 200)
    assert moderate.width_ratio < 0.92
    assert_allclose(np.sqrt(moderate.variance_ratio), moderate.width_ratio, rtol=0.05)
    assert simulated(0.3, 200, quality=1.0).width_ratio < moderate.width_ratio - 0.05
    noise = simulated(0.3, 100, quality=0.0)
    assert noise.width_ratio <= 1.02
    assert noise.variance_ratio <= 1.02**2
    assert 0.93 <= noise.coverage <= 0.975


def test_a_finite_population_shrinks_the_interval():
    found = simulated(0.3, 1200)
    assert 0.93 <= found.coverage <= 0.975


# bad input -------------------------------------------------------------------------------------------------------

LABELS = {
    "is_failure": np.array([True, False]),
    "label_predictions": np.array([0.2, 0.4]),
    "label_clusters": np.array([0, 1]),
    "predictions": np.array([0.2, 0.4, 0.6]),
    "clusters": np.array([0, 1, 2]),
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label_predictions": np.array([0.2])}, r"one length, got \[2, 1, 2\]"),
        ({"inclusion_probabilities": np.array([0.2])}, r"one length, got \[2, 2, 2, 1\]"),
        ({"clusters": np.array([0, 1])}, "one length, got 3 and 2"),
        ({"predictions": np.zeros(0), "clusters": np.zeros(0, dtype=int)}, "at least one interaction, got 0"),
        ({"is_failure": np.array([1, 0])}, "of type bool, got int64"),
        ({"label_predictions": np.array([0.2, 1.2])}, r"predictions must lie in \[0, 1\], got 1.2"),
        ({"predictions": np.array([0.2, 0.4, np.nan])}, r"predictions must lie in \[0, 1\], got nan"),
        ({"inclusion_probabilities": np.array([0.5, 0.0])}, r"probabilities must lie in \(0, 1\], got 0.0"),
        ({"inclusion_probabilities": np.array([0.5, np.nan])}, r"probabilities must lie in \(0, 1\], got nan"),
        ({"label_clusters": np.array([0, 7])}, "a cluster with 1 labels and 0 interactions"),
        ({"label_clusters": np.array([0, 0])}, "a cluster with 2 labels and 1 interactions"),
        ({"target": "future"}, "target must be one of these_interactions, process, got future"),
        ({"power_tuning": 1.5}, r"power_tuning must lie in \[0, 1\], got 1.5"),
        ({"confidence": 1.0}, r"confidence must lie in \(0, 1\), got 1.0"),
        ({"least_expected": -1.0}, "least_expected must be at least 0, got -1.0"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        estimate_failure_rate(**(LABELS | changes))


def test_bad_settings_of_simulations_are_refused():
    with pytest.raises(ValueError, match="got 100, 7"):
        simulate_failure_rates(0.3, 10, 1, rows_per_cluster=7, count_interactions=100)
    with pytest.raises(ValueError, match="got both"):
        simulate_failure_rates(0.3, 10, 1, is_by_cluster=True, is_by_ambiguity=True)
