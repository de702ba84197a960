"""Drift as tables: periods, statuses, families and what stands in a row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from hcat.monitoring.drift.measuring import STATUSES
from hcat.monitoring.drift.periods import plan_periods
from hcat.monitoring.drift.settings import DriftSettings
from hcat.monitoring.drift.statistics import TESTS
from hcat.monitoring.drift.tables import DRIFT_SCHEMA, bound_weeks, measure_drift, measure_drift_of

MONDAY = date(2026, 6, 1)
SETTINGS = {"minimum_expected": 5.0, "minimum_shape": 30.0}


class Logs:
    """Made logs: interactions with week, segments and scores of metrics."""

    def __init__(self) -> None:
        self.interactions: list[dict[str, Any]] = []
        self.segments: list[dict[str, Any]] = []
        self.scores: dict[str, list[dict[str, Any]]] = {}

    def add(
        self,
        week: int | None,
        scores: Mapping[str, float | None],
        *,
        cluster: str | None = None,
        topic: str = "cards",
        status: str | None = None,
    ) -> None:
        name = f"i{len(self.interactions):05d}"
        start = None if week is None else MONDAY + timedelta(weeks=week)
        self.interactions.append(
            {
                "interaction_id": name,
                "cluster_id": cluster or name,
                "week_start": start,
                "week_status": status or ("no_timestamp" if week is None else "complete"),
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

    def weeks(self) -> pa.Table:
        """Weekly means as the SQL model makes them, from the same scores."""
        of = {row["interaction_id"]: row for row in self.interactions}
        rows = []
        for metric, scores in self.scores.items():
            for cell in sorted({(row["dimension"], row["segment"]) for row in self.segments}):
                members = {row["interaction_id"] for row in self.segments if (row["dimension"], row["segment"]) == cell}
                own = [row for row in scores if row["interaction_id"] in members]
                for start in sorted({of[row["interaction_id"]]["week_start"] for row in own}, key=str):
                    found = [row for row in own if of[row["interaction_id"]]["week_start"] == start]
                    values = np.array([row["raw_score"] for row in found if row["raw_score"] is not None])
                    rows.append(
                        {
                            "metric_name": metric,
                            "dimension": cell[0],
                            "segment": cell[1],
                            "week_start": start,
                            "week_status": of[found[0]["interaction_id"]]["week_status"],
                            "count_scored": len(values),
                            "scored_effective": float(len(values)) or None,
                            "mean_score": float(values.mean()) if len(values) else None,
                            "standard_error": float(values.std(ddof=1) / len(values) ** 0.5)
                            if len(values) > 1
                            else None,
                        }
                    )
        schema = pa.schema(
            [(name, pa.string()) for name in ("metric_name", "dimension", "segment")]
            + [("week_start", pa.date32()), ("week_status", pa.string()), ("count_scored", pa.int64())]
            + [(name, pa.float64()) for name in ("scored_effective", "mean_score", "standard_error")]
        )
        return pa.Table.from_pylist(rows, schema=schema)

    def measure(self, batch_rows: int = 10_000, **settings: Any) -> pa.Table:
        interactions = pa.Table.from_pylist(
            self.interactions,
            schema=pa.schema(
                [
                    ("interaction_id", pa.string()),
                    ("cluster_id", pa.string()),
                    ("week_start", pa.date32()),
                    ("week_status", pa.string()),
                ]
            ),
        )
        evaluations = [row for metric in sorted(self.scores) for row in self.scores[metric]]
        schema = pa.schema([("metric_name", pa.string()), ("interaction_id", pa.string()), ("raw_score", pa.float64())])
        return measure_drift(
            interactions,
            pa.Table.from_pylist(self.segments).to_batches(batch_rows),
            pa.Table.from_pylist(evaluations, schema=schema).to_batches(batch_rows),
            self.weeks(),
            DriftSettings(**(SETTINGS | settings)),
        )


def rows_of(table: pa.Table, **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in table.to_pylist() if all(row[name] == value for name, value in wanted.items())]


def one(table: pa.Table, **wanted: Any) -> dict[str, Any]:
    (row,) = rows_of(table, **wanted)
    return row


def normal_logs(shift: float = 0.0, weeks: int = 9, weekly: int = 60, seed: int = 1) -> Logs:
    """Nine weeks of two topics; `drifting` shifts in the last three weeks, `quiet` does not."""
    random = np.random.default_rng(seed)
    logs = Logs()
    for week in range(weeks):
        for number in range(weekly):
            moved = shift if week >= weeks - 3 else 0.0
            scores = {"drifting": float(random.normal(moved, 1)), "quiet": float(random.normal(0, 1))}
            logs.add(week, scores, topic="cards" if number % 2 else "loans")
    return logs


# --- periods ----------------------------------------------------------------------------------------------------------


def day(week: int) -> int:
    return (MONDAY + timedelta(weeks=week) - date(1970, 1, 1)).days


def test_the_reference_ends_before_the_longest_window() -> None:
    plan = plan_periods(np.array([day(week) for week in range(9)]), DriftSettings())
    assert plan is not None
    assert (plan.first, plan.reference_end, plan.end) == (day(0), day(6), day(9))
    assert [(window.weeks, window.start, window.end) for window in plan.windows] == [
        (1, day(8), day(9)),
        (3, day(6), day(9)),
    ]
    assert plan.base_end == day(4)


def test_the_reference_stays_the_same_when_it_is_full() -> None:
    settings = DriftSettings(reference_weeks=4)
    plans = [plan_periods(np.array([day(0), day(last)]), settings) for last in (8, 20)]
    assert [plan and (plan.first, plan.reference_end) for plan in plans] == [(day(0), day(4))] * 2


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


# --- rows -------------------------------------------------------------------------------------------------------------


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
    for test in ("population_stability", "kolmogorov_smirnov", "sequential_mean"):
        found = [row for row in rows_of(table, metric_name="drifting", dimension="all", test=test) if row["p_value"]]
        assert any(row["is_drifting"] for row in found)


def test_every_series_has_every_row_in_order() -> None:
    table = normal_logs(weekly=20).measure()
    series = {("drifting", "all"), ("drifting", "cards"), ("drifting", "loans")}
    series |= {("quiet", segment) for _, segment in series}
    found = [(row["metric_name"], row["segment"], row["test"], row["window_weeks"]) for row in table.to_pylist()]
    expected = {
        (metric, segment, test, weeks)
        for metric, segment in series
        for test, lengths in {test: (5,) if test == "sequential_mean" else (1, 3) for test in TESTS[:-1]}.items()
        for weeks in lengths
    } | {(None, "all", "mix_shift", weeks) for weeks in (1, 3)}
    assert set(found) == expected
    assert len(found) == len(expected)
    keys = [
        (row["metric_name"] or "~", row["dimension"], row["segment"], row["test"], row["window_weeks"])
        for row in table.to_pylist()
    ]
    assert keys == sorted(keys)


def test_alarm_and_limit_say_the_same() -> None:
    table = normal_logs(shift=0.6, seed=3).measure(minimum_shift=0.0, minimum_distance=0.0)
    for row in rows_of(table, status="tested"):
        if row["test"] != "population_stability":
            assert row["is_drifting"] == (abs(row["statistic"]) >= row["limit_value"]), row
        elif row["is_drifting"]:
            assert row["statistic"] > row["limit_value"]


def test_limits_by_hand() -> None:
    table = normal_logs().measure()
    tested = rows_of(table, test="mean_shift", status="tested")
    assert len(tested) == 12
    row = one(table, metric_name="quiet", dimension="all", test="mean_shift", window_weeks=3)
    # 12 rows, half of them of weight .95 x 2; none is rejected
    limit = 0.01 * 0.96 / 12 * 0.95 * 2
    assert_allclose(row["alarm_level"], 0.01 * 0.96)
    assert_allclose(row["limit_value"], -stats.t.ppf(limit / 2, row["degrees_of_freedom"]))
    margin = row["limit_value"] * row["standard_error"]
    assert_allclose(
        [row["band_lower"], row["band_upper"]], [row["value_reference"] - margin, row["value_reference"] + margin]
    )
    stability = one(table, metric_name="quiet", dimension="all", test="population_stability", window_weeks=3)
    count = len(rows_of(table, test="population_stability", status="tested"))
    shares = [
        0.05 if row["window_weeks"] == 1 else 0.95
        for row in rows_of(table, test="population_stability", status="tested")
    ]
    level = 0.01 * 0.01 / count * 0.95 / np.mean(shares)
    expected = (1 / 360 + 1 / 180) * stats.chi2.ppf(1 - level, stability["degrees_of_freedom"])
    assert_allclose(stability["limit_value"], expected)


def test_large_logs_do_not_flag_trifles() -> None:
    logs = Logs()
    random = np.random.default_rng(4)
    for week in range(9):
        for _ in range(2_500):
            logs.add(week, {"m": float(random.normal(0.09 if week >= 6 else 0.0, 1))})
    strict = logs.measure()
    lax = logs.measure(minimum_shift=0.0)
    chosen = {"dimension": "all", "test": "mean_shift", "window_weeks": 3}
    assert not one(strict, **chosen)["is_drifting"]
    assert one(strict, **chosen)["q_value"] < 0.001
    assert one(lax, **chosen)["is_drifting"]


def test_siblings_make_a_shift_less_sure() -> None:
    logs, alone = Logs(), Logs()
    random = np.random.default_rng(5)
    for week in range(9):
        for number in range(15):
            effect = float(random.normal(0.9 if week >= 6 else 0.0, 1))
            for _ in range(4):
                logs.add(week, {"m": effect}, cluster=f"{week}-{number}")
                alone.add(week, {"m": effect})
    chosen = {"dimension": "all", "test": "mean_shift", "window_weeks": 3}
    by_cluster, by_row = one(logs.measure(), **chosen), one(alone.measure(), **chosen)
    assert_allclose(by_cluster["effective_window"], 45.0)
    assert_allclose(by_row["effective_window"], 180.0)
    assert_allclose(by_cluster["standard_error"], 2 * by_row["standard_error"], rtol=0.05)
    assert by_row["is_drifting"]
    assert by_cluster["p_value"] > 1e3 * by_row["p_value"]


def test_a_share_of_nothing_never_alarms() -> None:
    shares = dict.fromkeys(TESTS, 0.0) | {"kolmogorov_smirnov": 1.0}
    table = normal_logs(shift=2.0).measure(alarm_shares=shares)
    assert {row["test"] for row in rows_of(table, is_drifting=True)} == {"kolmogorov_smirnov"}
    assert one(table, metric_name="drifting", dimension="all", test="mean_shift", window_weeks=3)["limit_value"] is None


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
    expected = stats.chi2_contingency([[324, 36], [90, 90]], correction=False)
    assert_allclose(row["statistic"], expected.statistic)


# --- statuses ---------------------------------------------------------------------------------------------------------


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
    windows = [test for test in TESTS if test not in ("mix_shift", "sequential_mean")]
    for test in (*windows, "sequential_mean"):
        assert statuses(table, metric_name="constant", test=test) == {"constant"}
        assert statuses(table, metric_name="unscored", test=test) == {"no_scores"}
        assert statuses(table, metric_name="undated", test=test) == {"no_timestamps"}
    # weeks 6 and 7 are no reference, but something that week 8 can differ from
    assert statuses(table, metric_name="new", test="sequential_mean") == {"tested"}
    for test in windows:
        assert statuses(table, metric_name="new", test=test) == {"too_few_reference"}
        assert statuses(table, metric_name="gone", test=test) == {"too_few_window"}
    # what is in no period is counted
    row = one(table, metric_name="constant", dimension="all", test="sequential_mean")
    assert (row["count_without_week"], row["count_incomplete_week"]) == (50, 1)
    assert one(table, test="mix_shift", window_weeks=1)["count_without_week"] == 50
    for row in table.to_pylist():
        assert row["status"] in STATUSES
        assert (row["p_value"] is None) == (row["status"] != "tested")
        assert not (row["is_drifting"] and row["status"] != "tested")


def test_logs_without_any_time_say_so_in_every_row() -> None:
    logs = Logs()
    for number in range(20):
        logs.add(None, {"m": float(number)})
    table = logs.measure()
    assert statuses(table) == {"no_timestamps"}
    assert {row["window_start"] for row in table.to_pylist()} == {None}
    assert {row["count_without_week"] for row in table.to_pylist()} == {20}


def test_a_first_week_that_is_not_over_has_no_reference() -> None:
    logs = Logs()
    for number in range(20):
        logs.add(0, {"m": float(number)}, status="incomplete")
    assert statuses(logs.measure()) == {"too_few_reference"}


def test_a_short_history_has_no_reference() -> None:
    table = normal_logs(weeks=3).measure()
    # the three weeks are the window of the one, and not yet the base of the other
    assert statuses(table, test="mean_shift") == {"too_few_reference"}
    assert statuses(table, test="sequential_mean") == {"too_few_window"}
    assert {row["reference_end"] for row in rows_of(table, test="mean_shift")} == {None}


def test_empty_logs_give_an_empty_table() -> None:
    interactions = pa.table(
        {
            "interaction_id": pa.array([], pa.string()),
            "cluster_id": pa.array([], pa.string()),
            "week_start": pa.array([], pa.date32()),
            "week_status": pa.array([], pa.string()),
        }
    )
    table = measure_drift_of(interactions, [], [], Logs().weeks(), SETTINGS)
    assert table.num_rows == 0
    assert table.schema == DRIFT_SCHEMA
    assert bound_weeks(Logs().weeks(), 0.95).num_rows == 0


# --- invariance -------------------------------------------------------------------------------------------------------


def test_batches_and_order_of_rows_do_not_matter() -> None:
    logs = normal_logs(shift=0.4, weekly=25)
    whole = logs.measure()
    assert logs.measure(batch_rows=7).equals(whole)
    logs.interactions.reverse()
    logs.segments.reverse()
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


# --- input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window_weeks": ()}, "distinct lengths"),
        ({"window_weeks": (1, 1)}, "distinct lengths"),
        ({"window_shares": (0.5, 0.6)}, "add up to 1"),
        ({"window_shares": (1.0,)}, "2 shares above 0"),
        ({"base_weeks": 0}, "at least 1, got 0"),
        ({"base_weeks": 30}, "must not exceed reference_weeks, got 30 and 26"),
        ({"count_bins": 1}, "at least 2, got 1"),
        ({"minimum_window": 1.0}, "at least 2, got 1.0"),
        ({"minimum_expected": 0.0}, "above 0, got 0.0"),
        ({"minimum_shift": -0.1}, "at least 0, got -0.1"),
        ({"alarm_level": 1.0}, r"in \(0, 1\), got 1.0"),
        ({"alarm_shares": {"mean_shift": 1.0}}, "must name mean_shift"),
        ({"alarm_shares": dict.fromkeys(TESTS, 0.3)}, "add up to at most 1"),
        ({"reference_start": "1 June"}, "ISO date or empty, got '1 June'"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DriftSettings(**settings)


def test_bad_input_is_refused() -> None:
    logs = normal_logs(weekly=2)
    logs.segments.append({"interaction_id": "unknown", "dimension": "all", "segment": "all"})
    with pytest.raises(ValueError, match="interaction_id of segments must be among the 18 known ones, got 'unknown'"):
        logs.measure()
    logs = normal_logs(weekly=2)
    logs.interactions[0]["week_status"] = "over"
    with pytest.raises(ValueError, match="week_status must be among complete, incomplete, no_timestamp, got over"):
        logs.measure()
    logs = normal_logs(weekly=2)
    evaluations = pa.Table.from_pylist(
        [*logs.scores["quiet"][:1], *logs.scores["drifting"][:1], *logs.scores["quiet"][1:]]
    )
    interactions = pa.Table.from_pylist(logs.interactions)
    segments = pa.Table.from_pylist(logs.segments)
    with pytest.raises(ValueError, match="ordered by metric_name, got quiet again after drifting"):
        measure_drift(interactions, segments.to_batches(), evaluations.to_batches(1), logs.weeks(), DriftSettings())


# --- weekly means -----------------------------------------------------------------------------------------------------


def test_weekly_means_have_students_interval() -> None:
    weeks = pa.table(
        {
            "mean_score": [0.5, 0.5, None, 0.5],
            "standard_error": [0.1, None, None, 0.1],
            "scored_effective": [5.0, 1.0, None, 1.0],
        }
    )
    found = bound_weeks(weeks, 0.95)
    half = stats.t.ppf(0.975, 4) * 0.1
    assert_allclose(found["mean_lower"][0].as_py(), 0.5 - half)
    assert_allclose(found["mean_upper"][0].as_py(), 0.5 + half)
    assert found["mean_lower"].to_pylist()[1:] == [None, None, None]
    with pytest.raises(ValueError, match=r"in \(0, 1\), got 1.5"):
        bound_weeks(weeks, 1.5)
