"""The planner of the sample's total: hand-worked answers, agreement with a reference library, shape of the table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from hcat.test_set.sampling import (
    EXPECTED_SHARE,
    HALF_WIDTHS,
    SAMPLE_PLAN_SCHEMA,
    expected_half_width,
    plan_sample_sizes,
)

STRATA = pa.table(
    {
        "stratum_id": ["b", "a"],
        "stratum_label": ["fees | short", "cards | long"],
        "count_population": [300, 900],
        "count_planned": [100, 100],
    }
)


def test_half_width_agrees_with_statsmodels() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    low, high = proportion.proportion_confint(20, 200, 0.05, method="wilson")
    assert expected_half_width(200, 0.1, 0.95, 1.0) == pytest.approx((high - low) / 2, abs=1e-12)
    assert expected_half_width(400, 0.1, 0.95, 2.0) == pytest.approx((high - low) / 2, abs=1e-12)


def plan(strata: pa.Table, half_width: float) -> dict[tuple[str, str | None], dict[str, Any]]:
    """Return the rows of one half-width by scope and stratum."""
    rows = plan_sample_sizes(strata, 0.95).to_pylist()
    return {(row["scope"], row["stratum_id"]): row for row in rows if row["half_width"] == half_width}


@pytest.mark.parametrize("half_width", HALF_WIDTHS)
def test_needed_number_just_reaches_the_half_width(half_width: float) -> None:
    for (scope, _), row in plan(STRATA, half_width).items():
        if scope != "every_stratum":
            needed, effect = row["count_needed"], row["design_effect"]
            assert expected_half_width(needed, EXPECTED_SHARE, 0.95, effect) <= half_width + 1e-12
            assert expected_half_width(needed - 1, EXPECTED_SHARE, 0.95, effect) > half_width


def test_plan_by_scope() -> None:
    rows = plan(STRATA, 0.05)
    assert list(rows) == [("overall", None), ("every_stratum", None), ("stratum", "a"), ("stratum", "b")]
    overall, each, first, _ = rows.values()
    assert overall["design_effect"] == pytest.approx(1.25)
    assert (first["count_needed"], first["plan_status"]) == (141, "not_reached")
    assert (overall["count_needed"], overall["plan_status"]) == (177, "reached")
    assert (each["count_needed"], each["plan_status"]) == (2 * 141, "not_reached")
    assert each["half_width_planned"] is None
    assert plan(STRATA, 0.02)["every_stratum", None]["plan_status"] == "not_reachable"


def test_what_is_taken_whole_states_no_half_width() -> None:
    whole = plan_sample_sizes(STRATA.set_column(3, "count_planned", STRATA["count_population"]), 0.95).to_pylist()
    assert {(row["plan_status"], row["half_width_planned"]) for row in whole} == {("all_chunks_taken", None)}
    found = plan(STRATA.set_column(3, "count_planned", pa.array([300, 100])), 0.05)
    assert found["stratum", "b"]["plan_status"] == "all_chunks_taken"
    assert found["every_stratum", None]["plan_status"] == "not_reached"
    assert found["overall", None]["half_width_planned"] > 0


def test_order_of_strata_does_not_matter_and_none_give_none() -> None:
    turned = plan_sample_sizes(STRATA.take([1, 0]), 0.9)
    assert turned.equals(plan_sample_sizes(STRATA, 0.9))
    assert turned.schema == SAMPLE_PLAN_SCHEMA
    assert plan_sample_sizes(STRATA.slice(0, 0), 0.9).num_rows == 0
