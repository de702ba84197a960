"""What templates are made of: settings, the schema, people's seeds and answers of a language model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.grammar.prompts import MAXIMUM_TEMPLATES, REPLY_SCHEMA_MEMBER, templates_response
from hcat.grammar.schema import Schema, read_schema
from hcat.language_models.conversation import LEDGER_FIELDS
from hcat.language_models.replies import read_reply

GENERATORS: Final = ("offline", "language_model")

SQL_STEP: Final = "sql_templates"
TEXT_STEP: Final = "text_templates"

MAXIMUM_ROWS: Final = 100_000
"""Rows that one query fetches at most: distinct values of a column (the first in order) or rows of an answer."""

CALL_SCHEMA = schema("string: call_id generation_key sql_template_id style", *LEDGER_FIELDS)


@dataclass(frozen=True, slots=True)
class Settings:
    """What templates, texts and fillings are wanted."""

    random_seed: int
    generator: str = "offline"
    maximum_templates: int = 40
    texts_per_style: int = 3  # with one, a style could never be right in one wording and wrong in another
    maximum_fillings: int = 10

    def __post_init__(self) -> None:
        """Refuse a generator that does not exist."""
        if self.generator not in GENERATORS:
            raise ValueError(f"hcat_generator must be one of {', '.join(GENERATORS)}, got {self.generator!r}")

    @property
    def count_asked(self) -> int:
        """SQL templates that a language model is asked for in one prompt."""
        return min(self.maximum_templates, MAXIMUM_TEMPLATES)


def add_descriptions(columns: pa.Table, described: pa.Table) -> pa.Table:
    """Return the columns of tables with what people say of them.

    Parameters
    ----------
    columns : Table
        Of :func:`hcat.engine.catalogue.describe_columns`.
    described : Table
        Seed grammar_columns; upper and lower case are one.
    """
    said = {_folded(row): row["is_descriptive"] for row in described.to_pylist()}
    values = [said.get(_folded(row)) for row in columns.to_pylist()]
    return columns.append_column("is_descriptive", pa.array(values, pa.bool_()))


def _folded(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["table_name"].lower(), row["column_name"].lower()


def add_declared(known: pa.Table, declared: pa.Table, names: pa.Table) -> pa.Table:
    """Return the constraints that the warehouse knows, and those that people declare for tables that are read here.

    Parameters
    ----------
    known : Table
        Of :func:`hcat.engine.catalogue.describe_constraints`.
    declared : Table
        Seed grammar_constraints. All columns of a constraint are kept together, under a name that is no known one.
    names : Table
        The tables that are read: table_name.
    """
    here = {name.lower() for name in names["table_name"].to_pylist()}
    rows = [
        row | {"constraint_name": f"declared {row['constraint_name']}"}
        for row in declared.to_pylist()
        if {row["table_name"].lower(), (row["referenced_table_name"] or row["table_name"]).lower()} <= here
    ]
    return pa.concat_tables([known, pa.Table.from_pylist(rows, schema=known.schema)])


@dataclass(frozen=True, slots=True)
class Materials:
    """Everything that templates are made of: the schema, people's seeds and answers of a model."""

    schema: Schema
    settings: Settings
    edits: pa.Table
    text_edits: pa.Table
    calls: pa.Table = field(default_factory=CALL_SCHEMA.empty_table)

    def replies(self, key: str) -> list[str]:
        """Return the templates of the last usable reply under a generation key."""
        for row in self.calls.to_pylist():
            if row["generation_key"] == key and row["is_last"] and row["call_status"] == "answered":
                return list(read_reply(row["answer"], templates_response(MAXIMUM_TEMPLATES))[REPLY_SCHEMA_MEMBER])
        return []


def gather(
    settings: Mapping[str, Any],
    columns: pa.Table,
    constraints: pa.Table,
    edits: pa.Table,
    text_edits: pa.Table,
    calls: pa.Table | None = None,
) -> Materials:
    """Return the materials of templates from the tables that hold them.

    Parameters
    ----------
    settings : mapping
        Fields of :class:`Settings`.
    columns, constraints : Table
        As :func:`hcat.grammar.schema.read_schema` takes them.
    edits : Table
        template_id, sql_template, is_enabled, reason.
    text_edits : Table
        sql_template_id, style, text_template, is_enabled, reason.
    calls : Table, optional
        Schema :data:`CALL_SCHEMA`.
    """
    known = CALL_SCHEMA.empty_table() if calls is None else calls
    return Materials(read_schema(columns, constraints), Settings(**settings), edits, text_edits, known)
