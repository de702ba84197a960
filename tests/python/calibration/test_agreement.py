"""Agreement: hand-worked and published answers, reference libraries, bootstrap oracle, raters, and adjudication."""

import json
import os
from pathlib import Path
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_kappa_of_statsmodels

from hcat.calibration.agreement import (
    Statistic,
    agreement_statistics,
    cohen_kappa,
    dawid_skene,
    fleiss_kappa,
    intra_rater_agreement,
    krippendorff_alpha,
    percent_agreement,
    rater_reports,
)
from hcat.statistics.clustered import rate_interval

NAN = float("nan")
LEVELS = ("nominal", "ordinal", "interval")

#: Krippendorff (2011): 4 observers, 12 units, published alpha .743 nominal, .815 ordinal, .849 interval.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


def own_clusters(ratings: np.ndarray) -> np.ndarray:
    return np.arange(len(ratings))


def with_gaps(values: np.ndarray) -> np.ndarray:
    return np.where(values < 0, NAN, values.astype(float))


def rate(random: np.random.Generator, truth: np.ndarray, accuracies: list[float], count_classes: int = 2) -> np.ndarray:
    """Return ratings that are right with each rater's accuracy, else another class at random."""
    is_right = random.random((len(truth), len(accuracies))) < np.array(accuracies)
    shifts = random.integers(1, count_classes, is_right.shape)
    return np.where(is_right, truth[:, None], (truth[:, None] + shifts) % count_classes).astype(float)


def any_ratings(max_raters: int = 5, gaps: bool = True):
    shape = st.tuples(st.integers(2, 15), st.integers(2, max_raters))
    return arrays(np.int64, shape, elements=st.integers(-1 if gaps else 0, 3)).map(with_gaps)


# point estimates


def test_percent_agreement_by_hand():
    # m P = 3 (one pair of three agrees: 1/3) -> 1, 2 (agree) -> 2, 3 -> 3; 8 pairable values
    ratings = np.array([[0, 0, 1], [2, 2, NAN], [1, 1, 1], [NAN, NAN, 2]])
    found = percent_agreement(ratings, own_clusters(ratings))
    assert_allclose(found.value, (1 + 2 + 3) / 8)
    assert (found.count_units, found.count_ratings, found.count_clusters) == (3, 8, 3)


def test_cohen_kappa_by_hand():
    # Cohen's cross table [[20, 5], [10, 15]]: observed .7, expected .5
    ratings = np.repeat([[1.0, 1], [1, 0], [0, 1], [0, 0]], [20, 5, 10, 15], axis=0)
    assert_allclose(cohen_kappa(ratings, own_clusters(ratings)).value, 0.4)


def test_quadratic_kappa_by_hand():
    # squared differences 0, 1, 4, 0: mean 1.25; all pairs of {0,1,0,2} x {0,2,2,2}: (12 + 4 + 12 + 4) / 16 = 2
    ratings = np.array([[0.0, 0], [1, 2], [0, 2], [2, 2]])
    assert_allclose(cohen_kappa(ratings, own_clusters(ratings), "quadratic").value, 1 - 1.25 / 2)


def test_unused_scale_points_do_not_move_quadratic_kappa():
    ratings = np.array([[0.0, 0], [1, 3], [0, 3], [3, 3], [1, 1]])
    first, second = ratings.astype(int).T
    expected = cohen_kappa_score(first, second, labels=[0, 1, 2, 3], weights="quadratic")
    assert_allclose(cohen_kappa(ratings, own_clusters(ratings), "quadratic").value, expected, atol=1e-12)


def test_fleiss_kappa_by_hand():
    # P_u = 1/3, 1, 1/3; shares of 0 and 1 are 4/9 and 5/9: (5/9 - 41/81) / (40/81) = .1
    ratings = np.array([[0.0, 0, 1], [1, 1, 1], [0, 1, 0]])
    assert_allclose(fleiss_kappa(ratings, own_clusters(ratings)).value, 0.1)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_the_published_one(level, alpha):
    assert_allclose(krippendorff_alpha(PUBLISHED, own_clusters(PUBLISHED), level).value, alpha, atol=5e-4)


@given(any_ratings())
@settings(deadline=None)
def test_alpha_agrees_with_krippendorff(ratings):
    is_pairable = (~np.isnan(ratings)).sum(axis=1) >= 2
    pairable = ratings[is_pairable]
    count_values = len(np.unique(pairable[~np.isnan(pairable)]))
    for level in LEVELS:
        found = krippendorff_alpha(ratings, own_clusters(ratings), level, count_draws=1)
        if count_values < 2:
            assert found.value is None
            assert found.status == ("no_variation" if count_values else "no_pairable_values")
        else:
            expected = krippendorff.alpha(ratings.T, level_of_measurement=level)
            assert_allclose(found.value, expected, atol=1e-9)
            assert found.value <= 1


@given(any_ratings(gaps=False))
@settings(deadline=None)
def test_fleiss_agrees_with_statsmodels(ratings):
    assume(len(np.unique(ratings)) > 1)
    found = fleiss_kappa(ratings, own_clusters(ratings), count_draws=1)
    assert_allclose(found.value, fleiss_kappa_of_statsmodels(aggregate_raters(ratings.astype(int))[0]), atol=1e-9)


@given(any_ratings(max_raters=2))
@settings(deadline=None)
def test_kappa_agrees_with_sklearn(ratings):
    both = ratings[~np.isnan(ratings).any(axis=1)].astype(int)
    assume(len(np.unique(both)) > 1)
    for weighting, weights in (("unweighted", None), ("quadratic", "quadratic")):
        found = cohen_kappa(ratings, own_clusters(ratings), weighting, count_draws=1)
        expected = cohen_kappa_score(both[:, 0], both[:, 1], labels=[0, 1, 2, 3], weights=weights)
        assert_allclose(found.value, expected, atol=1e-9)
        assert found.value >= -1 - 1e-12


@given(any_ratings(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_of_raters_and_units_does_not_matter(ratings, random):
    columns, rows = list(range(ratings.shape[1])), list(range(len(ratings)))
    random.shuffle(columns)
    random.shuffle(rows)
    shuffled = ratings[np.ix_(rows, columns)]
    for one, other in zip(
        agreement_statistics(ratings, own_clusters(ratings), 1),
        agreement_statistics(shuffled, own_clusters(shuffled), 1),
        strict=True,
    ):
        assert one.status == other.status
        assert (one.value is None) == (other.value is None)
        if one.value is not None:
            assert_allclose(one.value, other.value, atol=1e-9)


@given(any_ratings(), st.floats(0.5, 20), st.floats(-50, 50))
@settings(deadline=None)
def test_levels_are_invariant_as_they_promise(ratings, slope, shift):
    def value(values, level):
        return krippendorff_alpha(values, own_clusters(values), level, count_draws=1).value

    assume(value(ratings, "nominal") is not None)
    assert_allclose(value(slope * ratings + shift, "interval"), value(ratings, "interval"), atol=1e-9)
    assert_allclose(value(np.exp(ratings), "ordinal"), value(ratings, "ordinal"), atol=1e-9)
    assert_allclose(value(-ratings, "nominal"), value(ratings, "nominal"), atol=1e-9)


# statuses


def test_without_two_ratings_of_a_unit_there_is_no_number():
    for ratings in (np.array([[1.0, NAN], [NAN, 0.0]]), np.full((3, 2), NAN), np.empty((0, 3)), np.array([[1.0]])):
        for found in agreement_statistics(ratings, own_clusters(ratings)):
            assert (found.status, found.value, found.low, found.high) == ("no_pairable_values", None, None, None)


def test_without_variation_there_is_percent_agreement_only():
    ratings = np.ones((12, 2))
    percent, *corrected = agreement_statistics(ratings, own_clusters(ratings))
    assert (percent.value, percent.interval_status, percent.low) == (1.0, "no_spread", None)
    assert {(found.status, found.value, found.count_units) for found in corrected} == {("no_variation", None, 12)}


def test_values_outside_pairs_are_no_variation():
    # the 5 stands alone in its unit, and never meets another rating
    ratings = np.array([[1.1, 1.1], [1.1, 1.1], [5.0, NAN]])
    assert {krippendorff_alpha(ratings, own_clusters(ratings), level).status for level in LEVELS} == {"no_variation"}


def test_kappa_of_one_constant_rater_is_zero():
    ratings = np.array([[1.0, 0], [1, 1], [1, 0], [1, 1]])
    assert cohen_kappa(ratings, own_clusters(ratings)).value == 0.0


def test_fleiss_needs_equal_numbers_and_cohen_two_raters():
    ratings = np.array([[0.0, 1, 1], [1, 1, NAN], [0, 0, 0]])
    assert fleiss_kappa(ratings, own_clusters(ratings)).status == "unequal_ratings_per_unit"
    assert cohen_kappa(ratings, own_clusters(ratings)).status == "more_than_two_raters"


def test_empty_columns_and_rows_are_passed_over():
    ratings = np.array([[0.0, 1], [1, 1], [0, 0], [1, 1]])
    wide = np.vstack([np.insert(ratings, 1, NAN, axis=1), np.full((2, 3), NAN)])
    narrow = agreement_statistics(ratings, own_clusters(ratings))
    assert agreement_statistics(wide, own_clusters(wide)) == narrow
    assert {found.status for found in narrow} == {"estimated"}


def test_statistics_come_in_their_order():
    names = [found.statistic for found in agreement_statistics(PUBLISHED, own_clusters(PUBLISHED))]
    assert names == [name for name in get_args(Statistic) if not name.startswith("intra_rater")]


# bootstrap


def test_interval_is_that_of_reindexed_ratings():
    random = np.random.default_rng(4)
    ratings = rate(random, random.integers(0, 3, 45), [0.8, 0.7, 0.9], 3)
    ratings[random.random(ratings.shape) < 0.15] = NAN
    clusters = np.repeat(np.arange(15) * 7 - 20, 3)
    drawn = np.random.default_rng(11).integers(0, 15, (60, 15))
    names = np.unique(clusters)
    resampled = [ratings[np.concatenate([np.flatnonzero(clusters == names[s]) for s in draw])] for draw in drawn]
    for level in LEVELS:
        draws = [krippendorff.alpha(table.T, level_of_measurement=level) for table in resampled]
        found = krippendorff_alpha(ratings, clusters, level, count_draws=60, confidence=0.9, seed=11)
        assert_allclose([found.low, found.high], np.quantile(draws, [0.05, 0.95]), atol=1e-9)
        assert found.count_draws_usable == 60
    full = rate(random, random.integers(0, 3, 45), [0.8, 0.7], 3)
    for weights in (None, "quadratic"):
        draws = []
        for draw in drawn:
            table = full[np.concatenate([np.flatnonzero(clusters == names[s]) for s in draw])].astype(int)
            draws.append(cohen_kappa_score(table[:, 0], table[:, 1], labels=[0, 1, 2], weights=weights))
        found = cohen_kappa(full, clusters, weights or "unweighted", count_draws=60, seed=11)
        assert_allclose([found.low, found.high], np.quantile(draws, [0.025, 0.975]), atol=1e-9)


def test_interval_follows_seed_and_clusters_but_not_their_names():
    random = np.random.default_rng(8)
    ratings = rate(random, random.integers(0, 2, 60), [0.9, 0.8, 0.7])
    clusters = np.repeat(np.arange(20), 3)
    found = fleiss_kappa(ratings, clusters)
    assert fleiss_kappa(ratings, clusters * 1000 + 5) == found
    assert fleiss_kappa(ratings, clusters, seed=1) != found
    assert found.low < found.value < found.high


def test_draws_in_portions_are_the_same(monkeypatch):
    random = np.random.default_rng(9)
    ratings = rate(random, random.integers(0, 2, 60), [0.9, 0.8, 0.7])
    whole = agreement_statistics(ratings, own_clusters(ratings), count_draws=100)
    monkeypatch.setattr("hcat.calibration.agreement._CELLS", 1)
    assert agreement_statistics(ratings, own_clusters(ratings), count_draws=100) == whole


def test_intervals_need_clusters_and_usable_draws():
    ratings = np.tile([[0.0, 1], [1, 1], [0, 0]], (10, 1))
    few = krippendorff_alpha(ratings, np.repeat(np.arange(3), 10))
    assert (few.status, few.interval_status, few.low, few.count_draws_usable) == (
        "estimated",
        "too_few_clusters",
        None,
        0,
    )
    # one cluster in twelve holds all variation: it is missing from (11/12)^12 = 35 % of the draws
    rare = np.ones((12, 2))
    rare[0] = 0
    found = krippendorff_alpha(rare, own_clusters(rare))
    assert (found.value, found.interval_status) == (1.0, "too_few_usable_draws")
    assert 590 < found.count_draws_usable < 710


def test_interval_covers_when_siblings_are_alike_and_rows_do_not():
    # a cluster fixes class and difficulty of its 6 units
    def world(random, count_clusters):
        truth = np.repeat(random.integers(0, 2, count_clusters), 6)
        is_easy = np.repeat(random.random(count_clusters) < 0.5, 6)
        right = random.random((len(truth), 3)) < np.where(is_easy, 0.98, 0.6)[:, None]
        return np.where(right, truth[:, None], 1 - truth[:, None]).astype(float)

    truth = percent_agreement(world(np.random.default_rng(1), 20_000), np.arange(120_000), count_draws=1).value
    by_cluster = by_row = 0
    for seed in range(200):
        ratings = world(np.random.default_rng(100 + seed), 40)
        found = percent_agreement(ratings, np.repeat(np.arange(40), 6), count_draws=200)
        rows = percent_agreement(ratings, np.arange(240), count_draws=200)
        by_cluster += found.low <= truth <= found.high
        by_row += rows.low <= truth <= rows.high
    assert by_cluster / 200 > 0.9
    assert by_row / 200 < by_cluster / 200 - 0.1


# one rater's two passes


def test_two_passes_have_names_of_their_own():
    first, second = np.array([0.0, 1, 2, 1, NAN]), np.array([0.0, 1, 1, 1, 2])
    found = intra_rater_agreement(first, second, np.arange(5))
    assert found.percent_agreement.value == 0.75
    assert found.percent_agreement.count_units == 4
    assert_allclose(found.cohen_kappa.value, cohen_kappa_score([0, 1, 2, 1], [0, 1, 1, 1]), atol=1e-12)
    assert_allclose(
        found.cohen_kappa_quadratic.value,
        cohen_kappa_score([0, 1, 2, 1], [0, 1, 1, 1], weights="quadratic"),
        atol=1e-12,
    )
    names = {found.percent_agreement.statistic, found.cohen_kappa.statistic, found.cohen_kappa_quadratic.statistic}
    between = {one.statistic for one in agreement_statistics(PUBLISHED, own_clusters(PUBLISHED))}
    assert not names & between
    assert names | between == set(get_args(Statistic))


# raters


def test_rater_report_by_hand():
    # others agree on 24 of 30 units; the rater agrees with them on 18 of those 24
    others = np.array([[1.0, 1]] * 12 + [[0, 0]] * 12 + [[0, 1]] * 6)
    own = np.array([1.0] * 9 + [0] * 3 + [0] * 9 + [1] * 3 + [1] * 6)
    ratings = np.column_stack([own, others])
    found = rater_reports(ratings, own_clusters(ratings))[0]
    assert (found.status, found.count_ratings, found.count_shared_units) == ("estimated", 30, 24)
    assert found.count_effective == 24
    assert found.agreement == 0.75
    expected = rate_interval(np.arange(24) < 18, np.arange(24))
    assert_allclose((found.low, found.high), (expected.low, expected.high), atol=1e-12)
    assert_allclose(found.kappa.value, 0.5)
    assert_allclose((found.agreement_of_others, found.agreement_of_others_everywhere), 0.8)
    assert found.disagrees_with_everyone is False


def test_siblings_widen_the_interval():
    # clusters of 2 x 10 and 4 x 1 shared units: 24^2 / 204
    ratings = np.array([[1.0, 1, 1]] * 18 + [[0, 1, 1]] * 6)
    found = rater_reports(ratings, np.array([0] * 10 + [1] * 10 + [2, 3, 4, 5]))[0]
    assert_allclose(found.count_effective, 24**2 / 204)
    apart = rater_reports(ratings, np.arange(24))[0]
    assert found.high - found.low > 1.5 * (apart.high - apart.low)


def test_who_rates_at_random_is_found_and_the_others_are_not():
    flagged = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        ratings = rate(random, random.integers(0, 2, 120), [0.5, 0.9, 0.85, 0.9])
        reports = rater_reports(ratings, own_clusters(ratings), count_draws=1)
        flagged.append([report.disagrees_with_everyone for report in reports])
    assert np.array(flagged)[:, 0].all()
    assert not np.array(flagged)[:, 1:].any()


def test_the_rater_of_the_hard_units_is_not_blamed():
    # rater 0 rates only units on which everyone is right with .65; elsewhere the others are right with .97
    random = np.random.default_rng(21)
    truth = random.integers(0, 2, 400)
    ratings = np.where(np.arange(400)[:, None] < 120, rate(random, truth, [0.65] * 4), rate(random, truth, [0.97] * 4))
    ratings[120:, 0] = NAN
    found = rater_reports(ratings, own_clusters(ratings))[0]
    assert found.high < found.agreement_of_others_everywhere
    assert found.disagrees_with_everyone is False


def test_luck_of_the_others_does_not_blame_a_good_rater():
    # the two others happen to agree on all 22 units of rater 0, and on 60 % of the rest
    shared = np.array([[1.0, 1, 1]] * 10 + [[0, 0, 0]] * 8 + [[0, 1, 1]] * 4)
    rest = np.array([[NAN, 1, 1]] * 30 + [[NAN, 0, 1]] * 20)
    ratings = np.vstack([shared, rest])
    found = rater_reports(ratings, own_clusters(ratings))[0]
    assert found.agreement_of_others == 1.0
    assert found.high < 1.0
    assert found.disagrees_with_everyone is False


def test_rater_reports_need_raters_and_shared_units():
    two = np.tile([[0.0, 1, NAN], [1, 1, NAN]], (30, 1))
    reports = rater_reports(two, own_clusters(two))
    assert [report.status for report in reports] == ["fewer_than_three_raters"] * 3
    assert {report.agreement for report in reports} | {report.disagrees_with_everyone for report in reports} == {None}
    # 19 shared units: ties of the others and units with a single other do not count
    ratings = np.array([[1.0, 1, 1]] * 19 + [[1, 0, 1]] * 10 + [[1, 1, NAN]] * 10)
    found = rater_reports(ratings, own_clusters(ratings))[0]
    assert (found.status, found.count_ratings, found.count_shared_units) == ("too_few_shared_units", 39, 19)
    assert (found.agreement, found.low, found.high, found.kappa) == (None, None, None, None)


def test_kappa_with_the_majority_may_lack_variation():
    ratings = np.ones((25, 3))
    found = rater_reports(ratings, own_clusters(ratings))[0]
    assert (found.agreement, found.kappa.status, found.kappa.value) == (1.0, "no_variation", None)


# adjudication


def test_no_ratings_at_all():
    ratings = np.full((2, 3), NAN)
    found = dawid_skene(ratings).adjudication
    assert found.statuses == ("no_ratings", "no_ratings")
    assert np.isnan(found.labels).all()


def log_posterior_by_loops(ratings, class_prior, confusion, pseudo_count):
    """Return log likelihood, log posterior and class probabilities, one rating at a time."""
    likelihood, posterior = 0.0, []
    for row in ratings:
        joint = class_prior.copy()
        for rater, value in enumerate(row):
            if not np.isnan(value):
                joint = joint * confusion[rater, :, int(value)]
        likelihood += np.log(joint.sum())
        posterior.append(joint / joint.sum())
    prior = pseudo_count * (np.log(class_prior).sum() + np.log(confusion).sum())
    return likelihood, likelihood + prior, np.array(posterior)


def graded(seed: int, count: int = 80) -> np.ndarray:
    random = np.random.default_rng(seed)
    ratings = rate(random, random.choice(3, count, p=[0.2, 0.3, 0.5]), [0.9, 0.75, 0.6, 0.8], 3)
    ratings[random.random(ratings.shape) < 0.2] = NAN
    ratings[np.isnan(ratings).all(axis=1), 0] = 1.0
    return ratings


def test_dawid_skene_is_the_textbook_iteration():
    ratings = graded(3)
    found = dawid_skene(ratings, pseudo_count=0.3)
    posterior = np.array([[(row == k).sum() / (~np.isnan(row)).sum() for k in range(3)] for row in ratings])
    for step in range(len(found.log_posterior)):
        class_prior = (posterior.sum(axis=0) + 0.3) / (len(ratings) + 0.9)
        confusion = np.full((4, 3, 3), 0.3)
        for unit, row in enumerate(ratings):
            for rater, value in enumerate(row):
                if not np.isnan(value):
                    confusion[rater, :, int(value)] += posterior[unit]
        confusion /= confusion.sum(axis=2, keepdims=True)
        likelihood, penalised, posterior = log_posterior_by_loops(ratings, class_prior, confusion, 0.3)
        assert_allclose(found.log_likelihood[step], likelihood, atol=1e-8)
        assert_allclose(found.log_posterior[step], penalised, atol=1e-8)
        if step == 25:
            break
    end = log_posterior_by_loops(ratings, found.class_prior, found.confusion, 0.3)
    assert_allclose(found.log_posterior[-1], end[1], atol=1e-8)
    assert_allclose(found.posterior, end[2], atol=1e-10)


def test_dawid_skene_ends_on_a_local_maximum():
    ratings = graded(5)
    found = dawid_skene(ratings)
    random = np.random.default_rng(1)
    for _ in range(50):
        class_prior = found.class_prior * np.exp(0.02 * random.standard_normal(3))
        confusion = found.confusion * np.exp(0.02 * random.standard_normal((4, 3, 3)))
        class_prior, confusion = class_prior / class_prior.sum(), confusion / confusion.sum(axis=2, keepdims=True)
        assert log_posterior_by_loops(ratings, class_prior, confusion, 0.5)[1] < found.log_posterior[-1]


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.5, 3.0]))
@settings(deadline=None, max_examples=40)
def test_log_posterior_never_falls(seed, pseudo_count):
    random = np.random.default_rng(seed)
    ratings = with_gaps(random.integers(-1, 3, (25, 4)))
    assume((~np.isnan(ratings)).sum() >= 60)
    found = dawid_skene(ratings, pseudo_count, maximum_iterations=400)
    assert found.status in ("estimated", "not_converged")
    assert (np.diff(found.log_posterior) >= -1e-9).all()
    if found.status == "estimated":
        assert (found.confusion > 0).all()
        assert (found.class_prior > 0).all()
        assert_allclose(found.confusion.sum(axis=2), 1)
        assert_allclose(np.nansum(found.posterior, axis=1), (~np.isnan(ratings)).any(axis=1))


def test_dawid_skene_beats_the_majority_of_unequal_raters():
    majority, modelled = [], []
    for seed in range(10):
        random = np.random.default_rng(seed)
        truth = (random.random(400) < 0.7).astype(int)
        ratings = rate(random, truth, [0.95, 0.9, 0.6, 0.55, 0.55])
        # five raters of two classes are never in a tie
        majority.append(((ratings.mean(axis=1) > 0.5) == truth).mean())
        modelled.append((dawid_skene(ratings).adjudication.labels == truth).mean())
    assert np.mean(modelled) > np.mean(majority) + 0.05
    assert (np.array(modelled) > np.array(majority)).all()


def test_dawid_skene_finds_shares_and_confusions():
    random = np.random.default_rng(2)
    truth = random.choice(3, 4000, p=[0.2, 0.3, 0.5])
    confusions = np.array([np.full((3, 3), (1 - a) / 2) + np.eye(3) * (a - (1 - a) / 2) for a in (0.9, 0.7, 0.8, 0.6)])
    confusions[3, 0] = [0.3, 0.7, 0.0]  # rates class 0 as 1
    draws = random.random((4000, 4, 1)) > np.cumsum(confusions[np.arange(4)[None, :], truth[:, None]], axis=2)[..., :2]
    ratings = draws.sum(axis=2).astype(float)
    found = dawid_skene(ratings)
    assert_allclose(found.class_prior, [0.2, 0.3, 0.5], atol=0.02)
    assert_allclose(found.confusion, confusions, atol=0.05)
    # and its probabilities mean what they say
    best = found.posterior.max(axis=1)
    assert_allclose((found.adjudication.labels == truth).mean(), best.mean(), atol=0.01)


def test_dawid_skene_follows_the_order_of_raters_and_fills_gaps():
    ratings = graded(7)
    found, turned = dawid_skene(ratings), dawid_skene(ratings[:, ::-1])
    assert_allclose(found.posterior, turned.posterior, atol=1e-6)
    assert_allclose(found.confusion, turned.confusion[::-1], atol=1e-6)
    padded = np.full((len(ratings) + 1, 5), NAN)
    padded[:-1, [0, 1, 3, 4]] = ratings
    wide = dawid_skene(padded)
    assert_allclose(wide.posterior[:-1], found.posterior)
    assert np.isnan(wide.posterior[-1]).all()
    assert np.isnan(wide.confusion[2]).all()
    assert wide.adjudication.statuses[-1] == "no_ratings"
    assert wide.count_ratings.tolist() == [*found.count_ratings[:2], 0, *found.count_ratings[2:]]


def test_dawid_skene_keeps_ties():
    # the same raters, mirrored: nothing tells 0 from 1 on the units where two say each
    ratings = np.array([[0.0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]] * 5)
    found = dawid_skene(ratings)
    assert found.status == "estimated"
    assert found.adjudication.statuses == ("labelled", "labelled", "tie", "tie") * 5
    assert_allclose(found.adjudication.labels, [0, 1, NAN, NAN] * 5)


def test_dawid_skene_needs_raters_ratings_and_variation():
    two = np.array([[0.0, 1, NAN], [1, 1, NAN], [0, 0, NAN]])
    sparse = np.array([[0.0, NAN, NAN], [NAN, 1, NAN], [1, NAN, 1], [0, NAN, 1]])
    for ratings, status in ((two, "insufficient"), (sparse, "insufficient"), (np.ones((4, 3)), "no_variation")):
        found = dawid_skene(ratings)
        assert (found.status, found.posterior, found.class_prior, found.confusion) == (status, None, None, None)
        assert set(found.adjudication.statuses) == {status}
        assert np.isnan(found.adjudication.labels).all()
        assert len(found.log_likelihood) == len(found.log_posterior) == 0
    short = dawid_skene(graded(3), maximum_iterations=2)
    assert (short.status, short.posterior, len(short.log_posterior)) == ("not_converged", None, 2)


# bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: percent_agreement(np.ones(3), np.arange(3)), r"shape \(n_units, n_raters\), got \(3,\)"),
        (lambda: percent_agreement(np.ones((3, 2)), np.arange(2)), r"shape \(3,\) of the units, got \(2,\)"),
        (lambda: fleiss_kappa(np.ones((3, 2)), np.ones(3)), "integers, got float64"),
        (lambda: fleiss_kappa(np.array([[1.0, np.inf]]), np.arange(1)), "finite or NaN, got 1 infinite"),
        (lambda: dawid_skene(np.arange(102.0).reshape(51, 2)), "at most 101 points, got 102"),
        (lambda: krippendorff_alpha(np.ones((3, 2)), np.arange(3), "ratio"), "nominal, ordinal, interval, got ratio"),
        (lambda: cohen_kappa(np.ones((3, 2)), np.arange(3), "linear"), "unweighted, quadratic, got linear"),
        (lambda: cohen_kappa(np.ones((3, 2)), np.arange(3), count_draws=0), "at least 1, got 0"),
        (lambda: rater_reports(np.ones((3, 2)), np.arange(3), confidence=1.0), r"in \(0, 1\), got 1.0"),
        (lambda: intra_rater_agreement(np.ones(3), np.ones(2), np.arange(3)), r"got \(3,\) and \(2,\)"),
        (lambda: dawid_skene(np.ones((3, 3)), pseudo_count=0.0), "greater than 0, got 0.0"),
        (lambda: dawid_skene(np.ones((3, 3)), maximum_iterations=0), "at least 1 and .* got 0"),
    ],
)
def test_bad_arguments_say_both_sides(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# people


@pytest.mark.parametrize(("dataset", "kappa", "alpha"), [("cnndm", 0.5133, 0.5135), ("xsum", 0.3411, 0.3421)])
def test_qags_raters(dataset, kappa, alpha):
    folder = os.environ.get("HCAT_BENCHMARK_DATA")
    if not folder:
        pytest.skip("HCAT_BENCHMARK_DATA is not set: the ratings of QAGS lie there")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(
        Path(folder) / "qags" / "qags.parquet", columns=["dataset", "article", "workers"]
    )
    rows = [row for row in table.to_pylist() if row["dataset"] == dataset]
    votes = [json.loads(row["workers"]) for row in rows]
    workers = {worker: column for column, worker in enumerate(sorted({w for unit in votes for w, _ in unit}))}
    ratings = np.full((len(rows), len(workers)), NAN)
    for unit, given_votes in enumerate(votes):
        for worker, vote in given_votes:
            ratings[unit, workers[worker]] = vote == "yes"
    clusters = np.unique([row["article"] for row in rows], return_inverse=True)[1]
    found_kappa, found_alpha = fleiss_kappa(ratings, clusters), krippendorff_alpha(ratings, clusters)
    assert_allclose([found_kappa.value, found_alpha.value], [kappa, alpha], atol=1e-4)
    assert found_alpha.low < alpha < found_alpha.high
    assert found_alpha.count_ratings == 3 * len(rows)
    # few of the many workers rated enough to be judged
    known = [report for report in rater_reports(ratings, clusters, count_draws=1) if report.status == "estimated"]
    assert 0 < len(known) < len(workers) / 2
    assert not any(report.disagrees_with_everyone for report in known)
    assert (np.diff(dawid_skene(ratings).log_posterior) >= -1e-9).all()
