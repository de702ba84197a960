"""Folds, draws, sums and the jackknife of whole clusters, by hand and against SQL."""

import hashlib

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from hcat.statistics.clusters import deal_folds, draw_clusters, hash_folds, sum_by_cluster


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
