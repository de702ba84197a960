"""The planner of the sample's total: hand-worked answers, agreement with a reference library, shape of the table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hcat.test_set.sampling import SAMPLE_PLAN_SCHEMA, expected_half_width, plan_sample_sizes, weighting_design_effect

STRATA = pa.table(
    {
        "stratum_id": ["b", "a"],
        "stratum_label": ["fees | short", "cards | long"],
        "count_population": [300, 900],
        "count_planned": [100, 100],
    }
)


def test_weights_of_strata_raise_the_variance() -> None:
    # weights 3 and 9, 100 each: 200 x (900 + 8100) / 1200^2 = 1.25
    assert weighting_design_effect([300, 900], [100, 100]) == pytest.approx(1.25)
    assert weighting_design_effect([300, 900], [50, 150]) == pytest.approx(1)
    with pytest.raises(ValueError, match=r"counts must lie in \[1, population\], got \[4\] of \[3\]"):
        weighting_design_effect([3], [4])


def test_half_width_agrees_with_statsmodels() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    low, high = proportion.proportion_confint(20, 200, 0.05, method="wilson")
    assert expected_half_width(200, 0.1, 0.95, 1.0) == pytest.approx((high - low) / 2, abs=1e-12)
    assert expected_half_width(400, 0.1, 0.95, 2.0) == pytest.approx((high - low) / 2, abs=1e-12)


@pytest.mark.parametrize("half_width", [0.02, 0.05, 0.2])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_needed_number_just_reaches_the_half_width(half_width: float, share: float) -> None:
    rows = plan_sample_sizes(STRATA, [half_width], share, 0.95, 1.5).to_pylist()
    for row in rows:
        if row["scope"] == "every_stratum":
            continue
        needed, effect = row["count_needed"], row["design_effect"]
        assert expected_half_width(needed, share, 0.95, effect) <= half_width + 1e-12
        if needed > 1:
            assert expected_half_width(needed - 1, share, 0.95, effect) > half_width


def test_plan_by_scope() -> None:
    rows = plan_sample_sizes(STRATA, [0.05], 0.1, 0.95).to_pylist()
    assert [(row["scope"], row["stratum_id"]) for row in rows] == [
        ("overall", None),
        ("every_stratum", None),
        ("stratum", "a"),
        ("stratum", "b"),
    ]
    overall, each, first, _ = rows
    assert overall["design_effect"] == pytest.approx(1.25)
    assert first["count_needed"] == 141
    assert first["plan_status"] == "not_reached"
    assert overall["count_needed"] == 177
    assert overall["plan_status"] == "reached"
    assert each["count_needed"] == 2 * 141
    assert each["plan_status"] == "not_reached"
    assert each["half_width_planned"] is None
    assert plan_sample_sizes(STRATA, [0.02], 0.1, 0.95).to_pylist()[1]["plan_status"] == "not_reachable"


def test_what_is_taken_whole_states_no_half_width() -> None:
    whole = STRATA.set_column(3, "count_planned", STRATA["count_population"])
    rows = plan_sample_sizes(whole, [0.02], 0.1, 0.95).to_pylist()
    assert {row["plan_status"] for row in rows} == {"all_chunks_taken"}
    assert {row["half_width_planned"] for row in rows} == {None}
    assert {row["design_effect"] for row in rows} == {1.0}
    partly = STRATA.set_column(3, "count_planned", pa.array([300, 100]))
    found = {(row["scope"], row["stratum_id"]): row for row in plan_sample_sizes(partly, [0.05], 0.1, 0.95).to_pylist()}
    assert found["stratum", "b"]["plan_status"] == "all_chunks_taken"
    assert found["stratum", "b"]["half_width_planned"] is None
    assert found["every_stratum", None]["plan_status"] == "not_reached"
    assert found["overall", None]["half_width_planned"] > 0


def test_order_of_strata_does_not_matter_and_none_give_none() -> None:
    turned = plan_sample_sizes(STRATA.take([1, 0]), [0.05, 0.1], 0.2, 0.9)
    assert turned.equals(plan_sample_sizes(STRATA, [0.05, 0.1], 0.2, 0.9))
    assert turned.schema == SAMPLE_PLAN_SCHEMA
    assert plan_sample_sizes(STRATA.slice(0, 0), [0.05], 0.2, 0.9).num_rows == 0
    with pytest.raises(ValueError, match=r"half_width must lie in \(0, 0.5\), got 0.6"):
        plan_sample_sizes(STRATA, [0.6], 0.2, 0.9)
