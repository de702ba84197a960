"""Tell what kind of thing a number or a name is, so that only things of the same kind are compared.

A swap in :mod:`hcat.test_set.perturbation` replaces a number by another one that counts the same kind of thing.
:mod:`hcat.metrics.placement` asks whether another mention of the same kind fits a place better.
"""

import functools
import re
from typing import Final

from hcat.language.amounts import MEASURES
from hcat.language.features import TextFeatures
from hcat.language.mentions import Mention
from hcat.language.text import WORD_LISTS
from hcat.language.words import stem_word

WEEKDAY: Final = "weekday"
"""Shape of the name of a day."""

MONTHS: Final = tuple(names.split()[0] for names in WORD_LISTS["months"])
MONTH_NAME: Final = re.compile(
    r"\b(?:" + "|".join([*MONTHS, "sept", *(month[:3] for month in MONTHS)]) + r")\b", re.IGNORECASE
)
_YEAR = re.compile(r"(?:fy\s?['\u2019]?)?(?:19|20)[0-9]{2}|fy\s?['\u2019]?[0-9]{2}", re.IGNORECASE)
_AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_POINTS = re.compile(r"points?|\bbps?|\bpp", re.IGNORECASE)
_SECTION = re.compile(r"[0-9.]+")
_DIGIT = re.compile(r"\d")


def number_kind(mention: Mention) -> str:
    """Return what a number counts: a unit, ``% points``, ``ordinal``, ``year``, ``section`` or ``bare``."""
    value, _, unit = mention.keys[0].removeprefix("-").partition(" ")
    if unit == "%":
        return "% points" if _POINTS.search(mention.surface) else "%"
    if unit:
        return "bare" if unit == "word" or unit in MEASURES else unit
    if not _AMOUNT.fullmatch(value):
        return "section" if _SECTION.fullmatch(value) else _DIGIT.sub("0", value)
    if _YEAR.fullmatch(mention.surface):
        return "year"
    return "0" * len(value) if value[0] == "0" and value.isdecimal() and len(value) > 1 else "bare"


def without_full_stop(mention: Mention) -> Mention:
    """Return the number without the full stop that follows a month written out in full."""
    if not mention.surface.endswith("."):
        return mention
    months = MONTH_NAME.findall(mention.surface)
    if not months or months[-1].lower() not in MONTHS:
        return mention
    return mention._replace(end=mention.end - 1, surface=mention.surface[:-1])


def replaceable_numbers(features: TextFeatures) -> list[tuple[Mention, str]]:
    """Return the numbers that may be replaced and may replace others, each with its kind."""
    numbers = features.number_mentions
    name_ends = {mention.end for mention in features.entity_mentions}
    replaceable = []
    for position, mention in enumerate(map(without_full_stop, numbers)):
        kind = number_kind(mention)
        if kind == "bare" and mention.start - 1 in name_ends:
            continue
        if kind == "ordinal" and mention.surface[0].isupper():
            continue
        neighbours = numbers[max(0, position - 1) : position] + numbers[position + 1 : position + 2]
        if mention.surface.isdecimal() and any(
            neighbour.surface.isdecimal() and 1 in (neighbour.start - mention.end, mention.start - neighbour.end)
            for neighbour in neighbours
        ):
            kind = f"group of {len(mention.surface)}"
        replaceable.append((mention, kind))
    return replaceable


_WEEKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "sir"})
_NAME_PART = re.compile(r"[^\W\d_]\.?|[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
# Last words of names that are no names of persons.
_NAMED_THINGS = frozenset(map(stem_word, WORD_LISTS["named_things"].split()))


@functools.lru_cache(maxsize=1 << 16)
def name_shape(name: str) -> tuple[str, str]:
    """Return the shape of a name, and the stem of its last word if this word says what the name names."""
    words = name.replace("\u00a0", " ").split()
    if not words:
        return "", ""
    last = stem_word(words[-1].casefold())
    if "@" in name or "://" in name or name.lower().startswith("www."):
        return "address", ""
    if _DIGIT.search(name):
        return "identifier", ""
    if len(words) == 1:
        letters = name.replace(".", "")
        if name.casefold() in _WEEKDAYS:
            return WEEKDAY, ""
        if len(letters) > 1 and (letters.isupper() or (len(letters) > 2 and letters[:-1].isupper())):
            return "acronym", ""
        return "word", ""
    if last in _NAMED_THINGS:
        return "name", last
    is_titled = words[0].rstrip(".").casefold() in _TITLES
    is_plain = len(words) <= 3 and all(word[0].isupper() and _NAME_PART.fullmatch(word) for word in words)
    if is_titled or (is_plain and not any(stem_word(word.casefold()) in _NAMED_THINGS for word in words)):
        return "person", ""
    return "name", ""
