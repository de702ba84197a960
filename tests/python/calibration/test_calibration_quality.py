"""Quality of calibrated probabilities: hand-worked answers, reference libraries, and what each interval promises."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import norm

from hcat.calibration.quality import calibration_in_the_large, measure_quality


def draw(count_clusters, per_cluster, seed, correlation=0.0, stretch=1.0, are_scores_shared=False):
    """Return probabilities, labels, clusters: calibrated at stretch 1, siblings' labels correlated by a Gaussian."""
    random = np.random.default_rng(seed)
    shape = (count_clusters, 1 if are_scores_shared else per_cluster)
    log_odds = np.broadcast_to(random.normal(0.4, 1.3, shape), (count_clusters, per_cluster))
    shared = math.sqrt(correlation) * random.standard_normal((count_clusters, 1))
    latent = shared + math.sqrt(1 - correlation) * random.standard_normal((count_clusters, per_cluster))
    labels = latent < norm.ppf(expit(log_odds))
    return (
        expit(stretch * log_odds).ravel(),
        labels.ravel().astype(int),
        np.repeat(np.arange(count_clusters), per_cluster),
    )


def values(quality):
    return {figure.name: figure.value for figure in quality[0].values()}


def test_figures_by_hand():
    # 20 clusters; half get .8 (7 of 10 accepted) and pass, half .4 (4 of 10 accepted)
    probabilities = np.repeat([0.8, 0.4], 10)
    labels = np.array([1] * 7 + [0] * 3 + [1] * 4 + [0] * 6)
    quality = measure_quality(probabilities, labels, np.arange(20), base_rate=0.5, count_draws=200)
    found = values(quality)
    assert_allclose(found["brier_score"], (7 * 0.04 + 3 * 0.64 + 4 * 0.36 + 6 * 0.16) / 20)
    logs = 7 * math.log(0.8) + 3 * math.log(0.2) + 4 * math.log(0.4) + 6 * math.log(0.6)
    assert_allclose(found["log_loss"], -logs / 20)
    assert_allclose(found["log_loss_difference"], -logs / 20 - math.log(2))
    # 9 failed: 3 pass the cut-off; 11 accepted: 4 do not
    assert_allclose(found["type_one_error"], 3 / 9)
    assert_allclose(found["type_two_error"], 4 / 11)
    assert quality[0]["type_one_error"].method == "wilson"
    error = quality[1]
    # two distinct scores make two bins: (|.7 - .8| + |.4 - .4|) / 2
    assert_allclose(error["calibration_error"], 0.05)
    # bin variances .7 x .3 / 9 and .4 x .6 / 9 exceed the squared gaps .01 and 0: nothing is left
    assert error["calibration_error_debiased"] == 0.0
    # 9 failed from 9 clusters are too few for figures that need both classes
    assert quality[0]["auroc"].status == "insufficient"
    assert [(one["count_labels"], one["count_clusters"]) for one in quality[1]["bins"]] == [(10, 10), (10, 10)]
    assert_allclose([one["mean_prediction"] for one in quality[1]["bins"]], [0.4, 0.8])
    assert_allclose([one["share_accepted"] for one in quality[1]["bins"]], [0.4, 0.7])


def test_debiased_error_by_hand():
    # one bin of 400: share .9 against .6; .3^2 - .9 x .1 / 399
    labels = np.repeat([1, 0], [360, 40])
    quality = measure_quality(np.full(400, 0.6), labels, np.arange(400), base_rate=0.5, count_draws=50)
    assert_allclose(quality[1]["calibration_error"], 0.3)
    assert_allclose(quality[1]["calibration_error_debiased"], math.sqrt(0.09 - 0.09 / 399))


def test_system_by_hand():
    # 20 clusters of one row: 12 accepted against .5: + .1; residuals .5 and -.5, variance 20 / 19 x .24 / 20
    labels = np.repeat([1, 0], [12, 8])
    found = calibration_in_the_large(np.full(20, 0.5), labels, np.arange(20), np.full(20, "assistant"))
    assert len(found) == 1
    assert (found[0]["system"], found[0]["method"], found[0]["count_clusters"]) == ("assistant", "wilson", 20)
    # 8 failed are below 10: Wilson of 12 / 20 less .5, from the textbook formula
    assert_allclose([found[0]["low"], found[0]["high"]], [0.3866 - 0.5, 0.7812 - 0.5], atol=1e-4)
    labels = np.repeat([1, 0], [24, 16])
    found = calibration_in_the_large(np.full(40, 0.5), labels, np.arange(40), np.full(40, 7))
    reach = 2.0227 * math.sqrt(0.24 / 39)  # t with 39 degrees of freedom
    assert found[0]["method"] == "linearised"
    assert_allclose(
        [found[0][name] for name in ("difference", "low", "high")], [0.1, 0.1 - reach, 0.1 + reach], atol=1e-5
    )


def test_scores_are_those_of_scikit_learn():
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

    probabilities, labels, clusters = draw(200, 3, 1)
    probabilities = np.round(probabilities, 2).clip(0.01, 0.99)  # ties
    weights = np.random.default_rng(2).uniform(0.5, 5, 600)
    found = values(measure_quality(probabilities, labels, clusters, 0.6, weights, count_draws=20))
    assert_allclose(found["brier_score"], brier_score_loss(labels, probabilities, sample_weight=weights))
    assert_allclose(found["log_loss"], log_loss(labels, probabilities, sample_weight=weights))
    assert_allclose(found["auroc"], roc_auc_score(labels, probabilities, sample_weight=weights))


def test_regressions_are_those_of_statsmodels():
    import statsmodels.api as statsmodels

    probabilities, labels, clusters = draw(200, 3, 3, stretch=1.6)
    weights = np.random.default_rng(4).uniform(0.5, 5, 600)
    found = values(measure_quality(probabilities, labels, clusters, 0.6, weights, count_draws=20))
    log_odds = np.log(probabilities / (1 - probabilities))
    family = statsmodels.families.Binomial()
    slope = statsmodels.GLM(labels, statsmodels.add_constant(log_odds), family, freq_weights=weights).fit(tol=1e-12)
    constant = statsmodels.GLM(labels, np.ones(600), family, offset=log_odds, freq_weights=weights).fit(tol=1e-12)
    assert_allclose(found["calibration_slope"], slope.params[1], rtol=1e-7)
    assert_allclose(found["calibration_intercept"], constant.params[0], rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 4))
def test_bins_hold_every_row_once(seed, count_levels, per_cluster):
    probabilities, labels, clusters = draw(30, per_cluster, seed)
    probabilities = np.round(probabilities * count_levels) / count_levels
    quality = measure_quality(probabilities, labels, clusters, 0.5, count_draws=20)
    bins = quality[1]["bins"]
    assert sum(one["count_labels"] for one in bins) == len(labels)
    assert 1 <= len(bins) <= 10
    assert all(left["highest"] < right["lowest"] for left, right in pairwise(bins))
    assert all(one["low"] <= one["share_accepted"] <= one["high"] for one in bins)
    for figure in quality[0].values():
        assert (figure.value is None) == (figure.status != "measured") == (figure.method is None)
        assert figure.value is None or figure.low <= figure.high


def test_intervals_hold_the_truth_although_siblings_correlate():
    # truth from 200,000 clusters; 95 % nominal, 100 samples: below 88 % would be 3 standard errors away
    options = {"correlation": 0.5, "stretch": 1.5, "are_scores_shared": True}
    names = ("brier_score", "auroc", "type_one_error", "calibration_slope", "calibration_intercept")
    truth = values(measure_quality(*draw(60_000, 3, 11, **options), 0.55, count_draws=2))
    is_held = {name: [] for name in names}
    for seed in range(100):
        quality = measure_quality(*draw(80, 5, 1000 + seed, **options), 0.55, count_draws=200)
        for name in names:
            figure = quality[0][name]
            is_held[name].append(figure.low <= truth[name] <= figure.high)
    assert all(np.mean(held) >= 0.88 for held in is_held.values()), {n: np.mean(h) for n, h in is_held.items()}


def test_each_failure_has_its_status():
    probabilities, labels, clusters = draw(100, 2, 15)

    def statuses(probabilities, labels, clusters):
        quality = measure_quality(probabilities, labels, clusters, 0.5, count_draws=50)
        found = {figure.name: figure.status for figure in quality[0].values()}
        return found | {"ece": quality[1]["calibration_error_status"]}

    assert set(statuses(probabilities, labels, clusters).values()) == {"measured"}
    few = statuses(probabilities, labels, clusters % 9)
    assert set(few.values()) == {"insufficient"}
    assert set(statuses([], [], []).values()) == {"insufficient"}
    good = statuses(probabilities, np.ones(200), clusters)
    assert [name for name, status in good.items() if status == "one_class"] == [
        "auroc",
        "type_one_error",
        "calibration_slope",
        "calibration_intercept",
    ]
    assert good["brier_score"] == good["type_two_error"] == good["ece"] == "measured"
    flat = statuses(np.full(200, 0.4), labels, clusters)
    assert flat["calibration_slope"] == "constant_score"
    assert flat["auroc"] == flat["calibration_intercept"] == "measured"
    assert statuses(np.where(labels == 1, 0.7, 0.2), labels, clusters)["calibration_slope"] == "separated"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probabilities": [0.5, 1.2]}, r"must lie in \[0, 1\], got 0.5 to 1.2"),
        ({"labels": [0, 2]}, r"labels must be 0 or 1, got \[0.0, 2.0\]"),
    ],
)
def test_bad_input_is_refused(changes, message):
    good = {"probabilities": [0.5, 0.6], "labels": [0, 1], "clusters": ["a", "b"], "base_rate": 0.5}
    with pytest.raises(ValueError, match=message):
        measure_quality(**(good | changes))
