"""Faults of numbers: another number of the same form, from outside the context."""

import itertools
import re
from collections.abc import Iterator, Sequence
from random import Random

from hcat.language.features import extract_features
from hcat.language.kinds import MONTH_NAME, MONTHS, number_kind, without_full_stop
from hcat.language.mentions import Mention
from hcat.test_set.perturbation.forms import Edit, apply_edit, fits_article, in_case_of
from training.fault_sentences import MAXIMUM_TRIES, Source, evidence_of, in_random_order, mention_at

NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
ORDINAL_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip
_LONG_MONTHS = ("january", "march", "may", "july", "august", "october", "december")
LETTERS = re.compile(r"[A-Za-z]+")
_DIGIT_RUN = re.compile("[0-9](?:[0-9.,'\u2019\u00a0\u202f\u2009]*[0-9])?")
_LAST_DIGITS = re.compile("[0-9]+(?=[^0-9]*\\Z)")
_ORDINAL_SUFFIXES = frozenset({"st", "nd", "rd", "th"})
_DAY_OR_YEAR = re.compile(r"([0-9]{1,4})(st|nd|rd|th)?(?![0-9])", re.IGNORECASE)
_TIME = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?")
_MAXIMUM_SIGNIFICANT_DIGITS = 15  # of longer numbers only the first digits are changed
_LAST_DAY_OF_EVERY_MONTH = 28
_MONTHS_IN_A_YEAR = 12
_YEARS_APART = 9
_QUARTERS_OF_AN_HOUR = ("00", "15", "30", "45")


def counts_one(mention: Mention, kind: str) -> bool:
    """Return whether the number stands before a singular, where no other number fits."""
    return kind == "bare" and mention.keys[0].partition(" ")[0] == "1"


def swap_number_outside(own: Source, sources: Sequence[Source], random: Random) -> Edit | None:
    """Return the edit that replaces a number by one of the same form from outside the context, or None."""
    present = evidence_of([*sources, own]).numbers
    for mention, kind in in_random_order(own.numbers, random):
        if counts_one(mention, kind):
            continue
        for surface in itertools.islice(other_numbers(mention.surface, kind, random), MAXIMUM_TRIES):
            edit = Edit(mention.start, mention.end, surface)
            found = number_after(own.text, edit)
            if (
                found is not None
                and number_kind(found) == number_kind(mention)
                and not counts_one(found, kind)
                # also the value without its unit is new: 15 is not new where 15 % is known
                and present.isdisjoint((*found.keys, found.keys[0].partition(" ")[0]))
            ):
                return edit
    return None


def number_after(sentence: str, edit: Edit) -> Mention | None:
    """Return the number that the edit would put into the sentence, as it reads there."""
    if not fits_article(sentence, edit.start, edit.after):
        return None
    mentions = map(without_full_stop, extract_features(apply_edit(sentence, edit)).number_mentions)
    return mention_at(mentions, edit.start, edit.start + len(edit.after))


def other_numbers(surface: str, kind: str, random: Random) -> Iterator[str]:
    """Yield numbers written like the given one, in random order."""
    letters = LETTERS.match(surface)
    word = letters.group().lower() if letters else ""
    if kind == "year":
        others = _other_years(surface)
    elif kind == "00:00":
        others = _other_times(surface)
    elif "-" in kind or "/" in kind:
        others = _other_dates(surface)
    elif word in NUMBER_WORDS or word in ORDINAL_WORDS:
        # "one" is as often no number, and its noun is a singular
        words = NUMBER_WORDS[2:] if word in NUMBER_WORDS else ORDINAL_WORDS
        others = [in_case_of(other, surface[: len(word)]) + surface[len(word) :] for other in words if other != word]
    else:
        others = _other_digits(surface, random)
    return in_random_order(others, random)


def _other_digits(surface: str, random: Random) -> list[str]:
    """Return the number with one significant digit or all of them replaced."""
    run = _DIGIT_RUN.search(surface)
    if run is None:
        return []
    positions = [position for position in range(*run.span()) if surface[position].isdigit()]
    significant = [position for position in positions if surface[position] != "0"]
    significant = [position for position in positions if significant and significant[0] <= position <= significant[-1]]
    significant = significant[:_MAXIMUM_SIGNIFICANT_DIGITS] or positions[-1:]
    changes = [
        {position: digit}
        for position in significant
        for digit in "0123456789"
        if digit != surface[position] and (digit != "0" or position != significant[0])
    ]
    if len(significant) > 1:
        changes += [
            {position: str(random.randrange(position == significant[0], 10)) for position in significant}
            for _ in range(len(changes))
        ]
    others = []
    for change in changes:
        number = "".join(change.get(position, surface[position]) for position in range(*run.span()))
        suffix = surface[run.end() :]
        if suffix.lower() in _ORDINAL_SUFFIXES:
            suffix = in_case_of(_ordinal_suffix(number), suffix)
        others.append(surface[: run.start()] + number + suffix)
    return others


def _ordinal_suffix(digits: str) -> str:
    is_teen = digits[-2:-1] == "1"
    return "th" if is_teen else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "th")


def _other_years(surface: str) -> list[str]:
    """Return the years near by, with as many digits."""
    digits = _LAST_DIGITS.search(surface)
    if digits is None:
        return []
    width = len(digits.group())
    return [
        surface[: digits.start()] + f"{(int(digits.group()) + apart) % 10**width:0{width}}" + surface[digits.end() :]
        for apart in range(-_YEARS_APART, _YEARS_APART + 1)
        if apart
    ]


def _other_times(surface: str) -> list[str]:
    """Return times with another hour of as many digits, or another quarter of an hour."""
    time = _TIME.search(surface)
    if time is None:
        return []
    hour, minute = time.groups()
    has_half = surface[-1] not in "0123456789"
    if len(hour) == 1:
        hours = [str(other) for other in range(1, 10)]
    else:
        hours = [f"{other:02}" for other in range(1 if hour[0] == "0" else 10, 13 if has_half else 24)]
    others = [surface[: time.start(1)] + other + surface[time.end(1) :] for other in hours if other != hour]
    if minute is not None:
        others += [
            surface[: time.start(2)] + other + surface[time.end(2) :]
            for other in _QUARTERS_OF_AN_HOUR
            if other != minute
        ]
    return others


def _other_dates(surface: str) -> list[str]:
    """Return dates that differ in the day, the month or the year, and that a calendar has."""
    others = []
    month = MONTH_NAME.search(surface)
    numbers = list(_DAY_OR_YEAR.finditer(surface))
    days = {number.start(): int(number[1]) for number in numbers if len(number[1]) <= 2}
    is_late = max(days.values(), default=0) > _LAST_DAY_OF_EVERY_MONTH
    for number in numbers:
        digits, suffix = number.groups()
        if number.start() not in days:
            # 29 February comes back every four years
            apart = [years for years in range(-_YEARS_APART, _YEARS_APART + 1) if not is_late or years % 4 == 0]
            values = [str(int(digits) + years) for years in apart]
        elif month is None and is_late and days[number.start()] <= _LAST_DAY_OF_EVERY_MONTH:
            continue  # the month of a day that not every month has
        else:
            # in figures only, each of the two may be the month
            last = _LAST_DAY_OF_EVERY_MONTH if month else _MONTHS_IN_A_YEAR
            values = [
                f"{value:02}" if digits[0] == "0" else str(value)
                for value in range(1, last + 1)
                if month or len(digits) == len(str(value)) or digits[0] == "0"
            ]
        others += [
            surface[: number.start()] + value + (_ordinal_suffix(value) if suffix else "") + surface[number.end() :]
            for value in values
            if int(value) != int(digits)
        ]
    if month is not None:
        written = month.group()
        is_full = written.lower() in MONTHS
        others += [
            surface[: month.start()] + in_case_of(other if is_full else other[:3], written) + surface[month.end() :]
            for other in (_LONG_MONTHS if is_late else MONTHS)
            if other[:3] != written.lower()[:3]
        ]
    return others
