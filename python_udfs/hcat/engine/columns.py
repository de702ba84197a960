"""Schemas of tables, written as a type and the columns that have it; several results of one solver as one table."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.statistics.arrays import Floats


def schema(*parts: str) -> pa.Schema:
    """Return the schema of columns in order, by their types."""
    columns = [
        (name, _read_type(kind))
        for kind, _, names in (part.partition(": ") for part in parts)
        for name in names.split()
    ]
    return pa.schema(columns)


def _read_type(kind: str) -> pa.DataType:
    if kind.startswith("list<"):
        return pa.list_(_read_type(kind[len("list<") : -1]))
    return pa.type_for_alias(kind)


def stack_parts(parts: Mapping[str, pa.Table]) -> pa.Table:
    """Return all rows of several tables under each other, with the name of their table in the column ``part``."""
    named = [
        table.add_column(0, pa.field("part", pa.string()), pa.repeat(name, table.num_rows).cast(pa.string()))
        for name, table in parts.items()
    ]
    return pa.concat_tables(named, promote_options="permissive")


def as_floats(column: pa.Array | pa.ChunkedArray) -> Floats:
    """Return a column as doubles, NaN for null."""
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def read_part(table: pa.Table, part: str) -> pa.Table:
    """Return the rows of one part of a table of :func:`stack_parts`; columns of other parts are null."""
    return table.filter(pc.field("part") == part)
