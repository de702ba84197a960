"""Compare an answer sentence with the fields of records: flags (yes, no, unknown) and the opening hours of a week.

Word overlap and an entailment model overlook what a record says in two characters: "Outdoor seating: no." has both
words of "It has outdoor seating". The fields are read from the sentences that :mod:`hcat.language.verbalisation` makes
of JSON and tables, so that nothing here depends on one schema. Only plain cases are compared; anything else yields no
contradiction.

- A sentence mentions a flag if the words of its name stand together, in any of the forms "take-out", "takeout" and
  "take out". A first word that several names share ("Restaurants reservations", "Restaurants take out") is left out.
- A flag of one word inside a group ("Ambience: casual no") is compared only if the sentence names the group too, or if
  the evidence has the word nowhere else. "Casual" in the review of a customer supports the word without the flag.
- A mention is denied by a negation before it in its clause, or after it by "is not", "unavailable" and the like.
- Yes contradicts no, and no contradicts yes. If a value is unknown, both yes and no contradict it. Records that differ
  (two accounts, one with the flag and one without) contradict nothing.
- Times of a week are compared if the sentence names both days and times. If it names only times, they are compared if
  no day of the record has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from hcat.language.expressions import read_expressions
from hcat.language.given_names import word_set
from hcat.language.text import STOP_WORDS
from hcat.language.words import stem_word

Times = tuple[int, int]

_FIELD = re.compile(r"(?P<name>[^\W\d][^:;]{0,80}?): (?P<value>[^:;]{1,300}?)(?=;|\.?$)")
_MEMBER = re.compile(r"(?P<name>[^\W\d][^,]{0,60}?) (?P<value>yes|no|unknown)")
_VALUES: Final = {"yes": "yes", "no": "no", "unknown": "unknown", "free": "yes", "included": "yes"}
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011](?=[^\W\d_])")

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
_NAME_FILLERS, _NEGATORS, _VERBS = (word_set(_WRITTEN[name]) for name in ("name_fillers", "negators", "verbs"))
# Other words for the group of a flag.
_GROUP_NAMES = {
    "ambience": ("ambiance", "atmosphere", "vibe", "setting", "feel"),
    "ambiance": ("ambience", "atmosphere"),
}
# "Does not take cards or have parking" denies both.
_KEEP_DENIAL = frozenset(("or", "nor"))
_JOINS = frozenset(("and", "or", "nor"))
_CLAUSE, _DENIED_BEHIND, _AFFIRMED_BEHIND, _UNSAID, _OTHER_HOURS = (
    re.compile(_WRITTEN[name], re.IGNORECASE)
    for name in ("clause", "denied_behind", "affirmed_behind", "unsaid", "other_hours")
)
_SPAN_OF_DAYS, _SPAN_OF_TIMES, _CLOCK_PARTS, _RECORD_HOURS, _WHOLE_CLOCK, _IS_CLOCK = (
    re.compile(_WRITTEN[name], re.IGNORECASE)
    for name in ("span_of_days", "span_of_times", "clock_parts", "record_hours", "whole_clock", "is_clock")
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_HOURS_OF_HALF = 12
_MINUTES = 60


class Fields(NamedTuple):
    """What one verbalised sentence says as a record: ((group, name), value) of flags, (day, times) of opening hours.

    Monday is day 0, and times are minutes since midnight.
    """

    flags: tuple[tuple[tuple[str, str], str], ...] = ()
    hours: tuple[tuple[int, Times], ...] = ()


class Flag(NamedTuple):
    """A flag of the records: its name, the words that mention it, the name of its group, and its values."""

    name: str
    words: tuple[str, ...]
    group: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class Records:
    """What the records of one evidence say."""

    flags: tuple[Flag, ...] = ()
    hours: dict[int, set[Times]] = field(default_factory=dict)
    words: frozenset[str] = frozenset()

    @classmethod
    def from_fields(cls, sentences: Iterable[tuple[Fields, Iterable[str]]]) -> Records:
        """Return the records of sentences, each given as its fields and the stems of its content words."""
        sentences = list(sentences)
        values: dict[tuple[str, str], set[str]] = {}
        hours: dict[int, set[Times]] = {}
        for fields, _ in sentences:
            for key, value in fields.flags:
                values.setdefault(key, set()).add(value)
            for day, times in fields.hours:
                hours.setdefault(day, set()).add(times)
        if not values and not hours:
            return cls()
        spaces = _name_spaces([name for group, name in values if not group])
        flags = [
            Flag(f"{group} {name}".strip(), words, group, frozenset(said))
            for (group, name), said in sorted(values.items())
            if (words := _name_words(name, spaces))
        ]
        named: frozenset[str] = frozenset().union(*[words for fields, words in sentences if fields.flags])
        # The header of a table says no more than its rows.
        others = [words for fields, words in sentences if not fields.flags and not named.issuperset(words)]
        stems = frozenset().union(*others)
        return cls(tuple(flags), hours, stems)


def read_fields(sentence: str) -> Fields:
    """Return the fields of one verbalised sentence; prose has none."""
    if ": " not in sentence:
        return _NO_FIELDS
    flags: list[tuple[tuple[str, str], str]] = []
    for match in _FIELD.finditer(sentence):
        name, value = match["name"].strip(), match["value"].strip().rstrip(".")
        if value in _VALUES:
            flags.append((("", name), _VALUES[value]))
            continue
        members = [_MEMBER.fullmatch(part.strip()) for part in value.split(",")]
        if all(members):
            flags += [((name, member["name"]), _VALUES[member["value"]]) for member in members if member]
    hours = [
        (_DAYS.index(match["day"].lower()), times)
        for match in _RECORD_HOURS.finditer(sentence)
        if (times := _read_times(match)) is not None
    ]
    return Fields(tuple(flags), tuple(hours)) if flags or hours else _NO_FIELDS


_NO_FIELDS = Fields()


def find_contradictions(sentence: str, records: Records) -> list[str]:
    """Return the fields that ``sentence`` contradicts, one phrase each, such as "WiFi: no"."""
    found = [
        f"{flag.name}: {' / '.join(sorted(flag.values))}"
        for flag in records.flags
        if _contradicts(sentence, flag, records)
    ]
    if records.hours and not _hours_agree(sentence, records.hours):
        found.append("hours")
    return found


def _name_spaces(names: list[str]) -> frozenset[str]:
    """Return the first words that several names of two or more words share."""
    first = [words[0] for words in map(_words, names) if len(words) > 1]
    return frozenset(word for word in first if first.count(word) > 1)


def _name_words(name: str, spaces: frozenset[str]) -> tuple[str, ...]:
    words = _words(name)
    if len(words) > 1 and words[0] in spaces:
        words = words[1:]
    return tuple(word for word in words if word not in _NAME_FILLERS)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_HYPHEN.sub("", text))]


def _contradicts(sentence: str, flag: Flag, records: Records) -> bool:
    if len(flag.values) > 1:
        return False
    (value,) = flag.values
    folded = _HYPHEN.sub("", sentence)
    mentions = _find_mentions(folded, flag)
    if not mentions:
        return False
    is_own = not flag.group and len(flag.words) > 1
    if not is_own and not _is_about(folded, flag, records):
        return False
    if value == "unknown":
        return _UNSAID.search(folded) is None and not records.words.issuperset(map(stem_word, flag.words))
    said = {"no" if _is_denied(folded, start, end) else "yes" for start, end in mentions}
    return value not in said


def _find_mentions(folded: str, flag: Flag) -> list[tuple[int, int]]:
    """Return the spans of the mentions of a flag."""
    tokens = [(match.start(), match.end(), match.group()) for match in _WORD.finditer(folded)]
    stems = [stem_word(word) for word in flag.words]
    joined = "".join(flag.words)
    is_name = flag.name.split()[-1][0].isupper()
    mentions = []
    for position, (start, end, surface) in enumerate(tokens):
        if surface[0].isupper() and not is_name and position and len(stems) == 1:
            continue  # "Main Street" is no street parking
        lower = surface.lower()
        if lower in (joined, joined + "s") or (len(stems) == 1 and stem_word(lower) == stems[0]):
            mentions.append((start, end))
        elif len(stems) > 1 and position + len(stems) <= len(tokens):
            run = tokens[position : position + len(stems)]
            if [stem_word(word.lower()) for _, _, word in run] == stems:
                mentions.append((start, run[-1][1]))
    return mentions


def _is_about(folded: str, flag: Flag, records: Records) -> bool:
    """Return whether a word that is the name of a flag can only mean the flag."""
    # The last word of a group says what it is: "customer parking" is about parking, not about customers.
    head = [word for word in _words(flag.group) if word not in STOP_WORDS][-1:]
    names = {stem_word(name) for word in head for name in (word, *_GROUP_NAMES.get(word, ()))}
    if not names.isdisjoint(map(stem_word, _words(folded))):
        return True
    return records.words.isdisjoint(stem_word(word) for word in flag.words)


def _is_denied(folded: str, start: int, end: int) -> bool:
    begin = max([match.end() for match in _CLAUSE.finditer(folded, 0, start)], default=0)
    is_denied, before = False, ""
    for word in _words(folded[begin:start]):
        if _is_negator(word):
            is_denied = True
        elif word in _VERBS and before not in _KEEP_DENIAL and not _is_negator(before):
            is_denied = False
        before = word
    if is_denied:
        # "no valet parking, street parking is available"
        phrase = set(_words(folded[begin:start].rpartition(",")[2]))
        is_apart = "," in folded[begin:start] and phrase.isdisjoint(_NEGATORS | _JOINS)
        return not (is_apart and _AFFIRMED_BEHIND.match(folded, end))
    return _DENIED_BEHIND.match(folded, end) is not None


def _is_negator(word: str) -> bool:
    return word in _NEGATORS or word.endswith(("n't", "n\u2019t"))


def _hours_agree(sentence: str, hours: dict[int, set[Times]]) -> bool:
    """Return whether no times of the sentence contradict the record."""
    said = [times for match in _SPAN_OF_TIMES.finditer(sentence) if (times := _read_times(match))]
    # A time outside a pair ("and until 1:00 am on Fridays") is an exception.
    if not said or _OTHER_HOURS.search(sentence) or len(_WHOLE_CLOCK.findall(sentence)) > 2 * len(said):
        return True
    if any(times not in set().union(*hours.values()) for times in said):
        return False
    groups = [_read_days(match) for match in _SPAN_OF_DAYS.finditer(sentence)]
    if len(groups) > len(said):
        # "seven days a week, 9 to 8 on weekdays and 9 to 4 on weekends"
        groups = [days for days in groups if len(days) < len(_DAYS)]
    if len(said) == 1 and groups:
        groups = [set().union(*groups)]
    if len(said) != len(groups):
        return True
    return all(times in hours.get(day, ()) for times, days in zip(said, groups, strict=True) for day in days)


def _read_times(match: re.Match[str]) -> Times | None:
    """Return opening and closing time; None if it may be no time, or if the half of the day is not clear."""
    if not all(_IS_CLOCK.search(match[name]) for name in ("open", "close")):
        return None
    opens, closes = _read_clock(match["open"]), _read_clock(match["close"])
    return None if opens is None or closes is None else (opens, closes)


def _read_clock(text: str) -> int | None:
    """Return minutes since midnight, or None if the text is no time; 24:00 and midnight are 0."""
    lower = text.lower()
    if "noon" in lower:
        return _HOURS_OF_HALF * _MINUTES
    if "midnight" in lower:
        return 0
    match = _CLOCK_PARTS.match(lower)
    if match is None:
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if match["half"] and hour <= _HOURS_OF_HALF:
        hour = hour % _HOURS_OF_HALF + (_HOURS_OF_HALF if match["half"] == "p" else 0)
    if hour > 2 * _HOURS_OF_HALF or minute >= _MINUTES:
        return None
    return (hour * _MINUTES + minute) % (2 * _HOURS_OF_HALF * _MINUTES)


def _read_days(match: re.Match[str]) -> set[int]:
    for name, days in (("every", range(7)), ("work", range(5)), ("end", range(5, 7))):
        if match[name]:
            return set(days)
    first, last = (_day_index(match["one"] or match[name]) for name in ("first", "last"))
    return {(first + step) % 7 for step in range((last - first) % 7 + 1)}


def _day_index(text: str) -> int:
    return next(index for index, day in enumerate(_DAYS) if day.startswith(text.lower().rstrip(".")[:3]))
