"""Faults by antonyms: one word or phrase becomes its opposite."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from hcat.language.expressions import read_expressions
from hcat.test_set.perturbation.forms import (
    CHARACTERS_BEFORE,
    OBJECT,
    Edit,
    in_case_of,
    is_opening,
    third_person,
    with_article,
)

_LISTS = read_expressions(Path(__file__).with_name("antonyms.yml"))


def _inflect(verb: str) -> tuple[str, str, str, str]:
    """Return the base form, the third person, the past and the present participle of a regular verb."""
    stem = verb.removesuffix("e")
    return verb, third_person(verb), f"{stem}ed", f"{verb if verb.endswith('ee') else stem}ing"


def _read_pairs(listed: str) -> list[list[str]]:
    return [[side.replace("_", " ") for side in pair.split()] for pair in listed.split(",")]


def _collect_antonyms() -> dict[str, str]:
    pairs = _read_pairs(_LISTS["plain"])
    for left, right in _read_pairs(_LISTS["regular_verbs"]):
        pairs += [[*pair] for pair in zip(_inflect(left), _inflect(right), strict=True)]
    return {word: opposite for left, right in pairs for word, opposite in ((left, right), (right, left))}


ANTONYMS: Final[Mapping[str, str]] = _collect_antonyms()
"""Opposite of each word or phrase, in lower case and in the same form. Every pair stands in both directions."""


_ANTONYM = re.compile(
    r"(?<![\w'\u2019-])(?:"
    + "|".join(sorted((re.escape(word) for word in ANTONYMS), key=len, reverse=True))
    + r")(?![\w'\u2019-])",
    re.IGNORECASE,
)
_UNSUITABLE = {
    word: (
        re.compile(f"(?:{texts['before']})\\Z", re.IGNORECASE) if "before" in texts else None,
        re.compile(texts["behind"]) if "behind" in texts else None,
    )
    for word, texts in _LISTS["unsuitable"].items()
}
_BEHIND_STATE = re.compile(r"\b(?:is|are|stays?|remains?|keeps?)\s+(?:(?:now|also|only|still|always)\s+)?\Z", re.I)
_BEHIND_LETTER = re.compile(r"[^\W\d_]\s+\Z")
_BEHIND_PASSIVE = re.compile(r"\b(?:was|were|be|been|being|has|have|had)\s+\Z", re.IGNORECASE)
_BEFORE_TIME = re.compile(r"\s+(?:on|from|until|at|day|all|every|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b", re.I)


def find_antonyms(sentence: str) -> Iterator[Edit]:
    """Yield every replacement of a word by its opposite."""
    for match in _ANTONYM.finditer(sentence):
        start, end = match.span()
        before, behind = _UNSUITABLE.get(match.group().lower(), (None, None))
        if (before is not None and before.search(sentence, max(0, start - CHARACTERS_BEFORE), start)) or (
            behind and behind.match(sentence, end)
        ):
            continue
        # a capital inside the sentence, or one more behind the first word, makes a name
        if match.group()[0].isupper() and (
            not is_opening(sentence, start)
            or (sentence[end : end + 1] == " " and sentence[end + 1 : end + 2].isupper())
        ):
            continue
        opposite = _opposite(sentence, match)
        if opposite is None:
            continue
        after = in_case_of(opposite, match.group())
        start, after = with_article(sentence, start, after)
        yield Edit(start, end, after)


def _opposite(sentence: str, match: re.Match[str]) -> str | None:
    """Return the opposite of the word where it stands, or None where it cannot be told."""
    word = match.group().lower()
    earliest = max(0, match.start() - CHARACTERS_BEFORE)
    if word == "open":  # a state or an action
        if _BEHIND_STATE.search(sentence, earliest, match.start()):
            return "closed"
        if OBJECT.match(sentence, match.end()):
            return "close"
        if _BEFORE_TIME.match(sentence, match.end()):  # "branches open on Monday", "the line, open on Monday"
            return "close" if _BEHIND_LETTER.search(sentence, earliest, match.start()) else "closed"
        return None
    if word == "closed":
        return "opened" if _BEHIND_PASSIVE.search(sentence, earliest, match.start()) else "open"
    return ANTONYMS.get(word)  # a long s matches too, in any case
