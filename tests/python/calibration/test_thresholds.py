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
from hcat.calibration.threshold_quotes import accept_out_of_fold, judge, quote
from hcat.calibration.thresholds import METHODS, STATUSES, accepts, fit_all
from hcat.statistics.clustered import rate_interval

# Sarmah et al. 2024, step 3: high 90 %, moderate 95 %, low 98 to 99 %
HIGH = RiskAppetite("high", 0.90, 0.10, 0.20, 1.0)
MODERATE = RiskAppetite("moderate", 0.95, 0.05, 0.30, 3.0)
LOW = RiskAppetite("low", 0.99, 0.01, 0.50, 10.0)
APPETITES = (HIGH, MODERATE, LOW)
ACCEPTANCE = [method for method, kind in METHODS.items() if kind == "acceptance"]
FLOORS = [method for method, kind in METHODS.items() if kind == "monitoring"]
ORDER_STATISTICS = ["roc_youden", "roc_cost", "conformal", "pass_quantile"]


def fit(scores, labels, method, clusters=None, appetites=APPETITES, direction="higher_is_better", **settings):
    """Return appetite -> row of one method."""
    clusters = np.arange(len(scores)) if clusters is None else clusters
    rows = fit_all(scores, labels, clusters, appetites, direction=direction, methods=[method], **settings)
    return {row.appetite: row for row in rows}


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


def test_youden_by_hand():
    # J(>= .4) = 1 - 10/20 - 0 = .5; J(>= .8) = 1 - 2/20 - 4/20 = .7
    rows = fit(TABLE_SCORES, TABLE_LABELS, "roc_youden")
    assert numbers(rows) == [0.8, 0.8, 0.8]
    assert [row.accepts for row in rows.values()] == [None] * 3


def test_cost_weighted_cut_by_hand():
    # one half each. cost(>= .4) = r 10/20; cost(>= .8) = r 2/20 + 4/20; cost(none) = 1; cost(all) = r
    ratios = {0.2: (0.4, "ok", None), 1.0: (0.8, "ok", None), 10.0: (None, "no_threshold", "none")}
    appetites = [replace(HIGH, name=str(r), confidence=0.6 + 0.01 * r, cost_false_accept=r) for r in ratios]
    rows = fit(TABLE_SCORES, TABLE_LABELS, "roc_cost", appetites=appetites)
    assert [(row.threshold, row.status, row.accepts) for row in rows.values()] == list(ratios.values())
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


def test_siblings_share_the_weight_of_their_cluster_by_hand():
    # K = 10: cluster 0 has .1 and .95 with 1/22 each, nine others 1/11. Without .95 the sum is .864 < .90
    scores = np.r_[0.1, 0.95, np.linspace(0.2, 0.9, 9), 0.99]
    clusters = np.r_[0, 0, np.arange(1, 10), 10]
    labels = np.r_[np.zeros(11), 1]
    assert numbers(fit(scores, labels, "conformal", clusters))[0] == 0.99
    # at 86 % the clusters reach .864 at .9, so that .95 is next; eleven independent rows would ask for k = 11: .99
    relaxed = [replace(HIGH, confidence=0.86)]
    assert numbers(fit(scores, labels, "conformal", clusters, relaxed)) == [0.95]
    assert numbers(fit(scores, labels, "conformal", None, relaxed)) == [0.99]


def test_normal_floor_by_hand():
    # ten at .7 and ten at .9: mean .8, sd = .1 sqrt(20 / 19); z of the 90, 95 and 99 % of Sarmah et al. 2024
    scores = np.r_[spread([0.7, 0.9], [10, 10]), 0.1]
    labels = np.r_[np.ones(20), 0]
    expected = 0.8 - np.array([1.2816, 1.6449, 2.3263]) * 0.1 * np.sqrt(20 / 19)
    assert_allclose(numbers(fit(scores, labels, "normal_floor")), expected, atol=1e-5)
    # mirrored: mean + z sd
    mirrored = fit(1 - scores, labels, "normal_floor", direction="lower_is_better")
    assert_allclose(numbers(mirrored), 1 - expected, atol=1e-5)


def test_floor_flags_what_the_confidence_says():
    random = np.random.default_rng(1)
    scores = random.normal(0.7, 0.1, 20_000)
    for method in FLOORS:
        for row in fit(scores, np.ones(20_000), method).values():
            flagged = float((~accepts(scores, row.threshold, "higher_is_better")).mean())
            slack = 0.4 if method == "normal_floor_fold_strictest" else 0.1
            assert flagged == pytest.approx(1 - row.confidence, rel=slack)


def test_floors_in_folds_by_hand():
    # 20 clusters in 20 folds: leave-one-out, whatever the seed
    scores = np.linspace(0.5, 0.88, 20)
    labels = np.ones(20)
    left_out = [np.delete(scores, i) for i in range(20)]
    floors = np.array([rest.mean() - norm.ppf(0.9) * rest.std(ddof=1) for rest in left_out])
    mean = fit(scores, labels, "normal_floor_fold_mean", count_folds=20)["high"]
    strictest = fit(scores, labels, "normal_floor_fold_strictest", count_folds=20, seed=7)["high"]
    assert_allclose([mean.threshold, strictest.threshold], [floors.mean(), floors.max()])
    assert mean.held_out_flag_share == strictest.held_out_flag_share == np.mean(scores < floors)
    lower = fit(-scores, labels, "normal_floor_fold_strictest", None, APPETITES, "lower_is_better", count_folds=20)
    assert_allclose(lower["high"].threshold, -floors.max())


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
        assert_allclose(peer.predict(row.threshold ** np.arange(3)[None, :]), row.confidence, atol=1e-6)


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
        assert_allclose(calibrator.apply([row.threshold]), row.confidence, atol=1e-9)


def test_gam_is_near_statsmodels_and_the_truth():
    from statsmodels.gam.api import BSplines, GLMGam
    from statsmodels.genmod.families import Binomial

    random = np.random.default_rng(5)
    scores = random.random(3000)
    log_odds = 6 * scores**3 + 2 * scores - 1  # rises, and no straight line nor parabola
    labels = random.random(3000) < 1 / (1 + np.exp(-log_odds))
    rows = fit(scores, labels, "gam", bounds=(0, 1))
    peer = GLMGam(
        labels.astype(float), smoother=BSplines(scores[:, None], df=[10], degree=[3], include_intercept=True),
        alpha=[0.01], family=Binomial(),
    ).fit()  # fmt: skip
    grid = np.linspace(scores.min(), scores.max(), 2001)
    of_peer = peer.predict(exog_smooth=grid[:, None])
    for row in rows.values():
        truth = np.interp(np.log(row.confidence / (1 - row.confidence)), 6 * grid**3 + 2 * grid - 1, grid)
        assert row.threshold == pytest.approx(truth, abs=0.06)
        assert row.threshold == pytest.approx(np.interp(row.confidence, of_peer, grid), abs=0.06)


def test_models_need_a_rising_probability():
    scores, labels = draw(400, 7)
    for method in ("logistic", "polynomial_logistic", "gam"):
        statuses = {row.status for row in fit(1 - scores, labels, method, bounds=(0, 1)).values()}
        assert statuses == {"not_monotone"}
    # best in the middle, or near the top so that the end lies above the start: no curve rises over the range
    for peak in (0.5, 0.7):
        random = np.random.default_rng(8)
        scores = random.random(1000)
        labels = random.random(1000) < np.exp(-((scores - peak) ** 2) / 0.05)
        for method in ("polynomial_logistic", "gam"):
            assert {row.status for row in fit(scores, labels, method).values()} == {"not_monotone"}
        if peak == 0.5:  # medians coincide
            assert {row.status for row in fit(scores, labels, "kde_crossing").values()} == {"no_unique_crossing"}


def test_separated_classes_have_a_finite_fit():
    scores = np.r_[np.linspace(0, 0.3, 60), np.linspace(0.7, 1, 60)]
    labels = np.repeat([0, 1], 60)
    for method in ACCEPTANCE:
        rows = fit(scores, labels, method, bounds=(0, 1))
        assert rows["high"].status == "ok", method
        # conformal spends the tolerated 10 % of the failed answers
        lowest = np.quantile(scores[:60], 0.9) if method == "conformal" else 0.3
        assert lowest < rows["high"].threshold <= 0.75
    # sixty good answers cannot show 99 %: (60 + 1) / (60 + 2) = .984
    assert fit(scores, labels, "gam", bounds=(0, 1))["low"].status == "out_of_range"


def test_a_probability_beyond_the_range_is_a_status():
    # P(accept) is about .50 at 0 and .80 at 1, or about .95 at 0 and .99 at 1
    for accepted, beyond in (((50, 80), "none"), ((95, 99), "all")):
        scores = np.repeat([0.0, 1.0], 1000)
        labels = np.r_[np.arange(1000) % 100 < accepted[0], np.arange(1000) % 100 < accepted[1]]
        for method in ("logistic", "polynomial_logistic", "gam"):
            row = fit(scores, labels, method, bounds=(0, 1))["high"]
            assert (row.threshold, row.status, row.accepts) == (None, "out_of_range", beyond)


def test_kde_crossing_by_symmetry():
    # two mirrored classes of equal size and cost cross in the middle, with reflection at both bounds or without
    failed = np.random.default_rng(11).beta(2, 5, 200)
    scores, labels = np.r_[failed, 1 - failed], np.repeat([0, 1], 200)
    for bounds in ((0, 1), (None, None)):
        assert fit(scores, labels, "kde_crossing", bounds=bounds)["high"].threshold == pytest.approx(0.5, abs=1e-9)


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
    """Return accepted failed answers; None where the row makes no statement."""
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
        assert [row.confidence for row in own] == [0.90, 0.95, 0.99]
        accepted = [c for row in own if (c := count_false_accepts(row, scores, labels)) is not None]
        thresholds = [row.threshold for row in own if row.threshold is not None]
        if METHODS[method] == "acceptance":
            assert accepted == sorted(accepted, reverse=True), method
            assert thresholds == sorted(thresholds), method
        else:  # the reason why a floor is no acceptance threshold
            assert thresholds == sorted(thresholds, reverse=True), method


@settings(max_examples=25, deadline=None)
@given(samples())
def test_rows_are_closed_and_do_not_depend_on_the_order_of_input(sample):
    scores, labels, clusters = sample
    rows = fit_all(scores, labels, clusters, APPETITES, direction="higher_is_better", bounds=(0, 1))
    assert [(row.method, row.appetite) for row in rows] == [(m, a.name) for m in METHODS for a in APPETITES]
    for row in rows:
        assert row.kind == METHODS[row.method]
        assert row.status in STATUSES
        assert (row.threshold is not None) == (row.status == "ok")
        assert row.threshold is None or 0 <= row.threshold <= 1
    order = np.random.default_rng(1).permutation(len(scores))
    names = np.array([f"cluster {code:04d}" for code in clusters])
    again = fit_all(
        scores[order], labels[order], names[order], APPETITES[::-1], direction="higher_is_better", bounds=(0, 1)
    )
    assert again == rows


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


@settings(max_examples=30, deadline=None)
@given(samples())
def test_order_statistics_follow_monotone_transformations(sample):
    scores, labels, clusters = sample
    for method in ORDER_STATISTICS:
        rows = fit(scores, labels, method, clusters)
        for transform in (np.exp, lambda values: 5 * values**3 - 2):
            bent = fit(transform(scores), labels, method, clusters)
            assert [row.status for row in bent.values()] == [row.status for row in rows.values()]
            for row, image in zip(rows.values(), bent.values(), strict=True):
                if row.threshold is not None:
                    assert image.threshold == transform(np.array([row.threshold]))[0]


@settings(max_examples=25, deadline=None)
@given(samples())
def test_youden_agrees_with_scikit_learn(sample):
    from sklearn.metrics import roc_curve

    scores, labels, _ = sample
    row = fit(scores, labels, "roc_youden")["high"]
    false_accept, true_accept, thresholds = roc_curve(labels, scores, drop_intermediate=False)
    best = (true_accept - false_accept).max()
    if row.threshold is not None:
        at = np.flatnonzero(thresholds == row.threshold)[0]
        assert_allclose(true_accept[at] - false_accept[at], best, atol=1e-9)
    elif row.status == "no_threshold":
        assert_allclose(best, 0, atol=1e-9)


def test_conformal_agrees_with_crepes():
    from crepes import ConformalClassifier

    random = np.random.default_rng(17)
    scores, labels = draw(200, 17)
    new = random.random(500)
    # non-conformity of `failed` = the score; accepted when the p-value of `failed` is at most 1 - confidence
    peer = ConformalClassifier().fit(scores[~labels])
    p_values = peer.predict_p(new[:, None], smoothing=False).ravel()
    row = fit(scores, labels, "conformal")["high"]
    # between the k-th smallest and the next observed score the threshold is the stricter of the two
    ranked = np.sort(scores[~labels])
    limit = ranked[int(np.ceil((len(ranked) + 1) * 0.9)) - 1]
    decided = (new <= limit) | (new >= row.threshold)
    assert decided.mean() > 0.95
    assert (accepts(new, row.threshold, "higher_is_better") == (p_values <= 0.1 + 1e-12))[decided].all()


@pytest.mark.parametrize(("digits", "siblings"), [(15, 1), (1, 1), (15, 4)])
def test_conformal_promise_holds_on_new_answers(digits, siblings):
    random = np.random.default_rng(19)
    count_clusters, repeats = 60, 250
    accepted = np.empty((repeats, 2))
    for repeat in range(repeats):
        # a failed answer is its cluster's level plus its own; the last cluster is new
        shared = random.normal(size=(count_clusters + 1, 1)) * (siblings > 1)
        failed = np.round(shared + random.normal(size=(count_clusters + 1, siblings)), digits)
        good = np.round(random.normal(2.5, 1.0, 100), digits)
        scores = np.r_[failed[:-1].ravel(), good]
        labels = np.r_[np.zeros(count_clusters * siblings), np.ones(100)]
        clusters = np.r_[np.repeat(np.arange(count_clusters), siblings), 1000 + np.arange(100)]
        rows = fit(scores, labels, "conformal", clusters, (HIGH, MODERATE))
        limits = [np.inf if row.threshold is None else row.threshold for row in rows.values()]
        new = np.round(random.normal(size=(500, 1)) * (siblings > 1) + random.normal(size=(500, siblings)), digits)
        accepted[repeat] = [(new >= limit).mean() for limit in limits]
    error = accepted.std(axis=0) / np.sqrt(repeats)
    assert (accepted.mean(axis=0) <= np.array([0.10, 0.05]) + 3 * error).all()
    if digits == 15:  # and it is not bought by accepting nothing
        assert (accepted.mean(axis=0) >= np.array([0.10, 0.05]) - 1 / 61 - 3 * error).all()


def test_conformal_ranks_weigh_labels():
    scores, labels = draw(200, 21)
    equal = numbers(fit(scores, labels, "conformal"))
    assert numbers(fit(scores, labels, "conformal", weights=np.full(200, 3.0))) == equal
    # failed answers of high scores were drawn three times as rarely: more of them lie above a limit
    rare = np.where(~labels & (scores > np.median(scores[~labels])), 3.0, 1.0)
    assert numbers(fit(scores, labels, "conformal", weights=rare))[0] > equal[0]


def test_an_assured_threshold_is_stricter_and_needs_more_labels():
    scores, labels = draw(300, 22)
    plain, assured = (numbers(fit(scores, labels, "conformal", assurance=level))[0] for level in (None, 0.95))
    assert assured > plain
    assert numbers(fit(scores[:60], labels[:60], "conformal", assurance=0.95)) == [None, None, None]
    with pytest.raises(ValueError, match=r"assurance must lie in \(0.5, 1\), got 0.5"):
        fit(scores, labels, "conformal", assurance=0.5)


def test_an_assured_threshold_breaks_its_promise_in_few_samples():
    random = np.random.default_rng(23)
    broken, found = 0, 0
    for _ in range(200):
        clusters = np.repeat(np.arange(90), 2)
        failed = np.sqrt(0.4) * random.normal(size=90)[clusters] + np.sqrt(0.6) * random.normal(size=180)
        scores, labels = np.r_[failed, random.normal(2, 1, 100)], np.r_[np.zeros(180), np.ones(100)]
        row = fit(scores, labels, "conformal", np.r_[clusters, 100 + np.arange(100)], (HIGH,), assurance=0.95)["high"]
        found += row.threshold is not None
        broken += row.threshold is not None and norm.sf(row.threshold) > 0.1
    assert found > 190
    assert broken / 200 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_weights_count_as_repeats():
    scores, labels = draw(200, 23)
    repeats = np.random.default_rng(23).integers(1, 4, 200)
    rows = np.repeat(np.arange(200), repeats)
    for method in ("roc_youden", "roc_cost", "pass_quantile", "logistic"):
        weighted = numbers(fit(scores, labels, method, weights=repeats.astype(float)))
        repeated = numbers(fit(scores[rows], labels[rows], method, rows))
        # Platt's targets know rows, not weights
        assert_allclose(weighted, repeated, atol=0.02 if method == "logistic" else 0)


@pytest.mark.parametrize(
    ("scores", "labels", "clusters", "acceptance", "monitoring"),
    [
        ([], [], [], "insufficient", "insufficient"),
        (np.linspace(0, 1, 50), np.ones(50), np.arange(50), "one_class", "ok"),
        (np.linspace(0, 1, 50), np.zeros(50), np.arange(50), "one_class", "one_class"),
        (np.linspace(0, 1, 38), np.arange(38) >= 19, np.arange(38), "insufficient", "insufficient"),
        (np.linspace(0, 1, 80), np.arange(80) >= 40, np.arange(80) // 5, "insufficient", "insufficient"),
        (np.full(80, 0.5), np.arange(80) >= 40, np.arange(80), "constant_score", "constant_score"),
    ],
)
def test_degenerate_labels_give_statuses(scores, labels, clusters, acceptance, monitoring):
    rows = fit_all(scores, labels, clusters, APPETITES, direction="higher_is_better")
    expected = {"acceptance": acceptance, "monitoring": monitoring}
    for row in rows:
        # conformal ranks need no minimum beyond that of the confidence
        if row.method != "conformal" or acceptance != "insufficient" or not len(scores):
            assert row.status == expected[row.kind], row.method
        assert (row.threshold is None) == (row.status != "ok")


def test_quote_by_hand():
    passing = np.array([1, 1, 0, 0, 1, 1, 0, 0, 0]) > 0
    labels = [0, 0, 0, 0, 1, 1, 1, 1, 1]
    clusters = np.array([1, 1, 2, 3, 4, 5, 6, 7, 7])
    found = quote(passing, labels, clusters)
    # two accepted failed answers of one cluster; three rejected good ones
    assert (found.false_accept.rate, found.false_accept.count, found.false_accept.count_clusters) == (0.5, 4, 3)
    assert (found.false_reject.rate, found.false_reject.count, found.false_reject.count_clusters) == (0.6, 5, 4)
    expected = rate_interval(passing[:4], clusters[:4], confidence=0.9)
    assert (found.false_accept.low, found.false_accept.high) == (expected.low, expected.high)
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


def test_cross_validated_acceptance_is_nested_in_the_appetite():
    scores, labels = draw(300, 25)
    found = accept_out_of_fold(scores, labels, np.arange(300), APPETITES, direction="higher_is_better", bounds=(0, 1))
    for method in ACCEPTANCE:
        laxer, middle, stricter = (found[method, appetite.name] for appetite in (HIGH, MODERATE, LOW))
        assert not (stricter & ~middle).any()
        assert not (middle & ~laxer).any()


def test_quote_without_rows_or_threshold_has_a_status():
    found = quote(np.array([False, True]), [1, 1], [1, 2])
    assert (found.false_accept.status, found.false_accept.rate, found.false_accept.count) == ("one_class", None, 0)
    assert (found.false_reject.status, found.false_reject.rate) == ("ok", 0.5)
    assert found.expected_cost(HIGH) is None
    found = quote(None, [1, 0], [1, 2])
    assert {found.false_accept.status, found.false_reject.status} == {"no_threshold"}
    assert found.false_accept.low is found.false_accept.high is None
    assert judge(found.false_accept, 0.05) == "no_threshold"
    assert quote(None, [], []).share_failed is None


def test_a_rate_is_judged_by_its_interval():
    failed = np.zeros(1000)
    passing = np.arange(1000) < 20  # 2 %, 1.4 to 2.9 % at 90 %
    rate = quote(passing, failed, np.arange(1000)).false_accept
    assert [judge(rate, share) for share in (0.01, 0.02, 0.05)] == ["beyond", "not_shown", "within"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": "upwards"}, "direction must be one of higher_is_better, lower_is_better, got 'upwards'"),
        ({"scores": [0.1, np.nan]}, "scores must be finite, got 1 that are not"),
        ({"scores": [0.1, 1.4]}, r"scores must lie in \[0, 1\], got \[0.1, 1.4\]"),
        ({"labels": [0, 2]}, r"labels must be 0 or 1, got \[2\]"),
        ({"clusters": [1]}, r"must have one shape \(n,\), got \(2,\), \(2,\), \(1,\), \(2,\)"),
        ({"weights": [1.0, 0.0]}, "weights must be positive"),
        ({"bounds": (1, 0)}, "lower bound must be below the upper one, got 1 and 0"),
        ({"methods": ["guess"]}, "methods must be among .*, got guess"),
        ({"count_folds": 1}, "count_folds must be at least 2, got 1"),
        ({"appetites": []}, "at least one appetite, got 0"),
        ({"appetites": [HIGH, replace(LOW, name="high")]}, "must differ in name and confidence"),
        (
            {"appetites": [HIGH, replace(LOW, cost_false_accept=0.5)]},
            "must not fall .*got 1.0 for high and 0.5 for low",
        ),
    ],
)
def test_contradicting_arguments_are_refused(change, message):
    arguments = {
        "scores": [0.1, 0.9],
        "labels": [0, 1],
        "clusters": [1, 2],
        "appetites": APPETITES,
        "direction": "higher_is_better",
        "bounds": (0, 1),
    }
    with pytest.raises(ValueError, match=message):
        fit_all(**{**arguments, **change})


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


def test_impossible_quotes_are_refused():
    with pytest.raises(ValueError, match=r"confidence must lie in \(0.5, 1\), got 1.0"):
        quote(np.array([True]), [0], [1], confidence=1.0)
    with pytest.raises(ValueError, match="must have one length, got 1 labels"):
        quote(np.array([True, False]), [0], [1])
