"""Turn the JSON and the tables of a text into sentences; prose stays as it is.

Entailment models are trained on prose, and word overlap compares words. Neither reads ``{"OutdoorSeating": false}``
well; both read "Outdoor seating: no." Each unit keeps the span that it was made of, so that evidence is shown in place.

The rules:

- A scalar is one sentence, "Outdoor seating: no." An object of scalars is one sentence, "Hours: Monday 9:00-17:00,
  Tuesday 9:00-12:30." A flag says yes or no (unknown for null) beside its own name. A negation would be ambiguous: in
  "garage, not lot, valet" nobody knows how far the *not* reaches, and a list that is cut would lose it.
- A key made of several words is split and lower-cased, except for acronyms (``ATMFee`` is "ATM fee"). A key of one
  word, or with spaces, stays as it is written.
- A deeper value keeps the names above it ("Savings account, fee: 5."), at most the nearest two. A name that only says
  that it contains something (``attributes``, ``metadata``, ``results``) is left out, and so is a name that the key
  repeats (``review_info`` over ``review_stars``).
- An object in a list is a record, like the row of a table. Its neighbouring scalars are one sentence ("Account: Basic;
  monthly fee: 5 euros."), and its deeper values carry the name or title of the record.
- Running text in a value is split by the rules of prose. It stays word for word if it is long, or if its key says no
  more than that it is text (``review_text``, ``page_content``). The key stands before a short text ("Overdraft: Costs 5
  euros a month.").
- Numbers stay verbatim. Times without leading zeros (``9:0-17:0``) are written in full if the key speaks of hours.
- A value that is itself JSON or a Python literal (``"u'casual'"``, ``"{'lot': False}"``) is read as such. The word None
  alone is not, because it may be an answer.
- A table row is read with the header above it ("Account: Basic; monthly fee: 5 euros."). A first column without a
  header names its row ("Net income, 2021: 5,363; 2022: 4,869.").
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, pairwise
from typing import Any, Final, NamedTuple

import regex  # type: ignore[import-untyped]

from hcat.language.given_names import word_set
from hcat.language.markup import BLANK, blank_markup, remove_blanks
from hcat.language.text import (
    FENCE,
    JSON_UNIT_CHARACTERS,
    LINE,
    MAXIMUM_SENTENCE_CHARACTERS,
    RULE_LINE,
    WORD_LISTS,
    WORD_PATTERN,
    clean_text,
    is_table_row,
    looks_like_json,
    split_sentences,
    trim_span,
)

GROUP_CHARACTERS: Final = 300
"""Characters up to which a group (the hours of a week, a table row) is one sentence. A longer group is cut between its
members, so that it fits the window of an encoder."""

LABEL_CHARACTERS: Final = 100
"""Characters of the longest key that counts as a name; a longer key is text of its own."""

MAXIMUM_PATH: Final = 2
"""Number of names above a member that stand before it."""

MAXIMUM_EMBEDDING: Final = 3
"""Depth down to which JSON inside a string of JSON is read; below, it is text."""

_COMPACT_CHARACTERS = 24  # a value up to this length, without comma, stands beside its key: "Monday 9:00-17:00"
_NAME_CHARACTERS = 60
_RUNNING_WORDS = 12  # so many words are text even in capitals

_TOKEN = re.compile(
    r"""\s*+(?:(?P<sign>[{}\[\](),:])"""
    r"""|(?P<string>[ub]?"[^"\\]*+(?:\\(?s:.)[^"\\]*+)*+"|[ub]?'[^'\\]*+(?:\\(?s:.)[^'\\]*+)*+')"""
    r"""|(?P<word>[^\s{}\[\](),:"']++))"""
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?Infinity")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}"
    r"|x[0-9a-fA-F]{2}|.)",
    re.DOTALL,
)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "a": "\a"}
_CLOSERS = {"{": "}", "[": "]", "(": ")"}
_LITERALS = {
    "true": "yes", "True": "yes", "false": "no", "False": "no", "null": "unknown", "None": "unknown", "NaN": "unknown",
}  # fmt: skip
_FLAGS = {"true": "yes", "True": "yes", "false": "no", "False": "no"}
_MEMBER = re.compile(r"[\"']\s*:")
_LITERAL_STRING = re.compile(r"[ub]?(?:'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\")", re.DOTALL)

_SPELLINGS = re.compile(r"(?:WiFi|PayPal|YouTube|LinkedIn|iOS|iPhone|eBay)(?![a-z])")  # no camel case
_CAMEL = regex.compile(
    rf"(?<=\p{{Ll}})(?=\p{{Lu}})|(?<=\p{{Lu}})(?=\p{{Lu}}(?!s\Z)\p{{Ll}})|{_SPELLINGS.pattern}(*SKIP)(*FAIL)"
)
_SEPARATORS = re.compile(r"[_\s]+|(?<=\w)\.(?=\w)|(?<=\w\w)-(?=\w\w)")
_CONTAINER_WORDS, _TEXT_WORDS, _TIME_WORDS = (
    word_set(WORD_LISTS[name]) for name in ("container_words", "text_words", "time_words")
)
_NAME_WORDS = frozenset(("name", "title", "label"))
# What a list says beside its names, so that its first row is no header.
_VALUE_WORDS = word_set("closed false free included n/a no none open true unknown unlimited yes")
_TIMES = re.compile(r"([01]?\d|2[0-4]):([0-5]?\d)(?:\s?[-\u2013]\s?([01]?\d|2[0-4]):([0-5]?\d))?")
_ENDS = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
_CLOSED = re.compile(rf"[{_ENDS}:;][\"'\u201d\u2019)\]]*\Z")
_SENTENCE_END = re.compile(rf"[{_ENDS}][\"'\u201d\u2019)\]]*\Z")
_MAYBE_SENTENCES = re.compile(rf"[{_ENDS}\n\r]")
_BEFORE_STOP = re.compile(r"(?<=[\w%€)]) (?=[.,;!?](?:\s|\Z))")  # where a marker stood
# White space, without what groups the digits of "1 200".
_SPACES = re.compile(r"(?!(?<=\d)[\u00a0\u202f\u2009]\d{3}(?!\d))\s+")
_LIST_SIGN = re.compile(r"[,;]")

_SEPARATOR_LINE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_CELL_BREAK = re.compile(r"(?<!\\)\|")
_TAB = re.compile("\t")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DIGIT = re.compile(r"\d")


class Unit(NamedTuple):
    """One sentence as it is embedded and read, with single spaces, and the span of characters that it was made of."""

    start: int
    end: int
    text: str


def verbalise_sentences(text: str, depth: int = 0) -> list[Unit]:
    """Return the sentences of a text that is nested in `depth` strings of JSON, with JSON and tables in words."""
    if depth < MAXIMUM_EMBEDDING:
        start, end = trim_span(text, 0, len(text))
        if end - start > 2 and text[start] in "{[" and text[end - 1] in "}]" and _MEMBER.search(text, start, end):
            units = _verbalise_json(text, start, end, depth)
            if units:
                return units
    as_written, text = text, blank_markup(text)
    units = [Unit(start, end, _fold(text[start:end])) for start, end in split_sentences(text)]
    if not all(unit.text for unit in units):  # what is nothing but markup is no unit, unless the whole text is
        is_said = any(unit.text for unit in units)
        units = (
            [unit for unit in units if unit.text] if is_said else [Unit(*units[0][:2], " ".join(as_written.split()))]
        )
    structures = _find_structures(text, depth)
    if not structures:
        return units
    # A row or a line of JSON ends the paragraph before it, so that no sentence reaches into it from outside.
    merged: list[Unit] = []
    position = 0
    for start, end, written in structures:
        while position < len(units) and units[position].end <= start:
            merged.append(units[position])
            position += 1
        while position < len(units) and units[position].start < end:
            position += 1
        merged.extend(written)
    merged.extend(units[position:])
    return merged


def _fold(text: str) -> str:
    """Return the text without markup, with each run of white space as one space, none at the ends."""
    said = remove_blanks(text)
    folded = " ".join(said.split() if said.isascii() else _SPACES.split(said.strip()))
    return _BEFORE_STOP.sub("", folded) if BLANK in text else folded


def _fold_clean(text: str) -> str:
    """Return the folded text without characters that cannot be stored; an escape may have hidden one until now."""
    return _fold(blank_markup(clean_text(text)))


# --- tables and lines


class _Line(NamedTuple):
    """A line that is not blank and its trimmed span; `kind` is row, rule (a drawn line) or other."""

    line_start: int
    start: int
    end: int
    kind: str


def _find_structures(text: str, depth: int) -> list[tuple[int, int, list[Unit]]]:
    """Return the lines of JSON and the table rows that are verbalised: their trimmed spans and units, in order."""
    has_member = ("{" in text or "[" in text) and _MEMBER.search(text) is not None
    may_have_json = has_member and depth < MAXIMUM_EMBEDDING
    if not may_have_json and "\t" not in text and text.count("|") < 2:
        return []
    found: list[tuple[int, int, list[Unit]]] = []
    lines: list[_Line] = []
    in_code = False
    for match in LINE.finditer(text):
        start, end = trim_span(text, match.start(), match.end())
        if start == end:
            continue
        kind = "other"
        if text[start] in "`~" and FENCE.fullmatch(text, start, end):
            in_code = not in_code
        elif in_code:
            pass
        elif not text[start].isalnum() and RULE_LINE.fullmatch(text, start, end):
            kind = "rule"
        elif (
            may_have_json and looks_like_json(text, start, end) and (units := _verbalise_json(text, start, end, depth))
        ):
            found.append((start, end, units))
        elif end - start <= MAXIMUM_SENTENCE_CHARACTERS and is_table_row(text, start, end):
            kind = "row"  # a longer one is split like prose
        lines.append(_Line(match.start(), start, end, kind))
    position = 0
    while position < len(lines):
        rows, position = _read_table(text, lines, position)
        found.extend(rows)
    found.sort(key=lambda structure: structure[0])
    return found


def _read_table(text: str, lines: Sequence[_Line], position: int) -> tuple[list[tuple[int, int, list[Unit]]], int]:
    """Return the rows of the table whose header is the line at `position`, and the line behind the table."""
    header = lines[position]
    is_drawn = _is_header_drawn(text, lines, position)
    rows = []
    position += 1 + is_drawn
    if header.kind != "row" or not (is_drawn or "\t" in text[header.start : header.end]):
        return [], position
    while position < len(lines) and lines[position].kind != "other":
        line = lines[position]
        gap = text[lines[position - 1].end : line.line_start]
        if not is_drawn and (line.kind == "rule" or len(gap.splitlines()) > 1):
            break  # behind an empty line
        if line.kind == "row":
            has_cells = text.find("|" if is_drawn else "\t", line.start, line.end) >= 0
            if not has_cells or _is_header_drawn(text, lines, position):
                break  # another table
            rows.append(line)
        position += 1
    if not is_drawn and not _is_header_named(text, header, rows):
        return [], position
    read_cells = _read_pipe_cells if is_drawn else _read_tab_cells
    labels = [_name_key(_fold_clean(text[start:end])) for start, end in read_cells(text, header)]
    names = ", ".join(label for label in labels if label)
    if not names or max(map(len, labels)) > LABEL_CHARACTERS:
        return [], position
    table = [(header.start, header.end, [Unit(header.start, header.end, _finish("", names, True))])]
    for row in rows:
        units = _write_row(text, row, read_cells(text, row), labels)
        if units:
            table.append((row.start, row.end, units))
    return table, position


def _is_header_drawn(text: str, lines: Sequence[_Line], position: int) -> bool:
    """Return whether a line is a header: a row, and below it a drawn line with as many cells."""
    if position + 1 == len(lines) or lines[position].kind != "row":
        return False
    header, drawn = lines[position], lines[position + 1]
    return (
        drawn.kind == "rule"
        and drawn.end - drawn.start <= MAXIMUM_SENTENCE_CHARACTERS
        and text.find("|", header.start, header.end) >= 0
        and text.find("|", drawn.start, drawn.end) >= 0
        and _SEPARATOR_LINE.fullmatch(text, drawn.start, drawn.end) is not None
        and len(_read_pipe_cells(text, header)) == len(_read_pipe_cells(text, drawn))
    )


def _is_header_named(text: str, header: _Line, rows: Sequence[_Line]) -> bool:
    """Return whether the first of several rows between tabs names the columns."""
    labels = [_fold(text[start:end]) for start, end in _read_tab_cells(text, header)]
    named = [label for label in labels[1:] if label]
    if not rows or not named or len(named) < len(labels) - 1 or len({*labels}) < len(labels):
        return False
    if any(len(label) > _NAME_CHARACTERS or _SENTENCE_END.search(label) for label in labels):
        return False
    if not _VALUE_WORDS.isdisjoint(label.casefold() for label in labels):
        return False
    cells = [[text[start:end] for start, end in _read_tab_cells(text, row)] for row in rows]
    if any(len(row) > len(labels) for row in cells):
        return False
    columns = [[row[column] for row in cells if column < len(row) and row[column]] for column in range(len(labels))]
    are_digits = [bool(column) and all(_DIGIT.search(cell) for cell in column) for column in columns]
    if not _DIGIT.search(labels[0]) and all(_YEAR.fullmatch(label) for label in named):
        # a name and one year alone are a row of a list: "Founded 1990"
        return (len(named) > 1 or not labels[0]) and not are_digits[0] and any(are_digits)
    return not any(_DIGIT.search(label) for label in labels) and any(are_digits)


def _read_pipe_cells(text: str, line: _Line) -> list[tuple[int, int]]:
    """Return the trimmed spans of the cells between pipes; an escaped pipe is part of a cell."""
    start = line.start + (text[line.start] == "|")
    is_closed = line.end - 1 > line.start and text[line.end - 1] == "|" and text[line.end - 2] != "\\"
    return _cut_cells(text, start, line.end - is_closed, _CELL_BREAK)


def _read_tab_cells(text: str, line: _Line) -> list[tuple[int, int]]:
    """Return the trimmed spans of the cells between tabs; a tab before the first name stands for an empty cell."""
    start = line.line_start
    while text[start] != "\t" and start < line.start:
        start += 1
    return _cut_cells(text, start, line.end, _TAB)


def _cut_cells(text: str, start: int, end: int, cell_break: re.Pattern[str]) -> list[tuple[int, int]]:
    breaks = [match.span() for match in cell_break.finditer(text, start, end)]
    return [trim_span(text, left, right) for (_, left), (right, _) in pairwise([(0, start), *breaks, (end, 0)])]


def _write_row(text: str, row: _Line, cells: Sequence[tuple[int, int]], labels: Sequence[str]) -> list[Unit]:
    """Return the units of a table row; none when it has more cells than the header, or only blank ones."""
    if len(cells) > len(labels):
        return []
    parts = []
    for (start, end), label in zip(cells, labels, strict=False):
        shown = _fold_clean(text[start:end]).replace("\\|", "|")
        if shown:
            # a cell that nearly fills a sentence leaves no room for its name
            has_room = len(shown) <= MAXIMUM_SENTENCE_CHARACTERS - 2 * LABEL_CHARACTERS
            parts.append(_Part(start, end, label if has_room else "", shown))
    if not parts:
        return []
    subject = ""
    if not parts[0].label and len(parts) > 1 and len(parts[0].shown) <= LABEL_CHARACTERS:
        subject = parts[0].shown  # the column without header names what the row is about
        parts = parts[1:]
    return _stretch(_write_parts(parts, subject, repeats_first=True), row.start, row.end)


# --- sentences


class _Part(NamedTuple):
    """One member of a group: its span, its name (may be empty) and its value in words."""

    start: int
    end: int
    label: str
    shown: str


def _write_parts(
    parts: Sequence[_Part], subject: str, is_compact: bool = False, repeats_first: bool = False
) -> list[Unit]:
    """Return the sentences of a group, each at most `GROUP_CHARACTERS` long unless one member alone is longer."""
    separator = ", " if is_compact else "; "
    lead = f"{subject}{': ' if is_compact or not parts[0].label else ', '}" if subject else ""
    units: list[Unit] = []
    written: list[str] = []
    length = len(lead)
    first = last = parts[0]

    def close_sentence() -> None:
        units.append(Unit(first.start, last.end, _finish(lead, separator.join(written), bool(lead or first.label))))

    for part in parts:
        words = (" " if is_compact else ": ").join(filter(None, (part.label, part.shown)))
        if written and length + len(words) > GROUP_CHARACTERS:
            close_sentence()
            if repeats_first and not lead and len(written[0]) <= LABEL_CHARACTERS:
                lead = f"{written[0]}; "
            written = []
            length = len(lead)
            first = part
        written.append(words)
        length += len(words) + len(separator)
        last = part
    close_sentence()
    return units


def _stretch(units: list[Unit], start: int, end: int) -> list[Unit]:
    """Return units of which the first begins and the last ends elsewhere."""
    units[0] = units[0]._replace(start=start)
    units[-1] = units[-1]._replace(end=end)
    return units


def _finish(lead: str, words: str, is_named: bool) -> str:
    """Return a whole sentence, without what goes before when it would be longer than any sentence may be."""
    sentence = f"{lead}{words}"
    sentence += "" if _CLOSED.search(sentence, max(0, len(sentence) - 4)) else "."
    if len(sentence) > MAXIMUM_SENTENCE_CHARACTERS:
        return words[:MAXIMUM_SENTENCE_CHARACTERS]
    return _capitalise(sentence) if is_named else sentence


def _capitalise(sentence: str) -> str:
    """Return the sentence with a capital in front, unless its first word is written its own way (iOS)."""
    first = sentence[:40].split(" ", 1)[0]
    return sentence[0].upper() + sentence[1:] if first.islower() and len(sentence[0].upper()) == 1 else sentence


@functools.lru_cache(maxsize=4096)
def _name_key(key: str) -> str:
    """Return a key in words: camel, snake and kebab case are split and lower-cased, acronyms are kept."""
    key = _fold_clean(key)
    if " " in key or not any(character.isalpha() for character in key):
        return key
    words = [word for piece in _SEPARATORS.split(key) for word in split_camel(piece)]
    if len(words) == 1:
        return words[0]
    is_shouted = key.isupper()
    return " ".join(
        word if not is_shouted and ((len(word) > 1 and word.isupper()) or _SPELLINGS.fullmatch(word)) else word.lower()
        for word in words
    )


def split_camel(piece: str) -> list[str]:
    """Return the words of a piece in camel case: a capital after a small letter or before one opens a word."""
    return [word for word in _CAMEL.split(piece) if word]


@functools.lru_cache(maxsize=4096)
def _stems(label: str) -> frozenset[str]:
    """Return the words of a name, case-folded and without a plural s."""
    return frozenset(word.removesuffix("s") for word in label.casefold().split())


@functools.lru_cache(maxsize=4096)
def _name_context(label: str) -> str:
    """Return the name that a container gives to what lies in it; empty when it only says that it contains."""
    words = label.split(" ")
    while words and words[-1].casefold() in _CONTAINER_WORDS:
        words.pop()
    return " ".join(words)


def _join_path(path: Iterable[str], label: str) -> str:
    """Return the names above a member, without those that its own name repeats."""
    repeated = _stems(label)
    return ", ".join(name for name in path if not _stems(name) <= repeated)


def _extend_path(path: tuple[str, ...], label: str) -> tuple[str, ...]:
    context = _name_context(label)
    return (*path, context)[-MAXIMUM_PATH:] if context and context not in path else path


# --- JSON: reading


class _Source(NamedTuple):
    """A text, and where its characters stand in the text it was decoded from, down to the original one."""

    text: str
    outer: _Source | None
    base: int
    positions: Sequence[int] = ()
    extras: Sequence[int] = ()

    def locate(self, offset: int) -> int:
        """Return the offset in the original text of a character offset in this one."""
        index = bisect_left(self.positions, offset)  # escapes before it
        offset += self.base + (self.extras[index - 1] if index else 0)
        return offset if self.outer is None else self.outer.locate(offset)


@dataclass(slots=True, eq=False)
class _Node:
    """A value: `kind` is object, array, string or scalar, `shown` a scalar in words, `source` the text of a string.

    `children` are the members or items: start in the original text, name of the key (empty in an array), value.
    """

    kind: str
    start: int
    end: int
    shown: str = ""
    source: _Source | None = None
    closer: str = ""
    children: list[tuple[int, str, _Node]] = field(default_factory=list)


def _verbalise_json(text: str, start: int, end: int, depth: int) -> list[Unit]:
    """Return the units of a stretch of JSON; empty when it is none."""
    roots = _parse(_Source(text[start:end], None, start), depth, is_embedded=False)
    return _write(roots, depth) if roots else []


def _parse(source: _Source, depth: int, is_embedded: bool) -> list[_Node] | None:
    """Return the values of a text, or None when it is no JSON."""
    text = source.text
    roots: list[_Node] = []
    stack: list[_Node] = []
    expected = "value"  # or key, colon, after: a comma or the end of the container
    key_start, key = 0, ""
    position = 0
    while (match := _TOKEN.match(text, position)) is not None:
        position = match.end()
        start, kind = match.start(match.lastgroup or 0), match.lastgroup
        sign = text[start] if kind == "sign" else ""
        node: _Node | None = None
        may_close = expected in ("after", "key") or (expected == "value" and bool(stack) and stack[-1].kind == "array")
        if may_close and stack and sign == stack[-1].closer:
            stack.pop().end = source.locate(position)
            expected = "after" if stack else "value"
            continue
        if expected == "after":
            if sign != ",":
                return None
            expected = "key" if stack[-1].kind == "object" else "value"
            continue
        if expected == "colon":
            if sign != ":":
                return None
            expected = "value"
            continue
        if expected == "key":
            if kind == "string":
                key_source = _decode(source, start, position)
            elif kind == "word" and is_embedded:
                key_source = _Source(text[start:position], source, start)
            else:
                return None
            key, key_start = key_source.text, source.locate(start)
            if len(key) > LABEL_CHARACTERS:
                long_key = _Node("string", key_start, source.locate(position), "", key_source)
                stack[-1].children.append((key_start, "", long_key))
                key, key_start = "", -1
            expected = "colon"
            continue
        if sign in ("{", "[", "("):
            node = _Node("object" if sign == "{" else "array", source.locate(start), source.locate(position))
            node.closer = _CLOSERS[sign]
        elif kind == "string":
            node = _read_string(source, start, position, depth)
        elif kind == "word":
            node = _read_word(source, start, position)
        if node is None or (not stack and node.kind == "scalar"):
            return None
        if stack:
            if stack[-1].kind == "object":
                stack[-1].children.append((node.start if key_start < 0 else key_start, _name_key(key), node))
            else:
                stack[-1].children.append((node.start, "", node))
        else:
            if node.kind == "string" and (not is_embedded or roots):
                return None
            roots.append(node)
        if sign:
            stack.append(node)
            expected = "key" if node.kind == "object" else "value"
        else:
            expected = "after" if stack else "value"
    is_read = not stack and expected == "value" and len(text.rstrip()) <= position
    return roots if is_read else None


def _read_word(source: _Source, start: int, end: int) -> _Node | None:
    """Return the scalar of a token without quotation marks, None when it is none."""
    word = source.text[start:end]
    if word in _LITERALS:
        return _Node("scalar", source.locate(start), source.locate(end), _LITERALS[word])
    if _NUMBER.fullmatch(word) is None:
        return None
    if len(word) > LABEL_CHARACTERS:  # digits without end are cut like text
        return _Node("string", source.locate(start), source.locate(end), "", _Source(word, source, start))
    return _Node("scalar", source.locate(start), source.locate(end), word)


def _read_string(source: _Source, start: int, end: int, depth: int) -> _Node:
    """Return the value of a string token; of one that holds JSON or a Python literal, that value."""
    inner = _decode(source, start, end)
    outer_start, outer_end = source.locate(start), source.locate(end)
    value = inner.text.strip()
    if value in _FLAGS:
        return _Node("scalar", outer_start, outer_end, _FLAGS[value])
    is_container = len(value) > 1 and value[-1] == _CLOSERS.get(value[0]) and (value[0] != "(" or "," in value)
    if depth < MAXIMUM_EMBEDDING and (is_container or _LITERAL_STRING.fullmatch(value)):
        embedded = _parse(inner, depth + 1, is_embedded=True)
        if embedded is not None and len(embedded) == 1:
            embedded[0].start, embedded[0].end = outer_start, outer_end
            return embedded[0]
    return _Node("string", outer_start, outer_end, "", inner)


def _decode(source: _Source, start: int, end: int) -> _Source:
    """Return what a string token says."""
    start += 1 + (source.text[start] in "ub")
    raw = source.text[start : end - 1]
    if "\\" not in raw:
        return _Source(raw, source, start)
    pieces: list[str] = []
    positions: list[int] = []
    extras: list[int] = []
    position = count_decoded = extra = 0
    for escape in _ESCAPE.finditer(raw):
        decoded = _decode_escape(escape.group())
        pieces += raw[position : escape.start()], decoded
        count_decoded += escape.start() - position
        if len(decoded) == 1:
            extra += len(escape.group()) - 1
            positions.append(count_decoded)
            extras.append(extra)
        count_decoded += len(decoded)
        position = escape.end()
    pieces.append(raw[position:])
    return _Source("".join(pieces), source, start, positions, extras)


def _decode_escape(escape: str) -> str:
    """Return the character that an escape stands for; an unknown escape is itself."""
    if escape[1] in "\"'\\/":
        return escape[1]
    if len(escape) == 2:
        return _ESCAPED.get(escape[1], escape)
    # two escapes may be one character
    said = escape.encode().decode("unicode_escape")
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


# --- JSON: writing

#: Units, and what is written in their place.
_Steps = Iterator[Any]


def _write(roots: Sequence[_Node], depth: int) -> list[Unit]:
    """Return the units of values in the order of the text; several are records, as the lines of a JSON Lines file."""
    is_record = len(roots) > 1
    units: list[Unit] = []
    # a stack: nesting costs no recursion
    stack: list[_Steps] = [_write_value(root.start, "", root, (), depth, is_record) for root in reversed(roots)]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
        elif isinstance(step, Unit):
            units.append(step)
        else:
            stack.append(step)
    return units


def _write_value(
    start: int, label: str, node: _Node, path: tuple[str, ...], depth: int, is_record: bool = False
) -> _Steps:
    if node.kind == "object" and node.children:
        yield _write_object(start, label, node, path, depth, is_record)
    elif node.kind == "array" and node.children:
        yield _write_array(start, label, node, path, depth)
    elif node.kind == "string" and _is_text(node, label):
        yield from _write_text(start, label, node, path, depth)
    else:
        part = _Part(start, node.end, label, _show(node, label, path))
        yield from _write_parts([part], _join_path(path, label))


def _write_object(start: int, label: str, node: _Node, path: tuple[str, ...], depth: int, is_record: bool) -> _Steps:
    inner_path = _extend_path(path, label)
    is_transparent = bool(label) and not _name_context(label)  # what lies in "attributes" lies beside it
    if not is_transparent and all(_is_short(value, key) for _, key, value in node.children):
        parts = _read_parts(node.children, inner_path)
        is_compact = bool(label) and all(map(_is_compact, parts))
        subject = _join_path(inner_path, "" if is_compact else parts[0].label)
        yield from _stretch(_write_parts(parts, subject, is_compact, repeats_first=is_record), start, node.end)
        return
    name = _find_name(node) if is_record else ""
    is_named = False  # the sentence with the name comes before
    for is_group, children in groupby(node.children, lambda child: is_record and _is_short(child[2], child[1])):
        if not is_group:
            for child in children:
                yield _write_value(*child, (name,) if name else inner_path, depth)
            continue
        group = list(children)
        has_name = any(key.casefold().split(" ")[-1] in _NAME_WORDS for _, key, _ in group)
        group_path = (name,) if name and (is_named or not has_name) else inner_path
        is_named = is_named or has_name
        parts = _read_parts(group, group_path)
        yield from _write_parts(parts, _join_path(group_path, parts[0].label), repeats_first=True)


def _write_array(start: int, label: str, node: _Node, path: tuple[str, ...], depth: int) -> _Steps:
    item_path = _extend_path(path, label)
    for is_list, children in groupby(node.children, lambda child: _is_short(child[2], label)):
        if not is_list:
            for _, _, value in children:
                is_record = value.kind == "object" and bool(value.children)
                names = ("", value, item_path) if is_record else (label, value, path)
                yield _write_value(value.start, *names, depth, is_record)
            continue
        items = list(children)
        # the first and the last items stand for the brackets
        first = start if items[0] is node.children[0] else items[0][0]
        end = node.end if items[-1] is node.children[-1] else items[-1][2].end
        parts = [_Part(item_start, value.end, "", _show(value, label, path)) for item_start, _, value in items]
        is_compact = not any(_LIST_SIGN.search(part.shown) for part in parts)
        yield from _stretch(_write_parts(parts, _name_value(path, label), is_compact), first, end)


def _write_text(start: int, label: str, node: _Node, path: tuple[str, ...], depth: int) -> _Steps:
    """Write running text sentence by sentence; the first of a short one behind its key."""
    assert node.source is not None
    units = [
        Unit(node.source.locate(unit.start), node.source.locate(unit.end), _fold_clean(unit.text))
        for unit in verbalise_sentences(node.source.text, depth + 1)
    ]
    units = [unit for unit in units if unit.text]
    subject = _name_value(path, label)
    if units and subject and len(node.source.text) <= JSON_UNIT_CHARACTERS and not _is_text_key(label):
        units[0] = Unit(start, units[0].end, _capitalise(f"{subject}: {units[0].text}"))
    yield from units


def _name_value(path: tuple[str, ...], label: str) -> str:
    return ", ".join(filter(None, (_join_path(path, label), label)))


def _read_parts(children: Sequence[tuple[int, str, _Node]], path: tuple[str, ...]) -> list[_Part]:
    return [_Part(start, value.end, key, _show(value, key, path)) for start, key, value in children]


def _show(node: _Node, label: str, path: tuple[str, ...]) -> str:
    """Return a short value in words."""
    if node.source is None:
        return node.shown if node.kind == "scalar" else "none"  # an empty object or array
    shown = _fold_clean(node.source.text)
    if shown[:1].isdigit():
        times = _TIMES.fullmatch(shown)
        if times is not None and any(not _TIME_WORDS.isdisjoint(name.casefold().split()) for name in (label, *path)):
            opens, closes = times.group(1, 2), times.group(3, 4)
            return "-".join(f"{hour}:{minute:0>2}" for hour, minute in (opens, closes) if hour is not None)
    return shown or "unknown"


def _is_short(node: _Node, label: str) -> bool:
    """Return whether a value fits into a group: a scalar, a short string, an empty container."""
    return not node.children and not (node.kind == "string" and _is_text(node, label))


def _is_compact(part: _Part) -> bool:
    """Return whether a value can stand beside its key without a colon; two numbers would run together."""
    return (
        len(part.shown) <= _COMPACT_CHARACTERS
        and _LIST_SIGN.search(part.shown) is None
        and not (part.label[-1:].isdigit() and part.shown[0].isdigit())
    )


def _is_text_key(label: str) -> bool:
    """Return whether a key says no more than that its value is text."""
    return label.casefold().split(" ")[-1] in _TEXT_WORDS


def _is_text(node: _Node, label: str) -> bool:
    """Return whether a string is running text rather than a name, an address or a list of words."""
    assert node.source is not None
    value = node.source.text
    if len(value) > MAXIMUM_SENTENCE_CHARACTERS - LABEL_CHARACTERS * (MAXIMUM_PATH + 2):
        return True  # to be cut
    is_text_key = _is_text_key(label)
    if not is_text_key and _MAYBE_SENTENCES.search(value) is None:
        return False
    words = [match.group() for match in islice(WORD_PATTERN.finditer(value), _RUNNING_WORDS)]
    is_running = len(words) == _RUNNING_WORDS or sum(word[0].isalpha() and not word[0].isupper() for word in words) > 1
    value = value.rstrip()
    is_closed = _SENTENCE_END.search(value, max(0, len(value) - 4)) is not None
    if is_text_key:
        return is_running or (is_closed and len(words) > 0)
    return is_running and (is_closed or len(split_sentences(value)) > 1)


def _find_name(node: _Node) -> str:
    """Return the name or title of a record, empty when it has none that is short."""
    for _, key, value in node.children:
        if value.kind == "string" and value.source is not None and key.casefold().split(" ")[-1] in _NAME_WORDS:
            name = _fold_clean(value.source.text)
            if 0 < len(name) <= _NAME_CHARACTERS:
                return name
    return ""
