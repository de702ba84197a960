"""Say where a word, a number or a name stands in a text.

Rules that look for numbers and names run one after another. Each claims the characters that it takes, so that no two
rules take the same ones.
"""

import re
from typing import Final, NamedTuple

DIGIT: Final = re.compile(r"[\d\u00bc-\u00be]")
"""A digit or a fraction in one character; without one a text has neither a number in digits nor an identifier."""


class Mention(NamedTuple):
    """One word, number or entity where it stands in a text.

    `keys` are the normal forms any of which supports it; `parts` are, for a name, the stems that support it together.
    """

    start: int
    end: int
    surface: str
    keys: tuple[str, ...]
    parts: tuple[str, ...] = ()


def claim(start: int, end: int, claimed: bytearray) -> bool:
    """Claim a span, unless a part of it is claimed already."""
    if claimed.find(1, start, end) >= 0:
        return False
    claimed[start:end] = b"\1" * (end - start)
    return True
