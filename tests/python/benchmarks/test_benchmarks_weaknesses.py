"""The measuring instrument of weak cells: its designs, its noise, and what it plants."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

# benchmarks is no installed package: it is run from the root of the repository
from benchmarks import weaknesses
from benchmarks.__main__ import BENCHMARKS
from benchmarks.weaknesses import Plant, deal, draw_scores, estimate_metric, flag_by_rows, is_any_found


def test_the_benchmark_is_registered() -> None:
    assert BENCHMARKS["weaknesses"] is weaknesses.run


def test_a_design_has_clusters_cells_and_a_plant() -> None:
    design = deal(2_000, 2.5, np.random.default_rng(1), Plant(60, 0.35, by_cluster=False))
    assert_array_equal(np.unique(design.clusters), np.arange(800))
    assert_array_equal(design.members[:, 0], 1.0)
    assert design.members[:, 1].sum() == 60
    assert_array_equal(design.counts.sum(axis=0), design.members.sum(axis=0))
    # 800 clusters leave one by one, 2,000 in groups
    assert len(np.unique(design.groups)) == 800
    assert 100 < len(np.unique(deal(2_000, 1, np.random.default_rng(1)).groups)) <= weaknesses.COUNT_GROUPS
    assert 280 < design.members.shape[1] < 330


def test_a_plant_of_whole_clusters_takes_whole_clusters() -> None:
    design = deal(2_000, 5.0, np.random.default_rng(1), Plant(60, 0.35, by_cluster=True))
    planted = design.counts[:, 1]
    assert set(planted[planted > 0] - design.counts[planted > 0, 0]) == {0.0}
    assert 60 <= planted.sum() < 80


def test_scores_have_the_declared_likeness() -> None:
    design = deal(20_000, 5.0, np.random.default_rng(2))
    scores = draw_scores(design, 0.3, 2, np.random.default_rng(3))
    means = np.bincount(design.clusters, weights=scores[:, 0]) / design.counts[:, 0]
    within = ((scores[:, 0] - means[design.clusters]) ** 2).sum() / (20_000 - 4_000)
    assert_allclose([within, scores[:, 0].var()], [0.7, 1.0], atol=0.04)
    assert_allclose(np.corrcoef(scores.T)[0, 1], weaknesses.CORRELATION, atol=0.03)
    cells = estimate_metric(design, scores[:, 0], False)
    # uneven clusters in few groups: rough, and rather too high
    assert 0.2 < cells.whole_likeness[0] < 0.5


def test_rows_are_tested_as_by_scipy() -> None:
    from scipy import stats

    random = np.random.default_rng(4)
    design = deal(300, 3.0, random)
    values = random.normal(size=300)
    p_values = flag_by_rows(design, values)
    column = int(np.flatnonzero(np.isfinite(p_values))[5])
    is_in = design.members[:, column] > 0
    expected = stats.ttest_ind(values[is_in], values[~is_in], equal_var=False, alternative="greater").pvalue
    assert_allclose(p_values[column], expected)


def test_any_found() -> None:
    assert is_any_found(np.array([0.02, 0.9, np.nan]), 0.05)
    assert not is_any_found(np.array([0.03, 0.9, np.nan]), 0.05)
    assert not is_any_found(np.array([np.nan]), 0.05)


def test_noise_is_quiet_for_hcat_and_not_for_rows() -> None:
    found = weaknesses.measure_noise(0.3, None, 10)
    assert found.by_hcat <= 0.1
    assert found.by_rows >= 0.7
    assert found.count_tests > 1_000


def test_nothing_but_the_null_error_holds_where_most_fail() -> None:
    found = weaknesses.measure_noise(0.3, 0.8, 8)
    assert found.by_hcat <= 0.125
    assert found.by_jackknife >= 0.5


def test_a_disaster_is_found_and_nothing_else() -> None:
    found = weaknesses.measure_plant(Plant(120, 0.5, by_cluster=False), 2_000, 1.0, 0.0, 8)
    assert found.flagged == 1.0
    assert found.false_flagged <= 0.1
    assert abs(found.excess) < 0.05
    nothing = weaknesses.measure_plant(Plant(120, 0.0, by_cluster=False), 2_000, 1.0, 0.0, 4)
    assert nothing.flagged == 0.0
    assert 0.1 < nothing.detectable < 0.4
