"""Schemas of made tables, in few words."""

import pyarrow as pa


def make_schema(**columns: str) -> pa.Schema:
    """Return the schema of columns by the name of their type, as in ``float64="low high"``."""
    return pa.schema([(name, getattr(pa, kind)()) for kind, names in columns.items() for name in names.split()])
