"""Precision and recall of metrics against true correctness, with intervals that count groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.robustness.reliability import (
    READINGS,
    RELIABILITY_SCHEMA,
    STATUSES,
    VERDICT_SCHEMA,
    ReliabilitySettings,
    measure_reliability,
    measure_share,
)
from hcat.statistics.intervals import wilson_interval


def table_of(rows: Sequence[tuple[str, str, bool | None, bool | None]]) -> pa.Table:
    names: tuple[str, ...] = ("metric", "cluster_id", "is_accepted", "is_correct")
    return pa.Table.from_pylist(
        [{"system_id": "app", "has_threshold": True, **dict(zip(names, row, strict=True))} for row in rows],
        schema=VERDICT_SCHEMA,
    )


def measured(rows: Sequence[tuple[str, str, bool | None, bool | None]], **chosen: Any) -> dict[tuple[str, str], Any]:
    found = measure_reliability(table_of(rows), ReliabilitySettings(**chosen))
    assert found.schema == RELIABILITY_SCHEMA
    return {(row["metric"], row["measure"]): row for row in found.to_pylist()}


def test_precision_and_recall_are_those_of_the_hand_worked_table() -> None:
    # 6 accepted of which 2 right, 4 right of which 2 accepted, 10 in all
    cells = [(True, True)] * 2 + [(True, False)] * 4 + [(False, True)] * 2 + [(False, False)] * 2
    rows = [("metric", f"g{number}", *cell) for number, cell in enumerate(cells)]
    found = measured([*rows, ("metric", "g0", None, True), ("metric", "g1", True, None)])
    precision, recall = found["metric", "precision"], found["metric", "recall"]
    assert (precision["value"], precision["count_hits"], precision["count_answers"]) == (pytest.approx(1 / 3), 2, 6)
    assert (recall["value"], recall["count_hits"], recall["count_answers"]) == (0.5, 2, 4)
    # accepting six of ten by lot: .4 of them are right, and .6 of the right ones are accepted
    assert (precision["chance_value"], recall["chance_value"]) == (pytest.approx(0.4), pytest.approx(0.6))
    assert (precision["count_without_verdict"], precision["count_undecided"]) == (1, 1)
    assert (precision["status"], precision["low"]) == ("too_few_groups", None)


def test_an_answer_a_group_gives_nearly_the_interval_of_wilson() -> None:
    is_hit = np.arange(200) < 60
    found = measure_share(is_hit, np.arange(200))
    low, high = wilson_interval(0.3, 200, 1.972)
    assert found.low == pytest.approx(low, abs=0.002)
    assert found.high == pytest.approx(high, abs=0.002)
    assert found.effective_n == pytest.approx(199, rel=0.01)


def test_answers_that_repeat_in_their_group_count_once() -> None:
    is_hit = np.arange(40) < 12
    single = measure_share(is_hit, np.arange(40))
    repeated = measure_share(np.repeat(is_hit, 5), np.repeat(np.arange(40), 5))
    assert repeated.value == single.value
    assert repeated.effective_n == pytest.approx(single.effective_n)
    assert repeated.low == pytest.approx(single.low)
    assert repeated.high == pytest.approx(single.high)
    assert (repeated.count_answers, repeated.count_groups) == (200, 40)


def test_all_hits_still_have_a_width_that_counts_groups() -> None:
    found = measure_share(np.ones(100, dtype=bool), np.repeat(np.arange(20), 5))
    assert (found.value, found.high) == (1.0, 1.0)
    # exact for 20 groups, made fewer by t of 19 degrees of freedom
    assert found.low == pytest.approx(0.025 ** (1 / (20 * (1.95996 / 2.09302) ** 2)), abs=1e-5)


def test_the_interval_covers_the_truth_with_groups_that_agree() -> None:
    random = np.random.default_rng(11)
    groups = np.repeat(np.arange(40), 5)
    covered = naive = 0
    for _ in range(300):
        is_hit = random.random(200) < np.repeat(random.beta(0.5, 1.5, 40), 5)
        found = measure_share(is_hit, groups)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.25 <= found.high
        low, high = wilson_interval(float(is_hit.mean()), 200, 1.96)
        naive += low <= 0.25 <= high
    assert covered >= 273  # .91; of 300 at .95 fewer have a probability below .002
    assert naive < covered


def test_the_table_of_the_paper_reads_as_optimistic_and_cynical() -> None:
    # 15 % precision and 50 % recall, as SelfCheck in table 1
    cells = [(True, True)] * 15 + [(True, False)] * 85 + [(False, True)] * 15 + [(False, False)] * 5
    rows = [("selfcheck", f"g{number}", *cell) for number, cell in enumerate(cells)]
    found = measured(rows, precision_floor=0.8, recall_floor=0.8)
    precision = found["selfcheck", "precision"]
    assert precision["value"] == 0.15
    # the paper's interval is 8 to 22 %
    assert (precision["low"], precision["high"]) == (pytest.approx(0.09, abs=0.01), pytest.approx(0.235, abs=0.01))
    assert {row["reading"] for row in found.values()} == {"low"}
    high = measured(rows, precision_floor=0.05, recall_floor=0.5)
    assert high["selfcheck", "precision"]["reading"] == "high_enough"
    assert high["selfcheck", "recall"]["reading"] == "not_shown"
    assert measured(rows)["selfcheck", "recall"]["reading"] is None


def test_empty_denominators_have_a_status_and_no_number() -> None:
    nothing = measured([("a", f"g{n}", False, False) for n in range(12)] + [("b", "g", None, True)])
    assert nothing["a", "precision"]["status"] == "nothing_accepted"
    assert nothing["a", "recall"]["status"] == "nothing_correct"
    assert nothing["b", "recall"]["status"] == "no_verdicts"
    for row in nothing.values():
        assert row["value"] is None
        assert row["status"] in STATUSES
        assert not any(isinstance(value, float) and math.isnan(value) for value in row.values())
    assert measure_reliability(table_of([])).num_rows == 0
    # a metric that nobody decided a threshold for is listed, and says so
    open_metric = table_of([("c", "g", None, True)])
    position = open_metric.schema.get_field_index("has_threshold")
    open_metric = open_metric.set_column(position, "has_threshold", pa.array([False]))
    assert set(measure_reliability(open_metric)["status"].to_pylist()) == {"no_threshold"}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b"]),
            st.sampled_from([f"g{number}" for number in range(15)]),
            st.sampled_from([True, False, None]),
            st.sampled_from([True, False, None]),
        ),
        max_size=60,
    ),
    st.randoms(use_true_random=False),
)
def test_bounds_hold_the_value_and_the_order_of_rows_does_not_matter(
    rows: list[tuple[str, str, bool | None, bool | None]], random: Any
) -> None:
    chosen = ReliabilitySettings(minimum_groups=3, precision_floor=0.5)
    found = measure_reliability(table_of(rows), chosen)
    random.shuffle(rows)
    assert measure_reliability(table_of(rows), chosen).equals(found)
    for row in found.to_pylist():
        assert row["reading"] is None or row["reading"] in READINGS
        if row["status"] == "estimated":
            assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1


def test_bad_input_and_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="confidence must lie"):
        ReliabilitySettings(confidence=0)
    with pytest.raises(ValueError, match="at least 2, got 1"):
        ReliabilitySettings(minimum_groups=1)
    with pytest.raises(ValueError, match="recall_floor must lie"):
        ReliabilitySettings(recall_floor=1.5)
    with pytest.raises(ValueError, match="one length, got 2 and 3"):
        measure_share(np.ones(2, dtype=bool), np.arange(3))
    with pytest.raises(ValueError, match="without is_correct"):
        measure_reliability(table_of([]).drop_columns(["is_correct"]))
    with pytest.raises(ValueError, match="must not be null"):
        measure_reliability(table_of([("a", None, True, True)]))  # type: ignore[list-item]
