"""Agreement: hand-worked and published answers, reference libraries, bootstrap oracle, raters, and adjudication."""

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
    cohen_kappa,
    compare_strictness,
    dawid_skene,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
    report_rater,
)
from hcat.statistics.clustered import rate_interval

NAN = float("nan")


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


def test_percent_agreement_by_hand():
    # m P = 3 (one pair of three agrees: 1/3) -> 1, 2 (agree) -> 2, 3 -> 3; 8 pairable values
    ratings = np.array([[0, 0, 1], [2, 2, NAN], [1, 1, 1], [NAN, NAN, 2]])
    found = percent_agreement(ratings, own_clusters(ratings))
    assert_allclose(found.value, (1 + 2 + 3) / 8)
    assert (found.count_units, found.count_ratings, found.count_clusters) == (3, 8, 3)


@given(any_ratings(gaps=False))
@settings(deadline=None)
def test_fleiss_agrees_with_statsmodels(ratings):
    assume(len(np.unique(ratings)) > 1)
    found = fleiss_kappa(ratings, own_clusters(ratings), count_draws=1)
    assert_allclose(found.value, fleiss_kappa_of_statsmodels(aggregate_raters(ratings.astype(int))[0]), atol=1e-9)


def test_without_variation_there_is_percent_agreement_only():
    ratings = np.ones((12, 2))
    percent, *corrected = (
        measure(ratings, own_clusters(ratings))
        for measure in (percent_agreement, cohen_kappa, fleiss_kappa, krippendorff_alpha)
    )
    assert (percent.value, percent.interval_status, percent.low) == (1.0, "no_spread", None)
    assert {(found.status, found.value, found.count_units) for found in corrected} == {("no_variation", None, 12)}


def test_fleiss_needs_equal_numbers_and_cohen_two_raters():
    ratings = np.array([[0.0, 1, 1], [1, 1, NAN], [0, 0, 0]])
    assert fleiss_kappa(ratings, own_clusters(ratings)).status == "unequal_ratings_per_unit"
    assert cohen_kappa(ratings, own_clusters(ratings)).status == "more_than_two_raters"


def test_interval_is_that_of_reindexed_ratings():
    random = np.random.default_rng(4)
    ratings = rate(random, random.integers(0, 3, 45), [0.8, 0.7, 0.9], 3)
    ratings[random.random(ratings.shape) < 0.15] = NAN
    clusters = np.repeat(np.arange(15) * 7 - 20, 3)
    drawn = np.random.default_rng(11).integers(0, 15, (60, 15))
    names = np.unique(clusters)
    resampled = [ratings[np.concatenate([np.flatnonzero(clusters == names[s]) for s in draw])] for draw in drawn]
    draws = [krippendorff.alpha(table.T, level_of_measurement="ordinal") for table in resampled]
    found = krippendorff_alpha(ratings, clusters, count_draws=60, seed=11)
    assert_allclose([found.low, found.high], np.quantile(draws, [0.025, 0.975]), atol=1e-9)
    full = rate(random, random.integers(0, 3, 45), [0.8, 0.7], 3)
    for weights in (None, "quadratic"):
        draws = []
        for draw in drawn:
            table = full[np.concatenate([np.flatnonzero(clusters == names[s]) for s in draw])].astype(int)
            draws.append(cohen_kappa_score(table[:, 0], table[:, 1], labels=[0, 1, 2], weights=weights))
        found = cohen_kappa(full, clusters, weights or "nominal", count_draws=60, seed=11)
        assert_allclose([found.low, found.high], np.quantile(draws, [0.025, 0.975]), atol=1e-9)


def test_a_second_key_widens_the_interval_where_answers_about_a_document_are_alike():
    # 12 documents of 10 answers: in four of them the raters contradict each other
    documents = np.repeat(np.arange(12), 10)
    ratings = np.column_stack([np.arange(120) % 2, (np.arange(120) + (documents < 4)) % 2]).astype(float)
    own, whole = (cohen_kappa(ratings, keys) for keys in (own_clusters(ratings), documents))
    crossed = cohen_kappa(ratings, np.column_stack([own_clusters(ratings), documents]))
    assert (crossed.value, crossed.count_clusters) == (own.value, 120)
    assert_allclose((crossed.low, crossed.high), (whole.low, whole.high), atol=1e-12)
    assert crossed.high - crossed.low > 2 * (own.high - own.low)
    # the interval speaks of fewer than ten documents alone
    assert cohen_kappa(ratings, np.column_stack([own_clusters(ratings), documents // 2])) == own


def test_intervals_need_clusters_and_usable_draws():
    ratings = np.tile([[0.0, 1], [1, 1], [0, 0]], (10, 1))
    few = krippendorff_alpha(ratings, np.repeat(np.arange(3), 10))
    assert (few.status, few.interval_status, few.low) == ("estimated", "too_few_clusters", None)
    # one cluster in twelve holds all variation: it is missing from (11/12)^12 = 35 % of the draws
    rare = np.ones((12, 2))
    rare[0] = 0
    found = krippendorff_alpha(rare, own_clusters(rare))
    assert (found.value, found.interval_status) == (1.0, "too_few_usable_draws")


def test_rater_report_by_hand():
    # others agree on 24 of 30 units; the rater agrees with them on 18 of those 24
    others = np.array([[1.0, 1]] * 12 + [[0, 0]] * 12 + [[0, 1]] * 6)
    own = np.array([1.0] * 9 + [0] * 3 + [0] * 9 + [1] * 3 + [1] * 6)
    ratings = np.column_stack([own, others])
    found = report_rater(ratings, own_clusters(ratings), 0)
    assert (found["status"], found["count_ratings"], found["count_shared_units"]) == ("estimated", 30, 24)
    assert (found["count_effective"], found["agreement"]) == (24, 0.75)
    expected = rate_interval(np.arange(24) < 18, np.arange(24))
    assert_allclose((found["low"], found["high"]), (expected.low, expected.high), atol=1e-12)
    assert_allclose((found["kappa"], found["agreement_of_others"]), (0.5, 0.8))
    assert found["disagrees_with_everyone"] is False


def test_the_rater_of_the_hard_units_is_not_blamed():
    # rater 0 rates only units on which everyone is right with .65; elsewhere the others are right with .97
    random = np.random.default_rng(21)
    truth = random.integers(0, 2, 400)
    ratings = np.where(np.arange(400)[:, None] < 120, rate(random, truth, [0.65] * 4), rate(random, truth, [0.97] * 4))
    ratings[120:, 0] = NAN
    found = report_rater(ratings, own_clusters(ratings), 0)
    assert found["high"] < 0.9
    assert found["disagrees_with_everyone"] is False


def test_rater_reports_need_raters_and_shared_units():
    two = np.tile([[0.0, 1, NAN], [1, 1, NAN]], (30, 1))
    report = report_rater(two, own_clusters(two), 0)
    assert report["status"] == "fewer_than_three_raters"
    assert not report.keys() & {"agreement", "disagrees_with_everyone"}
    # 19 shared units: ties of the others and units with a single other do not count
    ratings = np.array([[1.0, 1, 1]] * 19 + [[1, 0, 1]] * 10 + [[1, 1, NAN]] * 10)
    found = report_rater(ratings, own_clusters(ratings), 0)
    assert (found["status"], found["count_ratings"], found["count_shared_units"]) == ("too_few_shared_units", 39, 19)
    assert not found.keys() & {"agreement", "low", "high", "kappa"}


def graded(seed: int, count: int = 80) -> np.ndarray:
    random = np.random.default_rng(seed)
    ratings = rate(random, random.choice(3, count, p=[0.2, 0.3, 0.5]), [0.9, 0.75, 0.6, 0.8], 3)
    ratings[random.random(ratings.shape) < 0.2] = NAN
    ratings[np.isnan(ratings).all(axis=1), 0] = 1.0
    return ratings


def test_dawid_skene_is_where_the_textbook_iteration_stays():
    ratings = graded(3)
    found = dawid_skene(ratings, pseudo_count=0.3)
    prior = (found.posterior.sum(axis=0) + 0.3) / (len(ratings) + 0.9)
    confusion = np.full((4, 3, 3), 0.3)
    for unit, row in enumerate(ratings):
        for rater, value in enumerate(row):
            if not np.isnan(value):
                confusion[rater, :, int(value)] += found.posterior[unit]
    confusion /= confusion.sum(axis=2, keepdims=True)
    assert_allclose(found.confusion, confusion, atol=1e-6)
    for unit, row in enumerate(ratings):
        given = [(rater, int(value)) for rater, value in enumerate(row) if not np.isnan(value)]
        joint = [prior[k] * np.prod([confusion[rater, k, value] for rater, value in given]) for k in range(3)]
        assert_allclose(found.posterior[unit], joint / np.sum(joint), atol=1e-6)


def test_dawid_skene_keeps_ties():
    # the same raters, mirrored: nothing tells 0 from 1 on the units where two say each
    ratings = np.array([[0.0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]] * 5)
    found = dawid_skene(ratings)
    assert found.statuses == ["labelled", "labelled", "tie", "tie"] * 5
    assert_allclose(found.labels, [0, 1, NAN, NAN] * 5)


def test_dawid_skene_needs_raters_ratings_and_variation():
    two = np.array([[0.0, 1, NAN], [1, 1, NAN], [0, 0, NAN]])
    sparse = np.array([[0.0, NAN, NAN], [NAN, 1, NAN], [1, NAN, 1], [0, NAN, 1]])
    for ratings, status in ((two, "insufficient"), (sparse, "insufficient"), (np.ones((4, 3)), "no_variation")):
        found = dawid_skene(ratings)
        assert (set(found.statuses), found.posterior, found.confusion) == ({status}, None, None)
        assert np.isnan(found.labels).all()
    assert set(dawid_skene(graded(3), maximum_iterations=2).statuses) == {"not_converged"}


def test_raters_who_share_no_answer_are_compared_by_what_they_fail() -> None:
    """A fails 9 of 50 and B 21 of 52: by the table of four cells, chi-squared is 6.11."""
    ratings = np.full((102, 2), np.nan)
    ratings[:50, 0], ratings[50:, 1] = np.arange(50) >= 9, np.arange(52) >= 21
    found = compare_strictness(ratings, 1)
    assert [(row["count_failed"], row["share_failed"]) for row in found] == [(9, 9 / 50), (21, 21 / 52)]
    assert found[0]["chance_of_gap"] == found[1]["chance_of_gap"] == pytest.approx(0.0134, abs=0.0005)
    assert compare_strictness(ratings[:50, :1], 1)[0]["chance_of_gap"] is None
    assert compare_strictness(ratings, None) == [{}, {}]
