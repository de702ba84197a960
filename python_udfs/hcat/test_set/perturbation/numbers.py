"""Faults of numbers: another number of the same form, from outside the context, which is read as the one before."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final

from hcat.language.features import extract_features
from hcat.language.kinds import MONTH_NAME, MONTHS, number_kind, replaceable_numbers, without_full_stop
from hcat.language.mentions import Mention
from hcat.metrics.support import Evidence
from hcat.test_set.perturbation.forms import Edit, apply_edit, fits_article, in_case_of

_NUMBER_WORD_LIST = "two three four five six seven eight nine ten eleven twelve"
_ORDINAL_WORD_LIST = "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_WORD_LISTS: Final = (_NUMBER_WORD_LIST.split(), _ORDINAL_WORD_LIST.split())
_WORD: Final = re.compile(r"[A-Za-z]+")
_DIGITS: Final = re.compile("[0-9]+")
_ORDINAL: Final = re.compile(r"([0-9]+)(st|nd|rd|th)\b", re.IGNORECASE)
#: Days that not every month has.
_LATE_DAY: Final = re.compile("(?<![0-9])(?:29|30|31)(?![0-9])")
#: Replacements that are tried for one number before it is given up.
_MAXIMUM_TRIES: Final = 100


def swap_number_outside(text: str, context: Sequence[str], random: Random) -> Edit | None:
    """Return the edit that replaces a number by one of the same form from outside the context, or None."""
    features = extract_features(text)
    present = Evidence.from_features([features, *map(extract_features, context)]).numbers
    numbers = replaceable_numbers(features)
    for mention, kind in random.sample(numbers, len(numbers)):
        for surface in () if _counts_one(mention, kind) else other_numbers(mention.surface, kind, random):
            edit = Edit(mention.start, mention.end, surface)
            found = _read_at(apply_edit(text, edit), edit.start)
            if (
                found is not None
                and found.surface == surface
                and number_kind(found) == number_kind(mention)
                and not _counts_one(found, kind)
                # also the value without its unit is new: 15 is not new where 15 % is known
                and present.isdisjoint((*found.keys, found.keys[0].partition(" ")[0]))
                and fits_article(text, mention.start, surface)
            ):
                return edit
    return None


def _counts_one(mention: Mention, kind: str) -> bool:
    """Return whether the number stands before a singular, where no other number fits."""
    return kind == "bare" and mention.keys[0].partition(" ")[0] == "1"


def _read_at(text: str, start: int) -> Mention | None:
    mentions = map(without_full_stop, extract_features(text).number_mentions)
    return next((mention for mention in mentions if mention.start == start), None)


def other_numbers(surface: str, kind: str, random: Random) -> Iterator[str]:
    """Yield numbers written like the given one, in random order: one digit, word or month is another."""
    is_date = kind == "year" or "-" in kind or "/" in kind
    first = _WORD.match(surface)
    word = first.group() if first else ""
    listed = next((words for words in _WORD_LISTS if word.lower() in words), [])
    others = [in_case_of(each, word) + surface[len(word) :] for each in listed]
    others += [] if listed else [*_other_digits(surface, is_date), *_other_months(surface)]
    # read behind a word: a month that begins a text may be a verb
    own = _read_at(f"on {surface}", 3)
    for other in islice(random.sample(others, len(others)), _MAXIMUM_TRIES if own else 0):
        alike = _read_at(f"on {other}", 3)
        is_alike = own and alike and alike.surface == other and number_kind(alike) == number_kind(own)
        if is_alike and other != surface and not (is_date and _LATE_DAY.search(other)):
            yield other


def _other_digits(surface: str, is_date: bool) -> Iterator[str]:
    for run in _DIGITS.finditer(surface):
        is_year = is_date and len(run.group()) == 4
        last = run.end() - 1
        for place in [last] if is_year else [at for at in range(*run.span()) if surface[at] != "0"] or [last]:
            for digit in "123456789":
                other = surface[:place] + digit + surface[place + 1 :]
                yield _ORDINAL.sub(lambda found: found[1] + in_case_of(_end_ordinal(found[1]), found[2]), other)


def _end_ordinal(digits: str) -> str:
    return "th" if digits[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "th")


def _other_months(surface: str) -> Iterator[str]:
    for month in MONTH_NAME.finditer(surface):
        for other in MONTHS:
            written = other if month.group().lower() in MONTHS else other[:3]
            yield surface[: month.start()] + in_case_of(written, month.group()) + surface[month.end() :]
