"""The contract between hcat and the engine: Arrow record batches in, Arrow record batches out, always streamed.

Engines are DuckDB and Apache Spark. Row-wise work runs in Spark's Python workers. Functions over a whole table
(:func:`read_rows`) collect it, because a fit needs all labels at once, and labels, cells and gates do not grow with
the logs. What does grow reaches the driver one task at a time (:func:`read_batches`) or through files.
"""

import json
import pickle
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from hcat.engine.processes import ROWS_WORTH_PROCESSES, count_processes, map_in_processes
from hcat.engine.sizes import BATCH_INTERACTIONS, LOOKUP_MEBIBYTES
from hcat.engine.warehouse import Comments

#: A name with at most two qualifiers, each plain or quoted.
_QUALIFIED_NAME = re.compile(r'(?:(?:\w+|"(?:[^"]|"")+")\.){0,2}(?:\w+|"(?:[^"]|"")+")')

#: Rows of a batch where Python gathers columns as arrays and nothing is computed for a batch by itself.
ROWS_GATHERED: Final = 2**17
#: Rows of a part of a long relation, which sorted whole would hold the memory of the engine until its last row is read:
#: some 100 MB of the widest table, the ids of the sentences of an interaction.
PART_ROWS = 50_000

BatchFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
LookupFunction = Callable[[pa.RecordBatch, pa.Table], pa.RecordBatch]
Streamed = Any
"""What a Python model returns: a RecordBatchReader on DuckDB, a DataFrame on Spark."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """Rows that a batch function needs in addition to its batch, fetched by key.

    Parameters
    ----------
    relation : DuckDBPyRelation
        Relation with one row per key.
    key : str
        Key column of ``relation``.
    list_columns : sequence of str
        List columns of the batch whose elements are keys.
    """

    relation: Any
    key: str
    list_columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Parts:
    """Rows of a relation in a few parts, each in order; all rows are scanned for each."""

    relation: Any
    columns: str
    count_rows: int
    conditions: Sequence[str]


def is_distributed(thing: Any) -> bool:
    """Return whether a relation or session belongs to Spark, without importing Spark."""
    return type(thing).__module__.startswith("pyspark.")


def stream(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    """Return a reader over ``batches``; the engine pulls them one at a time."""
    return pa.RecordBatchReader.from_batches(schema, batches)


def read_batches(relation: Any, batch_rows: int = ROWS_GATHERED) -> Iterator[pa.RecordBatch]:
    """Yield the rows of ``relation`` in record batches of at most ``batch_rows`` rows, in the relation's order."""
    if isinstance(relation, Parts):
        for condition in relation.conditions:
            yield from read_batches(relation.relation.filter(condition).order(relation.columns), batch_rows)
        return
    if is_distributed(relation):
        yield from rebatch(_fetch_by_task(relation), batch_rows)
        return
    for batch in relation.to_arrow_reader(batch_rows):
        for start in range(0, batch.num_rows, batch_rows):
            yield batch.slice(start, batch_rows)


def rebatch(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of exactly ``rows`` rows (the last one may be shorter), whatever their sizes were."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        while count >= rows:
            table = pa.Table.from_batches(held).combine_chunks()
            yield table.slice(0, rows).to_batches()[0]
            rest = table.slice(rows)
            held, count = rest.to_batches(), rest.num_rows
    if count:
        yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]


def read_rows(relation: Any) -> pa.Table:
    """Return a small relation (ledger, gates, settings) as an Arrow table."""
    if is_distributed(relation):
        return _plain(relation.toArrow())
    return relation.to_arrow_table()


def count_rows(relation: Any) -> int:
    """Return the number of rows of ``relation``."""
    if isinstance(relation, Parts):
        return relation.count_rows
    if is_distributed(relation):
        return int(relation.count())
    return int(relation.aggregate("count(*)").fetchall()[0][0])


def read_one(relation: Any) -> dict[str, Any]:
    """Return the only row of ``relation``; raises ValueError where it has none or several."""
    rows = read_rows(relation).to_pylist()
    if len(rows) != 1:
        raise ValueError(f"expected one row, got {len(rows)}")
    return dict(rows[0])


def select_pending(relation: Any, done: str | None, keys: Sequence[str]) -> Any:
    """Return the rows of ``relation`` whose content key is not in the table ``done``: an anti-join, never a watermark.

    Parameters
    ----------
    relation : relation
        All work.
    done : str or None
        Quoted name of the table that holds finished rows; None on a first build.
    keys : sequence of str
        Columns of the content key, present in both.
    """
    if done is None:
        return relation
    if is_distributed(relation):
        finished = relation.sparkSession.sql(f"select {', '.join(keys)} from {done} as done")
        # a join by name puts the keys first
        return relation.join(finished, list(keys), "left_anti").select(relation.columns)
    matches = " and ".join(f"done.{key} = hcat_work.{key}" for key in keys)
    # the alias must not be the name of a table: DuckDB would bind it to itself
    unfinished = f"not exists (select 1 from {done} as done where {matches})"
    return relation.set_alias("hcat_work").filter(unfinished)


def from_name(session: Any, name: str) -> Any:
    """Return the relation of a table or view by its name in the project's settings; LookupError where there is none."""
    if is_distributed(session):
        if not session.catalog.tableExists(name):
            raise LookupError(f"'{name}' is no table of the warehouse")
        return session.table(name)
    import duckdb

    if not _QUALIFIED_NAME.fullmatch(name):
        raise LookupError(f"'{name}' is no name of a table")
    try:
        # a table or a view: DuckDB's own function knows tables alone
        return session.sql(f"select * from {name}")
    except duckdb.Error as error:
        raise LookupError(f"'{name}' is no table of the warehouse") from error


def select_runner(session: Any, maximum_rows: int) -> Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]:
    """Return a function that runs exactly one SELECT with bound parameters and returns at most so many rows."""
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


@cache
def _parser() -> Any:
    import duckdb

    return duckdb.connect(config={"threads": 1})


@cache
def reserved_words() -> frozenset[str]:
    """Return the words that are no names in SQL unless they are quoted."""
    found = "select keyword_name from duckdb_keywords() where keyword_category <> 'unreserved'"
    return frozenset(word for (word,) in _parser().cursor().execute(found).fetchall())


def parse_sql(text: str) -> dict[str, Any]:
    """Return what DuckDB's parser says of a text: its statements if all of them are SELECT, else the error."""
    said = _parser().cursor().execute("select json_serialize_sql(?::varchar)", [text]).fetchall()[0][0]
    return dict(json.loads(said))


def read_pairs(session: Any, table: str | None, first: str, second: str) -> set[tuple[str, str]]:
    """Return the distinct pairs of two text columns of a table (files and their hashes); empty without a table."""
    if table is None:
        return set()
    rows = read_rows(session.sql(f"select distinct {first} as first, {second} as second from {table}"))
    return {(row["first"], row["second"]) for row in rows.to_pylist()}


def read_maximum(session: Any, table: str | None, column: str) -> int:
    """Return the largest value of an integer column of a table; 0 without a table or without rows."""
    if table is None:
        return 0
    return int(read_one(session.sql(f"select coalesce(max({column}), 0) as maximum from {table}"))["maximum"])


def read_parts(session: Any, parts: Sequence[Callable[[], Iterator[pa.RecordBatch]]], schema: pa.Schema) -> Streamed:
    """Return the rows of all parts, streamed; on Spark a task reads each part."""
    if not is_distributed(session):
        return stream(schema, (batch for part in parts for batch in part()))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from parts[number]()

    return session.range(0, len(parts), 1, len(parts)).mapInArrow(read, _spark_schema(schema))


def chain(session: Any, streams: Sequence[Streamed], schema: pa.Schema) -> Streamed:
    """Return the rows of several streams of one schema, one stream after the other."""
    if is_distributed(session):
        return reduce(lambda first, second: first.union(second), streams)
    return stream(schema, (batch for each in streams for batch in each))


def convert_rows(
    relation: Any,
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: pa.Schema,
    rows: int,
    key: str | None = None,
    columns: str = "",
) -> Streamed:
    """Return what a function makes of all batches, streamed; with a key, its rows follow each other in an order."""
    if is_distributed(relation):
        # without a key one task: the function numbers the rows
        ordered = relation.repartition(key).sortWithinPartitions(*columns.split(", ")) if key else relation.coalesce(1)
        return ordered.mapInArrow(function, _spark_schema(schema))
    read = order_by(relation, columns, in_parts_by=key) if key else relation
    return stream(schema, function(read_batches(read, rows)))


def stream_pending(session: Any, streamed: Streamed, done: str | None, key: str) -> Streamed:
    """Return streamed rows without those whose key is in a table."""
    if done is None:
        return streamed
    if is_distributed(session):
        return select_pending(streamed, done, [key])
    cursor = session.cursor()

    def pending() -> Iterator[pa.RecordBatch]:
        for batch in streamed:
            cursor.register("hcat_landing_keys", pa.table({key: batch.column(key)}))
            known = cursor.sql(
                f"select {key} from hcat_landing_keys where {key} in (select {key} from {done})"
            ).to_arrow_table()[key]
            cursor.unregister("hcat_landing_keys")
            yield batch.filter(pc.invert(pc.is_in(batch.column(key), value_set=known.combine_chunks())))

    return stream(streamed.schema, pending())


def order_by(relation: Any, columns: str, in_parts_by: str | None = None, in_groups_of: str | None = None) -> Any:
    """Return ``relation`` in the order of some columns, so that results do not depend on the engine's order.

    Parameters
    ----------
    relation : relation
    columns : str
        Names, separated by commas.
    in_parts_by : str, optional
        Column by which :func:`map_batches` reads a long table in parts (:class:`Parts`); not on Spark.
    in_groups_of : str, optional
        The first of `columns`, of few texts, by whose values :func:`read_batches` reads a long table; not on Spark.
    """
    if is_distributed(relation):
        return relation.orderBy(*[name.strip(' "') for name in columns.split(",")])
    if in_groups_of is not None:
        values = [value for (value,) in relation.project(in_groups_of).distinct().order(in_groups_of).fetchall()]
        if None in values:
            raise ValueError(f"{in_groups_of} must not be null in rows that are read in groups of it")
        conditions = [f"{in_groups_of} = '{str(value).replace(chr(39), chr(39) * 2)}'" for value in values]
        return Parts(relation, columns, len(values), conditions)
    if in_parts_by is not None:
        count = count_rows(relation)
        parts = -(-count // PART_ROWS)
        conditions = [f"hash({in_parts_by}) % {parts} = {part}" for part in range(parts)]
        return Parts(relation, columns, count, conditions if parts > 1 else ["true"])
    return relation.order(columns)


def map_batches(
    relation: Any, function: BatchFunction, schema: pa.Schema, batch_rows: int, *, in_processes: bool = False
) -> Streamed:
    """Return a function applied to every batch of a relation, streamed.

    Parameters
    ----------
    relation : relation
    function : callable
        Batch -> batch of `schema`, row by row.
    schema : Schema
    batch_rows : int
        Rows of a batch at most.
    in_processes : bool
        Divide a long relation among processes (:mod:`hcat.engine.processes`): for rules in Python.

    Examples
    --------
    >>> import duckdb
    >>> relation = duckdb.sql("select unnest([1, 2, 3]) as number")
    >>> def double(batch: pa.RecordBatch) -> pa.RecordBatch:
    ...     return pa.record_batch({"doubled": pc.multiply(batch.column(0), 2)})
    >>> map_batches(relation, double, pa.schema([("doubled", pa.int64())]), 2).read_all()["doubled"].to_pylist()
    [2, 4, 6]
    """
    if is_distributed(relation):
        # a partition, and not what Arrow sends at once, is cut into batches: models want theirs full
        return relation.mapInArrow(lambda batches: map(function, rebatch(batches, batch_rows)), _spark_schema(schema))
    calls = ((batch,) for batch in read_batches(relation, batch_rows))
    return stream(schema, _map(relation, function, calls, in_processes))


def _map(
    relation: Any, function: Callable[..., pa.RecordBatch], calls: Iterator[tuple[Any, ...]], in_processes: bool
) -> Iterator[pa.RecordBatch]:
    # little work is done before processes have started
    if in_processes and (processes := count_processes()) > 1 and count_rows(relation) >= ROWS_WORTH_PROCESSES:
        return map_in_processes(function, calls, processes)
    return (function(*call) for call in calls)


def map_batches_with_lookup(
    session: Any,
    relation: Any,
    lookup: Lookup,
    function: LookupFunction,
    schema: pa.Schema,
    batch_rows: int = BATCH_INTERACTIONS,
    *,
    in_processes: bool = False,
) -> Streamed:
    """Return a function applied to every batch of a relation and the rows of another one, streamed.

    Parameters
    ----------
    session : engine session
    relation : relation
    lookup : Lookup
        The other relation, and the columns of the batch that name its rows.
    function : callable
        (batch, table) -> batch of `schema`. The table holds at least the keys of the batch, once each, ordered by key;
        results must not depend on what else it holds.
    schema, batch_rows, in_processes
        As for :func:`map_batches`.
    """
    if is_distributed(relation):
        return _cogroup_lookup(relation, lookup, function, schema, batch_rows)

    def calls() -> Iterator[tuple[pa.RecordBatch, pa.Table]]:
        take: Callable[[pa.Array], pa.Table] | None = None
        for batch in read_batches(relation, batch_rows):
            # only when there is work: a build with nothing new reads no lookup
            take = take or _rows_of(session, relation, lookup)
            keys = [pc.list_flatten(batch.column(name)).cast(pa.string()) for name in lookup.list_columns]
            yield batch, take(pc.unique(pa.concat_arrays(keys)).drop_null())

    return stream(schema, _map(relation, function, calls(), in_processes))


def _take_sorted(rows: pa.Table, key: str) -> Callable[[pa.Array], pa.Table]:
    """Return what finds rows in the order of their key: an index per batch would cost the square of the logs."""
    rows = rows.combine_chunks()
    keys = [str(each).encode() for each in rows[key].to_pylist()]
    # a fixed width, in the order of bytes, which is the engine's
    known = np.array(keys, dtype=bytes) if keys else np.empty(0, dtype="S1")

    def take(keys: pa.Array) -> pa.Table:
        wanted = np.sort(np.array([each.encode() for each in keys.to_pylist()], dtype=bytes))
        places = np.searchsorted(known, wanted)
        is_there = places < len(known)
        is_there[is_there] = known[places[is_there]] == wanted[is_there]
        return rows.take(pa.array(places[is_there]))

    return take


def _rows_of(session: Any, work: Any, lookup: Lookup) -> Callable[[pa.Array], pa.Table]:
    """Return what gives the rows of some keys: from memory where the rows that all work names fit there."""
    # a cursor of its own: the stream of work stays open on the session meanwhile
    cursor = session.cursor()
    source, key = lookup.relation.sql_query(), lookup.key
    held, rows = f"select * from ({source})", (work.relation if isinstance(work, Parts) else work).sql_query()
    if cursor.sql(f"select count(*) from ({rows})").fetchall()[0][0] <= PART_ROWS:
        names = f"select unnest(flatten([{', '.join(lookup.list_columns)}])) as name from ({rows})"
        held += f" where {key} in (select name from ({names}))"
    count = cursor.sql(f"select count(*) from ({held})").fetchall()[0][0]
    sample = cursor.sql(f"select * from ({held}) limit 1000").to_arrow_table()
    # estimated by the first of them
    if sample.nbytes / max(sample.num_rows, 1) * count <= LOOKUP_MEBIBYTES * 2**20:
        return _take_sorted(cursor.sql(f"{held} order by {key}").to_arrow_table(), key)

    def fetch(keys: pa.Array) -> pa.Table:
        cursor.register("hcat_batch_keys", pa.table({"key": keys}))
        rows = cursor.sql(
            f"select source.* from ({source}) as source"
            f" where source.{key} in (select key from hcat_batch_keys) order by source.{key}"
        ).to_arrow_table()
        cursor.unregister("hcat_batch_keys")
        return rows.combine_chunks()

    return fetch


def write_parquet(relation: Any, path: Path, columns: str | None = None) -> int:
    """Write ``relation`` to a Parquet file, streamed, and return its number of rows."""
    ordered = order_by(relation, columns) if columns else relation
    if is_distributed(relation):
        import duckdb

        # tasks write sorted parts, and DuckDB joins them in the order of their names
        with tempfile.TemporaryDirectory(dir=path.parent) as folder, duckdb.connect() as connection:
            ordered.write.mode("overwrite").parquet(Path(folder).absolute().as_uri())
            parts = sorted(str(part) for part in Path(folder).glob("*.parquet"))
            connection.read_parquet(parts).write_parquet(str(path), compression="zstd")
    else:
        ordered.write_parquet(str(path), compression="zstd")
    return int(parquet.read_metadata(path).num_rows)


_LIST_COMMENTS = """
select
    columns.table_name,
    list(columns.column_name order by columns.column_index) as columns,
    list(columns.comment order by columns.column_index) as comments,
    any_value(tables.comment) as comment
from duckdb_columns() as columns
inner join duckdb_tables() as tables using (database_oid, schema_oid, table_oid)
group by columns.table_name, columns.database_oid, columns.schema_oid, columns.table_oid
"""


def read_comments(session: Any, tables: Mapping[str, Sequence[str]]) -> dict[str, Comments]:
    """Return the comments that the warehouse keeps of some tables; none on Spark, whose files have no place."""
    rows = [] if is_distributed(session) else session.execute(_LIST_COMMENTS).fetchall()
    found: dict[str, Comments] = {}
    for name, columns, comments, comment in rows:
        if columns == list(tables.get(name, ())):
            told = {None: comment, **dict(zip(columns, comments, strict=True))}
            found[name] = {place: words for place, words in told.items() if words is not None}
    return found


# -- Apache Spark ------------------------------------------------------------------------------------------------------


def _spark_schema(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def _plain(table: pa.Table) -> pa.Table:
    """Return a table without the metadata that Spark adds to its schema."""
    return table.replace_schema_metadata(None)


def _fetch_by_task(relation: Any) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a DataFrame in order, fetched one task at a time."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"packed": [pickle.dumps(batch.replace_schema_metadata(None))]})

    for row in relation.mapInArrow(pack, "packed binary").toLocalIterator():
        yield pickle.loads(row.packed)


def _cogroup_lookup(relation: Any, lookup: Lookup, function: LookupFunction, schema: pa.Schema, batch_rows: int) -> Any:
    """Return :func:`map_batches_with_lookup` on Spark: work in buckets by hash, each with the rows that it names."""
    from pyspark.sql import functions as f

    buckets = max(1, -(-relation.count() // batch_rows))
    work = relation.withColumn("hcat_bucket", f.pmod(f.xxhash64(relation.columns[0]), f.lit(buckets)))
    elements = [f.coalesce(f.col(name), f.array()) for name in lookup.list_columns]
    keys = work.select("hcat_bucket", f.explode(f.concat(*elements)).alias(lookup.key)).distinct()
    # what travels to the workers must not hold a DataFrame
    key = lookup.key
    # another name on the right, since Spark takes equal ones for the same column of a self-join
    bucket_of_row = f.col("hcat_bucket").alias("hcat_bucket_of_row")
    rows = lookup.relation.join(keys, key).select(bucket_of_row, *lookup.relation.columns)

    def apply(batch: pa.Table, found: pa.Table) -> pa.Table:
        if not batch.num_rows:
            return schema.empty_table()
        batch = _plain(batch).drop_columns("hcat_bucket").combine_chunks()
        found = _plain(found).drop_columns("hcat_bucket_of_row").sort_by(key).combine_chunks()
        return pa.Table.from_batches([function(batch.to_batches()[0], found)], schema)

    grouped = work.groupBy("hcat_bucket").cogroup(rows.groupBy("hcat_bucket_of_row"))
    return grouped.applyInArrow(apply, _spark_schema(schema))
