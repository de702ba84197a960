"""Materials of the bank for the tests of grammar: settings, seeds, and what became of templates and texts."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from hcat.engine.catalogue import describe_columns, describe_constraints
from hcat.grammar.materials import Materials
from hcat.grammar.materials import gather as gather_materials
from hcat.grammar.templates import templates_table, texts_table

NAMES = [("main", name) for name in ("accounts", "branches", "customers", "loans")]
SETTINGS: dict[str, Any] = {"random_seed": 7, "maximum_templates": 12, "texts_per_style": 2, "maximum_fillings": 5}
CITY = "SELECT city FROM branches WHERE branch_name = '[branches.branch_name]';"


def edits(*rows: tuple[str, str | None, bool]) -> pa.Table:
    """Return the seed grammar_templates."""
    schema = pa.schema(
        [
            ("template_id", pa.string()),
            ("sql_template", pa.string()),
            ("is_enabled", pa.bool_()),
            ("reason", pa.string()),
        ]
    )
    return pa.Table.from_pylist(
        [dict(zip(schema.names, (*row, "because"), strict=True)) for row in rows], schema=schema
    )


def text_edits(*rows: tuple[str, str, str, bool]) -> pa.Table:
    """Return the seed grammar_text_templates."""
    names = ["sql_template_id", "style", "text_template", "is_enabled", "reason"]
    schema = pa.schema([(name, pa.bool_() if name == "is_enabled" else pa.string()) for name in names])
    return pa.Table.from_pylist([dict(zip(names, (*row, "because"), strict=True)) for row in rows], schema=schema)


def gather(
    connection: duckdb.DuckDBPyConnection,
    own: pa.Table | None = None,
    texts: pa.Table | None = None,
    *,
    calls: pa.Table | None = None,
    settings: dict[str, Any] | None = None,
) -> Materials:
    """Return the materials of the bank."""
    return gather_materials(
        SETTINGS | (settings or {}),
        describe_columns(connection, NAMES),
        describe_constraints(connection, NAMES),
        edits() if own is None else own,
        text_edits() if texts is None else texts,
        calls,
    )


def statuses(materials: Materials, **wanted: str) -> list[tuple[str, str]]:
    """Return (id, status) of the templates that have these values."""
    rows = templates_table(materials).to_pylist()
    return [
        (row["sql_template_id"], row["template_status"])
        for row in rows
        if all(row[name] == value for name, value in wanted.items())
    ]


def used(materials: Materials, **wanted: str) -> list[tuple[str, str]]:
    """Return (origin, text) of the texts in use that have these values."""
    return [
        (row["origin"], row["text_template"])
        for row in texts_table(materials).to_pylist()
        if row["text_status"] == "used" and all(row[name] == value for name, value in wanted.items())
    ]
