"""A relational schema as plain data: tables, columns, keys, foreign keys and how many distinct values a column has."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa

MAXIMUM_NAME_CHARACTERS: Final = 63

MINIMUM_ROWS_FOR_COUNTS: Final = 5
"""Rows below which unique values say nothing about the next row."""

_NAME = re.compile(rf"[^\W\d](?:[\w $-]{{0,{MAXIMUM_NAME_CHARACTERS - 2}}}[\w$])?")
_NUMBERS_LIST = """
int integer tinyint smallint bigint hugeint utinyint usmallint uinteger ubigint uhugeint numeric decimal number real
float double money
"""
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("varchar", "text", "string", "char", "character", "bpchar", "nvarchar", "nchar", "clob", "enum"),
    "number": tuple(_NUMBERS_LIST.split()),
    "date": ("date", "datetime", "timestamp", "timestamptz", "time"),
    "boolean": ("bool", "boolean"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``count_distinct`` counts values that are not null, and is None where nobody counted."""

    name: str
    kind: str
    count_distinct: int | None = None
    is_descriptive: bool | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of ``table`` that hold, in this order, the values of ``referenced_columns`` of another table."""

    table: str
    columns: tuple[str, ...]
    referenced_table: str
    referenced_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its columns in their order and its keys (primary and unique), each a set of column names."""

    name: str
    columns: tuple[Column, ...]
    keys: tuple[frozenset[str], ...] = ()
    namespace: str | None = None
    count_rows: int | None = None

    def column(self, name: str) -> Column | None:
        """Return the column of this name, upper and lower case alike, or None."""
        folded = name.casefold()
        return next((column for column in self.columns if column.name.casefold() == folded), None)

    def identifies(self, name: str) -> bool | None:
        """Return whether a value of this column names one row; None where neither keys nor counts tell."""
        if frozenset((name,)) in self.keys:
            return True
        column = self.column(name)
        if column is None or column.count_distinct is None or self.count_rows is None:
            return None
        if column.count_distinct < self.count_rows:
            return False
        return True if column.kind == "text" and self.count_rows >= MINIMUM_ROWS_FOR_COUNTS else None


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables and the foreign keys between them."""

    tables: tuple[Table, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()

    def table(self, name: str) -> Table | None:
        """Return the table of this name, upper and lower case alike, or None."""
        folded = name.casefold()
        return next((table for table in self.tables if table.name.casefold() == folded), None)

    def find(self, table: str, column: str) -> tuple[Table, Column]:
        """Return a table and its column of these names; ValueError where there is none."""
        found = self.table(table)
        own = None if found is None else found.column(column)
        if found is None or own is None:
            raise ValueError(f"the schema has no column {table}.{column}")
        return found, own


def column_kind(data_type: str) -> str:
    """Return the kind of a data type as information_schema names it; `other` is neither asked for nor asked by."""
    folded = data_type.strip().casefold()
    if folded.endswith("]"):
        return "other"
    word = re.match(r"[a-z]*", folded)
    first = word.group() if word else ""
    return next((kind for kind, words in _KINDS.items() if first in words), "other")


def read_schema(
    columns: Iterable[Mapping[str, Any]] | pa.Table, constraints: Iterable[Mapping[str, Any]] | pa.Table = ()
) -> Schema:
    """Return the schema that rows describe; members of rows that are not named here are passed over, unread.

    Parameters
    ----------
    columns, constraints : rows or Table
        As :func:`hcat.engine.catalogue.describe_columns` and :func:`~hcat.engine.catalogue.describe_constraints` return
        them; ``columns`` may also have is_descriptive.
    """
    counts: dict[str, int | None] = {}
    by_table: dict[str, list[Column]] = defaultdict(list)
    names: dict[str, str] = {}
    namespaces: dict[str, str | None] = {}
    for row in _in_order(columns):
        name = _name(row, "table_name")
        folded = name.casefold()
        namespace = None if row.get("table_schema") is None else _name(row, "table_schema")
        if names.setdefault(folded, name) != name or namespaces.setdefault(folded, namespace) != namespace:
            raise ValueError(
                f"the tables {namespaces[folded]}.{names[folded]} and {namespace}.{name} cannot be told apart"
            )
        counts[folded] = row.get("count_rows")
        column = Column(
            name=_name(row, "column_name"),
            kind=column_kind(str(row.get("data_type") or "")),
            count_distinct=row.get("count_distinct"),
            is_descriptive=row.get("is_descriptive"),
        )
        if any(other.name.casefold() == column.name.casefold() for other in by_table[folded]):
            raise ValueError(f"the table {name} has the column {column.name} twice")
        by_table[folded].append(column)
    bare = {
        folded: Table(names[folded], tuple(own), (), namespaces[folded], counts[folded])
        for folded, own in sorted(by_table.items())
    }
    keys, foreign_keys = _read_constraints(constraints, bare)
    return Schema(tuple(replace(table, keys=keys.get(folded, ())) for folded, table in bare.items()), foreign_keys)


def _read_constraints(
    constraints: Iterable[Mapping[str, Any]] | pa.Table, tables: Mapping[str, Table]
) -> tuple[dict[str, tuple[frozenset[str], ...]], tuple[ForeignKey, ...]]:
    grouped: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in _in_order(constraints):
        kind = str(row.get("constraint_type") or "").upper()
        # others (CHECK) are passed over
        if kind in ("PRIMARY KEY", "UNIQUE", "FOREIGN KEY"):
            group = (kind, _name(row, "table_name").casefold(), str(row.get("constraint_name") or ""))
            grouped[group].append(row)
    keys: dict[str, set[frozenset[str]]] = defaultdict(set)
    foreign_keys = set()
    for (kind, folded, constraint), rows in sorted(grouped.items(), key=lambda pair: pair[0]):
        table, columns = _find(tables, folded, rows, "column_name", constraint)
        if kind != "FOREIGN KEY":
            keys[folded].add(frozenset(columns))
            continue
        targets = {_name(row, "referenced_table_name").casefold() for row in rows}
        if len(targets) != 1:
            raise ValueError(
                f"the foreign key {constraint!r} of {table} must refer to one table, got {sorted(targets)}"
            )
        target, referenced = _find(tables, targets.pop(), rows, "referenced_column_name", constraint)
        foreign_keys.add(ForeignKey(table, columns, target, referenced))
        # what a foreign key refers to is unique, also where the warehouse lists no key (GRAMMAR: FK references PK)
        keys[target.casefold()].add(frozenset(referenced))
    ordered = {folded: tuple(sorted(sets, key=sorted)) for folded, sets in keys.items()}
    order = sorted(foreign_keys, key=lambda key: (key.table, key.columns, key.referenced_table, key.referenced_columns))
    return ordered, tuple(order)


def _find(
    tables: Mapping[str, Table], folded: str, rows: Iterable[Mapping[str, Any]], member: str, constraint: str
) -> tuple[str, tuple[str, ...]]:
    table = tables.get(folded)
    if table is None:
        raise ValueError(f"the constraint {constraint!r} names the table {folded!r}, which has no columns")
    found = []
    for row in rows:
        column = table.column(_name(row, member))
        if column is None:
            raise ValueError(f"the constraint {constraint!r} names {row[member]!r}, which {table.name} does not have")
        found.append(column.name)
    return table.name, tuple(found)


def _in_order(source: Iterable[Mapping[str, Any]] | pa.Table) -> list[Mapping[str, Any]]:
    """Return rows by their ordinal position, or where they stand without one."""
    rows = source.to_pylist() if isinstance(source, pa.Table) else source
    return sorted(rows, key=lambda row: row.get("ordinal_position") or 0)


def _name(row: Mapping[str, Any], member: str) -> str:
    name = row.get(member)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"{member} must be 1 to {MAXIMUM_NAME_CHARACTERS} letters, digits, spaces, '_', '$' or '-', beginning with "
            f"a letter or '_' and not ending with a space or '-', got {str(name)[:80]!r}"
        )
    return name
