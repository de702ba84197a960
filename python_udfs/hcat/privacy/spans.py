"""Spans of personal data, the tokens that rules read, and the plain form of characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from hcat.language.given_names import word_set

ENTITY_TYPES: Final = (
    "iban",
    "card",
    "email",
    "ssn",
    "national_insurance",
    "sort_code",
    "account",
    "date_of_birth",
    "reference",
    "phone",
    "transaction",
    "address",
    "person",
    "place",
)
"""Types of personal data, first in this order where two overlap: what proves itself by a check digit or a fixed form
before what a word announces, and names last. `transaction` is an amount that the text says belongs to somebody's
account."""


class Span(NamedTuple):
    """One piece of personal data: characters ``start`` to ``end`` of a text, its type, and the rule that found it."""

    start: int
    end: int
    entity_type: str
    rule: str


class Token(NamedTuple):
    """A word, a run of digits or one other character, with its place and whether a line break stands before it."""

    start: int
    end: int
    text: str
    lower: str
    kind: str  # word, number, mark
    opens_line: bool


_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|[0-9]+|\S")


class _Fold(dict[int, str]):
    """Translation of one character to one character: digits of all scripts, and separators of all kinds."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = character
        if code > 127:
            if character.isdecimal():
                folded = str(unicodedata.digit(character))
            elif unicodedata.category(character) in ("Zs", "Cf"):
                folded = " "
            elif unicodedata.category(character) == "Pd":
                folded = "-"
            else:
                compatible = unicodedata.normalize("NFKC", character)
                folded = compatible if len(compatible) == 1 else character
        self[code] = folded
        return folded


_FOLD: Final = _Fold()


def fold_text(text: str) -> str:
    """Return a text of the same length in which digits, spaces, dashes and wide letters have their plain form.

    A card number in full-width digits or with a zero-width space is the same card number; places stay the same.
    """
    return text if text.isascii() else text.translate(_FOLD)


@lru_cache(maxsize=32)
def read_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text in order; ``text`` should be folded by :func:`fold_text`.

    The last ones are kept: the rules, and what looks for a name again, read the same text.
    """
    tokens = []
    end_before = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        word = text[start:end]
        kind = "word" if word[0].isalpha() else "number" if word[0] in "0123456789" else "mark"
        opens_line = end_before == 0 or text.find("\n", end_before, start) >= 0
        tokens.append(Token(start, end, word, word.lower(), kind, opens_line))
        end_before = end
    return tuple(tokens)


MONTH_WORDS: Final = word_set(
    """
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec
    """
)


def skip_dot(tokens: Sequence[Token], index: int) -> int:
    """Return the index behind a full stop or a number sign at ``index``, or ``index`` itself."""
    return index + 1 if index < len(tokens) and tokens[index].text in (".", "#") else index
