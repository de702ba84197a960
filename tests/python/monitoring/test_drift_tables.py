"""Drift as tables: periods, statuses, families and what stands in a row."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from schemas import make_schema
from scipy import stats

from hcat.engine.columns import read_part
from hcat.monitoring.drift import measuring
from hcat.monitoring.drift.alarms import share_level
from hcat.monitoring.drift.periods import DriftSettings, plan_periods
from hcat.monitoring.drift.tables import DRIFT_SCHEMA, average_sums, bound_weeks, measure_drift, measure_weeks

MONDAY = date(2026, 6, 1)
SETTINGS = {"minimum_expected": 5.0, "minimum_shape": 30.0}


class Logs:
    """Made logs: interactions with week, segments and scores of metrics."""

    def __init__(self) -> None:
        self.interactions: list[dict[str, Any]] = []
        self.segments: list[dict[str, Any]] = []
        self.scores: dict[str, list[dict[str, Any]]] = {}

    def add(
        self, week: int | None, scores: Mapping[str, float | None], *, topic: str = "cards", status: str | None = None
    ) -> None:
        name = f"i{len(self.interactions):05d}"
        start = None if week is None else MONDAY + timedelta(weeks=week)
        self.interactions.append(
            {
                "interaction_id": name,
                "cluster_id": name,
                "week_start": start,
                "week_status": status or ("no_timestamp" if week is None else "complete"),
                "sampling_weight": 1.0,
            }
        )
        self.segments += [
            {"interaction_id": name, "dimension": "all", "segment": "all"},
            {"interaction_id": name, "dimension": "topic", "segment": topic},
        ]
        for metric, score in scores.items():
            self.scores.setdefault(metric, []).append(
                {"metric_name": metric, "interaction_id": name, "raw_score": score}
            )

    def measure(self, batch_rows: int = 10_000, **settings: Any) -> pa.Table:
        interactions = pa.Table.from_pylist(
            self.interactions,
            schema=make_schema(
                string="interaction_id cluster_id week_status", date32="week_start", float64="sampling_weight"
            ),
        )
        evaluations = [row for metric in sorted(self.scores) for row in self.scores[metric]]
        schema = make_schema(string="metric_name interaction_id", float64="raw_score")
        return measure_drift(
            interactions,
            pa.Table.from_pylist(self.segments).to_batches(batch_rows),
            pa.Table.from_pylist(evaluations, schema=schema).to_batches(batch_rows),
            DriftSettings(**(SETTINGS | settings)),
        )


def rows_of(table: pa.Table, **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in table.to_pylist() if all(row[name] == value for name, value in wanted.items())]


def one(table: pa.Table, **wanted: Any) -> dict[str, Any]:
    (row,) = rows_of(table, **wanted)
    return row


def normal_logs(shift: float = 0.0, weeks: int = 9, weekly: int = 60) -> Logs:
    """Nine weeks of two topics; `drifting` shifts in the last three weeks, `quiet` does not."""
    random = np.random.default_rng(1)
    logs = Logs()
    for week in range(weeks):
        for number in range(weekly):
            moved = shift if week >= weeks - 3 else 0.0
            scores = {"drifting": float(random.normal(moved, 1)), "quiet": float(random.normal(0, 1))}
            logs.add(week, scores, topic="cards" if number % 2 else "loans")
    return logs


def day(week: int) -> int:
    return (MONDAY + timedelta(weeks=week) - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("start", "week"),
    # a Monday counts itself, any other day the Monday after it, an early day the first week of the logs
    [("2026-06-08", 1), ("2026-06-09", 2), ("2025-01-01", 0)],
)
def test_a_declared_reference_starts_with_a_whole_week(start: str, week: int) -> None:
    plan = plan_periods(np.array([day(0), day(9)]), DriftSettings(reference_start=start))
    assert plan is not None
    assert plan.first == day(week)


def test_no_week_no_plan_and_a_late_start_leaves_no_reference() -> None:
    assert plan_periods(np.zeros(0, dtype=np.int64), DriftSettings()) is None
    plan = plan_periods(np.array([day(0), day(1)]), DriftSettings(reference_start="2027-01-04"))
    assert plan is not None
    assert plan.reference_end == plan.first


def test_a_planted_shift_alarms_and_a_quiet_metric_does_not() -> None:
    table = normal_logs(shift=1.0).measure()
    assert table.schema == DRIFT_SCHEMA
    assert {row["metric_name"] for row in rows_of(table, is_drifting=True)} == {"drifting"}
    row = one(table, metric_name="drifting", dimension="all", test="mean_shift", window_weeks=3)
    assert row["is_drifting"]
    assert (row["window_start"], row["window_end"]) == (MONDAY + timedelta(weeks=6), MONDAY + timedelta(days=62))
    assert (row["reference_start"], row["reference_end"]) == (MONDAY, MONDAY + timedelta(days=41))
    assert (row["count_reference"], row["count_window"]) == (360, 180)
    assert_allclose(row["difference"], row["value_window"] - row["value_reference"])
    assert row["difference_lower"] < row["difference"] < row["difference_upper"]
    # outside of the band, and of the limit: two ways to say alarm
    assert row["value_window"] > row["band_upper"]
    assert abs(row["statistic"]) > row["limit_value"]
    assert {row["test"] for row in rows_of(table, is_drifting=True)} == {"mean_shift"}


def test_limits_by_hand() -> None:
    table = normal_logs().measure()
    tested = rows_of(table, test="mean_shift", status="tested")
    assert len(tested) == 12
    row = one(table, metric_name="quiet", dimension="all", test="mean_shift", window_weeks=3)
    # the means have .8 of the level, `all` half of that, two metrics share it, and 3 weeks have .95; none is rejected
    limit = 0.01 * 0.8 * 0.5 / 2 * 0.95
    assert_allclose(row["alarm_level"], 0.01 * 0.8)
    assert_allclose(row["degrees_of_freedom"], 6 + 3 - 2)
    assert_allclose(row["limit_value"], -stats.t.ppf(limit / 2, row["degrees_of_freedom"]))
    margin = row["limit_value"] * row["standard_error"]
    assert_allclose(
        [row["band_lower"], row["band_upper"]], [row["value_reference"] - margin, row["value_reference"] + margin]
    )
    segment = one(table, metric_name="quiet", segment="cards", test="mean_shift", window_weeks=1)
    limit = 0.01 * 0.8 * 0.5 / 4 * 0.05
    assert_allclose(segment["limit_value"], -stats.t.ppf(limit / 2, 6 + 1 - 2))


def test_without_segments_all_of_the_level_is_used() -> None:
    settings = DriftSettings()
    shares = share_level(["all"] * 4, [1, 1, 3, 3], settings)
    assert_allclose(shares / shares.sum(), [0.025, 0.025, 0.475, 0.475])
    # a dimension of many segments takes nothing from another
    shares = share_level(["all", "topic", *["channel"] * 50], [3] * 52, settings)
    assert_allclose(shares[:3] / shares.sum(), [0.5, 0.25, 0.005])
    # the verdict takes half of the headline from the other metrics
    shares = share_level(["all", "all", "all", "topic"], [3] * 4, settings, ["verdict", "m", "n", "verdict"])
    assert_allclose(shares / shares.sum(), [0.25, 0.125, 0.125, 0.5])


def quarter_logs(shift: float = 0.0) -> Logs:
    """Twenty weeks of two topics that score 0 and 3; in the last week loans are nearly all of the questions."""
    random = np.random.default_rng(6)
    logs = Logs()
    for week in range(20):
        for number in range(100):
            is_loan = number % 10 > 0 if week == 19 else number % 2 == 0
            moved = shift if week >= 17 else 0.0
            score = float(random.normal(3.0 * is_loan + moved, 1))
            logs.add(week, {"m": score}, topic="loans" if is_loan else "cards")
    return logs


def test_a_quarter_end_moves_the_mix_and_not_the_mean() -> None:
    table = quarter_logs().measure()
    assert {row["test"] for row in rows_of(table, is_drifting=True)} == {"mix_shift"}
    plain = quarter_logs().measure(mix_dimension="")
    assert "mean_shift" in {row["test"] for row in rows_of(plain, is_drifting=True)}
    row = one(table, dimension="all", test="mean_shift", window_weeks=1)
    assert abs(row["difference"]) < 0.3 < one(plain, dimension="all", test="mean_shift", window_weeks=1)["difference"]
    # a change inside the topics is still found
    found = quarter_logs(shift=1.0).measure()
    assert one(found, dimension="all", test="mean_shift", window_weeks=3)["is_drifting"]


def test_weeks_that_correlate_say_so_and_short_references_cannot() -> None:
    logs = Logs()
    for week in range(30):
        for number in range(40):
            logs.add(week, {"m": 0.1 * (number % 5) + 0.4 * (week // 6 % 2)})
    rows = rows_of(logs.measure(), test="mean_shift", window_weeks=3, status="tested")
    assert {row["detail"] for row in rows} == {"Neighbouring weeks correlate by 0.78: the limits are wider"}
    assert rows[0]["degrees_of_freedom"] < 28
    assert rows[0]["difference_lower"] < 0 < rows[0]["difference_upper"]
    short = rows_of(normal_logs().measure(), dimension="all", test="mean_shift", window_weeks=3)[0]
    assert short["detail"].startswith("Weeks count as independent: 6 weeks of reference cannot show")


def test_a_new_mix_of_topics_alarms_and_names_the_topic() -> None:
    logs = Logs()
    for week in range(9):
        for number in range(60):
            late = week >= 6
            logs.add(week, {"m": float(number)}, topic="loans" if number % (2 if late else 10) == 0 else "cards")
    row = one(logs.measure(), test="mix_shift", window_weeks=3)
    assert row["is_drifting"]
    assert (row["metric_name"], row["dimension"], row["segment"]) == (None, "topic", "all")
    assert row["detail"] == "cards: 90.0% -> 50.0%"
    assert_allclose(row["difference"], -0.4)
    assert_allclose([row["value_reference"], row["value_window"]], [0.9, 0.5])
    assert row["degrees_of_freedom"] == 7


def statuses(table: pa.Table, **wanted: Any) -> set[str]:
    return {row["status"] for row in rows_of(table, **wanted)}


def test_statuses_say_why_there_is_no_test() -> None:
    logs = Logs()
    for week in range(9):
        for number in range(40):
            logs.add(
                week,
                {
                    "constant": 1.0,
                    "unscored": None,
                    "new": float(number) if week >= 6 else None,
                    "gone": float(number) if week < 6 else None,
                },
            )
    for number in range(50):
        logs.add(None, {"undated": float(number), "constant": 1.0})
    logs.add(9, {"constant": 1.0}, status="incomplete")
    table = logs.measure()
    assert statuses(table, metric_name="constant") == {"constant"}
    assert statuses(table, metric_name="unscored") == {"no_scores"}
    assert statuses(table, metric_name="undated") == {"no_timestamps"}
    assert statuses(table, metric_name="new") == {"too_few_reference"}
    assert statuses(table, metric_name="gone") == {"too_few_window"}
    # what is in no period is counted
    row = one(table, metric_name="constant", dimension="all", window_weeks=1)
    assert (row["count_without_week"], row["count_incomplete_week"]) == (50, 1)
    assert one(table, test="mix_shift", window_weeks=1)["count_without_week"] == 50
    for row in table.to_pylist():
        assert (row["p_value"] is None) == (row["status"] != "tested")
        assert not (row["is_drifting"] and row["status"] != "tested")


def test_a_short_history_has_no_reference() -> None:
    table = normal_logs(weeks=3).measure()
    assert statuses(table, test="mean_shift") == {"too_few_reference"}
    assert {row["reference_end"] for row in rows_of(table, test="mean_shift")} == {None}


def test_few_weeks_are_too_few_however_many_interactions_they_hold() -> None:
    table = normal_logs(weeks=6, weekly=200).measure()
    assert statuses(table, test="mean_shift") == {"too_few_weeks"}
    assert statuses(table, test="mix_shift") == {"too_few_weeks"}
    assert statuses(normal_logs(weeks=7, weekly=200).measure(), test="mean_shift") == {"tested"}


def test_batches_and_order_of_rows_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = normal_logs(shift=0.4, weekly=25)
    # a metric that one topic alone has
    logs.scores["quiet"] = [row for row in logs.scores["quiet"] if int(row["interaction_id"][1:]) % 2]
    whole = logs.measure()
    assert logs.measure(batch_rows=7).equals(whole)
    # nor how many series are measured at once
    with monkeypatch.context() as patched:
        patched.setattr(measuring, "MOST_MEMBERSHIPS", 1)
        assert logs.measure().equals(whole)
    # the engine need not order segments: the same bits
    logs.segments.reverse()
    assert logs.measure().equals(whole)
    logs.interactions.reverse()
    for scores in logs.scores.values():
        scores.reverse()
    for before, after in zip(whole.to_pylist(), logs.measure().to_pylist(), strict=True):
        for name, value in before.items():
            if isinstance(value, float):
                assert_allclose(after[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
            else:
                assert after[name] == value, name


def test_what_is_left_out_of_a_period_does_not_move_it() -> None:
    logs = normal_logs(weekly=25)
    before = logs.measure().to_pylist()
    logs.add(None, {"drifting": 99.0, "quiet": 99.0})
    logs.add(9, {"drifting": 99.0, "quiet": 99.0}, status="incomplete")
    for old, new in zip(before, logs.measure().to_pylist(), strict=True):
        changed = {name for name in old if old[name] != new[name]}
        assert changed <= {"count_without_week", "count_incomplete_week"}


def test_a_reference_that_is_no_date_is_named() -> None:
    with pytest.raises(ValueError, match="hcat_drift_reference_start must be an ISO date or empty, got '1 June'"):
        normal_logs(weekly=2).measure(reference_start="1 June")


def ranged(weeks: pa.Table, ranges: list[tuple[float | None, float | None]]) -> pa.Table:
    for place, name in enumerate(("range_low", "range_high")):
        weeks = weeks.append_column(name, pa.array([bounds[place] for bounds in ranges], pa.float64()))
    return weeks


def week_sums(rows: list[dict[str, Any]]) -> pa.Table:
    counts = "count_interactions count_scored count_clusters count_decided count_failing"
    sums = "sum_squared_counts sum_scores sum_squared_sums sum_products sum_squared_decided range_low range_high"
    schema = make_schema(
        string="metric_name dimension segment week_status",
        date32="week_start",
        int64=f"deletion_number {counts}",
        float64=f"{sums} weight_scored weight_decided weight_failing",
    )
    series = {"metric_name": "m", "dimension": "all", "segment": "all", "deletion_number": 0, "range_low": 0.0}
    weights = [{f"weight_{of}": row[f"count_{of}"] for of in ("scored", "decided", "failing")} for row in rows]
    found = [series | own | row for own, row in zip(weights, rows, strict=True)]
    return pa.Table.from_pylist(found, schema=schema)


def of_clusters(*clusters: tuple[int, float], count_failing: int, **row: Any) -> dict[str, Any]:
    """Return the sums of a week, of the number of scores and the mean of each cluster."""
    sizes, sums = np.array([size for size, _ in clusters]), np.array([size * mean * 1e9 for size, mean in clusters])
    counts = {"count_interactions": int(sizes.sum()), "count_scored": int(sizes.sum()), "count_clusters": len(clusters)}
    counts |= {"count_decided": int(sizes.sum()), "count_failing": count_failing}
    squares = {"sum_squared_counts": float(sizes @ sizes), "sum_squared_decided": float(sizes @ sizes)}
    added = {
        "sum_scores": float(sums.sum()),
        "sum_squared_sums": float(sums @ sums),
        "sum_products": float(sizes @ sums),
    }
    return counts | squares | added | row


def test_a_pruned_week_counts_with_what_came_later() -> None:
    # the first week is whole, and the second is the same in two parts; a row without a time is apart
    weeks = [MONDAY, MONDAY + timedelta(weeks=1)]
    found = average_sums(
        week_sums(
            [
                of_clusters((2, 0.0), (2, 1.0), count_failing=2, week_start=weeks[0], week_status="complete"),
                of_clusters((2, 0.0), count_failing=2, week_start=weeks[1], week_status="complete"),
                of_clusters((2, 1.0), count_failing=0, week_start=weeks[1], week_status="complete", deletion_number=1),
                of_clusters(count_failing=0) | {"count_interactions": 1},
            ]
        )
    ).to_pylist()
    names = ("count_interactions", "scored_effective", "mean_score", "standard_error", "share_failing", "is_pruned")
    by_week = {row["week_start"]: tuple(row[name] for name in names) for row in found}
    assert by_week == {
        weeks[0]: (4, 2.0, 0.5, 0.5, 0.5, False),
        weeks[1]: (4, 2.0, 0.5, 0.5, 0.5, True),
        None: (1, None, None, None, None, False),
    }


def test_sums_say_which_weeks_are_over_and_which_dimensions_are_monitored() -> None:
    logs = normal_logs(weeks=9, weekly=20)
    weeks = [MONDAY + timedelta(weeks=week) for week in range(9)]
    statuses = ["complete"] * 8 + ["incomplete"]
    pairs = zip(weeks, statuses, strict=True)
    sums = [of_clusters((20, 0.0), count_failing=0, week_start=week, week_status=status) for week, status in pairs]
    interactions = pa.Table.from_pylist(logs.interactions)
    names = {"interaction_id": "interaction_id", "cluster_id": "cluster_id", "week_start": "asked_week"}
    interactions = interactions.select([*names, "sampling_weight"]).rename_columns([*names.values(), "sampling_weight"])
    evaluations = pa.Table.from_pylist(logs.scores["quiet"]).to_batches()
    segments = pa.Table.from_pylist(logs.segments).to_batches()
    found = measure_weeks(week_sums(sums), interactions, segments, evaluations, SETTINGS)
    assert read_part(found, "weeks").num_rows == 9
    drift = read_part(found, "drift").to_pylist()
    assert {row["dimension"] for row in drift} == {"all"}
    assert {row["count_incomplete_week"] for row in drift} == {20}


def test_an_interval_stays_in_the_range_of_its_metric() -> None:
    # the first week is the known fault: Student's interval ends at 1.03
    weeks = pa.table(
        {
            "mean_score": [0.785, 0.0, 1.0, -0.9, 1.9],
            "standard_error": [0.11, 0.0, 0.0, 0.08, 0.2],
            "scored_effective": [10.0, 12.0, 12.0, 8.0, 6.0],
        }
    )
    ranges = [(0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (0.0, 2.0)]
    found = bound_weeks(ranged(weeks, ranges), 0.95).to_pylist()
    for row, (low, high) in zip(found, ranges, strict=True):
        assert low <= row["mean_lower"] <= row["mean_score"] <= row["mean_upper"] <= high
        assert row["mean_lower"] < row["mean_upper"]
    # rows that agree: as twelve passes of twelve
    square = float(stats.t.ppf(0.975, 11)) ** 2
    assert_allclose(found[2]["mean_lower"], 12 / (12 + square))
    assert_allclose(found[1]["mean_upper"], square / (12 + square))


def test_an_interaction_of_a_far_week_costs_no_time() -> None:
    logs = normal_logs(shift=0.5)
    logs.add(-50_000, {"drifting": 0.5, "quiet": 0.5})
    # weeks x weeks would take hours
    row = one(logs.measure(), metric_name="drifting", dimension="all", window_weeks=1)
    assert row["status"] == "too_few_reference"
