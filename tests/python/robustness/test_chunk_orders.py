"""Shares of ordered pairs: ties count half, clusters and not pairs make the interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from hcat.robustness.chunk_orders import MEASURED_ORDERS_SCHEMA, ORDERS_SCHEMA, STATUSES, measure_orders
from hcat.robustness.reliability import ReliabilitySettings


def row_of(cluster: int, right: int, tied: int = 0, wrong: int = 0, **others: Any) -> dict[str, Any]:
    row = {"system": "bot", "metric_name": "m", "measure": "pairs_ordered", "cluster_id": f"k{cluster:03d}"}
    row |= {"count_right": right, "count_tied": tied, "count_wrong": wrong}
    return row | {"count_assumed": 0, "count_unscored": 0, "count_undecided": 0} | others


def measure(rows: list[dict[str, Any]], **settings: Any) -> list[dict[str, Any]]:
    found = measure_orders(pa.Table.from_pylist(rows, schema=ORDERS_SCHEMA), ReliabilitySettings(**settings))
    assert found.schema == MEASURED_ORDERS_SCHEMA
    assert {row["status"] for row in found.to_pylist()} <= set(STATUSES)
    return found.to_pylist()


def test_counts_add_up_and_a_tie_is_half_a_pair() -> None:
    rows = [row_of(k, 2, 1, 1, count_assumed=3, count_unscored=2, count_undecided=1) for k in range(12)]
    (found,) = measure(rows)
    assert found["value"] == 0.625
    assert (found["count_hits"], found["count_pairs"], found["count_clusters"]) == (24, 48, 12)
    assert (found["count_assumed"], found["count_unscored"], found["count_undecided"]) == (36, 24, 12)
    assert found["chance_value"] == 0.5
    assert found["low"] < 0.625 < found["high"]


def test_pairs_of_one_cluster_are_no_further_evidence() -> None:
    few = [row_of(k, int(k % 4 > 0), 0, int(k % 4 == 0)) for k in range(40)]
    many = [row_of(k, 50 * int(k % 4 > 0), 0, 50 * int(k % 4 == 0)) for k in range(40)]
    (one,), (other,) = measure(few), measure(many)
    assert_allclose([one["low"], one["high"]], [other["low"], other["high"]], rtol=1e-9)
    assert_allclose(one["effective_n"], other["effective_n"], rtol=1e-9)


def test_an_order_without_fault_still_has_an_interval() -> None:
    (found,) = measure([row_of(k, 3) for k in range(20)])
    assert found["value"] == found["high"] == 1
    assert 0.7 < found["low"] < 1


def test_too_few_clusters_and_no_pairs_are_statuses() -> None:
    (few,) = measure([row_of(k, 1) for k in range(9)])
    assert (few["status"], few["value"], few["low"], few["effective_n"]) == ("too_few_groups", 1.0, None, None)
    (none,) = measure([row_of(k, 0, count_unscored=2) for k in range(20)])
    assert (none["status"], none["value"], none["chance_value"]) == ("no_pairs", None, None)
    assert (none["count_pairs"], none["count_clusters"], none["count_unscored"]) == (0, 0, 40)


def test_rows_in_any_order_give_the_same_table() -> None:
    random = np.random.default_rng(3)
    rows = [row_of(k, *map(int, random.integers(0, 4, 3)), metric_name=name) for k in range(30) for name in "ba"]
    expected = measure(rows)
    assert [row["metric"] for row in expected] == ["a", "b"]
    for _ in range(3):
        assert measure([rows[position] for position in random.permutation(len(rows))]) == expected


def test_the_interval_covers_the_share() -> None:
    random = np.random.default_rng(5)
    count_runs, count_clusters = 300, 40
    covered = 0
    for _ in range(count_runs):
        chances = random.beta(4, 2, count_clusters)
        right = random.binomial(4, chances)
        (found,) = measure([row_of(k, int(r), 0, 4 - int(r)) for k, r in enumerate(right)])
        covered += found["low"] <= 4 / 6 <= found["high"]
    # three standard errors of a share of .95 in 300 runs
    assert covered / count_runs > 0.95 - 3 * np.sqrt(0.95 * 0.05 / count_runs)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="without count_tied"):
        measure_orders(pa.Table.from_pylist([row_of(1, 1)], schema=ORDERS_SCHEMA).drop_columns(["count_tied"]))
