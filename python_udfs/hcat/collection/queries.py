"""Read a test set: queries of the raw contract from a file, or the queries of a warehouse.

Unlike logs, a test set is the user's own file, and a part of it is a different test set. An invalid row therefore stops
the collection before anything is sent. Texts are sent exactly as they stand in the file.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hcat.engine.warehouse import Place
from hcat.landing.raw_contract import ENTITIES, QUERY_FILES, canonical_columns

CARRIED: Final = ("language", "customer_group")
"""Columns of interactions that a test set may hold besides those of queries; they land with the answer."""

# records as they were staged, because personal data is masked in the marts
_LIST_QUERIES = "select query_id, query_text from base_queries where record_status = 'staged' order by query_id"
_SHOWN_PROBLEMS = 3


class _UnreadableError(ValueError):
    """Takes the place of a record that cannot be read; its message says why."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a test set."""

    query_id: str
    text: str
    carried: Mapping[str, str]


def read_queries(path: Path) -> list[Query]:
    """Return the queries of a JSON Lines or CSV file in the order of the file; a repeated record counts once."""
    if path.suffix not in QUERY_FILES:
        raise ValueError(f"queries must be a file {' or '.join(f'*{suffix}' for suffix in QUERY_FILES)}, got {path}")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be UTF-8, got other bytes at position {error.start}") from None
    records = _read_jsonl(text) if path.suffix == ".jsonl" else _read_csv(text)
    return _check(str(path), ((f"row {number}", record) for number, record in records))


def read_warehouse(warehouse: Path | Place) -> list[Query]:
    """Return the staged queries of a warehouse in the order of their ids; a published copy holds none."""
    from hcat.engine.warehouse import open_warehouse

    with open_warehouse(warehouse) as opened:
        rows = opened.rows(_LIST_QUERIES, ("base_queries",))
    records = ((f"query {row['query_id']}", {"query_id": row["query_id"], "text": row["query_text"]}) for row in rows)
    return _check(f"the warehouse {warehouse}", records)


def _check(source: str, records: Iterator[tuple[str, Any]]) -> list[Query]:
    queries: dict[str, Query] = {}
    problems: list[str] = []
    for place, record in records:
        query, problem = _make_query(record)
        if query is not None:
            first = queries.setdefault(query.query_id, query)
            if first != query:
                problem = "the same query_id stands before with another text"
        if problem:
            problems.append(f"{place}: {problem}")
    if problems:
        more = f" and {len(problems) - _SHOWN_PROBLEMS} more" if len(problems) > _SHOWN_PROBLEMS else ""
        raise ValueError(f"{source}: {'; '.join(problems[:_SHOWN_PROBLEMS])}{more}")
    if not queries:
        raise ValueError(f"{source} holds no queries")
    return list(queries.values())


def _make_query(record: Any) -> tuple[Query | None, str | None]:
    """Return a query, or what is wrong with its record."""
    if isinstance(record, _UnreadableError):
        return None, str(record)
    if not isinstance(record, Mapping):
        return None, f"a row must be a JSON object, got {type(record).__name__}"
    values = {column: record[name] for name, column in canonical_columns(ENTITIES["queries"], record).items()}
    for name in ("query_id", "text"):
        value = values.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and name == "query_id":
            values[name] = value = str(value)
        if not isinstance(value, str) or not value.strip():
            return None, f"{name} must be a text, got {'nothing' if value in (None, '') else type(value).__name__}"
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return None, f"{name} cannot be encoded in UTF-8: it holds half of a surrogate pair"
    carried = {name: record[name] for name in CARRIED if isinstance(record.get(name), str) and record[name].strip()}
    return Query(values["query_id"].strip(), values["text"], carried), None


def _read_jsonl(text: str) -> Iterator[tuple[int, Any]]:
    # splitlines would also split at characters that JSON texts may hold
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                yield number, _UnreadableError(f"malformed JSON: {error}")


def _read_csv(text: str) -> Iterator[tuple[int, Any]]:
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    number = 0
    try:
        names = [name.strip() for name in next(rows, [])]
        for row in rows:
            if row:
                number += 1
                if len(row) == len(names):
                    yield number, dict(zip(names, row, strict=True))
                else:
                    yield number, _UnreadableError(f"{len(row)} fields where the header has {len(names)}")
    except csv.Error as error:
        yield number + 1, _UnreadableError(f"malformed CSV: {error}")
