"""Say where a word, a number or a name stands in a text.

Rules that look for numbers and names run one after another. Each claims the characters that it takes, so that no two
rules take the same ones.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from hcat.language.bounds import read_bound

DIGIT: Final = re.compile(r"[\d\u00bc-\u00be]")
"""A digit or a fraction in one character; without one a text has neither a number in digits nor an identifier."""


class Mention(NamedTuple):
    """A word, number or name: any of its `keys` supports it, or all its `parts`; `bound` is ≥, ≤ or empty."""

    start: int
    end: int
    surface: str
    keys: tuple[str, ...]
    parts: tuple[str, ...] = ()
    bound: str = ""


def claim(start: int, end: int, claimed: bytearray) -> bool:
    """Return whether the span was free, and claim it if so."""
    if claimed.find(1, start, end) >= 0:
        return False
    claimed[start:end] = b"\1" * (end - start)
    return True


class Scan:
    """A sentence while rules look for its numbers: characters that are taken, the numbers, and what they support."""

    def __init__(self, text: str, lower: str) -> None:
        self.text, self.lower = text, lower
        self.claimed = bytearray(len(text))
        self.mentions: list[Mention] = []
        self.offered: set[str] = set()

    def add(self, start: int, end: int, keys: tuple[str, ...], offered: Iterable[str]) -> None:
        """Add a number with its normal forms and with what it supports, unless another rule took its characters."""
        if claim(start, end, self.claimed):
            self.offer(start, end, keys, offered)

    def offer(self, start: int, end: int, keys: tuple[str, ...], offered: Iterable[str]) -> None:
        """Add a number whose characters are claimed; one with a bound supports each form with this bound too."""
        bound = read_bound(self.lower, start, end, keys[0])
        self.mentions.append(Mention(start, end, self.text[start:end], keys, bound=bound))
        self.offered.update(offered)
        if bound:
            self.offered.update([f"{form} {bound}" for form in offered])
