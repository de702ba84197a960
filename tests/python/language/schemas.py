"""Schemas of made tables, in few words."""

import pyarrow as pa


def make_schema(**columns: str) -> pa.Schema:
    """Return the schema of columns by their type, as in ``float64="low high"``, or ``string_lists`` for lists."""
    types = {kind: getattr(pa, kind.removesuffix("_lists"))() for kind in columns}
    types |= {kind: pa.list_(of) for kind, of in types.items() if kind.endswith("_lists")}
    return pa.schema([(name, types[kind]) for kind, names in columns.items() for name in names.split()])
