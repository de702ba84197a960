"""What templates are made of: settings, the schema, people's seeds, imported files and answers of a language model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from hcat.engine.keys import hash_text
from hcat.grammar.criteria import Requirements
from hcat.grammar.importers import ImportFormatError, read_sql_templates, read_text_templates
from hcat.grammar.prompts import MAXIMUM_TEMPLATES, read_reply
from hcat.grammar.schema import Schema, read_schema
from hcat.grammar.text_templates import HYPOTHESES, MAXIMUM_PER_STYLE, hypothesis_of
from hcat.language_models.conversation import LEDGER_FIELDS

GENERATORS: Final = ("offline", "language_model")

SQL_STEP: Final = "sql_templates"
TEXT_STEP: Final = "text_templates"
IMPORT_SCHEMA = pa.schema(
    [
        ("import_id", pa.string()),
        ("kind", pa.string()),
        ("style", pa.string()),
        ("sql_template", pa.string()),
        ("text_template", pa.string()),
        ("import_number", pa.int64()),
    ]
)
CALL_SCHEMA = pa.schema(
    [
        ("call_id", pa.string()),
        ("generation_key", pa.string()),
        ("sql_template_id", pa.string()),
        ("style", pa.string()),
        *LEDGER_FIELDS,
    ]
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What templates, texts and fillings are wanted.

    Parameters
    ----------
    random_seed : int
        Seed of the choice of fillings.
    maximum_templates : int
        SQL templates in all, at least 1.
    texts_per_style : int
        Text templates of each style for each SQL template, in [1, 4].
    maximum_fillings : int
        Combinations of values per SQL template, at least 1.
    hypotheses : tuple of str
        Of :data:`~hcat.grammar.text_templates.HYPOTHESES`.
    requirements : Requirements
        Limits of every template, whoever wrote it (the specific requirements of GRAMMAR, Table 4).
    enumerated : Requirements
        Limits of enumerated templates, within ``requirements``.
    generator : {"offline", "language_model"}
        Whether a language model is asked too.
    """

    random_seed: int
    maximum_templates: int
    texts_per_style: int
    maximum_fillings: int
    hypotheses: tuple[str, ...]
    requirements: Requirements
    enumerated: Requirements
    generator: str = "offline"

    def __post_init__(self) -> None:
        """Refuse what cannot be met."""
        for name in ("maximum_templates", "maximum_fillings"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 1 <= self.texts_per_style <= MAXIMUM_PER_STYLE:
            raise ValueError(f"texts_per_style must lie in [1, {MAXIMUM_PER_STYLE}], got {self.texts_per_style}")
        if self.generator not in GENERATORS:
            raise ValueError(f"hcat_generator must be one of {', '.join(GENERATORS)}, got {self.generator!r}")
        unknown = [name for name in self.hypotheses if name not in HYPOTHESES]
        if unknown or not self.hypotheses:
            raise ValueError(f"hypotheses must be of {', '.join(HYPOTHESES)}, got {', '.join(unknown) or 'none'}")

    @property
    def styles(self) -> tuple[str, ...]:
        """Styles of the hypotheses in their order."""
        return tuple(style for hypothesis in self.hypotheses for style in HYPOTHESES[hypothesis])

    @property
    def count_asked(self) -> int:
        """SQL templates that a language model is asked for in one prompt."""
        return min(self.maximum_templates, MAXIMUM_TEMPLATES)

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> Settings:
        """Return the settings from the project's vars."""
        wanted = _requirements(settings["requirements"])
        own = _requirements({**settings["requirements"], **settings["enumerated"]})
        enumerated = replace(
            own,
            minimum_joins=max(own.minimum_joins, wanted.minimum_joins),
            maximum_joins=min(own.maximum_joins, wanted.maximum_joins),
            maximum_columns=min(own.maximum_columns, wanted.maximum_columns),
            maximum_placeholders=min(own.maximum_placeholders, wanted.maximum_placeholders),
        )
        return cls(
            random_seed=int(settings["random_seed"]),
            maximum_templates=int(settings["templates"]),
            texts_per_style=int(settings["texts_per_style"]),
            maximum_fillings=int(settings["fillings"]),
            hypotheses=tuple(settings["hypotheses"]),
            requirements=wanted,
            enumerated=enumerated,
            generator=str(settings["generator"]),
        )


def _requirements(settings: Mapping[str, Any]) -> Requirements:
    known = {name: settings[name] for name in Requirements.__slots__ if name in settings}
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise ValueError(f"requirements are {', '.join(Requirements.__slots__)}, got {', '.join(unknown)}")
    return Requirements(**{**known, "tables": frozenset(known.get("tables", ()))})


def schema_of(columns: pa.Table, constraints: pa.Table) -> Schema:
    """Return the schema that the introspected rows describe.

    Parameters
    ----------
    columns : Table
        Rows of :func:`~hcat.grammar.schema.read_schema`, and count_rows of their table.
    constraints : Table
        Rows of :func:`~hcat.grammar.schema.read_schema`.
    """
    tables = {row["table_name"]: row["count_rows"] for row in columns.to_pylist()}
    return read_schema(
        columns, constraints, [{"table_name": name, "count_rows": count} for name, count in tables.items()]
    )


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


def read_imports(files: Mapping[str, str]) -> pa.Table:
    """Return the templates of files that the paper's tool saved (schema :data:`IMPORT_SCHEMA`).

    Parameters
    ----------
    files : mapping
        ``sql_templates`` or a style -> path of the file.

    Raises
    ------
    ImportFormatError
        If a file is not of its shape or cannot be read; the message names it.
    ValueError
        If a name is neither ``sql_templates`` nor a style.
    """
    rows: list[dict[str, Any]] = []
    for name, path in sorted(files.items(), key=lambda pair: (pair[0] != SQL_STEP, pair[0])):
        if name != SQL_STEP:
            hypothesis_of(name)
        try:
            content = Path(path).read_text(encoding="utf-8")
            if name == SQL_STEP:
                rows += [_import_row(SQL_STEP, None, found.text, None) for found in read_sql_templates(content)]
            else:
                rows += [
                    _import_row(TEXT_STEP, name, template, text)
                    for template, texts in read_text_templates(content).items()
                    for text in texts
                ]
        except (OSError, UnicodeDecodeError) as error:
            raise ImportFormatError(f"{path} must be a readable file of UTF-8: {type(error).__name__}") from None
        except ImportFormatError as error:
            raise ImportFormatError(f"{path}: {error}") from None
    distinct = {row["import_id"]: row for row in rows}
    return pa.Table.from_pylist(
        [row | {"import_number": number} for number, row in enumerate(distinct.values())], schema=IMPORT_SCHEMA
    )


def _import_row(kind: str, style: str | None, sql_template: str, text: str | None) -> dict[str, Any]:
    return {
        "import_id": hash_text("import", kind, style or "", sql_template, text or ""),
        "kind": kind,
        "style": style,
        "sql_template": sql_template,
        "text_template": text,
    }


@dataclass(frozen=True, slots=True)
class Materials:
    """Everything that templates are made of: the schema, people's seeds, imported files and answers of a model."""

    schema: Schema
    settings: Settings
    edits: pa.Table
    text_edits: pa.Table
    imports: pa.Table
    calls: pa.Table = field(default_factory=CALL_SCHEMA.empty_table)

    def replies(self, key: str) -> list[str]:
        """Return the templates of the last usable reply under a generation key."""
        for row in self.calls.to_pylist():
            if row["generation_key"] == key and row["is_last"] and row["call_status"] == "answered":
                return read_reply(row["answer"], MAXIMUM_TEMPLATES)[1]
        return []


def gather(
    settings: Mapping[str, Any],
    columns: pa.Table,
    constraints: pa.Table,
    edits: pa.Table,
    text_edits: pa.Table,
    imports: pa.Table,
    calls: pa.Table | None = None,
) -> Materials:
    """Return the materials of templates from the tables that hold them.

    Parameters
    ----------
    settings : mapping
        As :meth:`Settings.from_mapping` reads it.
    columns, constraints : Table
        As :func:`hcat.engine.catalogue.describe_columns` and :func:`~hcat.engine.catalogue.describe_constraints` return
        them; ``columns`` may also have is_descriptive.
    edits : Table
        template_id, sql_template, is_enabled, reason.
    text_edits : Table
        sql_template_id, style, text_template, is_enabled, reason.
    imports : Table
        Schema :data:`IMPORT_SCHEMA`.
    calls : Table, optional
        Schema :data:`CALL_SCHEMA`.
    """
    known = CALL_SCHEMA.empty_table() if calls is None else calls
    schema = schema_of(columns, constraints)
    return Materials(schema, Settings.from_mapping(settings), edits, text_edits, imports, known)
