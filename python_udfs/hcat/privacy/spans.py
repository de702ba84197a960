"""Spans of personal data, the tokens that rules read, and the plain form of characters.

All repeats in expressions are bounded, and tokens are read once, so that work grows in proportion to a text.
"""

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
"""Types of personal data. Where two spans overlap, the type that stands first here wins.

Values with a check digit or a fixed form come first, then values that a word announces, then names. `transaction` is an
amount that the text ascribes to somebody's account."""


class Span(NamedTuple):
    """One piece of personal data in a text, found by a rule; `end` is exclusive."""

    start: int
    end: int
    entity_type: str
    rule: str


class Token(NamedTuple):
    """A word, a run of digits or one other character; `kind` is ``word``, ``number`` or ``mark``."""

    start: int
    end: int
    text: str
    lower: str
    kind: str
    opens_line: bool


_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|[0-9]+|\S")


class _Fold(dict[int, str]):
    """Table that translates each digit, separator or wide letter to one plain character."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
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
    """Return a text of the same length in which digits, spaces, dashes and wide letters have their plain form."""
    return text if text.isascii() else text.translate(_FOLD)


@lru_cache(maxsize=32)
def read_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text in order."""
    tokens = []
    end_before = 0
    has_lines = "\n" in text
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        word = match.group()
        kind = "word" if word[0].isalpha() else "number" if word[0] in "0123456789" else "mark"
        opens_line = end_before == 0 or (has_lines and text.find("\n", end_before, start) >= 0)
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
    """Return the index of the next token after an optional ``.`` or ``#``."""
    return index + 1 if index < len(tokens) and tokens[index].text in (".", "#") else index
