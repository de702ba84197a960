"""Read a test set: queries of the raw contract from a file, or the queries of a warehouse."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hcat.engine.warehouse import Place, open_warehouse
from hcat.landing.files import read_records
from hcat.landing.raw_contract import ENTITIES, QUERY_FILES, canonical_columns

CARRIED: Final = ("language", "customer_group")
"""Columns of interactions that a test set may hold besides those of queries; they land with the answer."""

# records as they were staged, because personal data is masked in the marts
_LIST_QUERIES = (
    "select query_id, query_text as text, parent_query_id, variant_type from base_queries"
    " where record_status = 'staged' order by query_id"
)
_SHOWN_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a test set, with its population and the values of :data:`CARRIED` that it gives."""

    query_id: str
    text: str
    carried: Mapping[str, str]


def read_queries(path: Path) -> list[Query]:
    """Return the queries of a JSON Lines or CSV file in the order of the file; a repeated record counts once."""
    if path.suffix not in QUERY_FILES:
        raise ValueError(f"queries must be a file {' or '.join(f'*{suffix}' for suffix in QUERY_FILES)}, got {path}")
    records = ((f"row {number}", record, problem) for number, record, problem, _ in read_records(path))
    return _check(str(path), records)


def read_warehouse(warehouse: Path | Place) -> list[Query]:
    """Return the staged queries of a warehouse in the order of their ids; a published copy holds none."""
    with open_warehouse(warehouse) as opened:
        rows = opened.rows(_LIST_QUERIES, ("base_queries",))
    return _check(f"the warehouse {warehouse}", ((f"query {row['query_id']}", row, None) for row in rows))


def _check(source: str, records: Iterator[tuple[str, Mapping[str, Any] | None, str | None]]) -> list[Query]:
    queries: dict[str, Query] = {}
    problems: list[str] = []
    for place, record, problem in records:
        try:
            if record is None or problem is not None:
                raise ValueError(problem)
            query = _make_query(record)
            if queries.setdefault(query.query_id, query) != query:
                raise ValueError("the same query_id stands before with another text")
        except ValueError as error:
            problems.append(f"{place}: {error}")
    if problems:
        more = f" and {len(problems) - _SHOWN_PROBLEMS} more" if len(problems) > _SHOWN_PROBLEMS else ""
        raise ValueError(f"{source}: {'; '.join(problems[:_SHOWN_PROBLEMS])}{more}")
    if not queries:
        raise ValueError(f"{source} holds no queries")
    return list(queries.values())


def _make_query(record: Mapping[str, Any]) -> Query:
    """Return the query of a record; a :class:`ValueError` says what is wrong with it."""
    values = {column: record[name] for name, column in canonical_columns(ENTITIES["queries"], record).items()}
    query_id = values.get("query_id")
    if isinstance(query_id, int) and not isinstance(query_id, bool):
        values["query_id"] = str(query_id)
    for name in ("query_id", "text"):
        value = values.get(name)
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name} must be a text, got {'nothing' if value in (None, '') else type(value).__name__}")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(f"{name} cannot be encoded in UTF-8: it holds half of a surrogate pair") from None
    carried = {name: record[name] for name in CARRIED if isinstance(record.get(name), str) and record[name].strip()}
    # without it, a build would take answers to plain queries for answers to users
    is_variant = values.get("parent_query_id") or values.get("variant_type") not in (None, "", "original")
    carried["population"] = "variant" if is_variant else "test_set"
    return Query(values["query_id"].strip(), values["text"], carried)
