"""Precision and recall of metrics against true correctness, and ordered pairs, with intervals that count groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from hcat.robustness.reliability import RELIABILITY_SCHEMA, measure_reliability, measure_share
from hcat.statistics.intervals import wilson_interval

Verdict = tuple[str, str, bool | None, bool | None]
EMPTY = pa.table({})


def table_of(rows: Sequence[Verdict], *, has_threshold: bool = True) -> pa.Table:
    names = ("metric", "cluster_id", "is_accepted", "is_correct")
    same = {"system_id": "app", "has_threshold": has_threshold}
    return pa.Table.from_pylist([same | dict(zip(names, row, strict=True)) for row in rows])


def measured(rows: Sequence[Verdict], **options: bool) -> dict[tuple[str, str], Any]:
    found = measure_reliability(table_of(rows, **options), EMPTY, 0.95)
    assert found.schema == RELIABILITY_SCHEMA
    return {(row["metric"], row["measure"]): row for row in found.to_pylist()}


def test_precision_and_recall_are_those_of_the_hand_worked_table() -> None:
    # 6 accepted of which 2 right, 4 right of which 2 accepted, 10 in all
    cells = [(True, True)] * 2 + [(True, False)] * 4 + [(False, True)] * 2 + [(False, False)] * 2
    rows = [("metric", f"g{min(number, 7)}", *cell) for number, cell in enumerate(cells)]
    found = measured([*rows, ("metric", "g0", None, True), ("metric", "g1", True, None)])
    precision, recall = found["metric", "precision"], found["metric", "recall"]
    assert (precision["value"], precision["count_hits"], precision["count_answers"]) == (pytest.approx(1 / 3), 2, 6)
    assert (recall["value"], recall["count_hits"], recall["count_answers"]) == (0.5, 2, 4)
    # accepting six of ten by lot: .4 of them are right, and .6 of the right ones are accepted
    assert (precision["chance_value"], recall["chance_value"]) == (pytest.approx(0.4), pytest.approx(0.6))
    assert (precision["count_without_verdict"], precision["count_undecided"]) == (1, 1)
    assert (precision["status"], precision["low"]) == ("too_few_groups", None)


def test_an_answer_a_group_gives_nearly_the_interval_of_wilson() -> None:
    found = measure_share(np.arange(200) < 60, np.arange(200))
    assert_allclose([found.low, found.high], wilson_interval(0.3, 200, 1.972), atol=0.002)
    assert found.effective_n == pytest.approx(199, rel=0.01)


def test_answers_that_repeat_in_their_group_count_once() -> None:
    is_hit = np.arange(40) < 12
    single = measure_share(is_hit, np.arange(40))
    repeated = measure_share(np.repeat(is_hit, 5), np.repeat(np.arange(40), 5))
    assert_allclose(repeated[1:5], single[1:5])
    assert (repeated.count_answers, repeated.count_groups) == (200, 40)


def test_all_hits_still_have_a_width_that_counts_groups() -> None:
    found = measure_share(np.ones(100, dtype=bool), np.repeat(np.arange(20), 5))
    assert (found.value, found.high) == (1.0, 1.0)
    # exact for 20 groups, made fewer by t of 19 degrees of freedom
    assert found.low == pytest.approx(0.025 ** (1 / (20 * (1.95996 / 2.09302) ** 2)), abs=1e-5)


def test_empty_denominators_have_a_status_and_no_number() -> None:
    nothing = measured([("a", f"g{n}", False, False) for n in range(12)] + [("b", "g", None, True)])
    assert nothing["a", "precision"]["status"] == "nothing_accepted"
    assert nothing["a", "recall"]["status"] == "nothing_correct"
    assert nothing["b", "recall"]["status"] == "no_verdicts"
    assert {row["value"] for row in nothing.values()} == {None}
    # a metric that nobody decided a threshold for is listed, and says so
    assert measured([("c", "g", None, True)], has_threshold=False)["c", "recall"]["status"] == "no_threshold"


def pairs_of(cluster: int, right: int, tied: int = 0, wrong: int = 0, **others: Any) -> dict[str, Any]:
    row = {"system": "bot", "metric_name": "m", "measure": "pairs_ordered", "cluster_id": f"k{cluster:03d}"}
    row |= {"count_right": right, "count_tied": tied, "count_wrong": wrong}
    return row | {"count_assumed": 0, "count_unscored": 0, "count_undecided": 0} | others


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = measure_reliability(EMPTY, pa.Table.from_pylist(rows), 0.95).to_pylist()
    return found


def test_counts_add_up_and_a_tie_is_half_a_pair() -> None:
    (found,) = ordered([pairs_of(k, 2, 1, 1, count_assumed=3, count_unscored=2, count_undecided=1) for k in range(12)])
    assert (found["value"], found["chance_value"]) == (0.625, 0.5)
    assert (found["count_hits"], found["count_answers"], found["count_groups"]) == (24, 48, 12)
    assert (found["count_assumed"], found["count_without_verdict"], found["count_undecided"]) == (36, 24, 12)
    assert found["low"] < 0.625 < found["high"]


def test_pairs_of_one_cluster_are_no_further_evidence() -> None:
    (one,) = ordered([pairs_of(k, int(k % 4 > 0), 0, int(k % 4 == 0)) for k in range(40)])
    (other,) = ordered([pairs_of(k, 50 * int(k % 4 > 0), 0, 50 * int(k % 4 == 0)) for k in range(40)])
    for name in ("low", "high", "effective_n"):
        assert_allclose(one[name], other[name], rtol=1e-9)


def test_too_few_clusters_and_no_pairs_are_statuses() -> None:
    (few,) = ordered([pairs_of(k, 1) for k in range(9)])
    assert (few["status"], few["value"], few["low"], few["effective_n"]) == ("too_few_groups", 1.0, None, None)
    (none,) = ordered([pairs_of(k, 0, count_unscored=2) for k in range(20)])
    assert (none["status"], none["value"], none["chance_value"]) == ("no_pairs", None, None)
    assert (none["count_answers"], none["count_groups"], none["count_without_verdict"]) == (0, 0, 40)
