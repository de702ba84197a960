"""What a section is made of, as data that one template shows: tables, pictures, paragraphs, folds and cards.

A table is rows and columns; a column has a title and says what it shows of a row. A part without content is None, and
:func:`section` leaves it out. So sparse logs need no branches in the sections.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from markupsafe import Markup, escape

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.showing import ANSWER_CHARACTERS, EXCERPT_CHARACTERS, as_markup, format_interval, format_number
from hcat.report.words import QUERIES

#: A part of a section: its kind and what the template shows of it.
Block = dict[str, Any]

MAXIMUM_ROWS: Final = 40
#: What a bound of an interval is called, after the name of the value.
_BOUNDS: Final = (("_lower", "_upper"), ("_low", "_high"))
#: Beginnings of the names of columns that hold shares.
_SHARES: Final = ("share", "coverage", "robustness", "accuracy", "chance_robustness", "confidence")
#: Columns of longer texts -> characters that are shown.
_TEXTS: Final = {
    "adds": ANSWER_CHARACTERS,
    "description": EXCERPT_CHARACTERS,
    "admission_reason": EXCERPT_CHARACTERS,
    "mitigation": ANSWER_CHARACTERS,
    "supply": ANSWER_CHARACTERS,
    "what": ANSWER_CHARACTERS,
}


class Gap(NamedTuple):
    """Evidence that is missing, what would supply it, and the key of the input that was never given, if one was not.

    `needs` is a key of `hcat.report.inputs.INPUTS`; empty where a mart, a seed or a decision is missing.
    """

    what: str
    supply: str
    needs: str = ""


#: What supplies the marts of a later version.
REBUILD: Final = "`dbt build` with the current version of hcat"


class Section(NamedTuple):
    """A section of the report: its blocks, what it lacks, and whether nothing was given for it."""

    blocks: Sequence[Block]
    gaps: Sequence[Gap] = ()
    is_empty: bool = False


class Column(NamedTuple):
    """A column of a table that its name alone does not describe: its title, its cells, and their class."""

    title: str
    show: Callable[[Row], Any]
    kind: str = "number"


def section(*blocks: Block | None, gaps: Iterable[Gap | bool] = (), is_empty: bool = False) -> Section:
    """Return a section of the blocks that have content, and of the gaps that are there (`is_missing and Gap(...)`)."""
    return Section(keep(blocks), [gap for gap in gaps if isinstance(gap, Gap)], is_empty)


def keep(blocks: Iterable[Block | None]) -> list[Block]:
    """Return the blocks that have content."""
    return [block for block in blocks if block is not None]


def read(source: Warehouse, name: str, **parameters: Any) -> list[Row]:
    """Return the rows of a query of `queries.sql`; none where a mart that it names does not exist."""
    marts = re.findall(r"(?:from|join) ((?:dim|fct|int|stg)_\w+)", QUERIES[name])
    return source.rows(QUERIES[name], marts, **parameters)


def lacks_mart(source: Warehouse, mart: str, what: str, otherwise: Gap | bool = False) -> Gap | bool:
    """Return a gap where a mart is not there, and another (or none) where it is."""
    return otherwise if source.has(mart) else Gap(f"{what}: this warehouse lacks {mart}.", REBUILD)


def heading(text: str, level: int = 3, anchor: str = "") -> Block:
    """Return a heading."""
    return {"kind": "heading", "text": text, "level": level, "anchor": anchor}


def paragraph(text: str, kind: str = "", anchor: str = "") -> Block:
    """Return a paragraph."""
    return {"kind": "paragraph", "text": text, "class": kind, "anchor": anchor}


def absent(text: str) -> Block:
    """Return the dashed box that says that something is not there."""
    return paragraph(text, "absent")


def bullets(lines: Sequence[str]) -> Block | None:
    """Return a list of sentences."""
    return {"kind": "bullets", "lines": lines} if lines else None


def facts(pairs: Sequence[tuple[str, Any]], kind: str = "") -> Block | None:
    """Return a list of names and values; `code` sets it in two columns of fixed width."""
    return {"kind": "facts", "pairs": pairs, "class": kind} if pairs else None


def fold(title: str, *blocks: Block | None, level: int = 0, anchor: str = "") -> Block | None:
    """Return what is folded away under a title, which is a heading where it has a level."""
    kept = keep(blocks)
    if not kept:
        return None
    return {"kind": "fold", "title": title, "blocks": kept, "level": level, "anchor": anchor}


def picture(svg: str, caption: str) -> Block:
    """Return a picture with its caption."""
    return {"kind": "picture", "svg": as_markup(svg), "caption": caption}


def card(header: Sequence[Any], groups: Sequence[Sequence[tuple[str, Any]]], anchor: str, note: str) -> Block:
    """Return a card: a header, groups of names with texts, and a note below them."""
    return {"kind": "card", "header": header, "groups": groups, "anchor": anchor, "note": note}


def table(
    caption: str,
    columns: Sequence[str | Column] | Mapping[str, Column],
    rows: Sequence[Row],
    maximum: int = MAXIMUM_ROWS,
    noun: str = "rows",
    words: Mapping[str, Mapping[Any, str]] | None = None,
    anchor: Callable[[Row], str] = lambda row: "",
) -> Block | None:
    """Return a table of at most `maximum` rows, which counts the rows that it leaves out; None without rows.

    A column is the name of a column of the mart, which says its title and how it is shown, or `name=title`, or a
    :class:`Column`. A mapping shows what the query gives, some of it by a :class:`Column` of its own. `words` has the
    meanings of the values of a column.
    """
    if not rows:
        return None
    if isinstance(columns, Mapping):
        # what the query gives, but bounds and what begins with _; the rows by names without titles
        names = {column.partition("=")[0]: column for column in rows[0]}
        bounds = {f"{name}{end}" for name in names for ends in _BOUNDS for end in ends}
        rows = [dict(zip(names, row.values(), strict=True)) for row in rows]
        columns = [columns.get(name, names[name]) for name in names if name[0] != "_" and name not in bounds]
    shown = [
        one if isinstance(one, Column) else _describe_column(one, rows, (words or {}).get(one.partition("=")[0], {}))
        for one in columns
    ]
    return {
        "kind": "table",
        "caption": caption,
        "columns": shown,
        "rows": [
            {"anchor": anchor(row), "cells": [(column.kind, column.show(row)) for column in shown]}
            for row in rows[:maximum]
        ],
        "count_left_out": max(0, len(rows) - maximum),
        "noun": noun,
    }


def query(
    source: Warehouse,
    name: str,
    caption: str,
    maximum: int = MAXIMUM_ROWS,
    noun: str = "rows",
    words: Mapping[str, Mapping[Any, str]] | None = None,
    shown: Mapping[str, Column] = MappingProxyType({}),
    **parameters: Any,
) -> Block | None:
    """Return the table that a query of `queries.sql` gives; None without rows, or without a mart that it reads."""
    return table(caption, shown, read(source, name, **parameters), maximum, noun, words)


def _describe_column(name: str, rows: Sequence[Row], words: Mapping[Any, str]) -> Column:
    """Return a column as the name of a column of a mart and its values say: a number, a share, a day, a text."""
    field, _, title = name.partition("=")
    unit = "share" if field.startswith(_SHARES) or field.endswith(("_share", "_rate")) else None
    plain = field.removeprefix("count_").removesuffix("_name").replace("_", " ")
    values = [row[field] for row in rows if row[field] is not None]
    is_number = any(isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in values)

    def show(row: Row) -> Any:
        value = row[field]
        if value in words:
            return words[value]
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int | float | Decimal):
            interval = find_interval(row, field, unit)
            return with_interval(format_number(value if isinstance(value, int) else float(value), unit), interval)
        if isinstance(value, date):
            return f"{value:%Y-%m-%d}"
        if value in (None, ""):
            return "–"
        return clean_label(value, _TEXTS[field]) if field in _TEXTS else break_name(clean_label(value))

    kind = "number" if is_number and not words else "wide" if field in _TEXTS else ""
    if any(isinstance(value, date) for value in values):
        kind = "short"
    return Column(title or plain.capitalize(), show, kind)


def say(value: Any) -> str:
    """Return a word of a closed vocabulary as people read it."""
    return "–" if value is None else str(value).replace("_", " ")


def find_interval(row: Row, name: str, unit: str | None = None) -> str:
    """Return the interval of a value whose bounds the row has as well; empty where it has none."""
    for lower, upper in _BOUNDS:
        if row[name] is not None and f"{name}{lower}" in row:
            return format_interval(row[f"{name}{lower}"], row[f"{name}{upper}"], unit)
    return ""


def with_interval(value: Any, interval: str) -> Any:
    """Return a value with its interval below it."""
    return lines(value, small(interval, "interval")) if interval else value


def small(text: Any, kind: str = "note") -> Any:
    """Return text in small letters."""
    return Markup('<span class="{}">{}</span>').format(kind, text) if text else ""


def lines(*parts: Any) -> Markup:
    """Return the parts that are not empty, one below the other."""
    return Markup("<br>").join(part for part in parts if part not in ("", None))


def code(text: Any) -> Markup:
    """Return text as it stands in a machine."""
    return Markup('<span class="code">{}</span>').format(text)


def link(anchor: str, text: Any) -> Markup:
    """Return a link to a part of this page, or of a page beside it where `anchor` holds a `#` itself."""
    return Markup('<a href="{}">{}</a>').format(anchor if "#" in anchor else f"#{anchor}", text)


def pill(state: str, text: str) -> Markup:
    """Return a verdict in its colour."""
    return Markup('<span class="verdict {}">{}</span>').format(state, text)


def show_quote(text: str, kind: str = "quote") -> Markup:
    """Return a text of the logs as it was written."""
    return Markup('<span class="{}" dir="auto">{}</span>').format(kind, text)


def break_name(text: object) -> Markup:
    """Return a name that may break after its underscores."""
    return escape(text).replace("_", Markup("_<wbr>"))


def rich(text: str, *values: Any, **named: Any) -> Markup:
    """Return a text of ours with HTML, and values that are escaped."""
    return Markup(text).format(*values, **named)
