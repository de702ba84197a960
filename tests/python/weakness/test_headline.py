"""The headline family: draws of whole clusters, and Westfall and Young's step-down."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import jackknife_cells
from hcat.weakness.headline import Pieces, _Layout, judge_headline, step_down
from hcat.weakness.tables import choose_cells

DRAWS = 399


def make_pieces(values: Floats, clusters: Integers, members: Flags, is_share: bool = True) -> Pieces:
    """Return one piece per row: pieces need not be as large as possible."""
    spread = None if is_share else float(values.std())
    dimensions = np.arange(members.shape[1])
    return Pieces(
        clusters, clusters, clusters, np.ones(len(values)), values, members, np.ones_like(members), dimensions, spread
    )


def clustered(seed: int) -> tuple[Floats, Integers, Flags]:
    """Return failures at .2 whose clusters differ, and three cells: of whole clusters, of rows, and small."""
    random = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(60), 4)
    values = (random.random(len(clusters)) < random.beta(0.8, 3.2, 60)[clusters]).astype(np.float64)
    members = np.column_stack([clusters < 20, random.random(len(clusters)) < 0.5, clusters % 12 == 0])
    return values, clusters, members


@pytest.mark.parametrize("is_share", [True, False])
def test_a_planted_weakness_is_found_and_the_other_cells_are_not(is_share: bool) -> None:
    values, clusters, members = clustered(1)
    values = np.where(members[:, 0], np.maximum(values, clusters % 4 > 0), values)
    found = judge_headline(make_pieces(values, clusters, members, is_share), 0.05, DRAWS, 1)
    assert found.adjusted_p_value[0] <= 0.05 < found.adjusted_p_value[1:].min()
    assert found.statistic[0] > found.critical[0]
    assert (found.p_value <= found.adjusted_p_value).all()


def test_the_statistic_has_the_jackknife_error_of_the_cells() -> None:
    # clusters that fail wholly or never: the jackknife's error is the larger one where few of them lie in the cell
    clusters = np.repeat(np.arange(40), 3)
    values = (clusters % 4 == 0).astype(np.float64)
    members = (clusters < 8)[:, None] | (clusters == 11)[:, None]
    found = judge_headline(make_pieces(values, clusters, members), 0.05, 9, 1)
    own = clusters[:, None] == np.arange(40)
    counts, sums = own.T @ members.astype(float), own.T @ (members * values[:, None])
    cells = jackknife_cells(counts, sums, own.sum(axis=0).astype(float), own.T @ values)
    likeness_is_one = 0.25 * 0.75 * (3 / 27 + 3 / 93)
    error = np.sqrt(np.maximum(cells.difference_standard_error**2, likeness_is_one))
    assert_allclose(found.statistic, cells.difference / error, rtol=1e-9)


@pytest.mark.parametrize("is_share", [True, False])
def test_documents_that_fail_together_flag_nothing_although_each_row_is_a_cluster(is_share: bool) -> None:
    random = np.random.default_rng(3)
    documents = np.repeat(np.arange(48), 10)
    alike = random.beta(0.3, 1.2, 48) if is_share else random.standard_normal(48)
    values = np.where(random.random(480) < alike[documents], 1.0, 0.0) if is_share else alike[documents]
    values = values + 0.0 if is_share else values + random.standard_normal(480)
    # the eight documents that fail most are a topic
    worst = np.argsort(-np.bincount(documents, values))[:8]
    members = np.column_stack([np.isin(documents, worst), documents % 6 == 0])
    pieces = make_pieces(values, np.arange(480), members, is_share)
    blind = judge_headline(pieces, 0.05, DRAWS, 1)
    found = judge_headline(pieces._replace(documents=documents), 0.05, DRAWS, 1)
    assert (found.errors[0] > 1.5 * blind.errors[0], found.p_value[0] >= blind.p_value[0]) == (True, True)
    assert blind.critical[0] > 0
    assert found.drawn.std() < 2


@pytest.mark.parametrize("is_crossed", [False, True])
def test_both_likenesses_are_those_of_the_rows(is_crossed: bool) -> None:
    random = np.random.default_rng(5)
    clusters, documents = np.repeat(np.arange(2000), 2), np.tile(np.repeat(np.arange(200), 2), 10)
    # rows of one cluster are about one document, or about any
    documents = random.permutation(documents) if is_crossed else documents
    effects = (
        np.sqrt(0.2) * random.standard_normal(2000)[clusters] + np.sqrt(0.1) * random.standard_normal(200)[documents]
    )
    values = effects + np.sqrt(0.7) * random.standard_normal(4000)
    members = (clusters % 3 == 0)[:, None]
    pieces = make_pieces(values, clusters, members, is_share=False)._replace(documents=documents)
    found = _Layout(pieces).estimate(values[None, :])
    assert_allclose(found.alike[:, 0], [0.19, 0.11], atol=0.03)
    drawn = np.concatenate(list(_Layout(pieces).draw(random, 4, 0.0, np.array([0.2, 0.1]))))
    assert_allclose(_Layout(pieces).estimate(drawn).alike.mean(axis=1), [0.19, 0.11], atol=0.03)


def test_step_down_adjusts_independent_cells_as_sidak() -> None:
    drawn = np.random.default_rng(4).normal(size=(20_000, 5))
    found = step_down(np.array([2.5, 0.0, -1.0, 0.5, 2.0]), drawn, 0.05, np.ones(5))
    smallest = found.p_value[0]
    assert_allclose(found.adjusted_p_value[0], 1 - (1 - smallest) ** 5, rtol=0.1)
    # the second smallest competes with four
    assert_allclose(found.adjusted_p_value[4], 1 - (1 - found.p_value[4]) ** 4, rtol=0.1)
    assert_allclose(found.cut_off, 1 - 0.95 ** (1 / 4), rtol=0.1)


def test_a_cell_is_flagged_exactly_above_its_critical_value() -> None:
    drawn = np.random.default_rng(5).normal(size=(999, 3))
    rows = np.array([1.0, 2.0, 3.0])
    critical = step_down(np.zeros(3), drawn, 0.05, rows).critical
    for cell, apart in enumerate(np.eye(3)):
        above, below = (np.where(apart > 0, critical[cell] + side, 0.0) for side in (1e-9, -1e-9))
        assert step_down(above, drawn, 0.05, rows).adjusted_p_value[cell] <= 0.05
        assert step_down(below, drawn, 0.05, rows).adjusted_p_value[cell] > 0.05


def test_a_cell_of_twice_as_many_rows_has_twice_the_part_of_the_level() -> None:
    drawn = np.random.default_rng(6).normal(size=(20_000, 3))
    found = step_down(np.zeros(3), drawn, 0.05, np.array([1.0, 2.0, 2.0]))
    assert_allclose(found.cut_off[1:], 2 * found.cut_off[0])
    assert_allclose(1 - np.prod(1 - found.cut_off), 0.05, rtol=0.05)
    assert_allclose(found.critical, stats.norm.ppf(1 - found.cut_off), rtol=0.05)


def test_bounds_are_those_of_the_draws() -> None:
    drawn = np.column_stack([np.arange(100.0), -np.arange(100.0)])
    found = step_down(np.array([1.0, 1.0]), drawn, 0.05, np.ones(2))
    # the quantile of .95 is 94; one below 0 does not widen the claim
    assert_allclose(found.bound(np.array([1.0, 1.0]), np.array([0.01, 0.01]), 0.95), [0.06, 1.0])


def test_cells_with_groups_enough_are_chosen_and_those_with_most_clusters_come_first() -> None:
    # loans (2) has three clusters, and cards (1) two; tiny (3) has one; s4 has no value in the dimension
    cells = {"cell_id": ["c", "l", "t", "other"], "metric_name": ["m", "m", "m", "n"], "cell_key": [1, 2, 3, 1]}
    cells |= {"first_dimension": ["topic"] * 4, "second_dimension": pa.nulls(4, pa.string())}
    rows = [("s1", "1"), ("s1", "2"), ("s2", "1"), ("s2", "2"), ("s3", "2"), ("s3", "3"), ("s3", "3"), ("s4", "")]
    pieces = {"metric_name": ["m"] * 8, "cluster_id": [cluster for cluster, _ in rows]}
    pieces |= {
        "jackknife_group": pieces["cluster_id"],
        "second_group": pieces["cluster_id"],
        "cells": [key for _, key in rows],
        "count_rows": [1] * 8,
        "whole_weight": [1] * 8,
    }
    pieces |= {"sum_values": [2.0] + [0.0] * 7, "sum_squares": [4.0] + [0.0] * 7}
    family = choose_cells(pa.table(pieces), pa.table(cells), 2, 2)
    assert (family.metrics, family.cell_ids) == (["m"], ["l", "c"])
    found = family.pieces(is_share=False)
    loans, cards, rest = [True, False], [False, True], [False, False]
    assert found.clusters.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert found.members.tolist() == [cards, loans, cards, loans, rest, loans, rest]
    assert found.partitions.tolist() == [[True, True]] * 6 + [[False, False]]
    assert found.counts.tolist() == [1.0] * 4 + [2.0, 1.0, 1.0]
    assert found.spread == pytest.approx(np.std([2.0] + [0.0] * 7))
    assert choose_cells(pa.table(pieces), pa.table(cells), 4, 2).cell_ids == []
