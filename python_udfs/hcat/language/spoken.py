"""Write amounts, times and dates that are said in words as English does in digits, in the languages of the contract.

"Einundzwanzig Tage", "halb vier", "2 de mayo" and "half past three" become "21 day", "3:30", "2 May" and "3:30". What
is written has another length than what was said, so each character knows the span that it stands for.
"""

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import NamedTuple

import yaml

from hcat.language.expressions import read_expressions
from hcat.language.mentions import DIGIT, Mention
from hcat.language.text import WORD_LISTS

_EITHER_HALF = "\u2061"  # behind a time of the clock that may be of the morning or of the afternoon
_PATH = Path(__file__).with_suffix(".yml")
_WORDS = yaml.safe_load(_PATH.read_text(encoding="utf-8"))
_NUMERALS, _UNITS, _MONTHS, _ORDINALS = (
    {word: name for name, words in _WORDS[key].items() for word in words.split()}
    for key in ("numerals", "behind", "months", "ordinals")
)
_HOURS = {word: str(hour) for hour, word in enumerate(_WORDS["hours"].split(), start=1)}
_DOUBTFUL, _UNSURE, _MARKERS, _CUES, _WEAK, _COMMON = (
    frozenset(_WORDS[name].split()) for name in ("doubtful", "unsure", "markers", "cues", "weak", "common")
)
_ALL_CUES = _CUES.union(_NUMERALS, _UNITS, _MONTHS, _ORDINALS)
_SURE_CUES = _ALL_CUES - _DOUBTFUL - _WEAK - _COMMON
# How numerals of several morphemes in one word begin.
_STARTS = frozenset((one + other)[:5] for one in _NUMERALS for other in ("und", "en", "\u00ebn", *_NUMERALS)) - {
    "under"
}
_NAMES = {
    name: "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"
    for name, words in {"MORPHEME": _NUMERALS, "UNIT": _UNITS, "MONTH": _MONTHS, "ORDINAL": _ORDINALS}.items()
} | {"HOUR": r"(?:\d{1,2}|" + "|".join(_HOURS) + r")\b", "SUM": _WORDS["sum"]}
_WORD = re.compile(r"[^\W\d_]+")
_PIECE = re.compile(f"und(?=[zdvfsan][wriüecu])|{_NAMES['MORPHEME']}")
_COMPOUND = re.compile(f"(?:{_NAMES['MORPHEME']}|und|en|\u00ebn)+")
_HOUR = re.compile(rf"\b{_NAMES['HOUR']}", re.IGNORECASE)
_SUM = re.compile(_WORDS["sum"], re.IGNORECASE)
# "five p.m.", "the first of June", "ten to six" and "Article IV" have no other cue
_RARE = re.compile(
    r"[a-z] [ap]\.m\b|\bfirst of [A-Z]| (?:five|ten|twenty) (?:to|past) [a-z]"
    r"| (?:[IVXL]{2,}|[ivx]{2,}|[VX]|I(?=[.,;:)]|\Z| (?:of|and|or)\b))\b"
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_LONGEST_NAME = 12  # characters before a numeral, enough for "protocol "
_PARTS = {"hourminute": 60, "minutesecond": 60, "dayhour": 24, "weekday": 7, "yearmonth": 12}


class Written(NamedTuple):
    """A text as it is written in digits, and for each of its characters the span of the text that was said."""

    text: str
    spans: list[tuple[int, int]]

    def replace(self, say: re.Pattern[str], write: Callable[[re.Match[str]], str | None]) -> "Written":
        """Return the text with other words in place of each match; what ``write`` returns None for stays."""
        said: list[str] = []
        spans: list[tuple[int, int]] = []
        position = 0
        for match in say.finditer(self.text):
            words = write(match)
            if words is not None:
                span = (self.spans[match.start()][0], self.spans[match.end() - 1][1])
                said += self.text[position : match.start()], words
                spans += self.spans[position : match.start()] + [span] * len(words)
                position = match.end()
        return Written("".join([*said, self.text[position:]]), spans + self.spans[position:]) if said else self

    def locate(self, mention: Mention, text: str) -> Mention:
        """Return a mention as the text says it."""
        start, end = self.spans[mention.start][0], self.spans[mention.end - 1][1]
        return mention._replace(start=start, end=end, surface=text[start:end])


def write_spoken(text: str) -> Written | None:
    """Return a text with its amounts, times and dates in digits, or None if it says none in words."""
    tokens = _read_tokens(text)
    is_foreign = _is_foreign(tokens)
    has_cue = not tokens.isdisjoint(_SURE_CUES if not is_foreign else _ALL_CUES)
    if not has_cue and not _has_compound(tokens, is_foreign):
        has_cue = is_foreign or not tokens.isdisjoint(_WEAK) or _SUM.search(text) is not None
        is_short = DIGIT.search(text) is not None and (has_cue or _SHAPES.search(text) is not None)
        if not is_short and not _RARE.search(text):
            return None
    said = written = Written(text, [(place, place + 1) for place in range(len(text))])
    for say, write in _RULES:
        written = written.replace(say, write)
    return None if written is said else written


def _read_tokens(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _is_foreign(tokens: set[str]) -> bool:
    return not tokens.isdisjoint(_MARKERS) and tokens.isdisjoint(("the", "of", "and", "to"))


def _has_compound(tokens: set[str], is_foreign: bool) -> bool:
    """Return whether a word begins as numerals in one word do; in an English text it has to be one ("unsecured")."""
    begins = [word for word in tokens if word[:5] in _STARTS]
    return bool(begins) and (is_foreign or any(map(_COMPOUND.fullmatch, begins)))


def _write_thousands(_: str, match: re.Match[str]) -> str | None:
    return re.sub(r"\D", "", match.group()) if _is_foreign(_read_tokens(match.string)) else None


def _write_numeral(_: str, match: re.Match[str]) -> str | None:
    """Return a numeral in digits; None if its words make no number, or may mean something else."""
    said = match.group().lower()
    total = current = last = 0
    for found in _PIECE.finditer(said):
        value = _NUMERALS.get(found.group(), 0)
        is_lower = value < last and last >= 20 and (value < 10 or last >= 60)
        if value == 1000:
            total, current = total + max(current, 1) * 1000, 0
        elif value == 100 and last < 100:
            current = max(current, 1) * 100
        elif is_lower or not last or (last < 10 and 20 <= value < 100 and " " not in said):
            current += value
        elif value:
            return None
        last = value or last
    is_unsure = total + current == 1 or said in _UNSURE
    # a capital inside of a sentence may be that of a name
    if is_unsure or said in _DOUBTFUL or (match.group()[0].isupper() and match.start() > 0):
        following = _WORD.match(match.string, match.end() + 1)
        is_counting = following is not None and following.group().lower() in _UNITS
        if not is_counting and (is_unsure or not _is_foreign(_read_tokens(match.string))):
            return None
    return str(total + current)


def _write_clock(minutes: str, match: re.Match[str]) -> str:
    hour = _HOUR.findall(match.group())[-1].lower()
    time = int(_HOURS.get(hour, hour)) * 60 + int(minutes)
    is_settled = time > 13 * 60 or re.match(r" ?[ap]\.?m\b", match.string[match.end() :], re.IGNORECASE)
    return f"{time // 60 % 24}:{time % 60:02}{'' if is_settled else _EITHER_HALF}"


def _write_unit(_: str, match: re.Match[str]) -> str:
    return str((_UNITS | _ORDINALS)[match.group().lower().rstrip(".")])


def _write_date(_: str, match: re.Match[str]) -> str | None:
    day, month, year = (match.groupdict().get(part) or "" for part in ("day", "month", "year"))
    name = list(_WORDS["months"])[int(month) - 1] if month.isdigit() else _MONTHS[month.lower()]
    return f"{day if day.isdigit() or not day else 1} {name} {year}".strip() if day or year else None


def _write_sum(_: str, match: re.Match[str]) -> str | None:
    factor = _PARTS.get((match[2] + match[4]).lower())
    return f"{int(match[1]) * factor + int(match[3])} {match[4]}s" if factor else None


def _write_product(argument: str, match: re.Match[str]) -> str:
    factor, _, unit = argument.partition(" ")
    count = match[1].lower()
    power = unicodedata.normalize("NFKC", match.groupdict().get("power") or "0").replace("\u2212", "-")
    value = Decimal(WORD_LISTS["numbers"].get(count, count)) * Decimal(factor).scaleb(int(power))
    return f"{value:f} {unit}".strip()


def _write_roman(_: str, match: re.Match[str]) -> str | None:
    named = _NUMBERED.search(match.string, max(0, match.start() - _LONGEST_NAME), match.start())
    letters = match.group()
    if named is None or (len(letters) == 1 and (letters.islower() or named["name"][0].islower())):
        return None
    values = [_ROMAN[letter] for letter in letters.upper()]
    return str(sum(-value if value < behind else value for value, behind in zip(values, [*values[1:], 0], strict=True)))


_WRITERS = {
    writer.__name__.removeprefix("_write_").upper(): writer
    for writer in (_write_thousands, _write_numeral, _write_clock, _write_unit, _write_date, _write_sum,
                   _write_product, _write_roman)
}  # fmt: skip


def _find_writer(write: str) -> Callable[[re.Match[str]], str | None]:
    name, _, argument = write.partition(" ")
    return partial(_WRITERS[name], argument) if name in _WRITERS else lambda match: match.expand(write)


_WRITTEN = read_expressions(_PATH, _NAMES)
_RULES = [(re.compile(rule["say"], re.IGNORECASE), _find_writer(rule["write"])) for rule in _WRITTEN["rules"]]
_SHAPES, _NUMBERED = (re.compile(_WRITTEN[name], re.IGNORECASE) for name in ("shapes", "numbered"))
