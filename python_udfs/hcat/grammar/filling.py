"""From templates to queries: a seeded cap on the combinations of values, ids, groups, and the check of the answer.

Values are chosen by the order of their hashes, so that the choice depends on the seed and the values alone, not on the
order in which a warehouse returns them, and a new value moves as few others as possible. Everything that is asked
with one SQL query and the same values is one query group (GRAMMAR, section 3.3), whatever its wording.
"""

from __future__ import annotations

import datetime
import decimal
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa

from hcat.engine.keys import hash_text
from hcat.grammar.schema import Schema
from hcat.grammar.sql_rendering import render_query
from hcat.grammar.sql_templates import Placeholder, SqlTemplate
from hcat.grammar.text_templates import TextTemplate, check_text_template, fill_text

#: What the result of a query is to its question; only the first is a true answer to test against.
ANSWER_STATUSES: Final = (
    "single_answer",
    "several_answers",  # distinct rows that are not alike
    "no_answer",  # no row
    "null_answer",  # one row, and a column of it is empty
)

QUERY_SCHEMA: Final = pa.schema(
    [
        ("query_id", pa.string()),
        ("query_group_id", pa.string()),
        ("sql_template_id", pa.string()),
        ("text_template_id", pa.string()),
        ("hypothesis", pa.string()),
        ("style", pa.string()),
        ("query", pa.string()),
        ("sql_query", pa.string()),
        ("parameters", pa.list_(pa.string())),
    ]
)
COUNT_SCHEMA: Final = pa.schema(
    [
        ("sql_template_id", pa.string()),
        ("count_text_templates", pa.int64()),
        ("count_fillings_possible", pa.int64()),
        ("count_fillings", pa.int64()),
        ("selection_probability", pa.float64()),
        ("count_queries", pa.int64()),
    ]
)
GROUP_SCHEMA: Final = pa.schema(
    [
        ("query_group_id", pa.string()),
        ("sql_template_id", pa.string()),
        ("count_queries", pa.int64()),
        ("count_styles", pa.int64()),
        ("is_balanced", pa.bool_()),
    ]
)

MAXIMUM_PRODUCT: Final = 100_000
"""Combinations that are hashed one by one; above, every placeholder keeps its first values by hash beforehand."""

Value = str | int | float | bool | decimal.Decimal | datetime.date | datetime.time
"""What a filling can be; datetime.datetime is a datetime.date."""


class Combinations(NamedTuple):
    """Fillings of one SQL template: values in the order of its placeholders; how many there were before the cap."""

    placeholders: tuple[Placeholder, ...]
    rows: tuple[tuple[Value, ...], ...]
    count_possible: int


@dataclass(frozen=True, slots=True)
class FilledQuery:
    """One text query with the SQL that answers it; ``parameters`` are bound to the ``?`` of ``sql`` in order."""

    query_group_id: str
    sql_template_id: str
    text_template: TextTemplate
    query: str
    sql: str
    parameters: tuple[Value, ...]

    @property
    def query_id(self) -> str:
        """Content key: the group and the text template."""
        return hash_text("query", self.query_group_id, self.text_template.text_template_id)


class AnswerCheck(NamedTuple):
    """Status (:data:`ANSWER_STATUSES`) and the answer as text; None unless the status is `single_answer`."""

    status: str
    answer: str | None


def write_value(value: Value) -> str:
    """Return a value as people write it in a question: without trailing zeros, dates as year-month-day.

    Raises
    ------
    ValueError
        If it is not finite or of another type.

    Examples
    --------
    >>> import datetime
    >>> write_value(2.50), write_value(datetime.date(2024, 3, 12))
    ('2.5', '2024-03-12')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | decimal.Decimal):
        if not math.isfinite(value):
            raise ValueError(f"a value must be finite, got {value}")
        # 1.50 and 1.5, 2.0 and 2 are one number
        text = format(decimal.Decimal(str(value)), "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text in ("-0", "") else text
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    raise ValueError(f"a value must be text, a number, a boolean, a date or a time, got {type(value).__name__}")


def select_combinations(
    template: SqlTemplate, values: Mapping[Placeholder, Iterable[Value | None]], cap: int, random_seed: int
) -> Combinations:
    """Return at most ``cap`` combinations of the Cartesian product of distinct values, each equally likely.

    Parameters
    ----------
    template : SqlTemplate
        Whose placeholders are filled.
    values : mapping
        Values of every placeholder in any order; nulls and repetitions are left out.
    cap : int
        At least 1.
    random_seed : int
        Another seed gives another choice.

    Raises
    ------
    ValueError
        If a placeholder has no entry in ``values`` or the cap is below 1.
    """
    missing = [str(placeholder) for placeholder in template.placeholders if placeholder not in values]
    if missing:
        raise ValueError(f"values must be given for every placeholder, missing are {', '.join(missing)}")
    columns = [_distinct(values[placeholder]) for placeholder in template.placeholders]
    count_possible = math.prod(len(column) for column in columns)
    if count_possible > MAXIMUM_PRODUCT:
        columns = _thin(columns, template, random_seed)
    rows = itertools.product(*(column.values() for column in columns))
    return Combinations(template.placeholders, _cap_rows(template, rows, cap, random_seed), count_possible)


def cap_combinations(
    template: SqlTemplate, combinations: Iterable[Sequence[Value | None]], cap: int, random_seed: int
) -> Combinations:
    """Return at most ``cap`` of given combinations, for instance of those that have an answer in the warehouse.

    Parameters
    ----------
    template : SqlTemplate
        Whose placeholders are filled.
    combinations : iterable
        One value per placeholder each, in the order of the placeholders.
    cap : int
        At least 1.
    random_seed : int
        Another seed gives another choice.

    Raises
    ------
    ValueError
        If a combination has another number of values or the cap is below 1.
    """
    distinct: dict[tuple[str, ...], tuple[Value, ...]] = {}
    width = len(template.placeholders)
    for row in combinations:
        if len(row) != width:
            raise ValueError(f"a combination must have {width} values, one per placeholder, got {len(row)}")
        present = tuple(value for value in row if value is not None)
        if len(present) == width:
            distinct.setdefault(tuple(_key(value) for value in present), present)
    return Combinations(template.placeholders, _cap_rows(template, distinct.values(), cap, random_seed), len(distinct))


def fill_templates(
    template: SqlTemplate, texts: Sequence[TextTemplate], combinations: Combinations, schema: Schema
) -> tuple[FilledQuery, ...]:
    """Return every text in every filling, ordered by filling and then in the order of the texts.

    Parameters
    ----------
    template : SqlTemplate
        The query logic.
    texts : sequence of TextTemplate
        Texts for it.
    combinations : Combinations
        Its fillings.
    schema : Schema
        Whose names the SQL is written with.

    Raises
    ------
    ValueError
        If a text belongs to another SQL template or has faults, or the combinations are of other placeholders.
    """
    if combinations.placeholders != template.placeholders:
        raise ValueError(f"combinations must be of {template.placeholders}, got {combinations.placeholders}")
    for text in texts:
        faults = check_text_template(text.text, template)
        if text.sql_template_id != template.sql_template_id or faults:
            raise ValueError(
                f"the text {text.text_template_id} must be of the SQL template {template.sql_template_id} and without "
                f"faults, it is of {text.sql_template_id} with the faults {', '.join(faults) or 'none'}"
            )
    rendered = render_query(template, schema)
    filled = []
    for row in combinations.rows:
        by_placeholder = dict(zip(combinations.placeholders, row, strict=True))
        parameters = tuple(by_placeholder[placeholder] for placeholder in rendered.parameters)
        said = {placeholder: write_value(value) for placeholder, value in by_placeholder.items()}
        group = query_group_id(template, row)
        filled += [
            FilledQuery(group, template.sql_template_id, text, fill_text(text.text, said), rendered.sql, parameters)
            for text in texts
        ]
    return tuple(filled)


def query_group_id(template: SqlTemplate, values: Sequence[Value]) -> str:
    """Return the key of everything that one SQL query with the same values answers.

    Parameters
    ----------
    template : SqlTemplate
        The query logic.
    values : sequence
        In the order of its placeholders.
    """
    return hash_text("query_group", template.sql_template_id, *(_key(value) for value in values))


def check_answer(rows: Iterable[Sequence[Any]]) -> AnswerCheck:
    """Return whether the rows of a query are one answer (GRAMMAR, appendix B.1), and that answer.

    Rows that say the same count once; NaN counts as empty. Several columns of one row are one answer, joined by a
    comma.

    Examples
    --------
    >>> check_answer([("Northport", 3), ("Northport", 3)])
    AnswerCheck(status='single_answer', answer='Northport, 3')
    >>> check_answer([(1,), (2,)]).status
    'several_answers'
    """
    distinct: dict[tuple[str | None, ...], None] = {}
    for row in rows:
        distinct[tuple(_answer_text(value) for value in row)] = None
    if not distinct:
        return AnswerCheck("no_answer", None)
    if len(distinct) > 1:
        return AnswerCheck("several_answers", None)
    said = [text for text in next(iter(distinct)) if text is not None]
    if len(said) < len(next(iter(distinct))) or not said:
        return AnswerCheck("null_answer", None)
    return AnswerCheck("single_answer", ", ".join(said))


def queries_table(queries: Iterable[FilledQuery]) -> pa.Table:
    """Return one row per query (schema :data:`QUERY_SCHEMA`); parameters as text, for people to read."""
    rows = [
        {
            "query_id": query.query_id,
            "query_group_id": query.query_group_id,
            "sql_template_id": query.sql_template_id,
            "text_template_id": query.text_template.text_template_id,
            "hypothesis": query.text_template.hypothesis,
            "style": query.text_template.style,
            "query": query.query,
            "sql_query": query.sql,
            "parameters": [write_value(value) for value in query.parameters],
        }
        for query in queries
    ]
    return pa.Table.from_pylist(rows, schema=QUERY_SCHEMA)


def count_variations(
    entries: Iterable[tuple[SqlTemplate, Sequence[TextTemplate], Combinations]],
) -> pa.Table:
    """Return N and Q of every SQL template and their product (GRAMMAR, equation 3); M is the number of rows.

    Schema :data:`COUNT_SCHEMA`; ``selection_probability`` is the share of possible fillings that the cap left, null
    where none was possible.
    """
    rows = [
        {
            "sql_template_id": template.sql_template_id,
            "count_text_templates": len(texts),
            "count_fillings_possible": combinations.count_possible,
            "count_fillings": len(combinations.rows),
            "selection_probability": len(combinations.rows) / combinations.count_possible
            if combinations.count_possible
            else None,
            "count_queries": len(texts) * len(combinations.rows),
        }
        for template, texts, combinations in entries
    ]
    return pa.Table.from_pylist(rows, schema=COUNT_SCHEMA)


def group_queries(queries: Iterable[FilledQuery]) -> pa.Table:
    """Return one row per query group, ordered by id (schema :data:`GROUP_SCHEMA`).

    ``is_balanced``: equally many queries in every style that the group has.
    """
    groups: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for query in queries:
        groups[query.query_group_id, query.sql_template_id][query.text_template.style] += 1
    rows = [
        {
            "query_group_id": group,
            "sql_template_id": sql_template_id,
            "count_queries": styles.total(),
            "count_styles": len(styles),
            "is_balanced": len(set(styles.values())) == 1,
        }
        for (group, sql_template_id), styles in sorted(groups.items())
    ]
    return pa.Table.from_pylist(rows, schema=GROUP_SCHEMA)


def _key(value: Value) -> str:
    """Return the text by which a value is told apart: the number 1 and the text "1" differ, 1 and 1.0 do not."""
    if isinstance(value, bool):
        kind = "boolean"
    elif isinstance(value, int | float | decimal.Decimal):
        kind = "number"
    else:
        kind = "text" if isinstance(value, str) else "date"
    return f"{kind}:{write_value(value)}"


def _distinct(values: Iterable[Value | None]) -> dict[str, Value]:
    """Return the values that are not null by their keys, in the order of the keys."""
    found: dict[str, Value] = {}
    for value in values:
        if value is not None:
            found.setdefault(_key(value), value)
    return dict(sorted(found.items()))


def _thin(columns: Sequence[dict[str, Value]], template: SqlTemplate, random_seed: int) -> list[dict[str, Value]]:
    """Return per placeholder its first values by hash, so few that their product is at most the maximum."""
    room, thinned = float(MAXIMUM_PRODUCT), dict(enumerate(columns))
    # the shorter columns first: what they do not use is left to the longer ones
    order = sorted(range(len(columns)), key=lambda number: (len(columns[number]), number))
    for rank, number in enumerate(order):
        share = max(1, int(room ** (1 / (len(order) - rank)) + 1e-9))
        column = columns[number]
        salt = ("grammar_value", str(random_seed), template.sql_template_id, str(number))
        kept = sorted(column, key=lambda key: (hash_text(*salt, key), key))[:share]
        thinned[number] = {key: column[key] for key in kept}
        room /= max(1, len(kept))
    return [thinned[number] for number in range(len(columns))]


def _cap_rows(
    template: SqlTemplate, rows: Iterable[tuple[Value, ...]], cap: int, random_seed: int
) -> tuple[tuple[Value, ...], ...]:
    if cap < 1:
        raise ValueError(f"cap must be at least 1, got {cap}")

    def keyed() -> Iterator[tuple[str, tuple[str, ...], tuple[Value, ...]]]:
        for row in rows:
            keys = tuple(_key(value) for value in row)
            yield hash_text("grammar_filling", str(random_seed), template.sql_template_id, *keys), keys, row

    ordered = sorted(keyed(), key=lambda entry: entry[:2])[:cap]
    return tuple(row for _, _, row in ordered)


def _answer_text(value: Any) -> str | None:
    if value is None or (isinstance(value, float | decimal.Decimal) and not math.isfinite(value)):
        return None
    return write_value(value).strip() or None
