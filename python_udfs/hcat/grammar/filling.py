"""Fillings of an SQL template."""

import datetime
import decimal
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hcat.engine.keys import hash_text
from hcat.grammar.sql_templates import Placeholder, SqlTemplate

MAXIMUM_PRODUCT: Final = 100_000
"""Combinations that are hashed one by one; above, every placeholder keeps its first values by hash beforehand."""

Value = str | int | float | bool | decimal.Decimal | datetime.date | datetime.time
"""What a filling can be; datetime.datetime is a datetime.date."""


def write_value(value: Value) -> str:
    """Return a value as people write it in a question: without trailing zeros, dates as year-month-day."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | decimal.Decimal):
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
) -> tuple[tuple[tuple[Value, ...], ...], int]:
    """Return at most ``cap`` combinations of the product of distinct values, each equally likely, and its size."""
    columns = [_distinct(values[placeholder]) for placeholder in template.placeholders]
    count_possible = math.prod(len(column) for column in columns)
    if count_possible > MAXIMUM_PRODUCT:
        columns = _thin(columns, template, random_seed)

    def order(pairs: tuple[tuple[str, Value], ...]) -> tuple[str, list[str]]:
        keys = [key for key, _ in pairs]
        return hash_text("grammar_filling", str(random_seed), template.sql_template_id, *keys), keys

    chosen = sorted(itertools.product(*(column.items() for column in columns)), key=order)[:cap]
    return tuple(tuple(value for _, value in pairs) for pairs in chosen), count_possible


def query_group_id(template: SqlTemplate, values: Sequence[Value]) -> str:
    """Return the key of everything that one SQL query with the same values answers."""
    return hash_text("query_group", template.sql_template_id, *(_key(value) for value in values))


def check_answer(rows: Iterable[Sequence[Any]]) -> tuple[str, str | None]:
    """Return whether the rows of a query are one answer (GRAMMAR, appendix B.1), and that answer or None."""
    distinct = {tuple(map(_answer_text, row)) for row in rows}
    if len(distinct) != 1:
        return "several_answers" if distinct else "no_answer", None
    (answer,) = distinct
    said = [text for text in answer if text is not None]
    if len(said) < len(answer) or not said:
        return "null_answer", None
    return "single_answer", ", ".join(said)


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
    # from behind, so that the first of equal values stays
    found = {_key(value): value for value in reversed(list(values)) if value is not None}
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


def _answer_text(value: Any) -> str | None:
    if value is None or (isinstance(value, float | decimal.Decimal) and not math.isfinite(value)):
        return None
    return write_value(value).strip() or None
