"""Misspellings as people make them: slips of the finger and letters as they sound."""

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

import yaml

from hcat.engine.devices import packaged_folder
from hcat.language.text import STOP_WORDS
from hcat.test_set.perturbation.forms import Edit, apply_edits, describe_edits
from hcat.test_set.variants.drafts import Draft, Parent, Settings
from hcat.test_set.variants.facts import is_protected

MINIMUM_LETTERS: Final = 4
"""Shorter words are left alone: with one letter changed they can no longer be told."""

MAXIMUM_TRIES: Final = 20
"""So many misspellings of one word are tried before it is left alone."""

Misspell = Callable[[str, Random], str | None]

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ROW_OFFSETS = (0.0, 0.25, 0.75)  # of a key from the one above, in widths of a key
_KEY_DISTANCE = 1.0
# lower-case words of plain letters that stand alone: no part of an address, an identifier or a word with a hyphen
_CANDIDATE = re.compile(rf"(?<![\w'\u2019.@/\\&#$-])[a-z]{{{MINIMUM_LETTERS},}}(?![\w'\u2019@/\\&#$-]|\.\w)")
_PLAIN_WORD = re.compile(r"[a-z]{2,}")


_PLACES = {
    letter: (column + offset, row)
    for row, (letters, offset) in enumerate(zip(_ROWS, _ROW_OFFSETS, strict=True))
    for column, letter in enumerate(letters)
}
NEIGHBOURS: Final = {
    letter: "".join(
        other
        for other, (other_column, other_row) in sorted(_PLACES.items())
        if other != letter and abs(other_row - row) <= 1 and abs(other_column - column) <= _KEY_DISTANCE
    )
    for letter, (column, row) in _PLACES.items()
}
"""Letter -> letters of the keys around it on a QWERTY keyboard."""

_SOUNDS: Final = [
    (re.compile(written), heard)
    for written, heard in yaml.safe_load(Path(__file__).with_name("sounds.yml").read_text(encoding="utf-8")).items()
]


@functools.lru_cache(maxsize=1)
def known_words() -> frozenset[str]:
    """Return some 20,000 words of common English: those that the packaged encoder knows whole."""
    text = (packaged_folder() / "vocab.txt").read_text(encoding="utf-8")
    return STOP_WORDS | frozenset(word for word in text.split("\n") if _PLAIN_WORD.fullmatch(word))


def slip_on_keyboard(word: str, random: Random) -> str | None:
    """Return the word with one letter replaced by a neighbour on the keyboard, or with a neighbour or itself added."""
    position = random.randrange(1, len(word))
    letter = word[position]
    added = random.choice(NEIGHBOURS[letter])
    kept = random.choice(("", letter))  # as often replaced as added to
    if kept and random.random() < 0.5:  # an added letter is as often a double one
        added = letter
    return word[:position] + kept + added + word[position + 1 :]


def transpose_letters(word: str, random: Random) -> str | None:
    """Return the word with two neighbouring letters swapped; the first letter stays."""
    position = random.randrange(1, len(word) - 1)
    return word[:position] + word[position + 1] + word[position] + word[position + 2 :]


def omit_letter(word: str, random: Random) -> str | None:
    """Return the word without one letter that is not the first."""
    position = random.randrange(1, len(word))
    return word[:position] + word[position + 1 :]


def spell_as_heard(word: str, random: Random) -> str | None:
    """Return the word with one sound written in another usual way, or None where it has none."""
    places = [(match, replacement) for pattern, replacement in _SOUNDS for match in pattern.finditer(word)]
    if not places:
        return None
    match, replacement = random.choice(places)
    return word[: match.start()] + match.expand(replacement) + word[match.end() :]


MISSPELLINGS: Final[dict[str, Misspell]] = {
    "keyboard": slip_on_keyboard,
    "transposition": transpose_letters,
    "omission": omit_letter,
    "phonetic": spell_as_heard,
}
"""Kind of misspelling -> the function that makes one of a word of lower-case ASCII letters."""


def misspell(kind: str, parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query with at least one word misspelt, or nothing where no word may be."""
    text = parent.text
    candidates = [match for match in _CANDIDATE.finditer(text) if not is_protected(text, *match.span())]
    taken = known_words() | {match.group() for match in _CANDIDATE.finditer(text)}
    order = random.sample(candidates, len(candidates))
    edits: list[Edit] = []
    for match in order:
        if edits and random.random() >= settings.rate:
            continue
        tries = (MISSPELLINGS[kind](match.group(), random) for _ in itertools.repeat(None, MAXIMUM_TRIES))
        found = next((word for word in tries if word and word != match.group() and word not in taken), None)
        edits += [Edit(*match.span(), found)] if found else []
    if edits:
        edits.sort()
        yield Draft(apply_edits(text, edits), "; ".join(describe_edits(text, edits)))
