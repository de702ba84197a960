"""What a finished warehouse holds: a checksum per table, without the columns that name the build itself.

``python -m benchmarks.contents FIRST.duckdb SECOND.duckdb`` prints where two warehouses differ. The exit code is 0 when
all tables are equal, 1 when one differs, and 2 when a file cannot be compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.harness import BenchmarkError

if TYPE_CHECKING:
    import duckdb

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
        "written_run_id",
        "first_seen_run",
        "last_seen_run",
        "first_seen_at",
        "last_seen_at",
        "gate_result_id",
        "finding_sighting_id",
        "landing_number",
        "retested_at",
        "closed_at",
        "build_number",
        "first_seen_build_number",
        "last_seen_build_number",
        "confirmed_build_number",
        "closed_build_number",
        "count_runs_seen",
        "has_changed",
    ]
)

#: Lists of published files: the checksums of a file and of its rows differ where its table has a run column.
_TABLES_OF_FILES = ("published_candidate", "published_passing")

#: History on purpose: one row per build, or per build and gate.
APPENDED_BY_RUN = ("dim_runs", "fct_threshold_gates")

#: Tables that tell builds apart on purpose: rows by build, and the files that a build published.
TABLES_OF_BUILDS = frozenset(
    {
        *APPENDED_BY_RUN,
        "fct_run_metrics",
        "gate_verdicts",
        "hcat_builds",
        "int_clusters_seen",
        "int_findings_confirmed",
        "int_findings_seen",
        "published_candidate",
        "published_passing",
    }
)

#: How the names of published tables begin.
_PUBLISHED = ("dim_", "fct_", "semantic_")


@dataclass(frozen=True, slots=True)
class Content:
    """Rows of a table, the order-free checksum of its columns (run columns left out), and (name, type) of each."""

    count_rows: int
    checksum: str
    columns: tuple[tuple[str, str], ...]


def read_contents(database: Path) -> dict[str, Content]:
    """Return the content of every base table of a finished warehouse, by table name.

    The checksum is the sum of the rows' hashes: equal rows in another order give the same sum, a row more, less or
    changed gives another.
    """
    import duckdb

    with duckdb.connect(str(database), read_only=True) as connection:
        tables = _read_columns(connection)
        hashed = _hashed_columns(tables)
        contents: dict[str, Content] = {}
        for table, columns in tables.items():
            row = ", ".join(hashed[table].values()) or "null"
            count, [checksum] = _checksums(connection, table, [row])
            contents[table] = Content(count, checksum, tuple(columns.items()))
    return contents


def read_column_checksums(database: Path, tables: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the checksum of each column of the tables, by table and column; run columns are left out."""
    import duckdb

    with duckdb.connect(str(database), read_only=True) as connection:
        hashed = _hashed_columns(_read_columns(connection))
        return {
            table: dict(zip(hashed[table], _checksums(connection, table, hashed[table].values())[1], strict=True))
            for table in tables
        }


def find_stale_copies(warehouse: Path) -> list[str]:
    """Return the copies of the candidate whose rows are not those of their mart; which build made a row counts too."""
    import duckdb

    candidate = warehouse / "published" / "candidate"
    stale = []
    with (
        duckdb.connect(str(warehouse / "hcat.duckdb"), read_only=True) as made,
        duckdb.connect(str(candidate / "hcat.duckdb"), read_only=True) as copied,
    ):
        for (mart,) in made.sql("select mart from published_candidate order by mart").fetchall():
            expected = _digest_rows(made.table(_quote(mart)))
            copies = {
                f"{mart}.parquet": made.read_parquet(str(candidate / f"{mart}.parquet")),
                f"hcat.duckdb:{mart}": copied.table(_quote(mart)),
            }
            stale += [name for name, rows in copies.items() if _digest_rows(rows) != expected]
    return stale


def _digest_rows(relation: Any) -> str:
    """Return a digest of the columns and rows of a relation, in whatever order the rows come."""
    columns = [(_quote(name), str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True)]
    # DuckDB gives null and an empty list one hash, their texts two
    nested = [f"{name}::varchar" for name, kind in columns if kind.endswith("]") or "(" in kind]
    row_hash = f"hash({', '.join([*(name for name, _ in columns), *nested])})"
    rows = relation.query("hcat_rows", f"select count(*) || ' ' || coalesce(sum({row_hash}), 0) from hcat_rows")
    return "|".join((rows.fetchall()[0][0], *relation.columns, *map(str, relation.types)))


def _read_columns(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return the types of the columns of every base table, by table and column."""
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.sql(
        """
        select tables.table_name, columns.column_name, columns.data_type
        from information_schema.tables as tables
        inner join information_schema.columns as columns
            on tables.table_schema = columns.table_schema and tables.table_name = columns.table_name
        where tables.table_type = 'BASE TABLE'
        order by tables.table_name, columns.ordinal_position
        """
    ).fetchall():
        columns.setdefault(table, {})[column] = kind
    return columns


def _hashed_columns(tables: Mapping[str, Iterable[str]]) -> dict[str, dict[str, str]]:
    """Return what is hashed of each column that does not name a build, by table and column."""
    hashed = {
        table: {column: _quote(column) for column in columns if column not in RUN_COLUMNS}
        for table, columns in tables.items()
    }
    with_run_columns = [table for table, columns in tables.items() if not RUN_COLUMNS.isdisjoint(columns)]
    names = ", ".join("'" + table.replace("'", "''") + "'" for table in with_run_columns)
    for table in _TABLES_OF_FILES:
        for column in hashed.get(table, {}).keys() & {"sha256", "rows_digest"}:
            hashed[table][column] = f"case when not list_contains([{names}], mart) then {column} end"
    return hashed


def _checksums(connection: duckdb.DuckDBPyConnection, table: str, expressions: Iterable[str]) -> tuple[int, list[str]]:
    """Return the number of rows, and for each expression the sum of its hashes."""
    sums = [f"coalesce(sum(hash({expression})::hugeint), 0)::varchar" for expression in expressions]
    count, *checksums = connection.sql(f"select {', '.join(['count(*)', *sums])} from {_quote(table)}").fetchall()[0]
    return count, checksums


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def describe_differences(first: Path, second: Path, is_published: bool = False) -> tuple[list[str], int]:
    """Return one line per difference of two warehouses, and the number of equal tables."""
    left, right = _read_chosen(first, is_published), _read_chosen(second, is_published)
    differing = sorted(table for table in left.keys() & right.keys() if left[table] != right[table])
    left_sums, right_sums = read_column_checksums(first, differing), read_column_checksums(second, differing)
    lines = [f"{table}: only in {first}" for table in sorted(left.keys() - right.keys())]
    lines += [f"{table}: only in {second}" for table in sorted(right.keys() - left.keys())]
    for table in differing:
        one, other = left[table], right[table]
        if one.columns != other.columns:
            changes = _describe_columns(dict(one.columns), dict(other.columns), first, second)
            lines.append(f"{table}: columns differ: {'; '.join(changes) or 'their order'}")
        sums, other_sums = left_sums[table], right_sums[table]
        names = [name for name in sums if name in other_sums and sums[name] != other_sums[name]]
        if names or one.count_rows != other.count_rows or one.columns == other.columns:
            counts = f"{one.count_rows:,} and {other.count_rows:,}"
            lines.append(f"{table}: rows differ ({counts}), by column: {', '.join(names) or 'none by itself'}")
    return lines, len(left.keys() & right.keys()) - len(differing)


def _read_chosen(database: Path, is_published: bool) -> dict[str, Content]:
    if not database.is_file():
        raise BenchmarkError(f"{database}: no such file; name two files of DuckDB")
    contents = read_contents(database)
    chosen = {name: content for name, content in contents.items() if not is_published or name.startswith(_PUBLISHED)}
    if not chosen:
        raise BenchmarkError(f"{database}: no table to compare (found {len(contents)} in all)")
    return chosen


def _describe_columns(one: Mapping[str, str], other: Mapping[str, str], first: Path, second: Path) -> list[str]:
    """Return what differs in the columns of a table: names on one side alone, and types."""
    changes = []
    for path, own, foreign in ((first, one, other), (second, other, one)):
        if names := [name for name in own if name not in foreign]:
            changes.append(f"only in {path}: {', '.join(names)}")
    return changes + [
        f"{name} is {kind} and {other[name]}" for name, kind in one.items() if kind != other.get(name, kind)
    ]


def main(arguments: list[str] | None = None) -> int:
    """Compare two warehouses from the command line; exit code 1 when a table differs."""
    import duckdb

    parser = argparse.ArgumentParser(prog="python -m benchmarks.contents", description="Compare two warehouses.")
    parser.add_argument("first", type=Path, help="file of a finished warehouse, for instance warehouse/hcat.duckdb")
    parser.add_argument("second", type=Path, help="file of the warehouse to compare")
    parser.add_argument("--published", action="store_true", help=f"only tables named {'*, '.join(_PUBLISHED)}*")
    options = parser.parse_args(arguments)
    try:
        lines, count_equal = describe_differences(options.first, options.second, options.published)
    except (BenchmarkError, duckdb.Error) as error:
        print(str(error).splitlines()[0], file=sys.stderr)
        return 2
    for line in lines:
        print(line)
    print(f"equal tables: {count_equal}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
