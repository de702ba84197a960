"""Stage 1: hand-worked answers, agreement with scikit-learn and statsmodels, rows that SQL applies, and the choice."""

import dataclasses
import math

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hcat.calibration.calibrators import (
    BOOSTED_SETTINGS,
    FAMILIES,
    FIT_STATUSES,
    LOGIT_BOUND,
    CalibratorRow,
    choose_calibrator,
    cross_validated_losses,
    fit_calibrator,
    from_rows,
    label_scores,
)
from hcat.statistics.clusters import folds_of_clusters

THIRDS = {"fit": 0.5, "conformalize": 0.3, "test": 0.2}


def expit(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def draw_binary(count, seed, intercept=0.4, slope=1.3):
    random = np.random.default_rng(seed)
    scores = random.standard_normal(count)
    return scores, (random.random(count) < expit(intercept + slope * scores)).astype(int), np.arange(count) // 3


def draw_graded(count, seed, slope=1.2):
    random = np.random.default_rng(seed)
    scores = random.standard_normal(count)
    latent = slope * scores + random.logistic(size=count)
    return scores, (latent > -1).astype(int) + (latent > 1), np.arange(count) // 3


def fitted(family, seed=1, count=1500, sign=1, **options):
    scores, labels, clusters = draw_graded(count, seed)
    direction = "higher_is_better" if sign > 0 else "lower_is_better"
    data = label_scores(
        sign * scores, labels, clusters, direction=direction, count_scale_points=3, accept_from=2, **options
    )
    found = fit_calibrator(data, family)
    assert found.status == "fitted"
    return found.calibrator


def value(calibrator, parameter):
    return calibrator.values(parameter)


# --- families against reference libraries -----------------------------------------------------------------------------


def test_logistic_is_weighted_logistic_regression():
    import statsmodels.api as statsmodels
    from sklearn.linear_model import LogisticRegression

    scores, labels, clusters = draw_binary(900, 2)
    weights = np.random.default_rng(3).uniform(0.5, 6, 900)
    found = fit_calibrator(label_scores(scores, labels, clusters, weights), "logistic").calibrator
    ours = [value(found, "intercept")[0], value(found, "slope")[0]]
    peer = statsmodels.GLM(
        labels, statsmodels.add_constant(scores), statsmodels.families.Binomial(), freq_weights=weights
    )
    assert_allclose(ours, peer.fit(tol=1e-12).params, atol=5e-5)
    second = LogisticRegression(C=np.inf, tol=1e-12).fit(scores[:, None], labels, sample_weight=weights)
    assert_allclose(found.apply(scores), second.predict_proba(scores[:, None])[:, 1], atol=2e-5)


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


def test_multinomial_is_the_baseline_category_logit():
    import statsmodels.api as statsmodels

    scores, labels, clusters = draw_graded(1200, 5)
    data = label_scores(scores, labels, clusters, count_scale_points=3, accept_from=1)
    found = fit_calibrator(data, "multinomial").calibrator
    peer = statsmodels.MNLogit(labels, statsmodels.add_constant(scores)).fit(disp=0, tol=1e-12)
    assert_allclose([value(found, "intercept"), value(found, "slope")], peer.params, atol=5e-5)
    assert_allclose(found.scale_point_probabilities(scores), peer.predict(), atol=2e-5)


def test_isotonic_is_pool_adjacent_violators():
    from sklearn.isotonic import IsotonicRegression

    random = np.random.default_rng(6)
    scores = np.round(random.uniform(0, 1, 1400), 2)  # many ties
    labels = (random.random(1400) < scores**2).astype(int)
    weights = random.uniform(0.5, 4, 1400)
    found = fit_calibrator(label_scores(scores, labels, np.arange(1400), weights), "isotonic").calibrator
    peer = IsotonicRegression().fit(scores, labels, sample_weight=weights).predict(scores)
    assert_allclose(found.apply(scores), np.clip(peer, 1 / 1402, 1401 / 1402), atol=1e-12)


@pytest.mark.parametrize(("method", "family", "atol"), [("sigmoid", "logistic", 2e-3), ("isotonic", "isotonic", 1e-9)])
def test_families_are_those_of_calibrated_classifier(method, family, atol):
    # scikit-learn's sigmoid smooths the labels as Platt did, (count + 1) / (n + 2): at n = 3,000 about .001
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class Score(ClassifierMixin, BaseEstimator):
        def fit(self, scores, labels):
            self.classes_ = np.array([0, 1])
            return self

        def decision_function(self, scores):
            return scores[:, 0]

        def predict(self, scores):
            return (scores[:, 0] > 0).astype(int)

    scores, labels, clusters = draw_binary(3000, 7)
    model = FrozenEstimator(Score().fit(None, None))
    peer = CalibratedClassifierCV(model, method=method, ensemble=False).fit(scores[:, None], labels)
    found = fit_calibrator(label_scores(scores, labels, clusters), family).calibrator
    expected = np.clip(peer.predict_proba(scores[:, None])[:, 1], 1 / 3002, 3001 / 3002)
    assert_allclose(np.clip(found.apply(scores), 1 / 3002, 3001 / 3002), expected, atol=atol)


def test_trees_are_scikit_learns_also_where_a_feature_is_missing():
    from sklearn.ensemble import HistGradientBoostingClassifier

    random = np.random.default_rng(8)
    features = random.standard_normal((1200, 2))
    labels = (random.random(1200) < expit(features[:, 0] - 0.8 * features[:, 1])).astype(int)
    features[random.random(1200) < 0.2, 1] = np.nan
    data = label_scores(
        features,
        labels,
        np.arange(1200) // 2,
        random.uniform(0.5, 3, 1200),
        direction=["higher_is_better", "lower_is_better"],
    )
    found = fit_calibrator(data, "boosted").calibrator
    peer = HistGradientBoostingClassifier(monotonic_cst=[1, -1], random_state=20260101, **BOOSTED_SETTINGS)
    peer.fit(features, labels, sample_weight=data.weights)
    fresh = random.standard_normal((3000, 2)) * 2
    fresh[random.random(3000) < 0.3, 0] = np.nan
    fresh[np.isfinite(fresh[:, 0]) & (random.random(3000) < 0.3), 1] = np.nan
    assert np.isnan(fresh).any(axis=0).all()
    assert_allclose(found.apply(fresh), peer.predict_proba(fresh)[:, 1], rtol=0, atol=1e-12)
    assert_array_equal(from_rows(found.to_rows()).apply(fresh), found.apply(fresh))


# --- hand-worked ------------------------------------------------------------------------------------------------------


def four_scores(shares, values=(1.0, 2.0, 3.0, 4.0)):
    labels = np.concatenate([np.arange(250) < 250 * share for share in shares]).astype(int)
    return np.repeat(values, 250), labels, np.arange(1000) % 50


def test_isotonic_steps_by_hand():
    # shares .2, .6, .4, .9: the middle two violate the order and pool to .5; blocks part half way
    found = fit_calibrator(label_scores(*four_scores([0.2, 0.6, 0.4, 0.9])), "isotonic").calibrator
    steps = [row for row in found.to_rows() if row.parameter == "step"]
    assert [row.lower_bound for row in steps] == [None, 1.5, 3.5]
    assert_allclose([row.probability for row in steps], [0.2, 0.5, 0.9], atol=1e-12)
    assert_allclose(found.apply([-9, 1.49, 1.5, 3.4, 3.5, 99]), [0.2, 0.2, 0.5, 0.5, 0.9, 0.9], atol=1e-12)


def test_isotonic_promises_no_certainty():
    found = fit_calibrator(label_scores(*four_scores([0.0, 0.0, 0.5, 1.0])), "isotonic").calibrator
    assert_allclose(found.apply([1, 3, 4]), [1 / 1002, 0.5, 1001 / 1002], rtol=1e-12)


def test_neighbours_in_double_precision_keep_their_steps():
    upper = np.nextafter(1.0, 2.0)
    scores, labels, clusters = four_scores([0.2, 0.3, 0.8, 0.9], values=(0.5, 1.0, upper, 2.0))
    found = fit_calibrator(label_scores(scores, labels, clusters), "isotonic").calibrator
    assert_allclose(found.apply([1.0, upper]), [0.3, 0.8], atol=1e-12)


def test_logistic_by_hand():
    # two scores, shares 1/4 and 3/4: log odds -ln 3 and ln 3, through them goes one line (the penalty moves it by 1e-5)
    scores, labels = np.repeat([0.0, 1.0], 100), np.tile([1, 0, 0, 0], 25)
    labels = np.concatenate([labels, 1 - labels])
    found = fit_calibrator(label_scores(scores, labels, np.arange(200)), "logistic").calibrator
    assert_allclose(value(found, "intercept"), [-math.log(3)], atol=1e-4)
    assert_allclose(value(found, "slope"), [2 * math.log(3)], atol=2e-4)


def test_a_calibrated_probability_stays_as_it_is():
    random = np.random.default_rng(9)
    probabilities = random.beta(2, 1.5, 40_000)
    labels = (random.random(40_000) < probabilities).astype(int)
    data = label_scores(probabilities, labels, np.arange(40_000), is_probability=True)
    found = fit_calibrator(data, "logistic").calibrator
    assert_allclose(found.apply(probabilities), probabilities, atol=0.012)
    # 0 and 1 are held at the bound
    assert_array_equal(found.apply([0.0, 1.0]), found.apply([LOGIT_BOUND, 1 - LOGIT_BOUND]))
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\], got 1.5"):
        found.apply([1.5])


def test_separable_scores_converge_and_say_so():
    scores = np.concatenate([np.linspace(-2, -0.1, 30), np.linspace(0.1, 2, 30)])
    found = fit_calibrator(label_scores(scores, scores > 0, np.arange(60)), "logistic")
    assert found.status == "fitted"
    assert found.is_separated
    assert 5 < value(found.calibrator, "slope")[0] < 100
    assert_allclose(value(found.calibrator, "intercept"), [0.0], atol=1e-8)
    assert not fit_calibrator(label_scores(*draw_binary(300, 1)), "logistic").is_separated


# --- properties -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sign", [1, -1])
def test_probability_never_falls_with_a_better_score(family, sign):
    calibrator = fitted(family, sign=sign)
    probabilities = calibrator.apply(sign * np.linspace(-6, 6, 4001))
    assert (np.diff(probabilities) >= 0).all()
    assert probabilities[-1] - probabilities[0] > 0.5
    assert ((probabilities >= 0) & (probabilities <= 1)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_mirrored_metric_gets_the_mirrored_calibrator(family):
    grid = np.random.default_rng(2).standard_normal(500)  # off the borders of steps and bins
    difference = np.abs(fitted(family).apply(grid) - fitted(family, sign=-1).apply(-grid))
    # scikit-learn's histogram bins are not mirrored exactly
    assert difference.mean() < 0.02 if family == "boosted" else difference.max() < 1e-7


@pytest.mark.parametrize("family", ["ordinal", "multinomial"])
def test_scale_points_add_up(family):
    scores = np.linspace(-40, 40, 301)
    shares = fitted(family).scale_point_probabilities(scores)
    assert shares.shape == (301, 3)
    assert (shares >= 0).all()
    assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert_allclose(shares[:, 2], fitted(family).apply(scores), atol=1e-12)


def test_accept_from_adds_the_upper_scale_points():
    scores, labels, clusters = draw_graded(900, 3)
    for family in ("ordinal", "multinomial"):
        data = label_scores(scores, labels, clusters, count_scale_points=3, accept_from=1)
        found = fit_calibrator(data, family).calibrator
        assert_allclose(found.apply(scores), found.scale_point_probabilities(scores)[:, 1:].sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("family", ["logistic", "ordinal", "multinomial", "isotonic"])
def test_weights_count_as_repeats(family):
    scores, labels, clusters = draw_graded(1100, 11)
    repeats = np.random.default_rng(12).integers(1, 4, 1100)
    options = {"count_scale_points": 3, "accept_from": 2}
    rows = np.repeat(np.arange(1100), repeats)
    weighted = fit_calibrator(label_scores(scores, labels, clusters, repeats, **options), family).calibrator
    repeated = fit_calibrator(label_scores(scores[rows], labels[rows], clusters[rows], **options), family).calibrator
    # the limits of isotonic follow the count of labels, and the tiny penalty weighs less with more rows
    difference = np.abs(weighted.apply(scores) - repeated.apply(scores))
    assert difference.max() < (1.1e-3 if family == "isotonic" else 5e-6)


def test_only_relative_weights_matter():
    scores, labels, clusters = draw_binary(300, 13)
    weights = np.random.default_rng(1).uniform(1, 5, 300)
    first = fit_calibrator(label_scores(scores, labels, clusters, weights), "logistic").calibrator
    second = fit_calibrator(label_scores(scores, labels, clusters, 1000 * weights), "logistic").calibrator
    assert_allclose(first.apply(scores), second.apply(scores), atol=1e-10)


def test_inverse_probability_weights_undo_biased_sampling():
    # low scores are labelled 8 times as often among failures: only weights bring the truth back
    random = np.random.default_rng(14)
    scores, labels, _ = draw_binary(60_000, 15)
    inclusion = np.where(labels == 1, 0.05, 0.4)
    taken = random.random(60_000) < inclusion
    data = label_scores(scores[taken], labels[taken], np.flatnonzero(taken), 1 / inclusion[taken])
    truth = expit(0.4 + 1.3 * scores)
    unweighted = label_scores(scores[taken], labels[taken], np.flatnonzero(taken))
    assert np.abs(fit_calibrator(data, "logistic").calibrator.apply(scores) - truth).max() < 0.03
    assert np.abs(fit_calibrator(unweighted, "logistic").calibrator.apply(scores) - truth).max() > 0.3


# --- rows -------------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(FAMILIES), st.integers(0, 10_000), st.sampled_from([1, -1]), st.randoms(use_true_random=False))
def test_rows_come_back_bit_for_bit_in_any_order(family, seed, sign, order):
    calibrator = fitted(family, seed=seed, count=1100, sign=sign)
    rows = calibrator.to_rows()
    order.shuffle(rows)
    again = from_rows(rows)
    scores = np.random.default_rng(seed).standard_normal(400) * 3
    assert again == calibrator
    assert_array_equal(again.apply(scores), calibrator.apply(scores))


def test_a_warehouse_keeps_every_bit():
    connection = duckdb.connect()
    connection.execute(
        "create table calibrators (family text, parameter text, position bigint, value double, lower_bound double,"
        ' probability double, tree bigint, node bigint, feature bigint, threshold double, "left" bigint,'
        ' "right" bigint, missing_goes_left boolean)'
    )
    scores = np.random.default_rng(1).standard_normal(500) * 2
    for family in FAMILIES:
        calibrator = fitted(family)
        marks = ", ".join("?" * len(dataclasses.fields(CalibratorRow)))
        rows = [dataclasses.astuple(row) for row in calibrator.to_rows()]
        connection.executemany(f"insert into calibrators values ({marks})", rows)
        read = connection.execute("select * from calibrators where family = ?", [family]).fetchall()
        assert_array_equal(from_rows(CalibratorRow(*row) for row in read).apply(scores), calibrator.apply(scores))


SQL_BY_FAMILY = {
    "logistic": "select 1 / (1 + exp(-(max(value) filter (parameter = 'intercept')"
    " + max(value) filter (parameter = 'slope') * x))) from calibrator",
    "ordinal": "select 1 / (1 + exp(-(max(value) filter (parameter = 'slope') * x - max(value) filter ("
    "parameter = 'cut_point' and position = (select value from calibrator where parameter = 'accept_from')))))"
    " from calibrator",
    "multinomial": "select sum(term) filter (point >= (select value from calibrator where parameter = 'accept_from'))"
    " / (1 + sum(term)) from (select position as point, exp(max(value) filter (parameter = 'intercept')"
    " + max(value) filter (parameter = 'slope') * x) as term from calibrator"
    " where parameter in ('intercept', 'slope') group by position)",
    "isotonic": "select max_by(probability, position) from calibrator"
    " where parameter = 'step' and (lower_bound is null or lower_bound <= s)",
}


@pytest.mark.parametrize("family", SQL_BY_FAMILY)
@pytest.mark.parametrize("is_probability", [False, True])
def test_sql_applies_the_rows(family, is_probability):
    random = np.random.default_rng(16)
    scores, labels, clusters = draw_graded(1500, 17)
    scores = expit(scores) if is_probability else scores
    data = label_scores(scores, labels, clusters, is_probability=is_probability, count_scale_points=3, accept_from=2)
    calibrator = fit_calibrator(data, family).calibrator
    connection = duckdb.connect()
    connection.execute(
        "create table calibrator (parameter text, position int, value double, lower_bound double, probability double)"
    )
    rows = [(row.parameter, row.position, row.value, row.lower_bound, row.probability) for row in calibrator.rows]
    connection.executemany("insert into calibrator values (?, ?, ?, ?, ?)", rows)
    asked = np.concatenate([random.uniform(0, 1, 40), [0.0, 1.0]])
    bound = "(select value from calibrator where parameter = 'logit_bound')"
    clipped = f"greatest({bound}, least(1 - {bound}, s))"
    logit = f"case when {bound} is null then s else ln({clipped} / (1 - {clipped})) end"
    found = []
    for score in asked:
        x = connection.execute(f"select {logit} from (select ?::double as s)", [score]).fetchone()[0]
        query = f"with given as (select ?::double as s, ?::double as x) {SQL_BY_FAMILY[family]}"
        query = query.replace("* x", "* (select x from given)").replace("<= s)", "<= (select s from given))")
        found.append(connection.execute(query, [score, x]).fetchone()[0])
    assert_allclose(found, calibrator.apply(asked), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("family", "change", "message"),
    [
        ("logistic", lambda rows: [], "one family out of"),
        ("logistic", lambda rows: rows[1:], "must have the parameters"),
        ("logistic", lambda rows: [*rows, rows[-1]], "every position from 0 once"),
        ("logistic", lambda rows: [dataclasses.replace(row, value=math.nan) for row in rows], "finite values"),
        ("logistic", lambda rows: [dataclasses.replace(row, value=None) for row in rows], "finite values"),
        ("ordinal", lambda rows: [*rows, CalibratorRow("isotonic", "step", 0)], "one family out of"),
        (
            "ordinal",
            lambda rows: [dataclasses.replace(row, value=9.0) if row.position == 1 else row for row in rows],
            "cut points must rise",
        ),
        (
            "multinomial",
            lambda rows: [
                dataclasses.replace(row, value=3.0) if row.parameter == "accept_from" else row for row in rows
            ],
            "accept_from must lie in 1 to 2, got 3.0",
        ),
        (
            "multinomial",
            lambda rows: [row for row in rows if (row.parameter, row.position) != ("slope", 2)],
            "must have their slopes",
        ),
        (
            "isotonic",
            lambda rows: [
                dataclasses.replace(row, lower_bound=0.0) if row.parameter == "step" else row for row in rows
            ],
            "lower bounds must rise from none",
        ),
        (
            "isotonic",
            lambda rows: [dataclasses.replace(row, probability=1.2) if row.probability else row for row in rows],
            r"must lie in \[0, 1\]",
        ),
        (
            "boosted",
            lambda rows: [dataclasses.replace(row, left=0) if row.left else row for row in rows],
            "later children",
        ),
        (
            "boosted",
            lambda rows: [dataclasses.replace(row, value=math.nan) if row.node else row for row in rows],
            "later children",
        ),
    ],
)
def test_rows_that_make_no_calibrator_are_refused(family, change, message):
    with pytest.raises(ValueError, match=message):
        from_rows(change(fitted(family).to_rows()))


# --- statuses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_each_failure_has_its_status(family):
    scores, labels, clusters = draw_graded(1500, 18)
    options = {"count_scale_points": 3, "accept_from": 2}

    def status(scores, labels, clusters, **changes):
        found = fit_calibrator(label_scores(scores, labels, clusters, **(options | changes)), family)
        assert found.status in FIT_STATUSES
        assert (found.calibrator is None) == (found.status != "fitted")
        assert found.count_labels == len(scores)
        return found.status

    assert status(scores, labels, clusters) == "fitted"
    assert status(scores, np.full(1500, 2), clusters) == "one_class"
    assert status(scores, labels % 2, clusters) == "one_class"  # two scale points, neither accepted
    assert status(np.ones(1500), labels, clusters) == "constant_score"
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


def test_isotonic_needs_a_thousand_labels():
    scores, labels, clusters = draw_binary(1000, 19)
    assert fit_calibrator(label_scores(scores, labels, clusters), "isotonic").status == "fitted"
    assert fit_calibrator(label_scores(scores[1:], labels[1:], clusters[1:]), "isotonic").status == "insufficient"


# --- choice -----------------------------------------------------------------------------------------------------------


def test_choice_lists_every_family_and_follows_its_rule():
    scores, labels, clusters = draw_graded(1500, 20)
    data = label_scores(scores, labels, clusters, count_scale_points=3, accept_from=2)
    choice = choose_calibrator(data)
    assert [row.family for row in choice.families] == list(FAMILIES)
    best = min(choice.families, key=lambda row: row.log_loss)
    for row in choice.families:
        losses = cross_validated_losses(data, row.family)
        assert_allclose(row.log_loss, losses.mean(), rtol=1e-12)
        by_cluster = np.bincount(data.clusters, losses - losses.mean())
        assert_allclose(row.standard_error, np.sqrt(500 / 499 * (by_cluster**2).sum()) / 1500, rtol=1e-12)
        assert_allclose(row.excess, row.log_loss - best.log_loss, atol=1e-12)
    allowed = [row.family for row in choice.families if row.excess <= row.excess_standard_error]
    assert [row.family for row in choice.families if row.is_chosen] == allowed[:1] == [choice.fit.family]


def test_simple_truths_keep_the_logistic_and_stepped_ones_leave_it():
    chosen = []
    for seed in range(4):
        random = np.random.default_rng(seed)
        scores = random.uniform(0, 1, 1500)
        for log_odds in (4 * scores - 1.5, np.where(scores < 0.8, -1.0, 2.5)):
            labels = (random.random(1500) < expit(log_odds)).astype(int)
            data = label_scores(scores, labels, np.arange(1500) // 3)
            chosen.append(choose_calibrator(data, families=["isotonic", "logistic"]).fit.family)
    assert chosen == ["logistic", "isotonic"] * 4


def test_siblings_never_teach_each_other():
    # labels are a coin per cluster and a score names its cluster: nobody can beat a coin on another cluster (ln 2), but
    # where siblings part, the leak shows
    random = np.random.default_rng(21)
    clusters = np.repeat(np.arange(400), 4)
    labels = random.integers(0, 2, 400)[clusters]
    scores = random.permutation(400)[clusters] + 0.0
    by_cluster = cross_validated_losses(label_scores(scores, labels, clusters), "isotonic").mean()
    by_row = cross_validated_losses(label_scores(scores, labels, np.arange(1600)), "isotonic").mean()
    assert by_row < math.log(2) < by_cluster


def test_a_label_has_no_part_in_its_own_prediction():
    scores, labels, clusters = draw_binary(300, 22)
    changed = labels.copy()
    changed[clusters == 7] = 1 - changed[clusters == 7]
    first = cross_validated_losses(label_scores(scores, labels, clusters), "logistic")
    second = cross_validated_losses(label_scores(scores, changed, clusters), "logistic")
    of_cluster = clusters == 7
    # the same prediction p: the two losses are -ln p and -ln (1 - p)
    assert_allclose(np.exp(-first[of_cluster]) + np.exp(-second[of_cluster]), 1.0, atol=1e-12)
    assert np.abs(first[~of_cluster] - second[~of_cluster]).max() > 0


def test_a_score_that_tells_nothing_costs_no_more_than_the_base_rate():
    random = np.random.default_rng(23)
    labels = (random.random(1200) < 0.7).astype(int)
    data = label_scores(random.standard_normal(1200), labels, np.arange(1200))
    entropy = -(labels.mean() * np.log(labels.mean()) + (1 - labels.mean()) * np.log(1 - labels.mean()))
    assert_allclose(cross_validated_losses(data, "logistic").mean(), entropy, atol=0.01)


def test_choice_without_a_fit_says_why():
    choice = choose_calibrator(label_scores([0.1, 0.9], [0, 1], [1, 2]))
    assert choice.status == "insufficient"
    assert choice.fit is None
    assert [(row.family, row.status, row.log_loss) for row in choice.families] == [
        ("logistic", "insufficient", None),
        ("isotonic", "insufficient", None),
        ("boosted", "insufficient", None),
    ]
    scores, labels, clusters = draw_binary(400, 24)
    assert choose_calibrator(label_scores(-scores, labels, clusters)).status == "wrong_direction"


def test_several_features_leave_boosting_alone():
    scores, labels, clusters = draw_binary(400, 25)
    features = np.column_stack([scores, np.random.default_rng(1).standard_normal(400)])
    choice = choose_calibrator(label_scores(features, labels, clusters))
    assert [row.family for row in choice.families] == ["boosted"]
    assert choice.fit.calibrator.apply(features).shape == (400,)


def test_the_same_seed_makes_the_same_choice():
    data = label_scores(*draw_binary(150, 26))
    first = choose_calibrator(data)
    assert choose_calibrator(data) == first
    assert choose_calibrator(data, seed=1).families != first.families


def test_calibration_holds_on_other_clusters():
    # fitted on one fold, quoted on another: mean label and mean prediction agree within chance in every fifth
    scores, labels, clusters = draw_binary(24_000, 27)
    folds = folds_of_clusters(clusters, {"fit": 0.5, "test": 0.5})
    is_fit = folds == "fit"
    for family in ("logistic", "isotonic", "boosted"):
        data = label_scores(scores[is_fit], labels[is_fit], clusters[is_fit])
        predicted = fit_calibrator(data, family).calibrator.apply(scores[~is_fit])
        fifths = np.argsort(np.argsort(predicted, kind="stable")) * 5 // len(predicted)
        gaps = np.bincount(fifths, labels[~is_fit] - predicted) / np.bincount(fifths)
        assert np.abs(gaps).max() < 0.04


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [0.1, math.nan]}, "must be finite, got NaN or infinity"),
        ({"scores": [0.1, math.inf]}, "must be finite, got NaN or infinity"),
        ({"scores": [[0.1, math.nan], [math.nan, math.nan]]}, "must be finite"),
        ({"scores": [[], []]}, "must have 1 features"),
        ({"labels": [0, 2]}, r"whole numbers from 0 to 1, got \[2\]"),
        ({"labels": [0, 0.5]}, r"whole numbers from 0 to 1, got \[0.5\]"),
        ({"labels": [0]}, "one length, got 2"),
        ({"weights": [1.0, 0.0]}, "finite and positive, got 0.0 to 1.0"),
        ({"weights": [1.0, math.nan]}, "finite and positive"),
        ({"direction": "up"}, "directions out of"),
        ({"accept_from": 2}, "must lie in 1 to 1, got 2"),
        ({"scores": [0.1, 1.1], "is_probability": True}, r"must lie in \[0, 1\], got 0.1 to 1.1"),
    ],
)
def test_bad_labels_and_scores_are_refused(changes, message):
    good = {"scores": [0.1, 0.9], "labels": [0, 1], "clusters": ["a", "b"]}
    with pytest.raises(ValueError, match=message):
        label_scores(**(good | changes))


def test_bad_families_and_folds_are_refused():
    data = label_scores(*draw_binary(100, 28))
    with pytest.raises(ValueError, match="family must be out of"):
        fit_calibrator(data, "beta")
    with pytest.raises(ValueError, match="ordinal needs at least 3 scale points, got 2"):
        fit_calibrator(data, "ordinal")
    with pytest.raises(ValueError, match="logistic takes 1 feature, got 2"):
        fit_calibrator(label_scores(np.ones((3, 2)), [0, 1, 1], [1, 2, 3]), "logistic")
    with pytest.raises(ValueError, match="count_folds must be at least 2, got 1"):
        cross_validated_losses(data, "logistic", count_folds=1)
    with pytest.raises(ValueError, match="at least 1 family"):
        choose_calibrator(data, families=[])
    with pytest.raises(ValueError, match="scale points need a family"):
        fit_calibrator(data, "logistic").calibrator.scale_point_probabilities([0.1])
    with pytest.raises(ValueError, match="must be finite"):
        fit_calibrator(data, "logistic").calibrator.apply([math.nan])
