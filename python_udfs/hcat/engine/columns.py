"""Schemas of tables, written as a type and the columns that have it."""

from __future__ import annotations

import pyarrow as pa


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
