"""Clean text from logs, split it into sentences and count its content words.

Every text that enters the evaluation passes through this module once. Sentences are spans of the text itself, so that
evidence can be shown in place.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import blingfire
import yaml

MAXIMUM_SENTENCE_CHARACTERS: Final = 2000
"""Characters of the longest unit; a longer run without punctuation is cut at whitespace."""

JSON_UNIT_CHARACTERS: Final = 200
"""Characters of the longest unit that several neighbouring members of a JSON text share; one member alone says too
little."""

WRAPPED_LINE_CHARACTERS: Final = 50
"""Characters from which on a line without closing punctuation continues in the next line if that starts in lower
case."""

WORD_LISTS: Final = yaml.safe_load(Path(__file__).with_name("words.yml").read_text(encoding="utf-8"))
"""Lists of words by name."""
STOP_WORDS: Final = frozenset(WORD_LISTS["stop_words"].split())
"""English function words, case-folded. Negations (not, no, never, n't, without) carry meaning and are no stop words."""

CJK_CHARACTERS: Final = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and accents that `\w` does not match. Without them a Hindi word, or a word with decomposed accents, would
# be cut. The danda is a full stop and not among them.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u102b-\u103e\u17b4-\u17d3"
)
_LETTERS = rf"(?:[^\W_{CJK_CHARACTERS}]|[{_MARKS}])+"
_ASCII_WORD = re.compile(r"[a-z]\.(?:[a-z]\.)+|[0-9]+(?:[.,][0-9]+)+|[a-z0-9]+(?:'[a-z0-9]+)*")
WORD_PATTERN: Final = re.compile(
    rf"[^\W\d_]\.(?:[^\W\d_]\.)+|\d+(?:[.,]\d+)+|[{CJK_CHARACTERS}]|{_LETTERS}(?:['\u2019]{_LETTERS})*"
)
"""A word, letters with dots (U.S.), a number with its separators, or one CJK character, in text of any case."""
# The same pattern for ASCII text, where it takes a fraction of the time.
_ASCII_WORD_OF_ANY_CASE = re.compile(_ASCII_WORD.pattern.replace("a-z", "A-Za-z"))


_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")
LINE = re.compile("[^\n\r\x0b\x0c\x85\u2028\u2029]+")
_BULLETS = "\u2022\u2023\u25e6\u25aa\u25ab\u25cf\u25cb\u25a0\u25a1\u25c6\u25ba\u25b6\u27a2\u27a4\u2043\u2219"
_MARKER = re.compile(
    rf"(?:(?:(?:[-*+\u2013\u2014]|\#{{1,6}}|\(?\d{{1,2}}[.)]|\(?(?:[a-zA-Z]|[ivx]{{2,4}})\))\s+|[{_BULLETS}]\s*)(?=\S)){{1,2}}"
)
_BULLET_MARKER = re.compile(rf"(?:[-*+\u2013\u2014]\s+|[{_BULLETS}]\s*)(?=\S)")
_INLINE_BULLET = re.compile(rf"(?<=\s)[{_BULLETS}](?=\s+\S)")
_DIGITS = tuple("0123456789")
RULE_LINE = re.compile(r"[-*_=+|:~#`\s]{3,}")
FENCE = re.compile(r"(?:```+|~~~+)[\w+#.-]*\s*")
_LETTER = re.compile(r"[^\W\d_]")
_CLOSED_LINE = re.compile(r"[.!?:;\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964][\"'\u201d\u2019)\]]*\Z")
_JSON_MEMBER = re.compile(r'"\s*:')
_JSON_BREAK = re.compile(r',\s*(?="(?:[^"\\]|\\.){1,100}"\s*:)|\},\s*(?=\{)')
# Sentence ends that need no space behind them: CJK, Devanagari danda, Arabic and Urdu, Armenian, Ethiopic, Khmer,
# Myanmar.
_WIDE_END = re.compile(
    "[\u3002\uff01\uff1f\uff61\u0964\u0965\u061f\u06d4\u0589\u1362\u1367\u17d4\u17d5\u104b]+[\"'\u201d\u2019)\\]\u300b\uff09\u3011]*"
    "([\u300d\u300f]*)"
)
# In scripts without capitals the library does not see where the next sentence starts. A one-letter word before the stop
# is an abbreviation.
_CASELESS = "\u0590-\u08ff\u0900-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_CASELESS_END = re.compile(
    rf"(?<=[{_CASELESS}][{_CASELESS}])[.!?]+[\"'\u201d\u2019)\]]*\s+(?=[\"'\u201c(\[]*[{_CASELESS}])"
)
# The library does not end a sentence before a title or a number and behind some units, and ends one after each initial
# and behind the day of a German date.
_MISSED_END = re.compile(
    r"(?<=[a-z0-9%)][a-z0-9%)][a-z0-9%)])[.!?][\"')\]]*\s+(?=(?:Mr|Mrs|Ms|Dr|Prof|Sr|Sra)\.\s+[A-Z])"
    r"|(?<=\d)\s?(?:[mc]?[lm]|mg|oz|ft|hrs?)\.\s+(?=[A-Z][a-z])"
    r"|(?:(?<=[a-z][a-z])[!?]|\b(?!(?i:sect|sept|para|chap|circa|approx|page))[A-Za-z][a-z]{3,}\.)\s+"
    r"(?=[$]?\d[\d.,:]*(?:%|\s[a-z]|\Z))"
)
# Without this there is no missed end; it is found faster.
_MISSED_CUE = re.compile(r"[.!?][\"')\]]*\s+(?:Mr|Ms|Dr|Prof|Sr|\$?\d)|\d\s?(?:[mc]?[lm]|mg|oz|ft|hrs?)\.")
_INITIAL_END = re.compile(r"(?<![^\s(\"'])[A-Z]\.\Z")
_GERMAN_DATE = re.compile(rf"(?<=\d\.)\s+(?:{WORD_LISTS['german_months']})\b", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"[A-Za-z]+")
_ENUMERATOR = re.compile(r"\(?\d{1,2}[.)]")
_POSSIBLE_END = re.compile(r"[.!?]\S{0,4}\s+\S")


class _AsciiShadow(dict[int, str]):
    """Map each character to one ASCII character that has the same role in a sentence.

    The sentence splitter works on UTF-8 bytes and knows the capitals of few scripts. In the mapped text (the shadow) a
    byte offset is a character offset, and an accented capital opens a sentence like a plain one.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if code < 0x80:
            shadow = " " if category == "Cc" else character
        elif category == "Lu" or category == "Lt":
            base = unicodedata.normalize("NFD", character)[0]
            shadow = base if base.isascii() else "A"
        elif category[0] in "LM":
            base = unicodedata.normalize("NFD", character)[0]
            shadow = base if base.isascii() else "a"
        elif category == "Nd":
            shadow = "0"
        elif category in ("Pi", "Pf") or character in "\u201a\u201e\u00a1\u00bf":
            shadow = '"'
        elif category == "Pd":
            shadow = "-"
        elif category == "Sc":
            shadow = "$"
        elif character == "\u2026":
            shadow = "."
        elif category[0] in "PNS" and category != "So":
            shadow = ","
        else:  # spaces, emoji, joiners, bidirectional marks, surrogates: they neither end nor open a sentence
            shadow = " "
        self[code] = shadow
        return shadow


_SHADOW = _AsciiShadow()


def clean_text(text: str) -> str:
    """Return the text in Unicode form NFC, with a space in place of each unprintable character."""
    # most texts are of this kind, and telling so takes a fraction of the time
    if text.isascii() and text.isprintable():
        return text
    cleaned = _UNWANTED.sub(" ", text)
    return cleaned if cleaned.isascii() else unicodedata.normalize("NFC", cleaned)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the character spans of the sentences of a text, in order and without overlap."""
    spans: list[tuple[int, int]] = []
    if len(text) == 0 or text.isspace():
        return spans
    shadow = text.translate(_SHADOW) if not text.isascii() or _UNWANTED.search(text) else text
    start, end = trim_span(text, 0, len(text))
    if looks_like_json(text, start, end):
        _append_json(text, shadow, start, end, spans)
    else:
        _append_lines(text, shadow, spans)
    if not spans:  # nothing but markers: one unit all the same, so that every text that is not blank has one
        _append_cut(text, start, end, spans)
    return spans


def content_words(text: str) -> list[str]:
    """Return the case-folded words of a text without English stop words, in order."""
    if text.isascii():
        words = _ASCII_WORD.findall(text.lower())
    else:
        words = WORD_PATTERN.findall(text.casefold().replace("\u2019", "'"))
    return [
        folded for word in words if (folded := word.replace(".", "") if word[-1] == "." else word) not in STOP_WORDS
    ]


def find_words(text: str) -> Iterator[re.Match[str]]:
    """Return the matches of :data:`WORD_PATTERN` in a text."""
    return (_ASCII_WORD_OF_ANY_CASE if text.isascii() else WORD_PATTERN).finditer(text)


def count_content_words(text: str) -> int:
    """Return the number of content words, at least 0; repeated words count each time."""
    return len(content_words(text))


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without whitespace at its ends; start == end if it is blank."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _append_cut(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    """Append the span, trimmed and cut to the maximum length, unless it is blank."""
    start, end = trim_span(text, start, end)
    while end - start > MAXIMUM_SENTENCE_CHARACTERS:
        limit = start + MAXIMUM_SENTENCE_CHARACTERS
        cut = limit
        while cut > start and not text[cut].isspace():
            cut -= 1
        if cut == start:
            cut = limit
        spans.append(trim_span(text, start, cut))
        start, end = trim_span(text, cut, end)
    if start < end:
        spans.append((start, end))


def _append_lines(text: str, shadow: str, spans: list[tuple[int, int]]) -> None:
    """Append the sentences of a text line by line, joining wrapped lines and cells written one per line."""
    paragraph: tuple[int, int] | None = None  # prose not yet split: it may go on in the next line
    is_numbered = False  # the paragraph follows a list number, so further numbers inside it are markers too
    line_start = 0  # of the last line of the paragraph
    may_take_cell = False
    in_code = False

    def close_paragraph() -> None:
        nonlocal paragraph
        if paragraph is not None:
            _append_prose(text, shadow, paragraph[0], paragraph[1], spans, is_numbered)
            paragraph = None

    for line in LINE.finditer(text):
        start, end = trim_span(text, line.start(), line.end())
        if start == end:
            continue
        if text[start] in "`~" and FENCE.fullmatch(text, start, end):
            close_paragraph()
            in_code = not in_code
            may_take_cell = False
            continue
        if not in_code and not text[start].isalnum() and RULE_LINE.fullmatch(text, start, end):
            close_paragraph()
            may_take_cell = False
            continue
        is_row = not in_code and end - start <= MAXIMUM_SENTENCE_CHARACTERS and is_table_row(text, start, end)
        if is_row or (not in_code and looks_like_json(text, start, end)):
            close_paragraph()
            if is_row:
                spans.append((start, end))
            else:
                _append_json(text, shadow, start, end, spans)
            may_take_cell = False
            continue
        has_letter = _LETTER.search(text, start, end) is not None
        marker = None if in_code else (_MARKER if has_letter else _BULLET_MARKER).match(text, start, end)
        if marker is not None:
            start = marker.end()
        elif not has_letter and may_take_cell:
            if paragraph is not None:
                paragraph = (paragraph[0], end)
                continue
            if spans and end - spans[-1][0] <= MAXIMUM_SENTENCE_CHARACTERS:
                spans[-1] = (spans[-1][0], end)
                continue
        elif paragraph is not None and text[start].islower() and _is_wrapped(text, line_start, paragraph[1]):
            paragraph = (paragraph[0], end)
            line_start = start
            continue
        close_paragraph()
        may_take_cell = True
        if in_code:
            _append_cut(text, start, end, spans)
            continue
        for bullet in _INLINE_BULLET.finditer(text, start, end) if not text.isascii() else ():
            _append_prose(text, shadow, start, bullet.start(), spans)
            start = bullet.end()
        paragraph = trim_span(text, start, end)
        line_start = start
        is_numbered = marker is not None and marker.group().strip("( ").startswith(_DIGITS)
    close_paragraph()


def is_table_row(text: str, start: int, end: int) -> bool:
    """Return whether a line is a table row: cells between at least two pipes, or between tabs."""
    return text.find("\t", start, end) >= 0 or text.count("|", start, end) >= 2


def _is_wrapped(text: str, start: int, end: int) -> bool:
    """Return whether the line is long and lacks closing punctuation, so that a line in lower case continues it."""
    return end - start >= WRAPPED_LINE_CHARACTERS and _CLOSED_LINE.search(text, max(start, end - 4), end) is None


def _append_prose(
    text: str, shadow: str, start: int, end: int, spans: list[tuple[int, int]], is_numbered: bool = False
) -> None:
    """Append the sentences of a stretch of prose."""
    breaks = []
    if not text.isascii():
        for stop in _WIDE_END.finditer(text, start, end):
            quoted_inside = stop.group(1) and stop.end() < end and not text[stop.end()].isspace()
            if not quoted_inside:
                breaks.append(stop.end())
        breaks.extend(stop.end() for stop in _CASELESS_END.finditer(text, start, end))
    if _POSSIBLE_END.search(shadow, start, end):
        breaks.extend(_find_sentence_starts(shadow, start, end)[1:])
        if _MISSED_CUE.search(shadow, max(0, start - 1), end):
            breaks.extend(stop.end() for stop in _MISSED_END.finditer(shadow, start, end))
    if not breaks:
        _append_cut(text, start, end, spans)
        return
    pieces: list[tuple[int, int]] = []
    for stop_at in (*sorted(breaks), end):
        piece_start, piece_end = trim_span(text, start, stop_at)
        if stop_at < end and _INITIAL_END.search(shadow, max(piece_start, piece_end - 3), piece_end):
            next_word = _PLAIN_WORD.search(shadow, stop_at, end)
            if next_word is not None and next_word.group().lower() not in STOP_WORDS:
                continue  # "J. P. Morgan" continues the piece, "plan A. It is" ends it
        if text[piece_end - 2 : piece_end - 1].isdigit() and _GERMAN_DATE.match(text, piece_end):
            continue
        start = stop_at
        if piece_start >= piece_end:
            continue
        if is_numbered and stop_at < end and _ENUMERATOR.fullmatch(text, piece_start, piece_end):
            continue
        # A lone bracket, quotation mark or dot is the end of the sentence before it.
        if pieces and not any(map(str.isalnum, text[piece_start:piece_end])):
            pieces[-1] = (pieces[-1][0], piece_end)
        else:
            pieces.append((piece_start, piece_end))
    for piece_start, piece_end in pieces:
        _append_cut(text, piece_start, piece_end, spans)


def _find_sentence_starts(shadow: str, start: int, end: int) -> list[int]:
    """Return where the library starts a sentence."""
    prose = shadow[start:end].replace("\n", " ").replace("\r", " ")
    starts = []
    position = 0
    for sentence in blingfire.text_to_sentences(prose).split("\n"):
        position = prose.find(sentence, position)
        starts.append(start + position)
        position += len(sentence)
    return starts


def looks_like_json(text: str, start: int, end: int) -> bool:
    """Return whether a stretch looks like a JSON object or array: brackets at both ends and at least one key."""
    return (
        end - start > 2
        and text[start] in "{["
        and text[end - 1] in "}]"
        and _JSON_MEMBER.search(text, start, end) is not None
    )


def _append_json(text: str, shadow: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    """Append the units of a JSON text: neighbouring members share a unit, long members are split as prose."""
    unit_start = unit_end = start
    for stop_at in (*(stop.end() for stop in _JSON_BREAK.finditer(text, start, end)), end):
        if stop_at - unit_start > JSON_UNIT_CHARACTERS and unit_end > unit_start:
            _append_prose(text, shadow, unit_start, unit_end, spans)
            unit_start = unit_end
        unit_end = stop_at
    _append_prose(text, shadow, unit_start, unit_end, spans)
