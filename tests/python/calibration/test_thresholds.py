"""Thresholds: hand-worked cuts, order across appetites, mirrors, promised error rates, agreement with references."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gaussian_kde, norm

from hcat.calibration.calibrators import fit_calibrator, label_scores
from hcat.calibration.risk_appetites import RiskAppetite
from hcat.calibration.threshold_tables import accept_out_of_fold, judge, quote
from hcat.calibration.thresholds import METHODS, accepts, fit_all
from hcat.statistics.clustered import rate_interval
from hcat.statistics.clusters import deal_folds

# Sarmah et al. 2024, step 3: high 90 %, moderate 95 %, low 98 to 99 %
HIGH = RiskAppetite("high", 0.90, 0.10, 0.20, 1.0)
MODERATE = RiskAppetite("moderate", 0.95, 0.05, 0.30, 3.0)
LOW = RiskAppetite("low", 0.99, 0.01, 0.50, 10.0)
APPETITES = (HIGH, MODERATE, LOW)


def fit(scores, labels, method, clusters=None, appetites=APPETITES, direction="higher_is_better", **settings):
    clusters = np.arange(len(scores)) if clusters is None else clusters
    rows = fit_all(scores, labels, clusters, appetites, direction=direction, methods=[method], **settings)
    return {row.appetite.name: row for row in rows}


def numbers(rows):
    return [row.threshold for row in rows.values()]


def draw(count, seed, share_accepted=0.7):
    """Beta scores in [0, 1]: accepted answers high, failed ones low."""
    random = np.random.default_rng(seed)
    labels = random.random(count) < share_accepted
    return np.where(labels, random.beta(6, 2, count), random.beta(2, 4, count)), labels


def spread(values, counts):
    return np.repeat(np.array(values, dtype=float), counts)


# 10 + 8 + 2 failed at .2, .4, .8 and 4 + 16 good at .4, .8
TABLE_SCORES = np.concatenate([spread([0.2, 0.4, 0.8], [10, 8, 2]), spread([0.4, 0.8], [4, 16])])
TABLE_LABELS = np.repeat([0, 1], 20)


def test_cost_weighted_cut_by_hand():
    # one half each. cost(>= .4) = r 10/20; cost(>= .8) = r 2/20 + 4/20; cost(none) = 1; cost(all) = r
    ratios = {0.2: (0.4, "ok", None), 1.0: (0.8, "ok", None), 10.0: (None, "no_threshold", "none")}
    appetites = [replace(HIGH, name=str(r), confidence=0.6 + 0.01 * r, cost_false_accept=r) for r in ratios]
    rows = fit(TABLE_SCORES, TABLE_LABELS, "roc_cost", appetites=appetites)
    assert [(row.threshold, row.status, row.accepts) for row in rows.values()] == list(ratios.values())
    # of the good less of the failed that pass: .5 from .4 on, and .7 from .8 on
    assert numbers(fit(TABLE_SCORES, TABLE_LABELS, "roc_youden")) == [0.8] * 3
    # with five times the good answers one sixth failed
    # cost(>= .4) = 1/6 x .5 = .08; cost(>= .8) = 1/6 x .1 + 5/6 x .2 = .18
    scores = np.r_[TABLE_SCORES[:20], np.repeat(TABLE_SCORES[20:], 5)]
    assert numbers(fit(scores, np.repeat([0, 1], [20, 100]), "roc_cost"))[0] == 0.4
    # more failed than good answers among the best: none is accepted, or all where false accepts are cheap
    rows = fit(np.r_[spread([0.1, 0.9], [2, 18]), spread([0.1, 0.9], [10, 10])], TABLE_LABELS, "roc_cost")
    assert (rows["high"].status, rows["high"].accepts) == ("no_threshold", "none")
    cheap = [replace(HIGH, cost_false_accept=0.01)]
    row = fit(np.r_[spread([0.1, 0.9], [2, 18]), spread([0.1, 0.9], [10, 10])], TABLE_LABELS, "roc_cost", None, cheap)
    assert (row["high"].threshold, row["high"].status, row["high"].accepts) == (None, "no_threshold", "all")


def test_conformal_rank_by_hand():
    # 19 failed at 1 .. 19: k = ceil(20 x .90) = 18 -> above 18: 19; k = 19 -> above 19: 25; k = 20 > 19: none
    scores = np.r_[np.arange(1.0, 20.0), 25.0, 30.0]
    rows = fit(scores, np.r_[np.zeros(19), 1, 1], "conformal")
    assert numbers(rows) == [19.0, 25.0, None]
    assert (rows["low"].status, rows["low"].accepts) == ("no_threshold", "none")
    # 9 failed: k = ceil(10 x .9) = 9, and ceil(10 x .95) = 10 > 9
    rows = fit(np.r_[np.arange(1.0, 10.0), 25.0], np.r_[np.zeros(9), 1], "conformal")
    assert numbers(rows) == [25.0, None, None]
    # nobody scores better than the failed answers: nothing can be accepted
    assert numbers(fit(np.r_[np.arange(1.0, 20.0), 3.0], np.r_[np.zeros(19), 1], "conformal"))[1] is None


def test_normal_floor_by_hand():
    # ten at .7 and ten at .9: mean .8, sd = .1 sqrt(20 / 19); z of the 90, 95 and 99 % of Sarmah et al. 2024
    scores = np.r_[spread([0.7, 0.9], [10, 10]), 0.1]
    labels = np.r_[np.ones(20), 0]
    expected = 0.8 - np.array([1.2816, 1.6449, 2.3263]) * 0.1 * np.sqrt(20 / 19)
    assert_allclose(numbers(fit(scores, labels, "normal_floor")), expected, atol=1e-5)
    # mirrored: mean + z sd
    mirrored = fit(1 - scores, labels, "normal_floor", direction="lower_is_better")
    assert_allclose(numbers(mirrored), 1 - expected, atol=1e-5)


def test_floors_in_folds_by_hand():
    # 20 clusters in five folds: four leave in turn
    scores = np.linspace(0.5, 0.88, 20)
    folds = deal_folds(np.arange(20), np.ones(20, dtype=bool), 5, 7)
    rests = [scores[folds != fold] for fold in range(5)]
    floors = np.array([rest.mean() - norm.ppf(0.9) * rest.std(ddof=1) for rest in rests])
    flagged = np.mean([np.mean(scores[folds == fold] < floors[fold]) for fold in range(5)])
    mean = fit(scores, np.ones(20), "normal_floor_fold_mean", seed=7)["high"]
    strictest = fit(scores, np.ones(20), "normal_floor_fold_strictest", seed=7)["high"]
    assert_allclose([mean.threshold, strictest.threshold], [floors.mean(), floors.max()])
    assert_allclose([mean.held_out_flag_share, strictest.held_out_flag_share], flagged)


def test_pass_quantile_by_hand():
    # of 1 .. 20 at most 2, 1 and 0 may lie below
    assert numbers(fit(np.arange(1.0, 21.0), np.ones(20), "pass_quantile")) == [2.0, 1.0, 1.0]
    assert numbers(fit(-np.arange(1.0, 21.0), np.ones(20), "pass_quantile", direction="lower_is_better"))[0] == -2.0


def test_a_floor_outside_the_range_is_a_status():
    # five at 0 and twenty at 1: mean .8, sd .408; .8 - 1.645 x .408 = .13 and .8 - 2.326 x .408 = -.15
    scores = spread([0.0, 1.0], [5, 20])
    rows = fit(scores, np.ones(25), "normal_floor", bounds=(0.0, 1.0))
    assert [row.status for row in rows.values()] == ["ok", "ok", "out_of_range"]
    assert rows["low"].threshold is None
    assert_allclose(numbers(fit(scores, np.ones(25), "normal_floor"))[1:], [0.1285, -0.1497], atol=1e-4)


def test_polynomial_agrees_with_statsmodels():
    import statsmodels.api as sm

    scores, labels = draw(600, 3)
    good, failed = labels.sum(), (~labels).sum()
    targets = np.where(labels, (good + 1) / (good + 2), 1 / (failed + 2))  # Platt 1999
    columns = np.column_stack([scores**power for power in range(3)])
    peer = sm.GLM(targets, columns, family=sm.families.Binomial()).fit(tol=1e-12)
    for row in fit(scores, labels, "polynomial_logistic", bounds=(0, 1)).values():
        assert_allclose(peer.predict(row.threshold ** np.arange(3)[None, :]), row.appetite.confidence, atol=1e-6)


@pytest.mark.parametrize("direction", ["higher_is_better", "lower_is_better"])
@pytest.mark.parametrize("is_probability", [False, True])
def test_logistic_is_the_calibrator_in_force(direction, is_probability):
    scores, labels = draw(600, 3)
    scores = scores if direction == "higher_is_better" else 1 - scores
    clusters, weights = np.arange(600) // 2, np.random.default_rng(4).uniform(1, 3, 600)
    rows = fit(
        scores,
        labels,
        "logistic",
        clusters,
        direction=direction,
        bounds=(0, 1),
        weights=weights,
        is_probability=is_probability,
    )
    data = label_scores(scores, labels.astype(int), clusters, weights, direction, is_probability)
    calibrator = fit_calibrator(data, "logistic").calibrator
    numbers_found = [row for row in rows.values() if row.threshold is not None]
    assert numbers_found
    for row in numbers_found:
        assert_allclose(calibrator.apply([row.threshold]), row.appetite.confidence, atol=1e-9)


def test_models_need_a_rising_probability():
    scores, labels = draw(400, 7)
    for method in ("logistic", "polynomial_logistic"):
        statuses = {row.status for row in fit(1 - scores, labels, method, bounds=(0, 1)).values()}
        assert statuses == {"not_monotone"}
    # best in the middle, or near the top so that the end lies above the start: no curve rises over the range
    for peak in (0.5, 0.7):
        random = np.random.default_rng(8)
        scores = random.random(1000)
        labels = random.random(1000) < np.exp(-((scores - peak) ** 2) / 0.05)
        statuses = {row.status for row in fit(scores, labels, "polynomial_logistic").values()}
        assert statuses == {"not_monotone"}
        if peak == 0.5:  # medians coincide
            assert {row.status for row in fit(scores, labels, "kde_crossing").values()} == {"no_unique_crossing"}


def test_a_probability_beyond_the_range_is_a_status():
    # P(accept) is about .50 at 0 and .80 at 1, or about .95 at 0 and .99 at 1
    for accepted, beyond in (((50, 80), "none"), ((95, 99), "all")):
        scores = np.repeat([0.0, 1.0], 1000)
        labels = np.r_[np.arange(1000) % 100 < accepted[0], np.arange(1000) % 100 < accepted[1]]
        for method in ("logistic", "polynomial_logistic"):
            row = fit(scores, labels, method, bounds=(0, 1))["high"]
            assert (row.threshold, row.status, row.accepts) == (None, "out_of_range", beyond)


@pytest.mark.parametrize("power", [0.3, 1.0, 3.0])  # crossings near the upper bound, in the middle, near the lower
def test_kde_crossing_balances_weighted_densities(power):
    scores, labels = draw(500, 13)
    scores = scores**power

    def density(values, point):
        quartiles = np.quantile(values, [0.25, 0.75], method="inverted_cdf")
        width = 0.9 * min(values.std(ddof=1), np.diff(quartiles)[0] / 1.34) * len(values) ** -0.2
        kernel = gaussian_kde(values, bw_method=width / values.std(ddof=1))
        return (kernel(point) + kernel(-point) + kernel(2 - point))[0]

    for appetite, row in zip(APPETITES, fit(scores, labels, "kde_crossing", bounds=(0, 1)).values(), strict=True):
        good = labels.mean() * density(scores[labels], row.threshold)
        failed = (1 - labels.mean()) * density(scores[~labels], row.threshold)
        assert_allclose(good, appetite.cost_false_accept * failed, rtol=1e-6)


def test_kde_without_a_unique_crossing_is_a_status():
    scores, labels = draw(500, 15)
    assert fit(1 - scores, labels, "kde_crossing")["high"].status == "no_unique_crossing"  # medians out of order
    dear = [replace(LOW, cost_false_accept=1e9)]
    assert fit(scores, labels, "kde_crossing", None, dear)["low"].status == "no_unique_crossing"  # none
    # good at .5 and .9, failed at .3 and .7: three crossings between the medians
    random = np.random.default_rng(2)
    failed = np.r_[random.normal(0.3, 0.02, 110), random.normal(0.7, 0.02, 90)]
    good = np.r_[random.normal(0.5, 0.02, 90), random.normal(0.9, 0.02, 110)]
    row = fit(np.r_[failed, good], np.repeat([0, 1], 200), "kde_crossing")["high"]
    assert row.status == "no_unique_crossing"
    constant = np.r_[np.linspace(0, 0.5, 30), np.ones(30)]
    assert fit(constant, np.repeat([0, 1], 30), "kde_crossing")["high"].status == "constant_score"


@st.composite
def samples(draw_from):
    """Scores on a coarse or fine grid, any relation to the labels, siblings or none."""
    count = draw_from(st.integers(40, 160))
    random = np.random.default_rng(draw_from(st.integers(0, 2**32 - 1)))
    labels = random.random(count) < draw_from(st.sampled_from([0.3, 0.5, 0.8]))
    scores = random.normal(draw_from(st.sampled_from([-0.5, 0.0, 1.0, 2.5])) * labels, 1.0)
    scores = np.clip(scores / 8 + 0.5, 0, 1)
    digits = draw_from(st.sampled_from([1, 2, 15]))
    return np.round(scores, digits), labels, np.arange(count) // draw_from(st.sampled_from([1, 3]))


def count_false_accepts(row, scores, labels):
    if row.accepts is not None:
        return int((~labels).sum()) if row.accepts == "all" else 0
    if row.threshold is None:
        return None
    return int((accepts(scores, row.threshold, "higher_is_better") & ~labels).sum())


@settings(max_examples=40, deadline=None)
@given(samples())
def test_a_lower_appetite_never_raises_false_accepts(sample):
    scores, labels, clusters = sample
    rows = fit_all(scores, labels, clusters, APPETITES, direction="higher_is_better", bounds=(0, 1))
    for method in METHODS:
        own = [row for row in rows if row.method == method]
        assert [row.appetite.confidence for row in own] == [0.90, 0.95, 0.99]
        accepted = [c for row in own if (c := count_false_accepts(row, scores, labels)) is not None]
        thresholds = [row.threshold for row in own if row.threshold is not None]
        if METHODS[method] == "acceptance":
            assert accepted == sorted(accepted, reverse=True), method
            assert thresholds == sorted(thresholds), method
        else:  # the reason why a floor is no acceptance threshold
            assert thresholds == sorted(thresholds, reverse=True), method


@settings(max_examples=25, deadline=None)
@given(samples())
def test_mirrored_scores_give_mirrored_thresholds(sample):
    scores, labels, clusters = sample
    rows = fit_all(scores, labels, clusters, APPETITES, direction="higher_is_better", bounds=(0, 1))
    mirrored = fit_all(-scores, labels, clusters, APPETITES, direction="lower_is_better", bounds=(-1, 0))
    assert [row.status for row in rows] == [row.status for row in mirrored]
    assert [row.accepts for row in rows] == [row.accepts for row in mirrored]
    for row, mirror in zip(rows, mirrored, strict=True):
        if row.threshold is not None:
            assert mirror.threshold == -row.threshold
            assert (accepts(scores, row.threshold, "higher_is_better")
                    == accepts(-scores, mirror.threshold, "lower_is_better")).all()  # fmt: skip


def test_an_assured_threshold_is_stricter_and_needs_more_labels():
    scores, labels = draw(300, 22)
    plain, assured = (numbers(fit(scores, labels, "conformal", assurance=level))[0] for level in (None, 0.95))
    assert assured > plain
    # .9 ** 29 = .047: twenty-nine failed answers, all below the limit, show that at most a tenth pass (Wilks 1941)
    ordered = np.arange(40.0)
    for count, is_found in ((29, True), (28, False)):
        found = numbers(fit(ordered, (ordered >= count).astype(int), "conformal", assurance=0.95))[0]
        assert (found == count) if is_found else (found is None)


def test_weights_count_as_repeats():
    scores, labels = draw(200, 23)
    repeats = np.random.default_rng(23).integers(1, 4, 200)
    rows = np.repeat(np.arange(200), repeats)
    for method in ("roc_youden", "roc_cost", "pass_quantile", "logistic"):
        weighted = numbers(fit(scores, labels, method, weights=repeats.astype(float)))
        repeated = numbers(fit(scores[rows], labels[rows], method, rows))
        # Platt's targets know rows, not weights
        assert_allclose(weighted, repeated, atol=0.02 if method == "logistic" else 0)


def test_quote_by_hand():
    passing = np.array([1, 1, 0, 0, 1, 1, 0, 0, 0]) > 0
    labels = [0, 0, 0, 0, 1, 1, 1, 1, 1]
    clusters = np.array([1, 1, 2, 3, 4, 5, 6, 7, 7])
    found = quote(passing, labels, clusters)
    # two accepted failed answers of one cluster; three rejected good ones
    assert (found.false_accept.rate, found.false_accept.count_labels, found.false_accept.count_clusters) == (0.5, 4, 3)
    assert (found.false_reject.rate, found.false_reject.count_labels, found.false_reject.count_clusters) == (0.6, 5, 4)
    expected = rate_interval(passing[:4], clusters[:4], confidence=0.9)
    assert (found.false_accept.rate_lower, found.false_accept.rate_upper) == (expected.low, expected.high)
    assert found.share_failed == 4 / 9
    # 4/9 x 3 x .5 + 5/9 x .6 = 1
    assert_allclose(found.expected_cost(replace(HIGH, cost_false_accept=3.0)), 1.0)
    weighted = quote(passing, labels, clusters, weights=[3, 1, 1, 1, 1, 1, 1, 1, 1])
    assert_allclose(weighted.false_accept.rate, 4 / 6)


def test_a_label_never_chooses_its_own_verdict():
    scores, labels = draw(200, 24)
    clusters = np.arange(200) // 2
    settings = {
        "direction": "higher_is_better",
        "bounds": (0, 1),
        "methods": ["conformal", "roc_cost", "pass_quantile"],
    }
    before = accept_out_of_fold(scores, labels, clusters, APPETITES, **settings)
    own = clusters == 7
    after = accept_out_of_fold(scores, np.where(own, ~labels, labels), clusters, APPETITES, **settings)
    for key, passing in before.items():
        assert_array_equal(passing[own], after[key][own])


def test_quote_without_rows_or_threshold_has_a_status():
    found = quote(np.array([False, True]), [1, 1], [1, 2])
    assert (found.false_accept.status, found.false_accept.rate, found.false_accept.count_labels) == (
        "one_class",
        None,
        0,
    )
    assert (found.false_reject.status, found.false_reject.rate) == ("ok", 0.5)
    assert found.expected_cost(HIGH) is None
    found = quote(None, [1, 0], [1, 2])
    assert {found.false_accept.status, found.false_reject.status} == {"no_threshold"}
    assert found.false_accept.rate_lower is found.false_accept.rate_upper is None
    assert judge(found.false_accept, 0.05) == "no_threshold"
    assert quote(None, [], []).share_failed is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence": 0.5}, r"confidence must lie in \(0.5, 1\), got 0.5"),
        ({"tolerated_false_accept_share": 1.2}, r"tolerated share must lie in \[0, 1\], got 1.2"),
        ({"cost_false_accept": 0.0}, "cost must be positive and finite, got 0.0"),
    ],
)
def test_impossible_appetites_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(HIGH, **change)
