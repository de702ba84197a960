"""Align the numbers of an answer sentence with the cells of tables and records that it names.

A number is held against the cell of the row, and of the column, that the sentence names beside it: next before it, or
next behind it in a sentence that begins with a number. A row is named by the words of a cell that no other row has. A
number contradicts its cell only if another cell of that column or row has it; any other number is a matter of
:mod:`hcat.metrics.support`. Figures over the cells are computed, so that a right figure that no cell has is supported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Final, NamedTuple

from hcat.language.amounts import UNITS
from hcat.language.expressions import read_expressions
from hcat.language.features import TextFeatures
from hcat.language.kinds import number_kind
from hcat.language.mentions import Mention

_MARKER = re.compile(r"(?:^|(?<=\s))(?:row|record|line|entry|item) \d+: ", re.IGNORECASE)
_PART = re.compile(r"(?P<label>[^;]+?): (?P<value>[^;]*)")
_COMPACT = re.compile(r"(?:[^:;]{1,100}: )?(?P<members>[^\W\d][^,:;\d]*\d[^,:;]*(?:, [^\W\d][^,:;\d]*\d[^,:;]*)+)\.?")
_MEMBER = re.compile(r"(?P<label>[^\d,]+?) (?P<value>[^\w\s,]?\d[^,]*)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?= |\Z)")
_NAME_TOKENS: Final = 8  # a longer cell is text and names no row
_LARGEST_TABLE: Final = 400  # rows

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
_SUPERLATIVE, _PRICED, _ORDER, _TOTAL, _GAP, _DENIED, _COMPUTES = (
    re.compile(_WRITTEN[name], re.IGNORECASE)
    for name in ("superlative", "priced", "order", "total", "gap", "denied", "computes")
)
_MONEY: Final = frozenset(UNITS.values()) - {"%", "bp", "pp"}
_PLACES: Final = {"second": 1, "2nd": 1, "third": 2, "3rd": 2}
_ROWS: Final = frozenset(("row", "entri", "item", "record", "option", "result"))


class Cell(NamedTuple):
    """A value of a row: its column, its text, the words and numbers of both, and its number if it has exactly one."""

    label: str
    text: str
    label_tokens: frozenset[str]
    tokens: frozenset[str]
    number: Mention | None


Row = tuple[Cell, ...]


def read_rows(text: str, features: TextFeatures) -> tuple[Row, ...]:
    """Return the rows that one context sentence writes out; prose has none."""
    if ": " not in text:
        return ()
    markers = [match.span() for match in _MARKER.finditer(text)]
    compact = None if markers else _COMPACT.fullmatch(text)
    if compact:
        members = _MEMBER.finditer(text, compact.start("members"), compact.end("members"))
        return tuple((_read_cell(member, features),) for member in members)
    rows = [
        tuple(_read_cell(part, features) for part in _PART.finditer(text, start, end))
        for (_, start), (end, _) in pairwise([(0, 0), *markers, (len(text), 0)])
    ]
    return tuple(row for row in rows if row)


def _read_cell(match: re.Match[str], features: TextFeatures) -> Cell:
    start, end = match.span("value")
    numbers = [each for each in features.number_mentions if start <= each.start < end]
    value = match["value"].strip().removesuffix(".")
    tokens = _tokens(features, *match.span("label")), _tokens(features, start, end)
    return Cell(match["label"].strip(" ;"), value, *tokens, numbers[0] if len(numbers) == 1 else None)


def _tokens(features: TextFeatures, start: int, end: int) -> frozenset[str]:
    mentions = (*features.word_mentions, *features.number_mentions)
    return frozenset([each.keys[0] for each in mentions if start <= each.start < end])


class _Record(NamedTuple):
    """A row of a table: its title, what names it (each name as a set of tokens), and its cells by column."""

    title: str
    names: tuple[frozenset[str], ...]
    cells: dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one context: rows with several columns, and a list of names with a number each."""

    tables: tuple[tuple[_Record, ...], ...] = ()
    pairs: tuple[_Record, ...] = ()

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> Tables:
        """Return the tables that the rows of context sentences form."""
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(row[0].label.rpartition(", ")[2] if len(row) > 1 else "", []).append(row)
        singles = [row[0] for row in groups.pop("", [])]
        for label in [label for label, members in groups.items() if len(members) == 1]:
            singles += groups.pop(label)[0]
        counts = Counter(label for label, _ in {(cell.label, cell.text) for cell in singles})
        listed = {cell.label: cell for cell in singles if cell.number and cell.label_tokens and counts[cell.label] == 1}
        pairs = [_Record(label, (cell.label_tokens,), {"": cell}) for label, cell in listed.items()]
        tables = [_make_table(members) for members in groups.values() if len(members) <= _LARGEST_TABLE]
        return cls(tuple(tables), tuple(pairs) if 1 < len(pairs) <= _LARGEST_TABLE else ())


def _make_table(rows: Sequence[Row]) -> tuple[_Record, ...]:
    # "Net income, 2021: 5,363; 2022: 4,869." has its name before the first column.
    is_titled = len({row[0].label for row in rows}) == len(rows)
    shared = frozenset.intersection(*[row[0].label_tokens for row in rows])
    counts = Counter(tokens for row in rows for tokens in {cell.tokens for cell in row})
    records = []
    for row in rows:
        lead, _, label = row[0].label.rpartition(", ")
        cells = [row[0]._replace(label=label, label_tokens=shared), *row[1:]]
        named = [each for each in cells[is_titled:] if each.number is None or each is cells[0]]
        named = [each for each in named if counts[each.tokens] == 1 and 0 < len(each.tokens) <= _NAME_TOKENS]
        names = [row[0].label_tokens - shared] * is_titled + [each.tokens for each in named]
        title = lead if is_titled else next((each.text for each in named if each.number is None), row[0].text)
        records.append(_Record(title, tuple(names), {each.label: each for each in cells}))
    return tuple(records)


class Aligned(NamedTuple):
    """Contradicted cells and computed results in words, and where the numbers stand that a result supports."""

    contradicted: tuple[str, ...]
    computed: tuple[str, ...]
    starts: frozenset[int]


def align(text: str, features: TextFeatures, tables: Tables) -> Aligned:
    """Return what the cells say of an answer sentence."""
    contradicted: list[str] = []
    if not tables.tables and not tables.pairs:
        return Aligned((), (), frozenset())
    if not any(pattern.search(text) for pattern in (_COMPUTES, _SUPERLATIVE, _ORDER, _TOTAL, _GAP)):
        for table in filter(None, (*tables.tables, tables.pairs)):
            contradicted += _misplaced(text, features, table)
    results = [result for table in tables.tables for result in _compute(text, features, table)]
    contradicted += [phrase for phrase, _, is_right in results if not is_right]
    computed = dict.fromkeys(phrase for phrase, _, is_right in results if is_right)
    starts = frozenset(start for _, start, _ in results if start >= 0)
    return Aligned(tuple(dict.fromkeys(contradicted)), tuple(computed), starts)


def _named(tokens: frozenset[str], table: Sequence[_Record]) -> list[_Record]:
    """Return the rows that most names single out, in the order of the table; none without a name."""
    counts = [sum(name <= tokens for name in record.names) for record in table]
    most = max(counts)
    return [record for record, count in zip(table, counts, strict=True) if count == most] if most else []


def _misplaced(text: str, features: TextFeatures, table: Sequence[_Record]) -> Iterator[str]:
    """Yield the cells that a number of the sentence contradicts."""
    labels = {
        column: cell.label_tokens for each in table for column, cell in each.cells.items() if column and cell.number
    }
    names = {key for record in table for name in record.names for key in name}.union(*labels.values())
    claims = [each for each in features.number_mentions if each.keys[0] not in names]
    if not claims or not _named(_tokens(features, 0, len(text)), table):
        return
    borders = [0, *[each.start for each in claims], len(text)]
    windows = [_tokens(features, *border) for border in pairwise(borders)]
    named = [_named(window, table) for window in windows]
    are_rows_behind = not named[0]
    if are_rows_behind and any(len(rows) != 1 for rows in named[1:]):
        return
    are_columns_behind = not any(tokens and tokens <= windows[0] for tokens in labels.values())
    asked = [
        [column for column, tokens in labels.items() if tokens and tokens <= windows[position + are_columns_behind]]
        for position in range(len(claims))
    ]
    # Only if each number has a column of its own beside it, another cell of the row is a rival too.
    are_columns_clear = all(len(columns) == 1 for columns in asked) and len({each[0] for each in asked}) == len(asked)
    record: _Record | None = None
    for position, claim in enumerate(claims):
        rows = named[position + are_rows_behind]
        if rows or are_rows_behind or not asked[position]:
            record = rows[0] if len(rows) == 1 else None
        if record is None:
            continue
        cells = [each for each in record.cells.values() if each.number and each.tokens not in record.names]
        if are_columns_clear:
            cells = [each for each in cells if each.label in asked[position]]
        elif any(_is_value(claim, each) for each in record.cells.values()):
            continue
        for cell in cells:
            others = [each.cells.get(cell.label) or each.cells.get("") for each in table]
            rivals = [*others, *record.cells.values()] if are_columns_clear else others
            is_rival = any(other and other.number and _is_value(claim, other) for other in rivals)
            if is_rival and not _is_value(claim, cell) and _is_asked(claim, cell, asked[position]):
                yield f"{f'{cell.label} of ' if cell.label != record.title else ''}{record.title}: {cell.text}"


def _is_asked(claim: Mention, cell: Cell, columns: Sequence[str]) -> bool:
    """Return whether a number can only mean this cell: its kind is that of the cell, or its column is named."""
    kinds = {number_kind(each) for each in (claim, cell.number) if each}
    units = {each.keys[0].partition(" ")[2] for each in (claim, cell.number) if each}
    if cell.label not in columns:
        return len(kinds) == 1 and (kinds != {"bare"} or (len(units) == 1 and units.isdisjoint({"", "word"})))
    return len(kinds) == 1 or ("bare" in kinds and not any(each[0] in "-0" for each in kinds))


def _is_value(claim: Mention, cell: Cell) -> bool:
    if not cell.tokens.isdisjoint(claim.keys) or cell.number is None:
        return not cell.tokens.isdisjoint(claim.keys)
    said = _amount(claim)
    return said is not None and said == _amount(cell.number) and "bare" in map(number_kind, (claim, cell.number))


def _amount(number: Mention | None) -> float | None:
    found = _NUMBER.match(number.keys[0]) if number else None
    return float(found.group()) if found else None


def _compute(text: str, features: TextFeatures, table: Sequence[_Record]) -> Iterator[tuple[str, int, bool]]:
    """Yield (result in words, start of the number that states it or -1, whether the sentence agrees)."""
    first = next(iter(table[0].cells.values()))
    numbers = [(each, _amount(each)) for each in features.number_mentions]
    for mention, value in numbers:
        behind = _tokens(features, mention.end, mention.end + len(first.label) + 12)
        if value == len(table) and not behind.isdisjoint(first.label_tokens | _ROWS):
            yield f"count of {first.label}: {len(table)}", mention.start, True
    said = _tokens(features, 0, len(text))
    named = _named(said, table)
    numeric = [
        column
        for column, cell in table[0].cells.items()
        if cell is not first
        and all(column in each.cells and _amount(each.cells[column].number) is not None for each in table)
    ]
    columns = [each for each in numeric if table[0].cells[each].label_tokens & said or len(table[0].cells) == 2]
    # "the cheapest is A at 10 euros" means the column of that price
    prices = [each for each, _ in numbers if number_kind(each) in _MONEY] if _PRICED.search(text) else []
    columns = columns or [
        each for each in numeric if any(_is_value(price, row.cells[each]) for row in named for price in prices)
    ]
    if len(columns) != 1 or _DENIED.search(text):
        return
    (column,) = columns
    label = table[0].cells[column].label
    values = [(_amount(each.cells[column].number) or 0.0, each) for each in table if not _TOTAL.match(each.title)]
    places = {each.keys[0]: each.start for each in (*features.word_mentions, *features.number_mentions)}
    starts = [min(places[key] for name in each.names if name <= said for key in name) for each in named]
    in_order = [each for _, each in sorted(zip(starts, named, strict=True), key=lambda row: row[0])]
    own = [value for record in in_order for value, each in values if each is record]
    for found in _SUPERLATIVE.finditer(text):
        ordered = sorted(values, key=lambda row: row[0], reverse=bool(found["up"] or found["dear"]))
        place = _PLACES.get((found["place"] or "").casefold(), 0)
        if len(own) == 1 and place < len(ordered):
            value, right = ordered[place]
            yield f"{found.group()} {label}: {right.title} ({right.cells[column].text})", -1, own[0] == value
    compared = _ORDER.search(text)
    if compared and len(own) == 2 and not numbers:
        phrase = " and ".join(f"{each.title} {each.cells[column].text}" for each in in_order)
        yield f"{label}: {phrase}", -1, (own[0] > own[1]) == bool(compared["more"]) and own[0] != own[1]
    whole = sum(value for value, _ in values)
    results = [("sum", whole), ("sum of the named", sum(own))]
    results = results[: 1 + (len(own) > 1)] if _TOTAL.search(text) else []
    share = 100 * sum(own) / whole if own and whole > 0 else -1.0
    for each, value in numbers:
        if number_kind(each) == "%" and value in (round(share), round(share, 1)):
            yield f"share of {label}: {share:.1f} %", each.start, True
    if _GAP.search(text):
        results += [("difference", abs(a - b)) for a, b in combinations(own, 2)]
    for name, result in results:
        yield from [(f"{name} of {label}: {result:g}", each.start, True) for each, value in numbers if value == result]
