"""Marts without rows, as their contracts describe them, and rows of some, for whatever reads a warehouse."""

import functools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

BUILT_AT = datetime(2026, 11, 20, 2, 30, tzinfo=UTC)
MODELS = Path(__file__).resolve().parents[3] / "models"

OTHER_TABLES = """
create table int_records_counted (
    entity varchar, count_landed bigint, count_staged bigint, count_repeated bigint, count_rejected bigint
);
create table stg_rejected_records (
    record_id varchar, entity varchar, source_file varchar, kind varchar, reject_reason varchar, record_excerpt varchar,
    source_row bigint, landing_number bigint
);
"""


@functools.cache
def read_marts() -> list[dict[str, Any]]:
    paths = sorted(set(MODELS.rglob("_*.yml")) - set(MODELS.rglob("*_unit_tests.yml")))
    models = [model for path in paths for model in yaml.safe_load(path.read_text()).get("models", [])]
    return [model for model in models if model["name"].startswith(("dim_", "fct_"))]


def create_marts(connection: Any, *names: str) -> None:
    """Create these marts; without a name all of them, and the tables beside them that the report reads."""
    for model in read_marts():
        if not names or model["name"] in names:
            columns = ", ".join(f"{column['name']} {column['data_type']}" for column in model["columns"])
            connection.execute(f"create table {model['name']} ({columns})")
    if not names:
        connection.execute(OTHER_TABLES)


def insert(connection: Any, table: str, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        names, marks = ", ".join(row), ", ".join("?" for _ in row)
        connection.execute(f"insert into {table} ({names}) values ({marks})", list(row.values()))


def gate(**changes: Any) -> dict[str, Any]:
    return {
        "run_id": "run_1",
        "gate_name": "groundedness_release",
        "measurement": "share_passing",
        "metric_name": "groundedness",
        "dimension": "all",
        "segment": "all",
        "severity": "error",
        "burden": "prove_safe",
        "comparison": "at_least",
        "verdict": "failed",
        "reason": "some reason",
        "rationale": "some rationale",
        "threshold": 0.8,
        "measured_value": 0.75,
        "lower_bound": 0.7,
        "upper_bound": 0.8,
        "n": 1234,
        "minimum_n": 100,
        "is_passing": False,
        "evaluated_at": BUILT_AT.replace(tzinfo=None),
        "build_number": 1,
    } | changes


def drift(**changes: Any) -> dict[str, Any]:
    return {
        "metric_drift_id": "id",
        "leading_drift_id": "id",
        "metric_name": "support_words",
        "dimension": "topic",
        "segment": "cards",
        "window_end": "2026-11-15",
        "window_weeks": 1,
        "test": "mean_shift",
        "status": "tested",
        "difference": -0.125,
        "q_value": 0.001,
        "count_reference": 800,
        "count_window": 90,
        "is_drifting": True,
    } | changes


def comparison(**changes: Any) -> dict[str, Any]:
    return {
        "application": "assistant",
        "baseline_version": "1.0",
        "candidate_version": "1.1",
        "dimension": "all",
        "segment": "all",
        "measurement": "share_failing",
        "status": "tested",
        "verdict": "worse",
        "count_pairs": 30,
        "count_clusters": 20,
        "baseline_value": 0.3,
        "candidate_value": 0.4,
        "difference": -0.1,
        "difference_lower": -0.18,
        "difference_upper": -0.02,
        "count_regressions": 5,
        "count_improvements": 2,
        "is_latest": True,
    } | changes


def decision(**changes: Any) -> dict[str, Any]:
    return {
        "application": "assistant",
        "candidate": "1.1",
        "decision": "do_not_release",
        "headline": "assistant, candidate 1.1 against 1.0: do not release.",
        "reason": "57 % of `answers` <b> fail.",
        "how_often": "31 % fail. No person rated any of them.",
        "what_changed": "Since 2026-08-03, 77 % fail; before, 43 %.",
        "what_next": "Read the ten answers that look most wrong first.",
    } | changes


def finding(**changes: Any) -> dict[str, Any]:
    return {
        "finding_id": "f00d",
        "kind": "confirmed",
        "leading_finding_id": changes.get("finding_id", "f00d"),
        "page_rank": 1,
        "metric_name": "support_words",
        "first_dimension": "topic",
        "first_segment": "mortgages",
        "second_dimension": "system",
        "second_segment": "assistant 2",
        "status": "open",
        "severity": "high",
        "measurement": "share_failing",
        "difference": 0.5,
        "new_difference": 0.25,
    } | changes
