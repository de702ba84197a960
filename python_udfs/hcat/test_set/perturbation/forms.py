"""Edits of sentences, and the forms of English words that they need: article, capitals, third person."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hcat.language.text import WORD_PATTERN

# "an" stands before a spoken vowel: of a word, of a number (eight, eleven, eighteen), of a letter of an acronym.
_VOWEL_SOUND = re.compile(r"8|1[18]\Z|hour|honest|heir|(?!eu|uni(?![mn])|us[aeu]|util|one\Z|once\Z)[aeiou]", re.I)
_LETTERS_WITH_VOWEL_SOUND = "AEFHILMNORSX"
_ARTICLE = re.compile(r"\b(an?)\s+[^\w\s]?\Z", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[^\W_]+")

OBJECT: Final = re.compile(
    r"\s+(?:(?:an?|the|its?|his|her|their|my|our|your|this|these|those|all|every|each|some|more|at|up|two|three|four|"
    r"five|six|seven|eight|nine|ten|eleven|twelve|us|you|them|me|him)\b|[$\u00a3\u20ac\u00a5]?[0-9])",
    re.IGNORECASE,
)
"""The object of a verb, as it begins behind the verb."""

CHARACTERS_BEFORE: Final = 40
"""Characters before a word that a pattern reads."""


class Edit(NamedTuple):
    """A change of one span of the sentence."""

    start: int
    end: int
    after: str


def apply_edit(sentence: str, edit: Edit) -> str:
    """Return the sentence after the edit."""
    return sentence[: edit.start] + edit.after + sentence[edit.end :]


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return the text after edits that are sorted and do not overlap."""
    for edit in reversed(edits):
        text = apply_edit(text, edit)
    return text


def describe_edits(text: str, edits: Iterable[Edit]) -> list[str]:
    """Return what each edit makes of what."""
    return [f"{text[edit.start : edit.end]} > {edit.after}" for edit in edits]


def article_for(text: str) -> str:
    """Return the indefinite article of the text, guessed from its first letters or digits."""
    match = _FIRST_WORD.search(text)
    word = match.group() if match else ""
    if len(word) > 1 and word.isalpha() and word.isupper():
        return "an" if word[0] in _LETTERS_WITH_VOWEL_SOUND else "a"
    return "an" if _VOWEL_SOUND.match(word) else "a"


def with_article(sentence: str, start: int, after: str) -> tuple[int, str]:
    """Return where a new text has to begin, and the text, with the indefinite article before it in its form."""
    article = _ARTICLE.search(sentence, max(0, start - 5), start)
    if article is None or article[1].lower() == article_for(after):
        return start, after
    return article.start(1), in_case_of(article_for(after), article[1]) + sentence[article.end(1) : start] + after


def fits_article(sentence: str, start: int, after: str) -> bool:
    """Return whether the article before the position, if there is one, also fits the new text."""
    return with_article(sentence, start, after)[0] == start


def in_case_of(word: str, original: str) -> str:
    """Return the word with the capitals of the original: all, the first, or none added."""
    if len(original) > 1 and original.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if original[:1].isupper() else word


def is_opening(sentence: str, start: int) -> bool:
    """Return whether no word stands before the position."""
    return WORD_PATTERN.search(sentence, 0, start) is None


def third_person(verb: str) -> str:
    """Return the third person singular of a verb in its base form."""
    if verb == "have":
        return "has"
    if verb == "be":
        return "is"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in ("a", "e", "i", "o", "u"):
        return verb[:-1] + "ies"
    return verb + "s"
