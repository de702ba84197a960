"""The demo on DuckDB and on Apache Spark: the published marts of both, row by row.

The same models run on both, through macros that hide differences of SQL; whether they hide them is seen in the results.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.contents import RUN_COLUMNS
from benchmarks.harness import (
    ROOT,
    BenchmarkError,
    Outcome,
    Table,
    argument_parser,
    build,
    finish,
    has_spark,
    verdict,
    working_folder,
)

#: Numbers may differ by this much, absolutely below 1 and relatively above: engines add in different orders.
TOLERANCE = 1e-6

#: Texts in which numbers are spelled out, 1e-05 or 1.0E-5 by engine; the numbers themselves stand in other columns.
SPELLED_COLUMNS = frozenset({"parameters_shown", "expectation_results"})

#: Tables whose rows are builds.
RUN_TABLES = frozenset({"dim_runs"})

_HASHING = {"HCAT_ENCODER": "hashing:32", "HCAT_CLASSIFIER": "hashing"}


@dataclass(frozen=True, slots=True)
class Difference:
    """How a table differs between two databases.

    Parameters
    ----------
    table : str
        Name.
    count_rows : int
        Rows in the first database.
    count_unmatched : int
        Rows of either database without a row of the same key in the other.
    count_cells : int
        Cells that differ by more than :data:`TOLERANCE`, or at all where they are no numbers.
    largest : float
        Largest difference between numbers, absolute below 1 and relative above.
    columns : sequence of str
        Columns of those cells.
    """

    table: str
    count_rows: int
    count_unmatched: int
    count_cells: int
    largest: float
    columns: Sequence[str]

    @property
    def is_equal(self) -> bool:
        """Tell whether all rows are there and all numbers within the tolerance."""
        return self.count_unmatched == 0 and self.count_cells == 0


def compare_databases(first: Path, second: Path) -> list[Difference]:
    """Return the differences of all tables of two published databases, run columns aside.

    Raises
    ------
    BenchmarkError
        If they do not have the same tables and columns.
    """
    with duckdb.connect(str(first), read_only=True) as left, duckdb.connect(str(second), read_only=True) as right:
        columns = _columns(left)
        if columns != _columns(right):
            names = sorted(
                {*columns, *_columns(right)} - {name for name in columns if columns[name] == _columns(right).get(name)}
            )
            raise BenchmarkError(f"tables have other columns in {second}: {', '.join(names)}")
        return [_compare(left, right, table, columns[table]) for table in sorted(set(columns) - RUN_TABLES)]


def compare_embeddings(database: Path, tables: Path) -> Difference:
    """Return how the vectors of texts differ between a warehouse of DuckDB and the Parquet tables of Spark.

    Vectors differ where the largest difference of an element is above :data:`TOLERANCE`.
    """
    with duckdb.connect(str(database), read_only=True) as connection:
        spark = f"read_parquet('{tables.absolute()}/*/int_texts_embedded/*.parquet')"
        row = connection.execute(
            "select count(first.text_id), count(*) filter (where first.text_id is null or second.text_id is null),"
            " count(*) filter (where distance > ?), coalesce(max(distance), 0)"
            " from int_texts_embedded as first full outer join (select text_id, encoder_key, embedding from"
            f" {spark}) as second using (text_id, encoder_key), lateral (select list_max(list_transform("
            "list_zip(first.embedding, second.embedding), lambda pair: abs(pair[1] - pair[2])))::double as distance)",
            [TOLERANCE],
        ).fetchall()[0]
    return Difference("int_texts_embedded", row[0], row[1], row[2], row[3], ())


def run(is_quick: bool, folder: Path | None = None) -> Outcome | None:
    """Build the demo on both engines and compare the published marts; None without Spark or Java."""
    if not has_spark():
        return None
    environment = _HASHING if is_quick else {}
    arguments = ("--exclude-resource-type", "unit_test", *(("--exclude-resource-type", "test") if is_quick else ()))
    with working_folder(folder) as work:
        builds = {
            name: build(
                ROOT / "demo" / "logs",
                work / name,
                arguments=arguments,
                environment=environment | {"HCAT_TARGET": name},
            )
            for name in ("duckdb", "spark")
        }
        published = Path("published") / "candidate" / "hcat.duckdb"
        differences = compare_databases(work / "duckdb" / published, work / "spark" / published)
        embeddings = compare_embeddings(work / "duckdb" / "hcat.duckdb", work / "spark" / "spark")
    failed = {name: set(measured.failed_tests) for name, measured in builds.items()}
    same_tests_fail = failed["duckdb"] == failed["spark"]
    is_equal = all(difference.is_equal for difference in differences) and embeddings.is_equal and same_tests_fail
    tables = (
        Table(
            "Marts of the demo on Spark against DuckDB",
            ("mart", "rows", "rows without partner", "cells that differ", "largest difference", "verdict"),
            [
                (
                    difference.table,
                    f"{difference.count_rows:,}",
                    str(difference.count_unmatched),
                    f"{difference.count_cells}" + "".join(f" {name}" for name in difference.columns),
                    f"{difference.largest:.1e}",
                    verdict(difference.is_equal),
                )
                for difference in differences
            ],
        ),
        Table(
            "Embeddings on Spark against DuckDB",
            ("texts", "without partner", "vectors that differ", "largest difference", "verdict"),
            [
                (
                    f"{embeddings.count_rows:,}",
                    str(embeddings.count_unmatched),
                    str(embeddings.count_cells),
                    f"{embeddings.largest:.1e}",
                    verdict(embeddings.is_equal),
                )
            ],
        ),
        Table(
            "The builds" + (", data tests left out" if is_quick else ""),
            ("engine", "seconds", "data tests and gates that fail", "verdict"),
            [
                (name, f"{measured.seconds:,.0f}", ", ".join(measured.failed_tests) or "none", verdict(same_tests_fail))
                for name, measured in builds.items()
            ],
        ),
    )
    notes = (
        f"Numbers may differ by {TOLERANCE:.0e}, absolutely below 1 and relatively above. Left out:"
        f" {', '.join(sorted(RUN_TABLES))} and the columns {', '.join(sorted(RUN_COLUMNS | SPELLED_COLUMNS))}.",
        "Spark runs in one process with two cores; on a small demo its time is mostly overhead and says nothing "
        "about its scale.",
    )
    return Outcome("engines", "DuckDB and Apache Spark", tables, notes, is_quick, is_equal)


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, ...]]:
    rows = connection.execute(
        "select table_name, list(column_name order by ordinal_position) from information_schema.columns group by 1"
    ).fetchall()
    return {table: tuple(names) for table, names in rows}


def _compare(left: Any, right: Any, table: str, columns: Sequence[str]) -> Difference:
    kept = [name for name in columns if name not in RUN_COLUMNS | SPELLED_COLUMNS]
    # a mart whose own key names the build is matched by its other texts
    key_length = 1 if columns[0] not in RUN_COLUMNS else 2
    quoted = ", ".join(f'"{name}"' for name in kept)
    first, second = (
        {row[:key_length]: row for row in connection.execute(f'select {quoted} from "{table}"').fetchall()}
        for connection in (left, right)
    )
    largest, cells, names = 0.0, 0, set()
    for key in first.keys() & second.keys():
        for name, one, other in zip(kept, first[key], second[key], strict=True):
            if one == other:
                continue
            distance = _distance(one, other)
            largest = max(largest, distance) if math.isfinite(distance) else largest
            if distance > TOLERANCE:
                cells += 1
                names.add(name)
    return Difference(table, len(first), len(first.keys() ^ second.keys()), cells, largest, sorted(names))


def _distance(one: Any, other: Any) -> float:
    """Return the difference of two numbers, absolute below 1 and relative above; infinity for anything else."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) / max(1.0, abs(one))
    return math.inf


def main(arguments: list[str] | None = None) -> int:
    """Run this benchmark alone."""
    options = argument_parser("engines", __doc__ or "").parse_args(arguments)
    outcome = run(options.quick, options.folder)
    if outcome is None:
        print("skipped: Apache Spark (pip install '.[spark]') or Java is missing")
        return 0
    return finish(outcome, "python -m benchmarks.engines")


if __name__ == "__main__":
    sys.exit(main())
