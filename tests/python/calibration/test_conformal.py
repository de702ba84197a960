"""Conformal sets: hand-worked cases, MAPIE and crepes, and the promises on simulated data."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from hcat.calibration.conformal import (
    check_coverage,
    check_sets,
    clusters_needed,
    conformal_quantile,
    conformal_rank,
    fit_conformal,
    groups_with_cells,
    leave_out_quantiles,
    measure_coverage,
    nonconformity,
)
from hcat.calibration.decidable import standings

# P(accepted) ~ Beta(8, 2): one answer in five is bad. Given y = 1 it is Beta(9, 2), given y = 0 Beta(8, 3), so that
# coverage and risks of a threshold are known without drawing test rows.
A, B = 8, 2


def draw(count: int, random: np.random.Generator, a: float = A, b: float = B):
    probabilities = random.beta(a, b, count)
    return probabilities, (random.random(count) < probabilities).astype(np.int64)


def coverage_of_good(quantile: float) -> float:
    return float(stats.beta.sf(1 - quantile, A + 1, B))


def coverage_of_bad(quantile: float) -> float:
    return float(stats.beta.cdf(quantile, A, B + 1))


class Peer:
    """A fitted classifier whose features are the probabilities, for the reference libraries."""

    def __init__(self, count_labels: int):
        self.classes_ = np.arange(count_labels)
        self.is_fitted_ = True

    def fit(self, x, y):
        return self

    def predict_proba(self, x):
        return np.asarray(x)

    def predict(self, x):
        return np.asarray(x).argmax(axis=1)


# --- ranks and quantiles


def test_rank_is_taken_in_whole_numbers():
    # (n + 1)(1 - alpha) = 18, 57, 95: doubles give 57.00000000000001 and would round it up
    assert [conformal_rank(19, 0.1), conformal_rank(99, 0.43), conformal_rank(99, 0.05)] == [18, 57, 95]
    assert conformal_rank(19, 1 - 0.9) == 18
    assert [conformal_rank(8, 0.1), conformal_rank(9, 0.1), conformal_rank(0, 0.1)] == [9, 9, 1]


@given(st.integers(0, 5000), st.integers(1, 999))
def test_rank_agrees_with_integers(count, thousandths):
    expected = -(-(count + 1) * (1000 - thousandths) // 1000)
    assert conformal_rank(count, thousandths / 1000) == expected
    assert (expected <= count) == (count >= clusters_needed(thousandths / 1000))


def test_fewest_clusters():
    assert [clusters_needed(alpha) for alpha in (0.2, 0.1, 0.05, 0.01, 0.3)] == [4, 9, 19, 99, 3]


def test_quantile_is_an_order_statistic():
    scores = np.array([0.4, 0.1, 0.3, 0.2])
    assert conformal_quantile(scores, 0.2) == 0.4  # k = 4
    assert conformal_quantile(scores, 0.5) == 0.3  # k = ceil(2.5) = 3
    assert conformal_quantile(scores, 0.1) == math.inf  # k = 5 of 4; the paper's formula returns .4
    assert conformal_quantile(np.array([]), 0.5) == math.inf


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 8)), min_size=1, max_size=30),
    st.integers(1, 99),
    st.booleans(),
)
@settings(deadline=None)
def test_left_out_quantiles_are_those_of_the_other_clusters(rows, hundredths, is_weighted):
    clusters, scores = (np.array(column) for column in zip(*rows, strict=True))
    weights = (1 + clusters % 3) / 3 if is_weighted else None
    found = leave_out_quantiles(scores, hundredths / 100, clusters, weights)
    assert set(found) == set(clusters.tolist())
    for cluster, quantile in found.items():
        kept = clusters != cluster
        part = None if weights is None else weights[kept]
        assert quantile == conformal_quantile(scores[kept], hundredths / 100, clusters[kept], part)


def test_weights_by_hand():
    # weights 1, 1, 1/2, 1/2 and 1 at infinity: at alpha = .5 half of 4 is reached by the second score
    weights = np.array([1.0, 1.0, 0.5, 0.5])
    assert conformal_quantile(np.array([1.0, 2.0, 3.0, 4.0]), 0.5, None, weights) == 2.0
    assert conformal_quantile(np.array([3.0, 4.0, 1.0, 2.0]), 0.5, None, weights) == 3.0
    with pytest.raises(ValueError, match=r"lie in \(0, 1\]"):
        conformal_quantile(np.array([1.0]), 0.5, None, np.array([2.0]))


def test_a_set_has_used_no_label_of_its_cluster():
    random = np.random.default_rng(8)
    values, clusters = random.random(80), np.arange(80) // 2
    labels = (random.random(80) < values).astype(int)
    for cluster in range(0, 40, 7):
        own = clusters == cluster
        turned = np.where(own, 1 - labels, labels)
        sets = [
            fit_conformal(values, given_labels, 0.2, clusters=clusters).predict(values, None, clusters).includes[own]
            for given_labels in (labels, turned)
        ]
        assert_array_equal(*sets)


@pytest.mark.parametrize("direction", ["higher_is_better", "lower_is_better"])
def test_ranks_give_the_sets_of_every_rising_calibrator(direction):
    random = np.random.default_rng(9)
    scores = random.normal(size=120)
    sign = 1 if direction == "higher_is_better" else -1
    labels = (random.random(120) < 1 / (1 + np.exp(-sign * scores))).astype(int)
    clusters = np.arange(120) // 3
    by_rank = standings(scores, direction)
    by_calibrator = 1 / (1 + np.exp(-(3 * sign * scores - 1)))
    sets = [
        fit_conformal(values, labels, 0.1, clusters=clusters).predict(values, None, clusters).includes
        for values in (by_rank, by_calibrator)
    ]
    assert_array_equal(*sets)


def test_sibling_weights_by_hand():
    # K = 3 clusters: a with four rows (1/16 each), b and c with one (1/4 each), 1/4 at infinity
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.25, 0.9])
    clusters = np.array(["a", "a", "a", "a", "b", "c"])
    # mass up to .25 is 2/16 + 4/16 = .375, up to .3 .4375, up to .4 .5, up to .9 .75
    assert conformal_quantile(scores, 0.625, clusters) == 0.25
    assert conformal_quantile(scores, 0.6, clusters) == 0.3
    assert conformal_quantile(scores, 0.5, clusters) == 0.4
    assert conformal_quantile(scores, 0.25, clusters) == 0.9
    assert conformal_quantile(scores, 0.24, clusters) == math.inf


@given(st.lists(st.floats(0, 1), max_size=60), st.integers(1, 99), st.randoms(use_true_random=False))
def test_one_row_per_cluster_is_the_order_statistic(values, hundredths, random):
    names = [f"cluster {index}" for index in range(len(values))]
    random.shuffle(names)
    scores, alpha = np.array(values), hundredths / 100
    rank = conformal_rank(len(values), alpha)
    expected = np.sort(scores)[rank - 1] if rank <= len(values) else math.inf
    assert conformal_quantile(scores, alpha, np.array(names, dtype=str)) == expected
    assert conformal_quantile(scores, alpha) == expected


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 20)), min_size=1, max_size=40), st.integers(1, 99))
def test_weighted_quantile_agrees_with_fractions(rows, hundredths):
    clusters, scores = (np.array(column) for column in zip(*rows, strict=True))
    count = len(set(clusters.tolist()))
    mass, expected = Fraction(0), math.inf
    for score in sorted(set(scores.tolist())):
        mass += sum(Fraction(1, (count + 1) * int((clusters == s).sum())) for s in clusters[scores == score])
        if mass >= 1 - Fraction(hundredths, 100):
            expected = score
            break
    assert conformal_quantile(scores / 1.0, hundredths / 100, clusters) == expected


def test_siblings_of_equal_rows_count_once():
    scores = np.random.default_rng(1).random(30)
    repeated = np.repeat(scores, 5)
    assert conformal_quantile(repeated, 0.1, np.repeat(np.arange(30), 5)) == conformal_quantile(scores, 0.1)


# --- scores, cells and sets


def test_scores_are_distances_from_the_label():
    assert_array_equal(nonconformity(np.array([0.7, 0.0])), [[0.7, 1 - 0.7], [0.0, 1.0]])
    assert_array_equal(nonconformity(np.array([[0.2, 0.3, 0.5]])), 1 - np.array([[0.2, 0.3, 0.5]]))
    fitted = fit_conformal(np.array([0.7, 0.2]), np.array([1, 1]), 0.1)
    assert_array_equal(fitted.scores, [1 - 0.7, 0.8])


def test_sets_of_the_paper_by_hand():
    # scores .1 .2 .3 .4 at alpha .2: q = .4 < .5, so a probability between .4 and .6 has an empty set
    fitted = fit_conformal(np.array([0.9, 0.8, 0.3, 0.4]), np.array([1, 1, 0, 0]), 0.2, stratification="marginal")
    assert [cell.quantile for cell in fitted.cells] == [0.4]
    sets = fitted.predict(np.array([0.1, 0.4, 0.5, 0.61, 0.9]))
    assert_array_equal(sets.includes, [[1, 0], [1, 0], [0, 0], [0, 1], [0, 1]])
    assert sets.shares() == {"empty": 0.2, "single": 0.8, "several": 0.0, "all": 0.0}
    assert set(sets.statuses) == {"conformalized"}
    # and with q = .7 a probability between .3 and .7 has both
    fitted = fit_conformal(np.array([0.9, 0.8, 0.3, 0.7]), np.array([1, 1, 0, 0]), 0.2, stratification="marginal")
    assert fitted.predict(np.array([0.2, 0.35, 0.7, 0.71])).kinds.tolist() == ["single", "all", "all", "single"]


def test_label_conditional_sets_by_hand():
    # accepted: S = .1 .2 .3 .5, bad: S = .2 .4 .6 .8; alpha .2 takes the largest of four
    probabilities = np.array([0.9, 0.8, 0.7, 0.5, 0.2, 0.4, 0.6, 0.8])
    fitted = fit_conformal(probabilities, np.array([1] * 4 + [0] * 4), 0.2)
    assert [(cell.label, cell.group, cell.quantile) for cell in fitted.cells] == [(0, "all", 0.8), (1, "all", 0.5)]
    sets = fitted.predict(np.array([0.4, 0.5, 0.8, 0.81]))
    assert_array_equal(sets.includes, [[1, 0], [1, 1], [1, 1], [0, 1]])


def test_three_levels():
    probabilities = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    fitted = fit_conformal(probabilities, np.array([0, 1, 2, 0]), 0.2, stratification="marginal")
    assert [cell.quantile for cell in fitted.cells] == [0.7]  # scores .5 .4 .3 .7
    sets = fitted.predict(np.array([[0.1, 0.1, 0.8], [0.2, 0.35, 0.45], [0.32, 0.33, 0.35]]))
    assert sets.kinds.tolist() == ["single", "several", "all"]


def test_small_groups_are_merged_whatever_their_labels():
    groups = np.array(["a"] * 9 + ["b"] * 8 + ["c"] * 3 + ["d"] * 30)
    # d has 30 rows of 5 clusters
    clusters = np.concatenate([np.arange(20), 100 + np.arange(30) % 5])
    assert groups_with_cells(groups, 0.1, clusters) == ("a",)
    assert groups_with_cells(groups, 0.1) == ("a", "d")
    # a group of that name is merged like any without a cell
    assert groups_with_cells(np.where(groups == "d", "other", groups), 0.1) == ("a",)
    # a class of which a third is expected: 27 clusters
    assert groups_with_cells(groups, 0.1, least_class_share=1 / 3) == ("d",)
    probabilities = np.linspace(0.05, 0.95, 50)
    cells = []
    for labels in (np.zeros(50, dtype=int), np.ones(50, dtype=int), np.arange(50) % 2):
        fitted = fit_conformal(probabilities, labels, 0.1, groups=groups, clusters=clusters)
        cells.append([(cell.label, cell.group) for cell in fitted.cells])
    assert cells[0] == cells[1] == cells[2] == [(0, "a"), (1, "a"), (0, "other"), (1, "other")]


def test_a_cell_that_stays_too_small_gives_all_labels():
    random = np.random.default_rng(2)
    probabilities, labels = draw(60, random)
    groups = np.where(np.arange(60) < 50, "large", "small")
    labels[:50] = np.arange(50) % 2
    labels[50:] = 1
    fitted = fit_conformal(probabilities, labels, 0.1, groups=groups)
    assert [(cell.group, cell.label, cell.status) for cell in fitted.cells] == [
        ("large", 0, "conformalized"),
        ("large", 1, "conformalized"),
        ("small", 0, "insufficient"),
        ("small", 1, "conformalized"),
        ("other", 0, "insufficient"),
        ("other", 1, "insufficient"),
    ]
    # class 1 of the small group has a quantile that .01 is beyond, and still its set does not read as certainly bad
    assert fitted.cells[3].quantile < 0.99
    sets = fitted.predict(np.array([0.01, 0.01, 0.01]), np.array(["large", "small", "never seen"]))
    assert sets.kinds.tolist() == ["single", "all", "all"]
    assert sets.statuses.tolist() == ["conformalized", "insufficient", "insufficient"]


def test_declared_groups_decide_the_cells():
    probabilities, labels = draw(100, np.random.default_rng(3))
    groups = np.array(["a", "b"] * 50)
    fitted = fit_conformal(probabilities, labels, 0.1, groups=groups, own_groups=["b"])
    assert [(cell.group, cell.label) for cell in fitted.cells] == [("b", 0), ("b", 1), ("other", 0), ("other", 1)]
    assert fitted.cells[3].quantile == conformal_quantile(fitted.scores[(groups == "a") & (labels == 1)], 0.1)


def test_no_labels_at_all():
    fitted = fit_conformal(np.array([]), np.array([], dtype=int), 0.1)
    assert {cell.status for cell in fitted.cells} == {"insufficient"}
    assert fitted.predict(np.array([0.3])).kinds.tolist() == ["all"]
    assert fitted.predict(np.array([])).shares() == {}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.1, 0.2, 0.3]))
def test_a_lower_alpha_never_shrinks_a_set(seed, alpha):
    random = np.random.default_rng(seed)
    probabilities, labels = draw(80, random)
    new = random.random(50)
    wide = fit_conformal(probabilities, labels, alpha / 2).predict(new)
    assert (wide.includes >= fit_conformal(probabilities, labels, alpha).predict(new).includes).all()


# --- reference libraries

# n + 1 times alpha is whole for none of the cells: there crepes keeps a label whose P-value equals alpha (a set of
# P-values of at least alpha), and the order statistic the labels above it, which suffices for the same promise


@pytest.mark.parametrize(("count_labels", "alpha"), [(2, 0.1), (2, 0.23), (3, 0.1), (4, 0.31)])
def test_marginal_sets_are_those_of_mapie_and_crepes(count_labels, alpha):
    from crepes import WrapClassifier
    from mapie.classification import SplitConformalClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Estimator(Peer, ClassifierMixin, BaseEstimator):
        pass

    random = np.random.default_rng(4)
    probabilities = random.dirichlet(np.full(count_labels, 0.8), 207)
    labels = np.array([random.choice(count_labels, p=row) for row in probabilities])
    labels[:count_labels] = np.arange(count_labels)
    new = random.dirichlet(np.full(count_labels, 0.8), 300)
    ours = fit_conformal(probabilities, labels, alpha, stratification="marginal").predict(new).includes
    mapie = SplitConformalClassifier(Estimator(count_labels), confidence_level=1 - alpha, conformity_score="lac")
    _, sets = mapie.conformalize(probabilities, labels).predict_set(new)
    assert_array_equal(ours, sets[:, :, 0])
    crepes = WrapClassifier(Peer(count_labels))
    crepes.calibrate(probabilities, labels)
    assert_array_equal(ours, crepes.predict_set(new, labels=False, confidence=1 - alpha, smoothing=False))
    assert 0 < ours.mean() < 1


def test_label_conditional_sets_are_those_of_crepes():
    from crepes import ConformalClassifier, WrapClassifier

    random = np.random.default_rng(5)
    accepted, labels = draw(400, random)
    probabilities = np.column_stack([1 - accepted, accepted])
    new = random.beta(3, 2, 300)
    new = np.column_stack([1 - new, new])
    groups, new_groups = np.array(["a", "b", "c"])[np.arange(400) % 3], np.array(["a", "b", "c"])[np.arange(300) % 3]
    assert all((np.sum(labels == label) + 1) * 0.13 % 1 for label in (0, 1))

    peer = WrapClassifier(Peer(2))
    peer.calibrate(probabilities, labels, class_cond=True)
    expected = peer.predict_set(new, labels=False, confidence=0.87, smoothing=False)
    ours = fit_conformal(probabilities, labels, 0.13).predict(new).includes
    assert_array_equal(ours, expected)

    fitted = fit_conformal(probabilities, labels, 0.13, groups=groups)
    cells = np.array([f"{label} {group}" for label, group in zip(labels, groups, strict=True)])
    both = ConformalClassifier().fit(fitted.scores, bins=cells)
    for label in (0, 1):
        bins = np.array([f"{label} {group}" for group in new_groups])
        expected = both.predict_set(1 - new, bins=bins, confidence=0.87, smoothing=False)[:, label]
        assert_array_equal(fitted.predict(new, new_groups).includes[:, label], expected)


# --- coverage and its check


def test_coverage_by_hand():
    probabilities = np.array([0.9, 0.8, 0.3, 0.4])
    fitted = fit_conformal(probabilities, np.array([1, 1, 0, 0]), 0.2, stratification="marginal")  # q = .4
    sets = fitted.predict(np.array([0.9, 0.5, 0.7, 0.2]))  # {1}, {}, {1}, {0}
    groups, clusters = np.array(["x", "x", "y", "y"]), np.array([1, 1, 1, 2])
    rows = measure_coverage(sets, np.array([1, 1, 0, 0]), groups, clusters)
    found = {(row.scope, row.label, row.group): (row.count_covered, row.count_rows, row.coverage) for row in rows}
    assert found == {
        ("marginal", None, None): (2, 4, pytest.approx((1 / 3 + 1) / 2)),
        ("label", 0, None): (1, 2, 0.5),
        ("label", 1, None): (1, 2, 0.5),
        ("group", None, "x"): (1, 2, 0.5),
        ("group", None, "y"): (1, 2, 0.5),
        ("label_and_group", 1, "x"): (1, 2, 0.5),
        ("label_and_group", 0, "y"): (1, 2, 0.5),
    }


def test_check_by_hand():
    # n = 1, k = 1: coverage is uniform, and so is the count of 4 new rows, 0 to 4
    check = check_coverage(1, 4, 1, 0.5)
    assert_allclose([check.p_value, check.expected_coverage], [2 / 5, 0.5])
    # n = 99, k = 90
    check = check_coverage(80, 100, 99, 0.1)
    law = stats.betabinom(100, 90, 10)
    assert_allclose(check.p_value, law.pmf(np.arange(81)).sum())
    assert check.expected_coverage == 0.9
    assert check.status == "passed"
    below = check_coverage(check.limit - 1, 100, 99, 0.1)
    assert (below.status, check_coverage(check.limit, 100, 99, 0.1).status) == ("failed", "passed")
    assert below.p_value < 0.001 <= law.cdf(check.limit)


def test_check_of_siblings_by_hand():
    # (20 + 1) x .9 = 18.9: rank 19 for rows, 18 for clusters of several rows
    assert check_coverage(18, 20, 20, 0.1).expected_coverage == 19 / 21
    assert check_coverage(18, 20, 20, 0.1, has_siblings=True).expected_coverage == 18 / 21
    probabilities = np.linspace(0.05, 0.95, 10)
    fitted = fit_conformal(probabilities, np.ones(10, dtype=int), 0.2, stratification="marginal")
    # two new clusters, one wholly and one in one of three rows covered: 4/3 counts as 2
    new = np.array([0.9, 0.9, 0.0, 0.0])
    check = check_sets(fitted, new, np.ones(4, dtype=int), clusters=np.array(["a", "b", "b", "b"]))[0]
    assert (check.count_covered, check.count_test, check.count_calibration) == (2, 2, 10)


def test_check_without_a_promise_or_rows_is_insufficient():
    for check in (check_coverage(5, 5, 8, 0.1), check_coverage(0, 0, 100, 0.1)):
        assert (check.status, check.p_value, check.limit) == ("insufficient", None, None)


def test_check_finds_a_shift_and_passes_without_one():
    random = np.random.default_rng(8)
    probabilities, labels = draw(600, random)
    groups = np.array(["a", "b"])[np.arange(600) % 2]
    fitted = fit_conformal(probabilities, labels, 0.1, groups=groups)
    new, new_labels = draw(600, random)
    calm = check_sets(fitted, new, new_labels, groups)
    assert [check.status for check in calm] == ["passed"] * 4 + ["insufficient"] * 2
    assert all(check.p_value_holm >= check.p_value for check in calm[:4])
    # in group b people now refuse what the model is sure of
    shifted = np.where((groups == "b") & (new > 0.85), 0, new_labels)
    failed = [
        (check.label, check.group) for check in check_sets(fitted, new, shifted, groups) if check.status[0] == "f"
    ]
    assert failed == [(0, "b")]


def test_holm_spares_what_a_single_check_fails():
    # the covered count one below the limit of a single check: as one of three cells it passes
    random = np.random.default_rng(9)

    def spread(own: np.ndarray, labels: np.ndarray) -> np.ndarray:
        probabilities = np.repeat((1 - own)[:, None] / 2, 3, axis=1)
        probabilities[np.arange(len(own)), labels] = own
        return probabilities

    labels = np.repeat([0, 1, 2], 101)
    fitted = fit_conformal(spread(random.random(303), labels), labels, 0.05)
    limit = check_coverage(60, 60, 101, 0.05).limit
    new_labels = np.repeat([0, 1, 2], 60)
    own = np.full(180, 1.0)
    own[: 60 - (limit - 1)] = 1 - fitted.cells[0].quantile - 0.001
    check = check_sets(fitted, spread(own, new_labels), new_labels)[0]
    assert check.count_covered == limit - 1
    assert check.p_value < 0.001 < check.p_value_holm == 3 * check.p_value
    assert check.status == "passed"


def test_coverage_over_folds_is_beta():
    random = np.random.default_rng(20260101)
    count, alpha = 57, 0.1
    found = []
    for _ in range(2000):
        probabilities = random.random(count)
        labels = (random.random(count) < probabilities).astype(int)
        quantile = fit_conformal(probabilities, labels, alpha, stratification="marginal").cells[0].quantile
        # P uniform: S has density 2 (1 - s) on [0, 1]
        found.append(1 - (1 - quantile) ** 2)
    rank = conformal_rank(count, alpha)
    assert stats.kstest(found, stats.beta(rank, count + 1 - rank).cdf).pvalue > 0.01
    assert_allclose(np.mean(found), rank / (count + 1), atol=0.003)


def test_covered_count_is_beta_binomial():
    random = np.random.default_rng(20260102)
    counts = []
    for _ in range(1500):
        probabilities, labels = draw(150, random)
        fitted = fit_conformal(probabilities[:100], labels[:100], 0.1, stratification="marginal")
        counts.append(check_sets(fitted, probabilities[100:], labels[100:])[0].count_covered)
    law = stats.betabinom(50, 91, 10)
    for count in (40, 43, 45, 47, 49):
        expected = law.cdf(count)
        assert abs(np.mean(np.array(counts) <= count) - expected) < 3 * math.sqrt(expected * (1 - expected) / 1500)


def test_label_conditional_covers_the_rare_class_that_marginal_misses():
    random = np.random.default_rng(20260103)
    found = []
    for _ in range(400):
        probabilities, labels = draw(300, random)
        marginal = fit_conformal(probabilities, labels, 0.2, stratification="marginal").cells[0].quantile
        bad, good = (cell.quantile for cell in fit_conformal(probabilities, labels, 0.2).cells)
        found.append(
            [
                0.8 * coverage_of_good(marginal) + 0.2 * coverage_of_bad(marginal),
                coverage_of_bad(marginal),
                coverage_of_bad(bad),
                coverage_of_good(good),
            ]
        )
    marginal, missed, bad, good = np.mean(found, axis=0)
    assert_allclose([marginal, bad, good], 0.8, atol=0.015)
    assert missed < 0.1  # of the bad answers, while .8 of all are covered


def test_label_conditional_quantiles_cover_each_group():
    random = np.random.default_rng(20260104)
    groups = np.array(["even", "odd"])[np.arange(300) % 2]
    found = []
    for _ in range(300):
        # the probabilities are right for even rows, and worth nothing for odd ones
        probabilities = random.random(300)
        labels = (random.random(300) < np.where(groups == "odd", 0.5, probabilities)).astype(int)
        # of accepted answers: S = 1 - p has the density 2 (1 - S) in even rows, and 1 in odd ones
        cells = fit_conformal(probabilities, labels, 0.1, groups=groups).cells
        pooled = fit_conformal(probabilities, labels, 0.1).cells[1].quantile
        found.append([1 - (1 - cells[1].quantile) ** 2, cells[3].quantile, pooled])
    even, odd, odd_pooled = np.mean(found, axis=0)
    assert_allclose([even, odd], 0.905, atol=0.01)
    assert odd_pooled < 0.87


def clustered(count: int, random: np.random.Generator):
    """Clusters of 1 or 12 rows; the large ones are easy, so that most rows are and half of the clusters are not."""
    is_large = random.random(count) < 0.5
    sizes = np.where(is_large, 12, 1)
    clusters = np.repeat(np.arange(count), sizes)
    # a cluster has its own level of scores, uniform on [0, .4] or [.6, 1], and rows vary around it
    level = np.where(is_large, 0.4 * random.random(count), 0.6 + 0.4 * random.random(count))[clusters]
    return np.clip(level + 0.02 * random.standard_normal(len(clusters)), 0, 1), clusters


def test_sibling_weights_keep_coverage_of_new_clusters():
    random = np.random.default_rng(20260105)
    reference, reference_sources = clustered(20_000, random)
    weights = 1 / np.bincount(reference_sources)[reference_sources]
    order = np.argsort(reference)
    reached = np.cumsum(weights[order]) / weights.sum()

    def coverage(quantile: float) -> float:
        return float(np.append(0.0, reached)[np.searchsorted(reference[order], quantile, side="right")])

    weighted, naive = [], []
    for _ in range(300):
        scores, clusters = clustered(60, random)
        weighted.append(coverage(conformal_quantile(scores, 0.1, clusters)))
        naive.append(coverage(conformal_quantile(scores, 0.1)))
    assert 0.895 < np.mean(weighted) < 0.93
    assert np.mean(naive) < 0.75


def test_check_of_siblings_is_conservative():
    random = np.random.default_rng(20260106)
    p_values = []
    for _ in range(600):
        scores, clusters = clustered(80, random)
        # a score is the nonconformity of y = 1
        is_new = clusters >= 40
        labels = np.ones(len(scores), dtype=int)
        fitted = fit_conformal(
            1 - scores[~is_new], labels[~is_new], 0.1, stratification="marginal", clusters=clusters[~is_new]
        )
        check = check_sets(fitted, 1 - scores[is_new], labels[is_new], clusters=clusters[is_new])[0]
        assert (check.count_calibration, check.count_test) == (40, 40)
        p_values.append(check.p_value)
    for level in (0.01, 0.05, 0.2):
        assert np.mean(np.array(p_values) <= level) < level + 0.01


# --- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conformal_rank(5, 1.3), r"alpha must lie in \(0, 1\), got 1.3"),
        (lambda: conformal_rank(-1, 0.1), "count must be at least 0, got -1"),
        (lambda: conformal_quantile(np.array([np.nan]), 0.1), "scores must be numbers, got NaN"),
        (lambda: conformal_quantile(np.array([0.1]), 0.0), r"alpha must lie in \(0, 1\), got 0.0"),
        (lambda: conformal_quantile(np.array([0.1]), np.nan), "got nan"),
        (
            lambda: conformal_quantile(np.array([0.1]), 0.1, np.array([1, 2])),
            r"clusters must have shape \(1,\), got \(2,",
        ),
        (lambda: nonconformity(np.array([0.2, 1.2])), r"probabilities must lie in \[0, 1\], got 1.2"),
        (lambda: nonconformity(np.array([np.nan])), r"probabilities must lie in \[0, 1\], got nan"),
        (lambda: nonconformity(np.array([[0.2, 0.2]])), "must sum to 1, got 0.4"),
        (lambda: nonconformity(np.array([[1.0]])), r"got \(1, 1\)"),
        (lambda: groups_with_cells(np.array(["a"]), 0.1, least_class_share=0.0), r"least_class_share .* got 0.0"),
        (lambda: fit_conformal(np.array([0.5]), np.array([2]), 0.1), "whole numbers from 0 to 1, got 2"),
        (lambda: fit_conformal(np.array([0.5]), np.array([0.5]), 0.1), "whole numbers from 0 to 1, got 0.5"),
        (lambda: fit_conformal(np.array([0.5]), np.array([1, 0]), 0.1), r"labels must have shape \(1,\), got \(2,\)"),
        (lambda: fit_conformal(np.array([0.5]), np.array([1]), 0.1, stratification="task"), "got 'task'"),
        (lambda: fit_conformal(np.array([0.5]), np.array([1]), 0.1, own_groups=["a"]), "need groups, got None"),
        (
            lambda: fit_conformal(np.array([0.5]), np.array([1]), 0.1, groups=np.array(["a"]), own_groups=["other"]),
            "without 'other'",
        ),
        (
            lambda: fit_conformal(np.array([0.5]), np.array([1]), 0.1, groups=np.array(["a"])).predict(np.array([0.1])),
            "groups are needed",
        ),
        (
            lambda: fit_conformal(np.array([0.5]), np.array([1]), 0.1).predict(np.array([[0.1, 0.2, 0.7]])),
            "of 2 classes, got 3",
        ),
        (lambda: check_coverage(5, 4, 10, 0.1), r"count_covered must lie in \[0, 4\], got 5"),
    ],
)
def test_bad_input_says_both_sides(call, message):
    with pytest.raises(ValueError, match=message):
        call()
