"""Folds, draws, sums and the jackknife of whole clusters, by hand and against SQL."""

import hashlib
import math

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hcat.statistics.arrays import Floats
from hcat.statistics.clusters import (
    deal_folds,
    draw_clusters,
    hash_folds,
    jackknife_cells,
    sum_by_cluster,
)


def sum_groups(values: Floats, groups: npt.NDArray[np.int64], members: npt.NDArray[np.bool_]) -> tuple[Floats, ...]:
    """Return counts and sums by group of the members of each cell, shape (n_groups, n_cells), and of all rows."""
    own = groups[:, None] == np.arange(groups.max() + 1)
    counts, sums = own.T @ members.astype(float), own.T @ (members * values[:, None])
    return counts, sums, own.sum(axis=0).astype(float), own.T @ values


def test_hashed_folds_hold_whole_clusters_whatever_others_there_are() -> None:
    clusters = np.repeat([f"c{number}" for number in range(3_000)], 2)
    folds = hash_folds(clusters, 5, "salt")
    assert_array_equal(folds[::2], folds[1::2])
    assert_allclose(np.bincount(folds) / len(folds), np.full(5, 0.2), atol=0.03)
    assert_array_equal(hash_folds(clusters[:60], 5, "salt"), folds[:60])
    assert (hash_folds(clusters, 5, "other salt") != folds).mean() > 0.7
    # read off the first 52 bits of the hash
    digest = int(hashlib.md5(b"salt|c0", usedforsecurity=False).hexdigest()[:13], 16) / 16**13
    assert folds[0] == int(5 * digest)


def test_dealt_folds_hold_whole_clusters_and_are_even() -> None:
    clusters = np.repeat(np.arange(11), 3)
    rows = clusters != 4
    folds = deal_folds(clusters, rows, 5, seed=3)
    assert_array_equal(folds[::3], folds[2::3])
    assert_array_equal(folds == -1, clusters == 4)
    assert_array_equal(np.bincount(folds[rows]), np.full(5, 6))


def test_each_cluster_is_drawn_as_often_as_any_other() -> None:
    drawn = draw_clusters(np.random.default_rng(1), 8, 20_000)
    assert drawn.shape == (20_000, 8)
    assert_array_equal(drawn.sum(axis=1), np.full(20_000, 8))
    assert_allclose(drawn.mean(axis=0), np.ones(8), atol=0.04)
    assert_allclose(drawn.var(axis=0), np.full(8, 7 / 8), atol=0.06)


def test_sums_keep_clusters_without_a_row() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    codes = np.array([3, 0, 3, 0, 0, 1])
    by_hand = np.array([rows[codes == code].sum(axis=0) for code in range(5)])
    assert_array_equal(sum_by_cluster(rows, codes, 5), by_hand)
    assert_array_equal(sum_by_cluster(rows[:, 0], codes, 5), by_hand[:, 0])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 40), st.integers(3, 8))
def test_jackknife_agrees_with_leaving_out_by_hand(seed: int, count_rows: int, count_groups: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=count_rows)
    groups = np.concatenate([np.arange(count_groups), random.integers(0, count_groups, count_rows)])[:count_rows]
    groups = np.unique(groups, return_inverse=True)[1]
    member = random.random(count_rows) < 0.5
    found = jackknife_cells(*sum_groups(values, groups, member[:, None]))
    count_groups = groups.max() + 1
    differences, own = [], []
    for group in range(count_groups):
        kept = groups != group
        if (kept & member).any() and (kept & ~member).any():
            differences.append(values[kept & member].mean() - values[kept & ~member].mean())
        if (kept & member).any() and (groups[member] == group).any():
            own.append(values[kept & member].mean())
    in_cell = len(np.unique(groups[member]))
    if len(differences) < count_groups:
        assert np.isnan(found.difference_standard_error[0])
    else:
        difference = values[member].mean() - values[~member].mean()
        expected = (count_groups - 1) / count_groups * ((np.asarray(differences) - difference) ** 2).sum()
        assert_allclose(found.difference_standard_error[0], math.sqrt(expected), rtol=1e-9, atol=1e-12)
    if len(own) == in_cell and in_cell > 1:
        expected = (in_cell - 1) / in_cell * ((np.asarray(own) - values[member].mean()) ** 2).sum()
        assert_allclose(found.standard_error[0], math.sqrt(expected), rtol=1e-9, atol=1e-12)
