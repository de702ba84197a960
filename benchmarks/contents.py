"""What a finished warehouse holds: a checksum per table, without the columns that name the build itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: Columns that differ between two builds of one input by design: they say which build made or saw the row, and when.
#: Everything else must be equal.
RUN_COLUMNS = frozenset(
    [
        "run_id",
        "generated_at",
        "evaluated_at",
        "started_at",
        "built_at",
        "fitted_run_id",
        "first_run_id",
        "first_seen_run",
        "last_seen_run",
        "first_seen_at",
        "last_seen_at",
        "gate_result_id",
        "finding_sighting_id",
        "landing_number",
        "retested_at",
        "closed_at",
        "count_runs_seen",
    ]
)

#: Lists of published files: the checksum of a file differs where its table has a run column.
_TABLES_OF_FILES = ("published_candidate", "published_passing")

#: History on purpose: one row per build, or per build and gate.
APPENDED_BY_RUN = ("dim_runs", "fct_threshold_gates")


@dataclass(frozen=True, slots=True)
class Content:
    """Rows of a table and the order-free checksum of its columns (run columns left out)."""

    count_rows: int
    checksum: str


def read_contents(database: Path) -> dict[str, Content]:
    """Return the content of every base table of a finished warehouse, by table name.

    The checksum is the sum of the rows' hashes: equal rows in another order give the same sum, a row more, less or
    changed gives another.
    """
    import duckdb

    contents: dict[str, Content] = {}
    connection = duckdb.connect(str(database), read_only=True)
    try:
        columns: dict[str, list[str]] = {}
        for table, column in connection.sql(
            """
            select tables.table_name, columns.column_name
            from information_schema.tables as tables
            inner join information_schema.columns as columns
                on tables.table_schema = columns.table_schema and tables.table_name = columns.table_name
            where tables.table_type = 'BASE TABLE'
            order by tables.table_name, columns.ordinal_position
            """
        ).fetchall():
            columns.setdefault(table, []).append(column)
        tables_with_run_columns = tuple(table for table, names in columns.items() if not RUN_COLUMNS.isdisjoint(names))
        for table, names in columns.items():
            hashed = [f'"{name}"' for name in names if name not in RUN_COLUMNS]
            if table in _TABLES_OF_FILES:
                hashed = [
                    f"case when mart not in {tables_with_run_columns!r} then sha256 end" if name == '"sha256"' else name
                    for name in hashed
                ]
            count, checksum = connection.sql(
                f'select count(*), coalesce(sum(hash({", ".join(hashed)})::hugeint), 0)::varchar from "{table}"'
            ).fetchall()[0]
            contents[table] = Content(int(count), str(checksum))
    finally:
        connection.close()
    return contents


def incremental_tables(target: Path) -> list[str]:
    """Return the names of the incremental models of the build whose artifacts lie in ``target``."""
    nodes = json.loads((target / "manifest.json").read_text(encoding="utf-8"))["nodes"].values()
    return sorted(
        node["alias"]
        for node in nodes
        if node["resource_type"] == "model" and node["config"].get("materialized") == "incremental"
    )


def count_inserted(before: Mapping[str, Content], after: Mapping[str, Content], tables: list[str]) -> int:
    """Return how many rows ``tables`` gained between two builds, the per-run history left out."""
    return sum(
        after[table].count_rows - (before[table].count_rows if table in before else 0)
        for table in tables
        if table not in APPENDED_BY_RUN
    )


def changed_tables(before: Mapping[str, Content], after: Mapping[str, Content]) -> list[str]:
    """Return the tables whose content differs, the per-run history left out."""
    return sorted(
        table for table in {*before, *after} if table not in APPENDED_BY_RUN and before.get(table) != after.get(table)
    )
