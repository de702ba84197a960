"""Find postal addresses by rules: from a street, a unit, a box or a postcode on, over commas and lines."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from hcat.language.expressions import fold_case, read_expressions
from hcat.language.given_names import given_names, is_ordinary_word, word_set
from hcat.privacy.spans import MONTH_WORDS, Span, Token, skip_dot

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
_STREETS: Final = word_set(_WRITTEN["streets"])
_NAMED_STREETS: Final = word_set("Street Road Avenue Lane Boulevard")
_STREET_ENDINGS: Final = tuple(word_set(_WRITTEN["street_endings"]))
_STREET_OPENERS: Final = word_set(_WRITTEN["street_openers"])
_UNITS: Final = word_set("suite apt apartment ste unit flat")
_OPENERS: Final = _UNITS | _STREET_OPENERS
_ABBREVIATIONS: Final = word_set("st rd ave av dr ln ct sq pl blvd hwy apt ste str ul no fl bldg mt ft cres gdns")
_PARTICLES: Final = word_set(_WRITTEN["particles"])
_STREET_PARTICLES: Final = _PARTICLES - {"and", "of", "the"}
_FIELD_WORDS: Final = word_set(_WRITTEN["field_words"])
_ADDRESS_CUE = re.compile(_WRITTEN["address_cue"])
_MILITARY = re.compile(_WRITTEN["military"], re.IGNORECASE)
_BOX = re.compile(r"\b(?:P\.? ?O\.?|Post(?:al)? Office) ?Box ?[0-9]{1,6}\b", re.IGNORECASE)
_UK_POSTCODE = re.compile(r"\b(?:GIR ?0AA|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][ABD-HJLNP-UW-Z]{2})\b")
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|"
    "OR|PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY"
)
_ZIP = re.compile(rf"\b(?:{_STATES})[ ,]{{1,2}}[0-9]{{5}}(?:-[0-9]{{4}})?\b")
_FIVE_DIGITS = re.compile(r"[0-9]{5}")
#: Expression, rule, and a short expression that must match before the long one is tried.
_ADDRESS_PATTERNS: Final = (
    (_MILITARY, "military", _FIVE_DIGITS),
    (_BOX, "box", re.compile(r"[Bb][Oo][Xx] ?[0-9]")),
    (_UK_POSTCODE, "postcode", re.compile(r"[0-9][A-Z]{2}")),
    (_ZIP, "state_code", _FIVE_DIGITS),
)
_CORNER_CUE = re.compile(r"[Cc][Oo][Rr][Nn][Ee][Rr] ")
_CORNER = re.compile(r"\b(?:the )?corner of (?=[^\W_])", re.IGNORECASE)
MAXIMUM_ADDRESS_LINES: Final = 5
_MAXIMUM_STREET_WORDS = 6
_MAXIMUM_LINE_TOKENS = 14


def find_addresses(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield postal addresses, each from its street, unit, box or postcode to the last line that belongs to it."""
    for expression, rule, necessary in _ADDRESS_PATTERNS:
        for match in expression.finditer(text) if necessary.search(text) else ():
            index = _token_at(tokens, match.end())
            end = match.end() if rule == "military" else _extend_right(tokens, index, match.end(), text)
            yield Span(match.start(), end, "address", rule)
    end = 0
    lower = fold_case(text)
    for index, token in enumerate(tokens):
        may_begin = token.kind == "number" or token.text[0].isupper() or token.lower in _OPENERS
        core = _address_core(lower, tokens, index) if may_begin and token.start >= end else None
        if core is not None:
            past, rule = core
            end = _extend_right(tokens, past, tokens[past - 1].end, text)
            yield Span(token.start, end, "address", rule)
    for index, token in enumerate(tokens):
        if token.text in _NAMED_STREETS and index and not token.opens_line:
            name = tokens[index - 1]
            if name.kind == "word" and name.text[0].isupper() and not is_ordinary_word(name.lower):
                yield Span(name.start, token.end, "address", "street_name")
    for match in _CORNER.finditer(text) if _CORNER_CUE.search(text) else ():
        index = _token_at(tokens, match.end())
        past = index
        while past < min(len(tokens), index + 14) and _is_address_token(tokens[past]):
            if past > index and tokens[past].opens_line:
                break
            past += 1
        while past > index and tokens[past - 1].lower in _PARTICLES | {","}:
            past -= 1
        if past - index >= 3:
            end = _extend_right(tokens, past, tokens[past - 1].end, text)
            yield Span(match.start(), end, "address", "corner")


def _address_core(lower: str, tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    """Return the token after the last and the rule of a street line that begins at ``index``, or None."""
    token = tokens[index]
    if token.kind == "number" and len(token.text) <= 6:
        return _core_from_number(lower, tokens, index)
    if token.kind != "word":
        return None
    if token.lower in _UNITS:
        past = skip_dot(tokens, index + 1)
        if past < len(tokens) and _is_unit_number(tokens[past]) and not tokens[past].opens_line:
            follows = past + 1 < len(tokens) and _is_address_token(tokens[past + 1])
            if token.lower in ("suite", "apt", "apartment") or follows:
                return past + 1, "unit"
        return None
    if token.text[0].isupper() or token.lower in _STREET_OPENERS:
        if index and tokens[index - 1].kind == "word" and tokens[index - 1].text[0].isupper() and not token.opens_line:
            return None
        return _core_from_word(tokens, index)
    return None


def _core_from_number(lower: str, tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    number = tokens[index]
    before = tokens[index - 1] if index else None
    if before is not None and not number.opens_line and before.text in "$\u20ac\u00a3\u00a5#/%":
        return None
    if before is not None and before.text in (".", ",", "-", ":") and before.end == number.start and index > 1:
        return None
    has_cue = _ADDRESS_CUE.search(lower, max(0, number.start - 60), number.start) is not None
    words = numbers = 0
    has_unknown = has_street = False
    past = index + 1
    while past < len(tokens) and past - index <= _MAXIMUM_STREET_WORDS + 3:
        token = tokens[past]
        if token.opens_line:
            break
        if token.kind == "number":
            if token.start == tokens[past - 1].end and tokens[past - 1].kind == "mark":
                break
            numbers += 1
        elif token.kind == "word":
            if past == index + 1 and token.start == number.end:
                if len(token.text) > 1 and token.lower not in ("st", "nd", "rd", "th"):
                    return None  # 24hours, 5kg
            elif token.lower in MONTH_WORDS:
                return None
            elif _is_unit_word(tokens, past):
                return (past + 2, "unit") if words else None
            elif _is_street_word(token) and words + numbers >= 1:
                has_street = True
                words += 1
            elif (token.text[0].isupper() and not token.text.isupper()) or (token.text.isupper() and has_cue):
                words += 1
                has_unknown = has_unknown or not is_ordinary_word(token.lower)
                has_street = has_street or _has_street_ending(token.lower)
            elif token.lower in _STREET_OPENERS:
                words += 1
                has_street = True
            elif token.lower in _STREET_PARTICLES or _has_street_ending(token.lower):
                words += 1
            else:
                break
        elif token.text not in (".", "'", "/", "\u2019") or (token.text == "." and _ends_sentence(lower, tokens, past)):
            break
        past += 1
        if has_street and _is_street_word(tokens[past - 1]):
            following = (token for token in tokens[past : past + 1] if not token.opens_line)
            # a number or a capitalised word goes on
            if not any(token.kind == "number" or token.text[0].isupper() for token in following):
                break
    while past - 1 > index and tokens[past - 1].kind == "mark" and tokens[past - 1].text != ".":
        past -= 1
    if not words:
        return None
    if has_street:
        return past, "street"
    ends_in_number = tokens[past - 1].kind == "number"
    if ends_in_number and has_unknown and (has_cue or number.opens_line or len(number.text) >= 3):
        return past, "number_words_number"
    if has_cue and has_unknown:
        return past, "cue"
    return None


def _core_from_word(tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    """Read a street word with the number after it: "Rue de la Paix 12", "Strickstrasse 61", "ul. Miła 53"."""
    past = index
    has_street = False
    while past < len(tokens) and past - index <= _MAXIMUM_STREET_WORDS:
        token = tokens[past]
        if past > index and token.opens_line:
            return None
        if token.kind == "number":
            return (past + 1, "street") if has_street and len(token.text) <= 5 else None
        if token.kind == "word":
            # "c/" is a calle
            is_calle = token.lower == "c" and index + 1 < len(tokens) and tokens[index + 1].text == "/"
            is_opener = past == index and (token.lower in _STREET_OPENERS or is_calle)
            has_street = has_street or is_opener or _has_street_ending(token.lower)
            if not (
                token.text[0].isupper() or is_opener or token.lower in _PARTICLES or _has_street_ending(token.lower)
            ):
                return None
        elif token.text not in (".", "/", "'", "\u2019"):
            return None
        past += 1
    return None


def _extend_right(tokens: Sequence[Token], past: int, end: int, text: str) -> int:
    """Return the end of an address that was read up to ``end``, with further parts of its line and further lines."""
    count_lines = 1
    count_line_tokens = 0
    while past < len(tokens):
        token = tokens[past]
        if token.opens_line:
            if count_lines == MAXIMUM_ADDRESS_LINES or not _is_address_line(tokens, past):
                break
            count_lines += 1
            count_line_tokens = 0
            past = _skip_bullet(tokens, past)
            token = tokens[past]
        if count_line_tokens >= _MAXIMUM_LINE_TOKENS or not _is_address_token(token):
            break
        if token.text == "." and _ends_sentence(text, tokens, past):
            break
        if token.text == "(" and not (past + 2 < len(tokens) and tokens[past + 2].text == ")"):
            break
        if token.kind == "word" and past + 1 < len(tokens) and tokens[past + 1].text == ":":
            break
        count_line_tokens += 1
        if token.kind != "mark" or token.text == ")":
            end = token.end if token.lower not in _PARTICLES else end
        past += 1
    return end


def _is_address_line(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the line that begins at ``index`` is short and holds only capitalised words and numbers."""
    index = _skip_bullet(tokens, index)
    first = next((token for token in tokens[index : index + 2] if token.kind != "mark"), tokens[index])
    if first.lower in _FIELD_WORDS:
        return False
    for offset, token in enumerate(tokens[index : index + _MAXIMUM_LINE_TOKENS + 1]):
        if (token.opens_line and offset) or token.text in ("?", "!"):
            return offset > 0
        if token.text == ":" or offset == _MAXIMUM_LINE_TOKENS:
            return False
        if not _is_address_token(token):
            # a sentence may go on behind the address ("... Austria 26759 after the concert", "Höfn as agreed")
            is_name = first.kind == "word" and not is_ordinary_word(first.lower) and first.lower not in given_names()
            return offset > 0 and (tokens[index + offset - 1].kind == "number" or is_name)
    return True


def _skip_bullet(tokens: Sequence[Token], index: int) -> int:
    """Return the index after the marks that begin a line ("- ", "> ", "??? "), or ``index``."""
    past = index
    while past < min(len(tokens), index + 4) and tokens[past].kind == "mark" and tokens[past].text in "?>*-\u2022|":
        if past > index and tokens[past].opens_line:
            return index
        past += 1
    return past if past < len(tokens) and not (past > index and tokens[past].opens_line) else index


def _is_address_token(token: Token) -> bool:
    if token.kind == "number":
        return True
    if token.kind == "mark":
        return token.text in (",", ".", "-", "/", "'", "\u2019", "(", ")", "#")
    return token.text[0].isupper() or not token.text.islower() or token.lower in _PARTICLES or token.lower in _STREETS


def _is_street_word(token: Token) -> bool:
    return token.lower in _STREETS or _has_street_ending(token.lower)


def _has_street_ending(lower: str) -> bool:
    return len(lower) >= 6 and lower.endswith(_STREET_ENDINGS)


def _is_unit_word(tokens: Sequence[Token], index: int) -> bool:
    past = skip_dot(tokens, index + 1)
    return tokens[index].lower in _UNITS and past < len(tokens) and _is_unit_number(tokens[past])


def _is_unit_number(token: Token) -> bool:
    return token.kind == "number" or (token.kind == "word" and len(token.text) == 1)


def _ends_sentence(text: str, tokens: Sequence[Token], index: int) -> bool:
    """Return whether the full stop at ``index`` ends a sentence instead of an abbreviation."""
    before = tokens[index - 1] if index else None
    if before is None or index + 1 == len(tokens):
        return True
    is_short = before.kind == "word" and (len(before.text) == 1 or before.lower in _ABBREVIATIONS)
    return not is_short and text[tokens[index].end].isspace()


def _token_at(tokens: Sequence[Token], position: int) -> int:
    """Return the index of the first token that starts at ``position`` or later."""
    return bisect_left(tokens, position, key=lambda token: token.start)
