"""Rows that were not seen before, found among record batches by the digest of each row, in DuckDB."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa


class FreshRows:
    """Takes from each batch the rows whose content no earlier one had; a state is a file of digests of such rows."""

    def __init__(self, states: Sequence[Path]) -> None:
        self._connection = duckdb.connect()
        # a time with an offset is part of a digest as text
        self._connection.execute("set TimeZone = 'UTC'; create table seen (key_digest blob, row_digest blob)")
        if states:
            self._connection.execute("insert into seen from read_parquet(?)", [list(map(str, states))])

    def take(self, batch: pa.RecordBatch, key: Sequence[str]) -> tuple[pa.Table, pa.Table, int]:
        """Return the new rows, their state, and how many of them have a key that was seen with other content."""
        # columns by their place: names are the user's, and two may differ in case alone
        places = {field.name: f"c{place}" for place, field in enumerate(batch.schema)}
        typed = [
            f"{places[each.name]}{'::varchar' * _is_text(each.type)} as {places[each.name]}" for each in batch.schema
        ]
        self._connection.register("given", batch.rename_columns(list(places.values())))
        digests = f"{_digest(places[name] for name in key)} as key_digest, {_digest(places.values())} as row_digest"
        self._connection.execute(
            f"""
            create or replace temp table fresh as
            with digested as (select *, {digests} from (select {", ".join(typed)} from given))
            select distinct on (row_digest) * from digested anti join seen using (row_digest)
            """
        )
        fresh = self._connection.sql("from fresh").to_arrow_table()
        changed = self._connection.sql("select count(*) from fresh semi join seen using (key_digest)").fetchall()
        self._connection.execute("insert into seen select key_digest, row_digest from fresh")
        rows = fresh.select(list(places.values())).rename_columns(list(places))
        return rows, fresh.select(["key_digest", "row_digest"]), changed[0][0]


def _digest(columns: Iterable[str]) -> str:
    return f"unhex(md5(to_json(struct_pack({', '.join(f'{column} := {column}' for column in columns)}))::varchar))"


def _is_text(kind: Any) -> bool:
    """Return whether a type of another system is kept as text: JSON, identifiers, exact numbers, intervals."""
    return isinstance(kind, pa.BaseExtensionType) or bool(pa.types.is_interval(kind))


def open_parquet(pattern: str) -> Any:
    """Return the relation of all Parquet files that a pattern names; folders ``name=value`` are columns."""
    return duckdb.connect().read_parquet(pattern, union_by_name=True)
