"""From accepted templates to queries with true answers: fillings are run, and texts are filled with their values."""

import datetime
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.grammar.column_names import split_words
from hcat.grammar.filling import Value, check_answer, query_group_id, select_combinations, write_value
from hcat.grammar.materials import Settings
from hcat.grammar.schema import Schema
from hcat.grammar.sql_rendering import render_query, render_values
from hcat.grammar.sql_templates import Placeholder, SqlTemplate, read_sql_template
from hcat.grammar.text_templates import fill_text

FILLING_SCHEMA = schema(
    "string: query_group sql_template_id answer_status reference_answer answer_type sql_text",
    "list<string>: placeholders filled_values",
    "int64: count_fillings_possible",
)
QUERY_SCHEMA = schema("string: query_id query_group sql_template_id text_template_id tags query_text")
RERUN_SCHEMA = schema("string: query_group answer_status reference_answer")


_PLACES = frozenset(
    ("address", "city", "country", "county", "district", "location", "place", "region", "street", "town", "village")
)


Run = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


def answer_fillings(
    run: Run, templates: pa.Table, schema: Schema, settings: Mapping[str, Any]
) -> Iterator[pa.RecordBatch]:
    """Fill the accepted SQL templates, run them, and yield what they answer (schema :data:`FILLING_SCHEMA`).

    Parameters
    ----------
    run : callable
        SELECT statement with ``?`` and the values bound to them -> rows.
    templates : Table
        Rows of fct_grammar_templates.
    schema : Schema
        Its names are written into the SQL.
    settings : mapping
        Fields of :class:`hcat.grammar.materials.Settings`.
    """
    wanted = Settings(**settings)
    values: dict[Placeholder, list[Any]] = {}
    for row in templates.sort_by("template_number").to_pylist():
        if row["template_status"] != "accepted":
            continue
        template = read_sql_template(row["sql_template"], schema)
        query, parameters = render_query(template, schema)
        for placeholder in template.placeholders:
            if placeholder not in values:
                values[placeholder] = [found[0] for found in run(render_values(placeholder, schema), ())]
        chosen, count_possible = select_combinations(template, values, wanted.maximum_fillings, wanted.random_seed)
        rows = []
        for filling in chosen:
            by_placeholder = dict(zip(template.placeholders, filling, strict=True))
            bound = [by_placeholder[placeholder] for placeholder in parameters]
            status, answer = check_answer(run(query, bound))
            rows.append(
                {
                    "query_group": query_group_id(template, filling),
                    "sql_template_id": row["sql_template_id"],
                    "answer_status": status,
                    "reference_answer": answer,
                    "answer_type": answer_type_of(template, schema),
                    "sql_text": write_statement(query, bound),
                    "placeholders": [str(placeholder) for placeholder in template.placeholders],
                    "filled_values": [write_value(value) for value in filling],
                    "count_fillings_possible": count_possible,
                }
            )
        yield pa.RecordBatch.from_pylist(rows, schema=FILLING_SCHEMA)


def answer_type_of(template: SqlTemplate, schema: Schema) -> str:
    """Return the answer type of the raw contract that a template asks for."""
    if len(template.selected) > 1:
        return "description"
    place = template.selected[0]
    _, column = schema.find(template.tables[place.source], place.column)
    if column.kind in ("number", "date"):
        return "numeric"
    return "location" if _PLACES & set(split_words(column.name)) else "entity"


def write_statement(sql: str, values: Sequence[Value]) -> str:
    """Return SQL that runs by itself: each ``?`` becomes a literal."""
    parts = sql.split("?")
    written = [parts[0]]
    for value, part in zip(values, parts[1:], strict=True):
        written += [write_literal(value), part]
    return "".join(written)


def write_literal(value: Value) -> str:
    """Return a value as an SQL literal; quotes in a text are doubled."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    for kind, name in ((datetime.datetime, "timestamp"), (datetime.date, "date"), (datetime.time, "time")):
        if isinstance(value, kind):
            return f"{name} '{value}'"
    write_value(value)  # refuses what is not finite
    return str(value)


def rerun_answers(run: Run, statements: pa.Table) -> pa.Table:
    """Return what stored statements answer now (schema :data:`RERUN_SCHEMA`), ordered by group.

    Parameters
    ----------
    run : callable
        As in :func:`answer_fillings`.
    statements : Table
        query_group, sql_text.
    """
    distinct = {row["query_group"]: row["sql_text"] for row in statements.to_pylist()}
    rows = []
    for group, sql in sorted(distinct.items()):
        status, answer = check_answer(run(sql, ()))
        rows.append({"query_group": group, "answer_status": status, "reference_answer": answer})
    return pa.Table.from_pylist(rows, schema=RERUN_SCHEMA)


def fill_queries(fillings: pa.Table, texts: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield the queries: every used text with every filling of a single answer (schema :data:`QUERY_SCHEMA`).

    Parameters
    ----------
    fillings : Table
        Schema :data:`FILLING_SCHEMA`.
    texts : Table
        Rows of fct_grammar_texts.

    Examples
    --------
    >>> filling = {"query_group": "g1", "sql_template_id": "s1", "answer_status": "single_answer"}
    >>> filling |= {"placeholders": ["[branches.branch_name]"], "filled_values": ["Harbour"]}
    >>> text = {"sql_template_id": "s1", "text_template_id": "t1", "text_number": 0, "text_status": "used"}
    >>> text |= {"text_template": "Where is [branches.branch_name]?", "hypothesis": "length", "style": "short"}
    >>> fillings, texts = (pa.Table.from_pylist([row]) for row in (filling, text))
    >>> next(fill_queries(fillings, texts)).column("query_text").to_pylist()
    ['Where is Harbour?']
    """
    by_template: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in texts.sort_by("text_number").to_pylist():
        if row["text_status"] == "used":
            by_template[row["sql_template_id"]].append(row)
    for filling in fillings.to_pylist():
        if filling["answer_status"] != "single_answer":
            continue
        said = {
            Placeholder(*name[1:-1].split(".", 1)): value
            for name, value in zip(filling["placeholders"], filling["filled_values"], strict=True)
        }
        group = filling["query_group"]
        rows = [
            {
                "query_id": hash_text("query", group, text["text_template_id"]),
                "query_group": group,
                "sql_template_id": filling["sql_template_id"],
                "text_template_id": text["text_template_id"],
                # other answers of one template are its rivals (int_answers_to_check)
                "tags": json.dumps({text["hypothesis"]: text["style"], "template": filling["sql_template_id"]}),
                "query_text": fill_text(text["text_template"], said),
            }
            for text in by_template[filling["sql_template_id"]]
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=QUERY_SCHEMA)
