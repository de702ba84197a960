"""What a language model is asked: SQL templates for a schema, and text templates for an SQL template."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from hcat.engine.keys import hash_text
from hcat.grammar.criteria import Requirements
from hcat.grammar.schema import Schema
from hcat.grammar.sql_rendering import write_sql_template
from hcat.grammar.sql_templates import SqlTemplate, read_sql_template
from hcat.grammar.text_templates import MINIMUM_LONG_WORDS
from hcat.language_models.prompts import TEXT, object_of, read_texts, write_messages

PROMPT_REVISION: Final = "grammar prompts 1"
"""Raised when a word of the prompts changes; it is part of the hash by which answers are kept."""

MAXIMUM_TEMPLATES: Final = 50

_TEXTS: Final = read_texts(__file__)

REPLY_SCHEMA_MEMBER: Final = "templates"


def templates_response(count: int) -> Mapping[str, Any]:
    """Return the JSON schema of a reply with at most ``count`` templates; none is a proper reply."""
    templates = {"type": "array", "maxItems": count, "items": TEXT}
    return object_of({REPLY_SCHEMA_MEMBER: templates})


def sql_templates_prompt(schema: Schema, count: int) -> list[dict[str, str]]:
    """Return the messages that ask for SQL templates."""
    wanted = Requirements()
    limits = [
        f"Between 0 and {wanted.maximum_joins} joins.",
        f"At most {wanted.maximum_columns} selected columns and {wanted.maximum_placeholders} placeholders.",
    ]
    tables = [
        {
            "table": table.name,
            "columns": [{"column": column.name, "kind": column.kind} for column in table.columns],
            "keys": [sorted(key) for key in table.keys],
        }
        for table in schema.tables
    ]
    return write_messages(
        _TEXTS["system"],
        {
            "task": _TEXTS["sql_task"],
            "rules": [*_TEXTS["sql_rules"], *limits],
            "count": count,
            "tables": tables,
            "foreign_keys": [asdict(key) for key in schema.foreign_keys],
            "reply_schema": templates_response(count),
        },
    )


def text_templates_prompt(template: SqlTemplate, schema: Schema, style: str, count: int) -> list[dict[str, str]]:
    """Return the messages that ask for text templates of one style for one SQL template."""
    written = write_sql_template(template)
    if read_sql_template(written, schema) != template:
        raise ValueError("a prompt sees only templates in the canonical form of the schema, got another one")
    return write_messages(
        _TEXTS["system"],
        {
            "task": _TEXTS["text_task"],
            "sql_template": written,
            "placeholders": [str(placeholder) for placeholder in template.placeholders],
            "style": _TEXTS["styles"][style].format(words=MINIMUM_LONG_WORDS),
            "count": count,
            "reply_schema": templates_response(count),
        },
    )


def generation_key(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the content key of a first prompt: the schema or the template, the style, the count and the rules."""
    return hash_text("grammar", PROMPT_REVISION, json.dumps(list(messages), ensure_ascii=False, sort_keys=True))
