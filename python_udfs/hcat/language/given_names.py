"""Lists of given names, surnames and ordinary words of English, and a function that replaces names in a text.

Names are those of the US census of 1990 (package ``names``). Ordinary words are those of the vocabulary of the packaged
encoder.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import yaml

from hcat.engine.devices import NAMES, check_package, packaged_folder


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set, split at whitespace."""
    return frozenset(words.split())


_LISTS = yaml.safe_load(Path(__file__).with_name("names.yml").read_text(encoding="utf-8"))
HOMOGRAPHS: Final = word_set(_LISTS["homographs"])
ORGANISATION_WORDS: Final = word_set(_LISTS["organisations"])


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Return the given names of the US census of 1990 in lower case, without :data:`HOMOGRAPHS`."""
    return all_given_names() - HOMOGRAPHS


@lru_cache(maxsize=1)
def all_given_names() -> frozenset[str]:
    """Return all given names of the US census of 1990 in lower case, also ordinary words ("grace", "mark")."""
    return frozenset(_read_census("dist.male.first", "dist.female.first", limit=None))


@lru_cache(maxsize=1)
def surnames() -> frozenset[str]:
    """Return the 5,000 most frequent surnames of the US census of 1990, lower case."""
    return frozenset(_read_census("dist.all.last", limit=5_000))


def _read_census(*files: str, limit: int | None) -> list[str]:
    folder = check_package(NAMES)
    found: list[str] = []
    for file in files:
        lines = (folder / file).read_text(encoding="ascii").splitlines()
        found += [line.split()[0].lower() for line in lines[:limit]]
    return found


@lru_cache(maxsize=1)
def _ordinary_words() -> frozenset[str]:
    """Return the whole words in the vocabulary of the packaged encoder: frequent words of English in lower case."""
    import json

    vocabulary = json.loads((packaged_folder() / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(word for word in vocabulary if len(word) > 1 and word.isalpha() and word.isascii())


@lru_cache(maxsize=1 << 16)
def is_ordinary_word(lower: str) -> bool:
    """Return whether a word in lower case is a frequent word of English and not a given name."""
    if lower in given_names():
        return False
    ordinary = _ordinary_words()
    stem = _PREFIX.sub("", lower)
    is_derived = len(stem) >= 5 and stem != lower and stem in ordinary
    return lower in ordinary or lower.removesuffix("s") in ordinary or is_derived


_PREFIX = re.compile(r"\A(?:un|re|non|pre|dis|mis|by|co|over|under|sub)-?")
_INNER_CAPITAL = re.compile(r"\A(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O['\u2019]|D['\u2019]|\w+-)[^\W\d_]")


def is_spelled_like_name(words: Sequence[str]) -> bool:
    """Return whether words are capitalised as names are: no acronym beside a word, no inner capital ("CapEx")."""
    long = [word.removesuffix("'s").removesuffix("\u2019s") for word in words if len(word) > 1]
    if any(word.isupper() for word in long):
        return all(word.isupper() for word in long) and any(len(word) > 5 for word in long)
    return all(word[1:].islower() or _INNER_CAPITAL.match(word) or not word[1:].isalpha() for word in long)


_CAPITALISED = r"[A-Z][^\W\d_]*(?:['\u2019-][A-Z]?[^\W\d_]+){0,4}"
#: Capitalised words in a row, with what is written inside them ("Mei-Ling", "O'Brien").
_CAPITALISED_RUN = re.compile(rf"\b{_CAPITALISED}(?: {_CAPITALISED}){{0,12}}")
_POSSESSIVE = re.compile(r"['\u2019]s\Z")


def replace_names(text: str, stand_in: str) -> str:
    """Return a text with names of people replaced by one stand-in, so that names cannot move its score."""

    def replace(match: re.Match[str]) -> str:
        words = match.group().split(" ")
        bare = [_POSSESSIVE.sub("", word).lower() for word in words]
        if any(word in ORGANISATION_WORDS for word in bare):
            return match.group()
        is_name = [
            is_spelled_like_name([word])
            and len(lower) > 1
            and not word.isupper()
            and (lower in given_names() or not all(is_ordinary_word(part) for part in re.split(r"\W", lower)))
            for word, lower in zip(words, bare, strict=True)
        ]
        if not any(is_name):
            return match.group()
        first, last = is_name.index(True), len(words) - 1 - is_name[::-1].index(True)
        tail = _POSSESSIVE.search(words[last])
        return " ".join([*words[:first], stand_in + (tail.group() if tail else ""), *words[last + 1 :]])

    return _CAPITALISED_RUN.sub(replace, text)
