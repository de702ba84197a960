"""Weak cells: the jackknife by hand and by brute force, tests against permutations, references for what is standard."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from hcat.statistics.arrays import Floats
from hcat.statistics.clustered import rate_interval
from hcat.statistics.clusters import jackknife_cells
from hcat.weakness.statistics import (
    Cells,
    WeaknessSettings,
    cell_mean_bounds,
    cell_share_bounds,
    count_siblings,
    detectable_difference,
    estimate_likeness,
    interactions_needed,
    judge_cells,
    shrink,
    with_documents,
    with_whole,
)

SETTINGS = WeaknessSettings(confidence=0.95, minimum_clusters=10)


def make_cells(count: int = 1, **values: Any) -> Cells:
    """Cells of 40 clusters with one row each against 400, of values .5 and .2; single figures are repeated."""
    figures = {
        "count_scored": 40.0,
        "jackknife_groups": 40.0,
        "clusters_effective": 40.0,
        "clusters_carrying": 20.0,
        "largest_share": 0.025,
        "value": 0.5,
        "standard_error": 0.08,
        "count_scored_rest": 400.0,
        "jackknife_groups_rest": 400.0,
        "rest_value": 0.2,
        "difference": 0.3,
        "difference_standard_error": 0.08,
        "clusters": 40.0,
        "pairs": 40.0,
        "whole_spread": 0.4,
        "whole_design_effect": 1.0,
        "whole_likeness": 0.0,
        "whole_carrying": 12.0,
        "whole_evenness": 1.0,
    } | values
    return Cells(**{name: np.broadcast_to(np.float64(value), count).copy() for name, value in figures.items()})


def sum_groups(values: Floats, groups: npt.NDArray[np.int64], members: npt.NDArray[np.bool_]) -> tuple[Floats, ...]:
    """Return counts and sums by group of the members of each cell, shape (n_groups, n_cells), and of all rows."""
    own = groups[:, None] == np.arange(groups.max() + 1)
    counts, sums = own.T @ members.astype(float), own.T @ (members * values[:, None])
    return counts, sums, own.sum(axis=0).astype(float), own.T @ values


def estimate_rows(values: Floats, groups: npt.NDArray[np.int64], members: npt.NDArray[np.bool_]) -> Cells:
    """Return cells of rows; the first cell of `members` must be all rows."""
    estimates = jackknife_cells(*sum_groups(values, groups, members))._asdict()
    spread = np.asarray([values[column].std(ddof=1) for column in members.T])
    return with_whole(estimates, estimates["jackknife_groups"], spread, np.zeros(members.shape[1], dtype=np.int64))


def test_likeness_of_siblings() -> None:
    # D = 1 + rho (m - 1), m = 4 rows a cluster: D = 4 is rho = 1, D = 1 is rho = 0; no siblings, no likeness
    design_effects = np.array([4.0, 1.0, 2.5, 9.0, 1.5, np.nan])
    siblings = np.array([4.0, 4.0, 4.0, 4.0, 1.0, np.nan])
    assert_allclose(estimate_likeness(design_effects, siblings), [1.0, 0.0, 0.5, 1.0, 0.0, 0.0])


def test_strangers_in_one_jackknife_group_are_no_siblings() -> None:
    # 100 rows of 50 clusters, effective 40; the same in 10 groups: two rows a cluster; no rows: nobody but oneself
    found = count_siblings(
        np.array([100.0, 100.0, 0.0]), np.full(3, 50.0), np.array([50.0, 10.0, 0.0]), np.array([40.0, 9.0, np.nan])
    )
    assert_allclose(found, [2.5, 2.0, 1.0])


def test_the_larger_standard_error_is_taken() -> None:
    # s_0 = .4 sqrt(1 / 40 + 1 / 400) = .0663 is below the jackknife's .08; a cell without spread gets s_0
    cells = make_cells(2, difference_standard_error=[0.08, 0.0], standard_error=[0.08, 0.0])
    least = 0.4 * math.sqrt(1 / 40 + 1 / 400)
    assert_allclose(cells.test_error, [0.08, least])
    assert_allclose(cells.degrees_of_freedom, [39.0, 39.0])
    judged = judge_cells(cells, np.array([True, True]), np.zeros(2), SETTINGS)
    assert_allclose(judged.p_value, stats.t.sf([0.3 / 0.08, 0.3 / least], 39))
    assert_allclose(judged.difference_bound, [0.3 - stats.t.ppf(0.95, 39) * error for error in (0.08, least)])


def test_the_side_with_fewer_clusters_gives_the_degrees_of_freedom() -> None:
    cells = make_cells(clusters_effective=300.0, jackknife_groups_rest=12.0, whole_evenness=0.5)
    assert_allclose(cells.degrees_of_freedom, 5.0)


@pytest.mark.parametrize(("rate", "is_weak"), [(0.8, False), (0.2, True)])
def test_a_cell_in_which_everything_fails(rate: float, is_weak: bool) -> None:
    # ten of ten is common where four in five fail, and an alarm where one in five does; one such cell in a family of 50
    figures: dict[str, Any] = {"value": 1.0, "standard_error": 0.0, "rest_value": rate}
    figures |= {"difference_standard_error": 0.001, "whole_spread": math.sqrt(rate * (1 - rate))}
    figures |= {"count_scored": 10.0, "jackknife_groups": 10.0, "clusters_effective": 10.0, "clusters": 10.0}
    family = make_cells(50, difference=np.where(np.arange(50) == 0, 1 - rate, 0.0), **figures)
    judged = judge_cells(family, np.ones(50, dtype=bool), np.full(50, 0.03), SETTINGS)
    assert judged.is_weak.tolist() == [is_weak] + [False] * 49


def test_the_cut_off_is_where_one_more_cell_would_be_flagged() -> None:
    # four of ten are found: they were found at 4 / 10 x .05, a fifth would be at 5 / 10 x .05
    cells = make_cells(10, difference=[0.5] * 4 + [0.0] * 6)
    judged = judge_cells(cells, np.ones(10, dtype=bool), np.zeros(10), SETTINGS)
    assert_allclose(judged.cut_off, [0.02] * 4 + [0.025] * 6)


def permutation_p_value(
    values: Floats, groups: npt.NDArray[np.int64], is_in: npt.NDArray[np.bool_], draws: int
) -> float:
    """Return the P-value of the difference under permutations of the cell's whole clusters."""
    random = np.random.default_rng(11)
    sums, counts = np.bincount(groups, weights=values), np.bincount(groups).astype(float)
    observed = sums[is_in].sum() / counts[is_in].sum() - sums[~is_in].sum() / counts[~is_in].sum()
    chosen = np.argsort(random.random((draws, len(is_in))), axis=1)[:, : is_in.sum()]
    inside, inside_counts = sums[chosen].sum(axis=1), counts[chosen].sum(axis=1)
    drawn = inside / inside_counts - (sums.sum() - inside) / (counts.sum() - inside_counts)
    # shares have ties; half of them count
    beyond = (drawn > observed + 1e-12).sum() + (np.abs(drawn - observed) <= 1e-12).sum() / 2
    return float((1 + beyond) / (1 + draws))


@pytest.mark.parametrize("is_share", [False, True])
def test_p_values_agree_with_permutations_of_whole_clusters(is_share: bool) -> None:
    random = np.random.default_rng(5)
    tested, permuted = [], []
    for shift in np.linspace(0, 1.2, 25):
        count_clusters = 80
        groups = np.repeat(np.arange(count_clusters), 3)
        is_in = np.arange(count_clusters) < 20
        values = 0.6 * random.normal(size=count_clusters)[groups] + 0.8 * random.normal(size=len(groups))
        values = values + shift * is_in[groups]
        if is_share:
            values = (values > 1.0).astype(float)
        members = np.column_stack([np.ones(len(groups), dtype=bool), is_in[groups]])
        cells = estimate_rows(values, groups, members)
        judged = judge_cells(cells, np.array([False, True]), np.zeros(2), SETTINGS)
        tested.append(judged.p_value[1])
        permuted.append(permutation_p_value(values, groups, is_in, 4_000))
    assert_allclose(tested, permuted, atol=0.06)
    # on the scale of z, where small P-values count; the test is the more careful one
    known = np.asarray(permuted) > 0.002
    apart = stats.norm.isf(np.asarray(tested)[known]) - stats.norm.isf(np.asarray(permuted)[known])
    assert np.abs(apart).max() < 0.5
    assert np.median(apart) < 0.1


def test_detectable_difference_of_a_mean_is_two_quantiles_wide() -> None:
    cells = make_cells(whole_spread=0.1)
    found = detectable_difference(cells, np.array([False]), np.zeros(1), stats.t.isf([0.001], 39), SETTINGS)
    assert_allclose(found, (stats.t.isf(0.001, 39) + stats.t.ppf(0.8, 39)) * 0.08)


def test_detectable_difference_of_a_share_solves_its_equation() -> None:
    cells = make_cells()
    found = detectable_difference(cells, np.array([True]), np.array([0.0]), stats.t.isf([0.001], 39), SETTINGS)[0]
    rate = 0.2 + found
    error = math.sqrt(rate * (1 - rate) / 40 + 0.2 * 0.8 / 400)
    assert_allclose(found, (stats.t.isf(0.001, 39) + stats.t.ppf(0.8, 39)) * error, rtol=1e-9)


def test_interactions_needed_reach_test_margin_and_retest() -> None:
    # d = .3 at s = .08 and n = 40; the margin asks for less than the test, and a difference within it needs none. The
    # last d would be confirmed by fewer than ten clusters
    cells = make_cells(4, difference=[0.3, 0.3, 0.02, 0.9])
    flag, confirm = interactions_needed(cells, np.array([0.03, 0.25, 0.03, 0.03]), np.full(4, 0.001), SETTINGS)
    power, level, test = stats.norm.ppf([0.8, 0.95, 0.999])
    by_test = 40 * ((power + test) * 0.08 / 0.3) ** 2
    by_margin = 40 * ((power + level) * 0.08 / 0.05) ** 2
    assert_allclose(flag[:3], np.ceil([by_test, by_margin, np.nan]))
    assert_allclose(confirm, np.ceil([1.5 * 40 * ((power + level) * 0.08 / 0.3) ** 2] * 2 + [np.nan, 10]))


def test_documents_that_widen_the_error_decide_the_degrees_of_freedom() -> None:
    cells = make_cells(2, documents_effective=[11.5, np.nan])
    assert_allclose(cells.degrees_of_freedom, [10.5, make_cells().degrees_of_freedom[0]])


def test_a_cluster_with_more_than_a_fifth_of_the_rows_dominates() -> None:
    assert make_cells(3, largest_share=[0.2, 0.21, np.nan]).is_dominated.tolist() == [False, True, False]


def test_share_bounds_are_those_of_the_shared_interval() -> None:
    # 40 clusters of 5 rows, 12 of which fail wholly: the likeness of all rows is that of the cell
    is_failing = np.repeat(np.arange(40) < 12, 5)
    expected = rate_interval(is_failing, np.repeat(np.arange(40), 5))
    cells = make_cells(
        value=0.3,
        count_scored=200.0,
        standard_error=expected.standard_error,
        clusters_carrying=12.0,
        whole_likeness=1.0,
    )
    # documents that hold one cluster each say nothing beside it
    bounds = np.ravel(cell_share_bounds(cells, cells, 0.95))
    assert_allclose(bounds, (expected.low, expected.high), rtol=1e-9)


def test_crossed_keys_add_their_variances() -> None:
    # 200 rows of 40 clusters, each row about a document of its own cluster, or of all clusters
    cells = make_cells(3, count_scored=200.0, whole_likeness=0.5, pairs=[40.0, 200.0, 200.0])
    documents = replace(cells, jackknife_groups=np.array([20.0, 20.0, 6.0]), clusters_effective=np.full(3, 20.0))
    low, high = cell_mean_bounds(cells, documents, 0.95)
    # D = 1 + .5 x 4 = 3; of pairs 3 or 1: A + B - AB is A, or A + B - A / 3; of six documents the cell speaks alone
    errors = np.sqrt([1.0, 1 + 1 - 1 / 3, 1.0]) * cells.standard_error
    assert_allclose((high - low) / 2, stats.t.ppf(0.975, [39, 19, 39]) * errors)
    joined = with_documents(cells, documents)
    assert_allclose(joined.difference_standard_error[:2] / cells.difference_standard_error[:2], np.sqrt([1.0, 5 / 3]))
    assert joined.documents_effective[1] == 20


def test_mean_bounds() -> None:
    cells = make_cells(4, standard_error=[0.08, 0.0, np.nan, 0.08], clusters_effective=[40.0, 40.0, 1.0, 2.0])
    low, high = cell_mean_bounds(cells, cells, 0.95)
    margins = [stats.t.ppf(0.975, 39) * 0.08, stats.t.ppf(0.975, 39) * 0.4 / math.sqrt(40), np.nan]
    assert_allclose((high - low)[:3] / 2, margins)
    assert_allclose(high[3] - 0.5, stats.t.ppf(0.975, 1) * 0.08)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0.05, 2)), min_size=3, max_size=20))
def test_variance_between_cells_solves_the_equation_of_paule_and_mandel(pairs: list[tuple[float, float]]) -> None:
    values, errors = (np.asarray(column) for column in zip(*pairs, strict=True))
    shrunken, found = shrink(values, errors, np.ones((len(values), 1)))
    center = np.average(values, weights=1 / (errors**2 + found))
    misfit = ((values - center) ** 2 / (errors**2 + found)).sum()
    if found == 0:
        assert misfit <= (len(values) - 1) * (1 + 1e-9)
    else:
        assert_allclose(misfit, len(values) - 1, rtol=1e-6)
    assert_allclose(shrunken, center + found / (found + errors**2) * (values - center), atol=1e-9)


def test_pairs_are_drawn_to_the_sum_of_their_dimensions() -> None:
    first, second = np.repeat(np.eye(3), 4, axis=0), np.tile(np.eye(4), (3, 1))
    additive = first @ np.array([0.1, 0.2, 0.4]) + second @ np.array([0.0, 0.05, 0.1, 0.2])
    design = np.column_stack([first, second])
    shrunken, tau_squared = shrink(additive, np.full(12, 0.1), design)
    assert tau_squared == 0
    assert_allclose(shrunken, additive)
    # one cell off the sum, measured badly, comes back to it
    noisy = additive + np.where(np.arange(12) == 5, 0.5, 0.0)
    errors = np.where(np.arange(12) == 5, 1.0, 0.001)
    assert_allclose(shrink(noisy, errors, design)[0][5], additive[5], atol=0.01)
