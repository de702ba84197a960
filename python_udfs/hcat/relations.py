"""The contract between hcat and the engine: Arrow record batches in, Arrow record batches out, always streamed.

This is the only module that knows the engine of a build (the report opens a finished warehouse by itself). Nothing here
collects a table of unbounded size; what is collected (the work of one batch, a ledger row) is named so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

BatchFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
LookupFunction = Callable[[pa.RecordBatch, pa.Table], pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Lookup:
    """Rows that a batch function needs beside its batch, fetched by key.

    Parameters
    ----------
    relation : DuckDBPyRelation
        Relation with one row per key.
    key : str
        Key column of ``relation``.
    list_columns : sequence of str
        List columns of the batch whose elements are keys.
    budget_mebibytes : int
        The relation is held in memory whole when it fits in this (by the size of its first rows); else each batch
        fetches its own keys.
    """

    relation: Any
    key: str
    list_columns: Sequence[str]
    budget_mebibytes: int


def stream(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    """Return a reader over ``batches``; the engine pulls them one at a time."""
    return pa.RecordBatchReader.from_batches(schema, batches)


def read_batches(relation: Any, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of ``relation`` in record batches of at most ``batch_rows`` rows, in the relation's order."""
    for batch in relation.to_arrow_reader(batch_rows):
        for start in range(0, batch.num_rows, batch_rows):
            yield batch.slice(start, batch_rows)


def read_rows(relation: Any) -> pa.Table:
    """Return a small relation (ledger, gates, settings) as an Arrow table."""
    return relation.to_arrow_table()


def count_rows(relation: Any) -> int:
    """Return the number of rows of ``relation``."""
    return int(relation.aggregate("count(*)").fetchall()[0][0])


def read_one(relation: Any) -> dict[str, Any]:
    """Return the only row of ``relation``.

    Raises
    ------
    ValueError
        If the relation does not have exactly one row.
    """
    rows = read_rows(relation).to_pylist()
    if len(rows) != 1:
        raise ValueError(f"expected one row, got {len(rows)}")
    return dict(rows[0])


def select_pending(relation: Any, done: str | None, keys: Sequence[str]) -> Any:
    """Return the rows of ``relation`` whose content key is not in the table ``done`` (an anti-join, never a watermark).

    Parameters
    ----------
    relation : DuckDBPyRelation
        All work.
    done : str or None
        Quoted name of the table that holds finished rows; None on a first build.
    keys : sequence of str
        Columns of the content key, present in both.
    """
    if done is None:
        return relation
    matches = " and ".join(f"done.{key} = hcat_work.{key}" for key in keys)
    # the alias must not be the name of a table: DuckDB would bind it to itself
    anti_join = f"select hcat_work.* from hcat_work where not exists (select 1 from {done} as done where {matches})"
    return relation.query("hcat_work", anti_join)


def from_name(session: Any, name: str) -> Any:
    """Return the relation of a table name that stands in the project's settings (never in the data).

    Raises
    ------
    LookupError
        If the warehouse has no such table or view.
    """
    import duckdb

    try:
        return session.table(name)
    except duckdb.Error as error:
        raise LookupError(f"'{name}' is no table of the warehouse") from error


DESCRIBED_COLUMNS = pa.schema(
    [
        ("table_schema", pa.string()),
        ("table_name", pa.string()),
        ("column_name", pa.string()),
        ("data_type", pa.string()),
        ("ordinal_position", pa.int64()),
        ("is_nullable", pa.bool_()),
        ("count_distinct", pa.int64()),
        ("count_rows", pa.int64()),
    ]
)
DESCRIBED_CONSTRAINTS = pa.schema(
    [
        ("constraint_name", pa.string()),
        ("constraint_type", pa.string()),
        ("table_name", pa.string()),
        ("column_name", pa.string()),
        ("ordinal_position", pa.int64()),
        ("referenced_table_name", pa.string()),
        ("referenced_column_name", pa.string()),
    ]
)


def describe_columns(session: Any, names: Iterable[tuple[str, str]]) -> pa.Table:
    """Return the columns of tables, from the warehouse's information_schema, with counts and no value of any row.

    Parameters
    ----------
    session : DuckDBPyConnection
    names : iterable of (str, str)
        Schema and name of each table.

    Returns
    -------
    Table
        One row per column, schema :data:`DESCRIBED_COLUMNS`; count_distinct counts values that are not null.

    Raises
    ------
    LookupError
        If the warehouse has no such table.
    """
    cursor = session.cursor()
    rows: list[dict[str, Any]] = []
    for namespace, name in names:
        found = cursor.execute(
            "select column_name, data_type, ordinal_position, is_nullable = 'YES' from information_schema.columns"
            " where table_catalog = current_database() and table_schema = ? and table_name = ? order by 3",
            [namespace, name],
        ).fetchall()
        if not found:
            raise LookupError(f"'{namespace}.{name}' is no table of the warehouse")
        counts = ", ".join(f"count(distinct {_quote_name(column)})" for column, *_ in found)
        relation = f"{_quote_name(namespace)}.{_quote_name(name)}"
        counted = cursor.execute(f"select count(*), {counts} from {relation}").fetchall()[0]
        rows += [
            dict(zip(DESCRIBED_COLUMNS.names, (namespace, name, *described, distinct, counted[0]), strict=True))
            for described, distinct in zip(found, counted[1:], strict=True)
        ]
    return pa.Table.from_pylist(rows, schema=DESCRIBED_COLUMNS)


def describe_constraints(session: Any, names: Iterable[tuple[str, str]]) -> pa.Table:
    """Return the keys and foreign keys that the warehouse itself knows between tables.

    Parameters as in :func:`describe_columns`; a foreign key to a table that is not among them is left out.

    Returns
    -------
    Table
        One row per column of a constraint, schema :data:`DESCRIBED_CONSTRAINTS`.
    """
    wanted = set(names)
    found = session.cursor().execute(
        "select schema_name, table_name, constraint_name, constraint_type, constraint_column_names, referenced_table,"
        " referenced_column_names from duckdb_constraints() where database_name = current_database()"
        " and constraint_type in ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') order by all"
    )
    rows: list[dict[str, Any]] = []
    for namespace, table, constraint, kind, columns, target, referenced in found.fetchall():
        is_foreign = kind == "FOREIGN KEY"
        # DuckDB has no foreign keys between schemas
        if (namespace, table) not in wanted or (is_foreign and (namespace, target) not in wanted):
            continue
        targets = referenced if is_foreign else [None] * len(columns)
        rows += [
            dict(
                zip(
                    DESCRIBED_CONSTRAINTS.names,
                    (constraint, kind, table, column, position, target if is_foreign else None, other),
                    strict=True,
                )
            )
            for position, (column, other) in enumerate(zip(columns, targets, strict=True), start=1)
        ]
    return pa.Table.from_pylist(rows, schema=DESCRIBED_CONSTRAINTS)


SelectRunner = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


def select_runner(session: Any, maximum_rows: int) -> SelectRunner:
    """Return a function that runs one SELECT statement with bound parameters and returns its first rows.

    Parameters
    ----------
    session : DuckDBPyConnection
    maximum_rows : int
        Rows that are fetched at most, at least 1.

    Raises
    ------
    ValueError
        By the function returned, if the text is not exactly one SELECT statement.
    """
    import duckdb

    if maximum_rows < 1:
        raise ValueError(f"maximum_rows must be at least 1, got {maximum_rows}")
    cursor = session.cursor()

    def run(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        statements = cursor.extract_statements(sql)
        kinds = [statement.type.name for statement in statements]
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ValueError(f"only one SELECT statement is run, got {', '.join(kinds) or 'nothing'}")
        rows: list[tuple[Any, ...]] = cursor.execute(statements[0], list(parameters)).fetchmany(maximum_rows)
        return rows

    return run


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_pairs(session: Any, table: str | None, first: str, second: str) -> set[tuple[str, str]]:
    """Return the distinct pairs of two text columns of ``table`` (files and their hashes); empty without a table."""
    if table is None:
        return set()
    return set(session.sql(f"select distinct {first}, {second} from {table}").fetchall())


def read_maximum(session: Any, table: str | None, column: str) -> int:
    """Return the largest value of an integer column of ``table``; 0 without a table or without rows."""
    if table is None:
        return 0
    return int(session.sql(f"select coalesce(max({column}), 0) from {table}").fetchall()[0][0])


def stream_pending(
    session: Any, schema: pa.Schema, batches: Iterator[pa.RecordBatch], done: str | None, key: str
) -> pa.RecordBatchReader:
    """Return ``batches`` without the rows whose ``key`` is in the table ``done``, streamed."""
    if done is None:
        return stream(schema, batches)
    cursor = session.cursor()

    def pending() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            cursor.register("hcat_landing_keys", pa.table({key: batch.column(key)}))
            known = cursor.sql(
                f"select {key} from hcat_landing_keys where {key} in (select {key} from {done})"
            ).to_arrow_table()[key]
            cursor.unregister("hcat_landing_keys")
            yield batch.filter(pc.invert(pc.is_in(batch.column(key), value_set=known.combine_chunks())))

    return stream(schema, pending())


def order_by(relation: Any, columns: str) -> Any:
    """Return ``relation`` in a declared order, so that results do not depend on the engine's."""
    return relation.order(columns)


def first_column(relation: Any) -> str:
    """Return the quoted name of the first column of ``relation``, which is the key of a mart."""
    return f'"{relation.columns[0]}"'


def map_batches(relation: Any, function: BatchFunction, schema: pa.Schema, batch_rows: int) -> pa.RecordBatchReader:
    """Return ``function`` applied to every batch of ``relation``, streamed."""
    return stream(schema, (function(batch) for batch in read_batches(relation, batch_rows)))


def map_batches_with_lookup(
    session: Any, relation: Any, lookup: Lookup, function: LookupFunction, schema: pa.Schema, batch_rows: int
) -> pa.RecordBatchReader:
    """Return ``function(batch, rows of the lookup that the batch names)`` over ``relation``, streamed.

    The table given to ``function`` holds at least the keys of the batch, once each, ordered by key; results must not
    depend on what else it holds.
    """

    def batches() -> Iterator[pa.RecordBatch]:
        source = lookup.relation.sql_query()
        # a cursor of its own: the stream of work stays open on the session meanwhile
        cursor = session.cursor()
        fits: bool | None = None
        whole = None
        for batch in read_batches(relation, batch_rows):
            if fits is None:
                # asked only when there is work: a build with nothing new reads no lookup
                fits = _estimate_mebibytes(cursor, source) <= lookup.budget_mebibytes
            if fits:
                if whole is None:
                    whole = (
                        cursor.sql(f"select * from ({source}) order by {lookup.key}").to_arrow_table().combine_chunks()
                    )
                yield function(batch, whole)
            else:
                batch_keys = pa.table({"key": _distinct_keys(batch, lookup.list_columns)})
                cursor.register("hcat_batch_keys", batch_keys)
                rows = cursor.sql(
                    f"select source.* from ({source}) as source"
                    f" where source.{lookup.key} in (select key from hcat_batch_keys) order by source.{lookup.key}"
                ).to_arrow_table()
                cursor.unregister("hcat_batch_keys")
                yield function(batch, rows.combine_chunks())

    return stream(schema, batches())


def _estimate_mebibytes(cursor: Any, source: str) -> float:
    """Return the estimated size of a relation in memory, from its count and its first thousand rows."""
    count = cursor.sql(f"select count(*) from ({source})").fetchall()[0][0]
    sample = cursor.sql(f"select * from ({source}) limit 1000").to_arrow_table()
    return float(sample.nbytes / max(sample.num_rows, 1) * count / 2**20)


def _distinct_keys(batch: pa.RecordBatch, list_columns: Sequence[str]) -> pa.Array:
    flattened = [pc.list_flatten(batch.column(name)).cast(pa.string()) for name in list_columns]
    return pc.unique(pa.concat_arrays(flattened)).drop_null()


def write_parquet(relation: Any, path: Path) -> int:
    """Write ``relation`` to a Parquet file, streamed, and return its number of rows."""
    count = count_rows(relation)
    relation.write_parquet(str(path), compression="zstd")
    return count


def write_database(files: Mapping[str, Path], path: Path, *, keep: bool = False) -> None:
    """Write a DuckDB file at ``path`` with one table per Parquet file.

    Parameters
    ----------
    files : mapping of str to Path
        Table name -> Parquet file.
    path : Path
        Database file.
    keep : bool
        Keep the other tables of an existing file; otherwise it is written anew.
    """
    import duckdb

    if not keep:
        path.unlink(missing_ok=True)
    connection = duckdb.connect(str(path))
    try:
        for name, file in files.items():
            connection.execute(f'drop table if exists "{name}"')
            connection.read_parquet(str(file)).create(name)
    finally:
        connection.close()
