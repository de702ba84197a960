"""Reading a finished warehouse: opened read-only, asked for rows, tolerant of tables that it does not have."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hcat.engine.files import explain_failure, first_line

Row = dict[str, Any]

#: Comments of a table: column -> what its values mean; the table itself has the key None.
Comments = Mapping[str | None, str]

#: Limit of the connection that writes a copy, beside that of the build. Without it DuckDB keeps what it has written in
#: most of a machine's memory.
_MEMORY_OF_A_COPY: Final = "1000MiB"
#: Each thread that writes a table holds a group of rows. Two threads write where a group takes at most this.
_BYTES_OF_A_GROUP: Final = 100 * 2**20
_ROWS_OF_A_GROUP: Final = 122_880

_LIST_TABLES: Final = """
select table_name from duckdb_tables()
where database_name = current_database() and schema_name = current_schema()
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a build lies."""

    database: Path
    #: of the report, of sheets and of the published copies
    folder: Path
    #: None = the one that holds hcat's tables; where several do, that of the target decides
    schema: str | None = None
    target_schema: str | None = None
    #: how the place was found, in words
    named: str = ""
    published: Path | None = None
    #: its seeds, and its logs by a relative path, lie there; None = this folder
    project: Path | None = None
    #: folder of profiles.yml, where one was named
    profiles: Path | None = None
    #: false after builds on Apache Spark, which publish a copy
    is_local: bool = True


#: Tables by which a schema of hcat is known: each kind of build writes one of them.
_SIGNS: Final = ("dim_runs", "hcat_builds", "fct_test_queries", "fct_grammar_queries")

_LIST_SCHEMAS: Final = f"""
select distinct table_schema
from information_schema.tables
where table_catalog = current_database() and table_name in {_SIGNS}
order by table_schema
"""

_LIST_COLUMNS: Final = """
select table_name, list(column_name) from information_schema.columns
where table_schema = current_schema() group by table_name
"""

#: Tables that an earlier build made and whose module this build switched off.
_LEFT_BEHIND: Final = "select mart, module from published_tables where relation is null order by mart"

# a build ends after it started; its number and no clock says that it is the newest
_LAST_EVENT: Final = """
select run_id, event, logged_at, build_number
from hcat_builds
order by build_number desc, event = 'started'
limit 1
"""
#: What two clocks may differ by; macros/start_build.sql has the same.
CLOCK_SKEW: Final = timedelta(seconds=60)


def read_queries(path: Path) -> Mapping[str, str]:
    """Return name -> SQL of a file in which each query stands below a line ``-- query: name``."""
    return dict(re.findall(r"^-- query: (\w+)\n(.*?)(?=^-- query: |\Z)", path.read_text(encoding="utf-8"), re.M | re.S))


class WarehouseError(RuntimeError):
    """The warehouse cannot be read; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class Warehouse:
    """A warehouse opened for reading."""

    connection: Any
    #: of every table and view that exists and that the last build did not switch off
    columns: Mapping[str, frozenset[str]]
    #: marts of the modules that the last build switched off, with their module
    switched_off: Mapping[str, str] = field(default_factory=dict)

    def has(self, *reads: str) -> bool:
        """Return whether all of ``reads`` exist: tables, or columns as ``table.column``."""
        return not self.lacks(*reads)

    def lacks(self, *reads: str) -> list[str]:
        """Return those of ``reads`` (tables, or columns as ``table.column``) that do not exist."""
        named = [(name, *name.partition(".")[::2]) for name in reads]
        held = self.columns
        return [name for name, table, column in named if table not in held or (column and column not in held[table])]

    def rows(self, sql: str, reads: Sequence[str], **parameters: Any) -> list[Row]:
        """Return the rows of ``sql`` as dictionaries; none when a table or column of ``reads`` does not exist."""
        if self.lacks(*reads):
            return []
        result = self.connection.execute(sql, parameters or None)
        names = [column[0] for column in result.description]
        return [dict(zip(names, values, strict=True)) for values in result.fetchall()]

    def columns_of(self, sql: str, reads: Sequence[str], **parameters: Any) -> dict[str, Any]:
        """Return the columns of ``sql`` as arrays of NumPy, masked where null; parameters as of :meth:`rows`."""
        if self.lacks(*reads):
            return {}
        columns: dict[str, Any] = self.connection.execute(sql, parameters or None).fetchnumpy()
        return columns


#: Name of the database file of a warehouse, and of every copy that is published from it.
DATABASE_FILE: Final = "hcat.duckdb"

#: Where the last build is read, first found first: a published copy has it whole as candidate, and its own scores may
#: be of an earlier build. After a build on Apache Spark there is only what it published.
_DATABASES: Final = tuple(Path(folder, DATABASE_FILE) for folder in ("candidate", "", "published/candidate"))


def as_place(warehouse: Path | Place) -> Place:
    """Return the place of a folder of a warehouse or published copy, or of a database file, which need not exist."""
    if isinstance(warehouse, Place):
        return warehouse
    if warehouse.is_file():
        return Place(warehouse, warehouse.parent, published=warehouse)
    found = (warehouse / name for name in _DATABASES)
    return Place(next((path for path in found if path.is_file()), warehouse / DATABASE_FILE), warehouse)


def find_database(warehouse: Path | Place) -> Path:
    """Return the database file of a warehouse, of a published copy or of their folder."""
    place = as_place(warehouse)
    if place.database.is_file():
        return place.database
    found_by = f" ({place.named}): run `dbt build` first" if place.named else ": run `dbt build` first"
    named = "" if place.named else ", or name its folder with --warehouse"
    raise WarehouseError(f"no warehouse at {place.database}{found_by}{named}")


def find_folder(warehouse: Path | Place) -> Path:
    """Return the folder beside whose database a report or a sheet is written."""
    find_database(warehouse)
    return as_place(warehouse).folder


def candidate_database(warehouse: Path | Place) -> Path:
    """Return where the copy of the last build lies, in the folder of a warehouse or a copy; a file is it itself."""
    place = as_place(warehouse)
    own = place.folder / _DATABASES[0]
    return place.published or (own if own.is_file() else place.folder / _DATABASES[-1])


@contextmanager
def open_warehouse(warehouse: Path | Place) -> Iterator[Warehouse]:
    """Open the warehouse read-only and yield it; what DuckDB cannot do becomes a :class:`WarehouseError`."""
    with _connect(warehouse, is_written=False) as connection:
        columns = {table: frozenset(names) for table, names in connection.execute(_LIST_COLUMNS).fetchall()}
        left_behind = dict(connection.execute(_LEFT_BEHIND).fetchall()) if "published_tables" in columns else {}
        known = {table: names for table, names in columns.items() if table not in left_behind}
        yield Warehouse(connection, known, left_behind)


@contextmanager
def _connect(warehouse: Path | Place, *, is_written: bool) -> Iterator[Any]:
    import duckdb

    path = find_database(warehouse)
    try:
        # one thread: the last bits of a mean depend on the order of additions, and the report must not
        connection = duckdb.connect(str(path), read_only=not is_written, config={"threads": 1})
    except duckdb.Error as error:
        raise WarehouseError(_explain_connection(path, error)) from error
    try:
        schema = _find_schema(connection, path, warehouse)
        if schema is not None:
            # names without a schema are hcat's; what it does not have is looked for where a project has its own tables
            paths = ",".join(quote(name) for name in (schema, "main"))
            connection.execute("set search_path = '" + paths.replace("'", "''") + "'")
        yield connection
    except duckdb.Error as error:
        told = explain_failure(error) or f"{path} does not fit this version of hcat: {first_line(error)}"
        raise WarehouseError(told) from error
    finally:
        connection.close()


#: Opens the warehouse and yields a connection whose names without a schema are hcat's.
open_for_writing: Final = partial(_connect, is_written=True)


@contextmanager
def share_of_memory(connection: Any, share: float) -> Iterator[None]:
    """Let a connection use a share of its memory for a while; all of it where other statements hold more."""
    import duckdb

    (limit,) = connection.execute("select current_setting('memory_limit')").fetchone()
    number, unit = limit.split()
    with suppress(duckdb.OutOfMemoryException):
        connection.execute(f"set memory_limit = '{float(number) * share} {unit}'")
    try:
        yield
    finally:
        connection.execute(f"set memory_limit = '{limit}'")


def write_database(
    files: Mapping[str, Path], path: Path, *, comments: Mapping[str, Comments] | None = None, keep: bool = False
) -> None:
    """Write a DuckDB file with one table per Parquet file."""
    from pyarrow import parquet

    with _open_copy(path, is_new=not keep) as connection:
        for name in sorted(list_tables(connection) & set(files)):
            connection.execute(f"drop table {quote(name)}")
        # new tables take the space of those that are gone
        connection.execute("checkpoint")
        for name, file in files.items():
            # two write rows, or one where their texts are long
            metadata = parquet.read_metadata(file)
            count_bytes = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            is_short = count_bytes / max(metadata.num_rows, 1) * _ROWS_OF_A_GROUP <= _BYTES_OF_A_GROUP
            connection.execute(f"set threads = {2 if is_short else 1}")
            connection.read_parquet(str(file)).create(name)
        # one transaction: a thousand comments take seconds
        connection.begin()
        for name in files:
            for column, comment in (comments or {}).get(name, {}).items():
                # a statement of this kind takes no parameters
                place = f"table {quote(name)}" if column is None else f"column {quote(name)}.{quote(column)}"
                text = comment.replace("'", "''")
                connection.execute(f"comment on {place} is '{text}'")
        connection.commit()


def mark_newest_build(path: Path, ledger: str, parquet: Path) -> None:
    """Say of the newest build in a copy that it passes, if its gates do, and write the ledger to a Parquet file."""
    with _open_copy(path, is_new=False) as connection:
        connection.execute(
            f"update {ledger} set is_passing = count_gates > 0 and count_error_gates_not_passing = 0"
            f" where build_number = (select max(build_number) from {ledger})"
        )
        connection.table(ledger).order("run_id").write_parquet(str(parquet), compression="zstd")


@contextmanager
def _open_copy(path: Path, *, is_new: bool) -> Iterator[Any]:
    import duckdb

    # of a build that was killed while it wrote a copy
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
    if is_new:
        path.unlink(missing_ok=True)
    with duckdb.connect(str(path), config={"memory_limit": _MEMORY_OF_A_COPY}) as connection:
        yield connection


def list_tables(connection: Any) -> set[str]:
    """Return the names of the tables of the current schema."""
    return {row[0] for row in connection.execute(_LIST_TABLES).fetchall()}


def quote(name: str) -> str:
    """Return a name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def check_finished(warehouse: Warehouse) -> None:
    """Raise an error if there is no whole build: none was made here, or the last one was killed."""
    last = read_last_event(warehouse)
    if last is not None and last["event"] == "started":
        started = f"{last['logged_at']:%Y-%m-%d %H:%M} UTC"
        raise WarehouseError(f"the last build, started at {started}, was killed: run it again")
    if not warehouse.has("dim_runs"):
        raise WarehouseError("the warehouse holds no build of hcat: run `dbt build`, or name another with --database")


def read_last_event(warehouse: Warehouse) -> Row | None:
    """Return run_id, event (started, ended or repeated), logged_at and build_number of the last event of builds."""
    return next(iter(warehouse.rows(_LAST_EVENT, ("hcat_builds",))), None)


def _find_schema(connection: Any, path: Path, warehouse: Path | Place) -> str | None:
    """Return the schema of hcat's tables; None if no schema has any of them."""
    place = as_place(warehouse)
    schemas = [row[0] for row in connection.execute(_LIST_SCHEMAS).fetchall()]
    if place.schema is not None:
        if place.schema not in schemas:
            found = ", ".join(schemas) or "none"
            raise WarehouseError(f"{path} holds no build of hcat in schema {place.schema} (has: {found})")
        return place.schema
    # of several developers or targets, those of this one: their schemas start alike
    target = place.target_schema
    own = [name for name in schemas if target and (name == target or name.startswith(f"{target}_"))]
    candidates = own if len(schemas) > 1 and own else schemas
    if len(candidates) > 1:
        named = ", ".join(candidates)
        raise WarehouseError(f"{path} holds several builds of hcat: name one of {named} with --schema")
    return candidates[0] if candidates else None


def prepare_database(path: Path) -> None:
    """Make the folder of a database that a build is about to open, and make sure that it can be written."""
    import duckdb

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WarehouseError(f"cannot make the folder of the warehouse, {path.parent}: {error.strerror}") from error
    blocked = next((each for each in (path.parent, path) if each.exists() and not os.access(each, os.W_OK)), None)
    if blocked is not None:
        raise WarehouseError(f"{blocked} cannot be written: set HCAT_WAREHOUSE to a folder that can")
    try:
        duckdb.connect(str(path)).close()
    except duckdb.Error as error:
        raise WarehouseError(_explain_connection(path, error)) from error


def _explain_connection(path: Path, error: Exception) -> str:
    """Return in one line why DuckDB cannot open a file, with the process that writes it where it is known."""
    message = str(error)
    if "replaying WAL" in message:
        return (
            f"DuckDB cannot replay {path.name}.wal, the log of a build that was killed: set it aside and build again;"
            f" what the log held is built anew from the raw logs ({path.parent})"
        )
    if "lock" in message.lower():
        process = re.search(r"PID (\d+)", message)
        who = f"another process (PID {process[1]})" if process else "another process"
        return f"{who} writes {path}: wait until it ends, or read the published copy {path.parent / 'published'}"
    return f"{path} cannot be opened: {first_line(error)}"
