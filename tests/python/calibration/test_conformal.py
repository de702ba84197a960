"""Conformal sets: hand-worked cases, quantiles in fractions, and what is held against new labels."""

import math
from fractions import Fraction
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

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
)

# P(accepted) ~ Beta(8, 2): one answer in five is bad. Given y = 1 it is Beta(9, 2), given y = 0 Beta(8, 3), so that
# coverage and risks of a threshold are known without drawing test rows.
A, B = 8, 2


def draw(count: int, random: np.random.Generator, a: float = A, b: float = B):
    probabilities = random.beta(a, b, count)
    return probabilities, (random.random(count) < probabilities).astype(np.int64)


def test_rank_is_taken_in_whole_numbers():
    # (n + 1)(1 - alpha) = 18, 57, 95: doubles give 57.00000000000001 and would round it up
    assert [conformal_rank(19, 0.1), conformal_rank(99, 0.43), conformal_rank(99, 0.05)] == [18, 57, 95]
    assert conformal_rank(19, 1 - 0.9) == 18
    assert [conformal_rank(8, 0.1), conformal_rank(9, 0.1), conformal_rank(0, 0.1)] == [9, 9, 1]


def test_fewest_clusters():
    assert [clusters_needed(alpha) for alpha in (0.2, 0.1, 0.05, 0.01, 0.3)] == [4, 9, 19, 99, 3]


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


def test_sets_of_the_paper_by_hand():
    # scores .1 .2 .3 .4 at alpha .2: q = .4 < .5, so between .4 and .6 the likelier label stands alone, never none
    fitted = fit_conformal(np.array([0.9, 0.8, 0.3, 0.4]), np.array([1, 1, 0, 0]), 0.2, stratification="marginal")
    assert [cell.quantile for cell in fitted.cells] == [0.4]
    sets = fitted.predict(np.array([0.1, 0.4, 0.5, 0.61, 0.9]))
    assert_array_equal(sets.includes, [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]])
    assert set(sets.kinds.tolist()) == {"single"}
    # and with q = .7 a probability between .3 and .7 has both
    fitted = fit_conformal(np.array([0.9, 0.8, 0.3, 0.7]), np.array([1, 1, 0, 0]), 0.2, stratification="marginal")
    assert fitted.predict(np.array([0.2, 0.35, 0.7, 0.71])).kinds.tolist() == ["single", "all", "all", "single"]


def test_small_groups_are_merged_whatever_their_labels():
    groups = np.array(["a"] * 9 + ["b"] * 8 + ["c"] * 3 + ["d"] * 30)
    # d has 30 rows of 5 clusters
    clusters = np.concatenate([np.arange(20), 100 + np.arange(30) % 5])
    assert groups_with_cells(groups, 0.1, clusters) == ("a",)
    assert groups_with_cells(groups, 0.1, np.arange(50)) == ("a", "d")
    # a group of that name is merged like any without a cell
    assert groups_with_cells(np.where(groups == "d", "other", groups), 0.1, np.arange(50)) == ("a",)
    # a class of which a third is expected: 27 clusters
    assert groups_with_cells(groups, 0.1, np.arange(50), 1 / 3) == ("d",)
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


def test_coverage_by_hand():
    probabilities = np.array([0.9, 0.8, 0.3, 0.4])
    fitted = fit_conformal(probabilities, np.array([1, 1, 0, 0]), 0.2, stratification="marginal")  # q = .4
    sets = fitted.predict(np.array([0.9, 0.5, 0.7, 0.2]))  # {1}, {}, {1}, {0}
    groups, clusters = np.array(["x", "x", "y", "y"]), np.array([1, 1, 1, 2])
    rows = measure_coverage(sets, np.array([1, 1, 0, 0]), groups, clusters)
    key, figures = itemgetter("scope", "label", "stratum"), itemgetter("count_covered", "count_labels", "coverage")
    assert {key(row): figures(row) for row in rows} == {
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
    # without enough clusters there is no promise, and without new ones nothing to test
    assert check_coverage(1, 4, 8, 0.1).p_value is check_coverage(0, 0, 99, 0.1).p_value is None


def test_check_of_siblings_by_hand():
    # (20 + 1) x .9 = 18.9: rank 19 for rows, 18 for clusters of several rows
    assert check_coverage(18, 20, 20, 0.1).expected_coverage == 19 / 21
    assert check_coverage(18, 20, 20, 0.1, has_siblings=True).expected_coverage == 18 / 21
    probabilities = np.linspace(0.05, 0.95, 10)
    fitted = fit_conformal(probabilities, np.ones(10, dtype=int), 0.2, stratification="marginal")
    # two new clusters, one wholly and one in one of three rows covered: 4/3 counts as 2
    new = np.array([0.9, 0.9, 0.0, 0.0])
    check = check_sets(fitted, 0.2, new, np.ones(4, dtype=int), np.zeros(4), np.array(["a", "b", "b", "b"]))[0]
    assert (check.count_covered, check.count_test) == (2, 2)
