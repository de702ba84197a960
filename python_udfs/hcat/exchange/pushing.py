"""The published marts into a warehouse: new tables first, then all in their places at once, and only what changed.

A mart that is published no longer is dropped there, too: what a module or a deletion took away must not stay behind.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as parquet

from hcat.engine.keys import hash_file
from hcat.engine.publication import ALWAYS_PUBLISHED
from hcat.engine.saying import Progress
from hcat.exchange.connections import Warehouse, open_warehouse

#: The ledger beside the marts: which content each of them has.
LEDGER: Final = "hcat_pushed"
_STAGING: Final = "hcat_staging"
_MART: Final = re.compile(r"\w+", re.ASCII)


def push(target: Warehouse, schema: str, published: Path) -> Iterator[tuple[str, str]]:
    """Yield in words which of the published marts were written to a schema of a warehouse."""
    if target.kind not in ("postgresql", "snowflake"):
        raise ValueError(f"{target.kind} has no driver that writes: load {published}/*.parquet (docs/warehouses.md)")
    files = {path.stem: path for path in sorted(published.glob("*.parquet")) if _MART.fullmatch(path.stem)}
    if not files:
        raise ValueError(f"no published mart in {published}: run `hcat build`")
    with open_warehouse(target) as warehouse:
        there = warehouse.list_tables("tables", schema)
        known = _prepare(warehouse, schema, there)
        digests = {name: hash_file(path) for name, path in files.items()}
        # without a passing build the folder holds the gates alone, and says nothing about other marts
        is_whole = not files.keys() <= {*ALWAYS_PUBLISHED}
        gone = sorted(name for name in known if is_whole and name not in files and _MART.fullmatch(name))
        due = [name for name in files if known.get(name) != digests[name] or name not in there[schema]]
        if foreign := [name for name in files if name in there[schema] and name not in known]:
            raise ValueError(f"{schema}.{foreign[0]} is there and not from hcat: name a schema of its own under push")
        counts = {name: parquet.read_metadata(files[name]).num_rows for name in due}
        progress = Progress("push", sum(counts.values()))
        for name in due:
            file = parquet.ParquetFile(files[name])
            reader = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
            with warehouse.connection.cursor() as cursor:
                cursor.adbc_ingest(f"{_STAGING}_{name}", reader, mode="replace", db_schema_name=schema)
            progress.advance(counts[name])
        for name in due:
            _exchange(warehouse, schema, name, digests[name], counts[name])
        ledger = warehouse.quote(schema, LEDGER)
        for name in gone:
            drop = f"drop table if exists {warehouse.quote(schema, name)}"
            warehouse.execute(drop, f"delete from {ledger} where mart = '{name}'")
        if target.kind == "postgresql":
            warehouse.connection.commit()
        progress.finish()
    yield from (("pushed", f"{name}: {count:,} rows") for name, count in counts.items())
    yield from (("dropped", f"{name}: it is not published any more") for name in gone)
    yield "schema", f"{schema} of {target.shown}: {len(files) - len(due)} marts are as before"


def _prepare(warehouse: Warehouse, schema: str, there: dict[str, dict[str, list[str]]]) -> dict[str, str]:
    """Return mart -> digest of its content, after schema and ledger were made where they were not there."""
    if schema not in there:
        warehouse.execute(f"create schema {warehouse.quote(schema)}")
    ledger = warehouse.quote(schema, LEDGER)
    if LEDGER not in there.setdefault(schema, {}):
        columns = "mart varchar(200), sha256 varchar(64), count_rows bigint, pushed_at timestamp"
        warehouse.execute(f"create table {ledger} ({columns})")
    with warehouse.read(f"select mart, sha256 from {ledger}") as reader:
        table = reader.read_all()
    return dict(zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True))


def _exchange(warehouse: Warehouse, schema: str, name: str, digest: str, count: int) -> None:
    """Put the table that was sent in the place of the mart, and remember its content."""
    mart, staging = warehouse.quote(schema, name), warehouse.quote(schema, f"{_STAGING}_{name}")
    ledger = warehouse.quote(schema, LEDGER)
    if warehouse.kind == "postgresql":
        warehouse.execute(f"drop table if exists {mart}", f"alter table {staging} rename to {warehouse.quote(name)}")
    else:
        # one statement: no reader finds the mart missing
        warehouse.execute(f"create or replace table {mart} as select * from {staging}", f"drop table {staging}")
    warehouse.execute(
        f"delete from {ledger} where mart = '{name}'",
        f"insert into {ledger} values ('{name}', '{digest}', {count}, current_timestamp)",
    )
