"""Readers of the template and query files that the tool of the GRAMMAR paper saves; the format only.

SQL templates: a JSON object from the tables, written as a Python tuple of names, to a list of templates, or a plain
file with one template a line. Text templates: a JSON object from the SQL template to a list of texts, one file per
style, sometimes one level deeper by table. Queries: a JSON list per SQL template of pairs [rows, texts], where the
rows of the answer are written as Python writes a list of tuples. What is read is checked afterwards like any other
template.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

MAXIMUM_FILE_CHARACTERS: Final = 20_000_000
MAXIMUM_ANSWER_CHARACTERS: Final = 100_000

_TUPLE_OF_NAMES = re.compile(r"\(\s*'[^'\\]*'\s*(?:,\s*'[^'\\]*'\s*)*,?\s*\)")
_QUOTED_NAME = re.compile(r"'([^'\\]*)'")


class ImportFormatError(ValueError):
    """A file that has not the shape; the message says where and both sides."""


class ImportedSqlTemplate(NamedTuple):
    """A template and the tables it was written for (lower case; none in a plain file)."""

    tables: tuple[str, ...]
    text: str


class ImportedQueries(NamedTuple):
    """What one SQL query answers, ``rows`` (None if they are no plain values), and the texts that ask for it."""

    template_number: int
    rows: tuple[tuple[Any, ...], ...] | None
    texts: tuple[str, ...]


def read_sql_templates(content: str) -> tuple[ImportedSqlTemplate, ...]:
    r"""Return the SQL templates of a file in order."""
    if not content.lstrip().startswith("{"):
        _check_length(content)
        return tuple(ImportedSqlTemplate((), line.strip()) for line in content.splitlines() if line.strip())
    found = []
    for tables, templates in _read_object(content).items():
        if not _TUPLE_OF_NAMES.fullmatch(tables.strip()):
            raise ImportFormatError(f"a key must be a tuple of names such as \"('customer',)\", got {tables[:80]!r}")
        names = tuple(_QUOTED_NAME.findall(tables))
        found += [ImportedSqlTemplate(names, text.strip()) for text in _read_texts(templates, tables)]
    return tuple(found)


def read_text_templates(content: str) -> dict[str, tuple[str, ...]]:
    """Return the texts of a file by the SQL template that they ask, as the file writes it; outer quotes are removed."""
    found: dict[str, tuple[str, ...]] = {}
    for key, value in _read_object(content).items():
        for template, texts in value.items() if isinstance(value, Mapping) else ((key, value),):
            if template in found:
                raise ImportFormatError(f"the SQL template {template[:80]!r} is there twice")
            found[template] = tuple(_unquote(text) for text in _read_texts(texts, template))
    return found


def read_queries(content: str) -> tuple[ImportedQueries, ...]:
    """Return the answers and texts of a file of queries; ``template_number`` counts its SQL templates from 0."""
    document = _read_json(content)
    if not isinstance(document, list):
        raise ImportFormatError(f"queries must be a list, got {type(document).__name__}")
    found = []
    for number, groups in enumerate(document):
        if not isinstance(groups, list):
            raise ImportFormatError(f"the queries of template {number} must be a list, got {type(groups).__name__}")
        for group in groups:
            if not isinstance(group, list) or len(group) != 2 or not isinstance(group[0], str):
                raise ImportFormatError(f"a query of template {number} must be a pair [answer, texts]")
            texts = tuple(_read_texts(group[1], f"template {number}"))
            found.append(ImportedQueries(number, _read_rows(group[0]), texts))
    return tuple(found)


def _read_rows(text: str) -> tuple[tuple[Any, ...], ...] | None:
    if len(text) > MAXIMUM_ANSWER_CHARACTERS:
        return None
    try:
        rows = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if not isinstance(rows, list) or not all(isinstance(row, tuple) for row in rows):
        return None
    return tuple(rows)


def _read_object(content: str) -> dict[str, Any]:
    document = _read_json(content)
    if not isinstance(document, dict):
        raise ImportFormatError(f"templates must be a JSON object, got {type(document).__name__}")
    return document


def _read_json(content: str) -> Any:
    _check_length(content)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ImportFormatError(f"the file must be JSON: {type(error).__name__}") from None


def _check_length(content: str) -> None:
    if len(content) > MAXIMUM_FILE_CHARACTERS:
        raise ImportFormatError(f"a file has at most {MAXIMUM_FILE_CHARACTERS} characters, got {len(content)}")


def _read_texts(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ImportFormatError(f"{where[:80]!r} must have a list of texts, got {type(value).__name__}")
    return value


def _unquote(text: str) -> str:
    stripped = text.strip()
    is_quoted = len(stripped) > 1 and stripped[0] == stripped[-1] == '"' and '"' not in stripped[1:-1]
    return stripped[1:-1].strip() if is_quoted else stripped
