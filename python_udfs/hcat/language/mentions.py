"""Say where a word, a number or a name stands in a text.

Rules that look for numbers and names run one after another. Each claims the characters that it takes, so that no two
rules take the same ones.
"""

import re
from typing import Final, NamedTuple

DIGIT: Final = re.compile(r"[\d\u00bc-\u00be]")
"""A digit or a fraction in one character; without one a text has neither a number in digits nor an identifier."""


class Mention(NamedTuple):
    """One word, number or name where it stands in a text.

    Attributes
    ----------
    start, end : int
        Span of characters in the text, end excluded.
    surface : str
        The characters of the span as the text writes them.
    keys : tuple of str
        Normal forms. The mention is supported if the evidence has any of them.
    parts : tuple of str
        Stems of the words of a name. The name is also supported if the evidence has all of them.
    """

    start: int
    end: int
    surface: str
    keys: tuple[str, ...]
    parts: tuple[str, ...] = ()


def claim(start: int, end: int, claimed: bytearray) -> bool:
    """Return whether the span was free, and claim it if so."""
    if claimed.find(1, start, end) >= 0:
        return False
    claimed[start:end] = b"\1" * (end - start)
    return True
