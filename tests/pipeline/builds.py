"""What the pipeline tests share: running dbt in a process of its own, writing raw logs and reading warehouses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

REPOSITORY = Path(__file__).resolve().parents[2]
DEMO = REPOSITORY / "seeds" / "demo"
#: Random vectors: a build of the pipeline without the cost of a model.
HASHING = "hashing:32"
ENTITIES = ("interactions", "retrievals", "queries", "documents", "chunks", "ratings", "relevance_judgements")

#: Tables that tell builds apart on purpose: ids and times of the build, and the files that were published by it.
RUN_TABLES = (
    "dim_runs",
    "fct_threshold_gates",
    "gate_verdicts",
    "int_findings_seen",
    "published_candidate",
    "published_passing",
)
#: Columns that count builds: which build landed a row, or saw a finding.
RUN_COLUMNS = (
    "landing_number",
    "fitted_run_id",
    "first_run_id",
    "first_seen_run",
    "last_seen_run",
    "first_seen_at",
    "last_seen_at",
    "retested_at",
    "closed_at",
    "count_runs_seen",
)


@dataclass(frozen=True)
class Build:
    """A finished dbt command: its exit code, what it printed, and where it wrote."""

    exit_code: int
    output: str
    raw: Path
    warehouse: Path

    def query(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query on the warehouse."""
        return query(self.warehouse / "hcat.duckdb", sql, *parameters)

    def gate_lines(self) -> list[str]:
        """Return the printed lines about gates that do not pass."""
        return [line for line in self.output.splitlines() if line.startswith("GATE ") or " GATE " in line]


def dbt_command(arguments: Iterable[str], target: Path, variables: Mapping[str, Any] | None = None) -> list[str]:
    """Return the command line of dbt with folders of its own, so that parallel builds do not collide."""
    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--no-use-colors", *arguments]
    if "build" in command:
        # unit tests need no data and have a run of their own
        command += ["--exclude-resource-type", "unit_test"]
    command += ["--target-path", str(target), "--log-path", str(target)]
    return command + (["--vars", json.dumps(variables)] if variables else [])


def dbt_environment(
    raw: Path, warehouse: Path, encoder: str = HASHING, classifier: str | None = None
) -> dict[str, str]:
    """Return this process's environment with the settings of one build and none of the caller's own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HCAT_", "DBT_"))}
    environment |= {
        "HCAT_RAW_LOGS": str(raw),
        "HCAT_WAREHOUSE": str(warehouse),
        "HCAT_ENCODER": encoder,
        # seeded logits go with random vectors, the real model with the real one
        "HCAT_CLASSIFIER": classifier or ("hashing" if encoder == HASHING else "packaged"),
        # reading names takes seconds that only tests of names need; identifiers are found by rules
        "HCAT_TAGGER": "none" if encoder == HASHING else "packaged",
        "HCAT_DEVICE": "cpu",
        "DBT_PROFILES_DIR": str(REPOSITORY),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "2",
    }
    return environment


def run_dbt(
    arguments: Iterable[str],
    raw: Path,
    warehouse: Path,
    target: Path,
    *,
    variables: Mapping[str, Any] | None = None,
    encoder: str = HASHING,
    classifier: str | None = None,
) -> tuple[int, str]:
    """Run dbt in the repository and return (exit code, everything that it printed)."""
    warehouse.mkdir(parents=True, exist_ok=True)
    completed = subprocess.run(
        dbt_command(arguments, target, variables),
        cwd=REPOSITORY,
        env=dbt_environment(raw, warehouse, encoder, classifier),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=600,
        check=False,
    )
    return completed.returncode, completed.stdout


def query(database: Path, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query on a DuckDB file, opened for this query only."""
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(sql, list(parameters)).fetchall()


def write_lines(path: Path, records: Iterable[Mapping[str, Any] | bytes]) -> None:
    """Write JSON Lines; a record given as bytes is written as it is."""
    lines = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def checksum_tables(database: Path) -> dict[str, tuple[int, int]]:
    """Return (number of rows, sum of the rows' hashes) of every table and view; the order of rows does not matter."""
    checksums: dict[str, tuple[int, int]] = {}
    with duckdb.connect(str(database), read_only=True) as connection:
        tables = connection.execute(
            "select table_schema, table_name, list(column_name order by ordinal_position)"
            " from information_schema.columns group by table_schema, table_name"
        ).fetchall()
        for schema, table, columns in tables:
            kept = ", ".join(f'"{column}"' for column in columns if column not in RUN_COLUMNS)
            row = connection.execute(
                f'select count(*), coalesce(sum(hash(row({kept}))::hugeint), 0)::varchar from "{schema}"."{table}"'
            ).fetchall()[0]
            checksums[table] = (row[0], int(row[1]))
    return checksums


def differing_tables(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """Return the tables that differ between two results of :func:`checksum_tables`."""
    return {table for table in {*one, *other} if one.get(table) != other.get(table)}
