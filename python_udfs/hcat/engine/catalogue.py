"""What the warehouse itself says of its tables: their columns, keys and foreign keys."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.warehouse import quote

DESCRIBED_COLUMNS = schema(
    "string: table_schema table_name column_name data_type",
    "int64: ordinal_position",
    "bool: is_nullable",
    "int64: count_distinct count_rows",
)

DESCRIBED_CONSTRAINTS = schema(
    "string: constraint_name constraint_type table_name column_name",
    "int64: ordinal_position",
    "string: referenced_table_name referenced_column_name",
)

# DuckDB has no foreign keys between schemas
_LIST_CONSTRAINTS = """
select
    constraint_name,
    constraint_type,
    table_name,
    unnest(constraint_column_names) as column_name,
    generate_subscripts(constraint_column_names, 1) as ordinal_position,
    referenced_table as referenced_table_name,
    unnest(referenced_column_names) as referenced_column_name
from duckdb_constraints()
where
    database_name = current_database()
    and constraint_type in ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
    and list_contains($1, [schema_name, table_name])
    and (referenced_table is null or list_contains($1, [schema_name, referenced_table]))
order by schema_name, table_name, constraint_name, constraint_type, constraint_column_names, ordinal_position
"""


def describe_columns(session: Any, names: Iterable[tuple[str, str]]) -> pa.Table:
    """Return one row per column of tables (schema, name), with counts and no value; LookupError if one is missing."""
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
        counts = ", ".join(f"count(distinct {quote(column)})" for column, *_ in found)
        relation = f"{quote(namespace)}.{quote(name)}"
        counted = cursor.execute(f"select count(*), {counts} from {relation}").fetchall()[0]
        rows += [
            dict(zip(DESCRIBED_COLUMNS.names, (namespace, name, *described, distinct, counted[0]), strict=True))
            for described, distinct in zip(found, counted[1:], strict=True)
        ]
    return pa.Table.from_pylist(rows, schema=DESCRIBED_COLUMNS)


def describe_constraints(session: Any, names: Iterable[tuple[str, str]]) -> pa.Table:
    """Return one row per column of each key and foreign key that the warehouse declares between some tables."""
    found = session.cursor().execute(_LIST_CONSTRAINTS, [[list(name) for name in names]])
    return found.to_arrow_table().cast(DESCRIBED_CONSTRAINTS)
