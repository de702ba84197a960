"""Find where a value of an answer comes from, in a normalised form: the query, the context, or neither."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Final

from hcat.language.kinds import MONTHS
from hcat.privacy.identifiers import DATE_PATTERN, find_emails
from hcat.privacy.masking import mask_value
from hcat.privacy.spans import Span, fold_text

FINDING_COLUMNS: Final = (
    "int32: finding_index",
    "string: entity_type exposure masked rule",
    "int32: first_start first_end count_occurrences",
)
"""One distinct value in an answer. Places are characters of the answer, from 0; the end is exclusive."""

_GAP = r"[^A-Za-z0-9\n]{0,3}"
_SAME_WORDS: Final = {
    "st": "street", "str": "street", "rd": "road", "ave": "avenue", "av": "avenue", "dr": "drive", "ln": "lane",
    "ct": "court", "sq": "square", "pl": "place", "blvd": "boulevard", "hwy": "highway", "apt": "apartment",
    "ste": "suite",
}  # fmt: skip
_TITLE_WORDS: Final = frozenset(["mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "dame", "lord", "lady"])
_DIGIT_WORDS: Final = ("zero oh o nought", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGIT_OF_WORD: Final = {word: digit for digit, words in enumerate(_DIGIT_WORDS) for word in words.split()}
_NATIONAL_DIGITS: Final = 9
_EXTENSION = re.compile(r"(?:x|ext\.?|extension) ?[0-9]{1,6}\Z", re.IGNORECASE)
_DATE = re.compile(DATE_PATTERN, re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+(?:[,. ][0-9]{3})*(?:[.,][0-9]{1,2})?(?![0-9])")

_MONTH_NUMBER: Final = {month[:3]: number for number, month in enumerate(MONTHS, start=1)}


class _Reading:
    """A query or a chunk in which values are looked up in normalised form; what was computed is kept."""

    def __init__(self, text: str) -> None:
        self.folded = fold_text(text)
        self.words = _fold_words(text)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for position, word in enumerate(self.words):
            places.setdefault(word, []).append(position)
        return places

    def holds(self, value: str, entity_type: str) -> bool:
        """Return whether the text holds a value, however the value is written there."""
        if entity_type in ("person", "place", "address"):
            return self._holds_words(value, slack=4 if entity_type == "address" else 2)
        if entity_type == "email":
            emails = (_fold_email(self.folded[span.start : span.end]) for span in find_emails(self.folded))
            return _fold_email(fold_text(value)) in emails
        if entity_type == "date_of_birth":
            days = _read_dates(fold_text(value))
            return any(not days.isdisjoint(_read_dates(match.group())) for match in _DATE.finditer(self.folded))
        if entity_type == "transaction":
            amounts = _fold_amounts(fold_text(value))
            return bool(amounts) and set(_fold_amounts(self.folded)).issuperset(amounts)
        return self._holds_number(value, entity_type)

    def _holds_words(self, value: str, slack: int) -> bool:
        """Return whether all words of a value stand in a window of its length plus ``slack`` words, in any order."""
        wanted = [word for word in _fold_words(value) if word not in _TITLE_WORDS]
        wanted = list(dict.fromkeys([word for word in wanted if len(word) > 1 or word.isdigit()] or wanted))
        if not wanted or any(word not in self._places for word in wanted):
            return False
        width = len(wanted) + slack
        rarest = min(wanted, key=lambda word: len(self._places[word]))
        return any(
            set(wanted) <= set(self.words[max(0, position - width) : position + width + 1])
            for position in self._places[rarest]
        )

    def _holds_number(self, value: str, entity_type: str) -> bool:
        """Return whether a number stands in the text with any separators; of a telephone number nine digits suffice."""
        characters = _fold_number(value, entity_type)
        if not characters:
            return False
        body = _GAP.join(map(re.escape, characters))
        opening = "" if entity_type == "phone" and len(characters) == _NATIONAL_DIGITS else "(?<![A-Za-z0-9])"
        return re.search(rf"{opening}{body}(?![A-Za-z0-9])", self.folded, re.IGNORECASE) is not None


def _fold_number(value: str, entity_type: str) -> str:
    folded = fold_text(value)
    if entity_type == "phone":
        folded = _EXTENSION.sub("", folded)
        digits = "".join(character for character in folded if character in "0123456789")
        if not digits:
            digits = _read_spelled(folded)
        return digits[-_NATIONAL_DIGITS:]
    return "".join(character for character in folded if character.isalnum()).upper()


def _read_spelled(text: str) -> str:
    """Return the digits of a number that is spelled word by word ("double four" is 44)."""
    words = ["", *re.findall(r"[a-z]+", text.lower())]
    times = {"double": 2, "triple": 3}
    read = (
        str(_DIGIT_OF_WORD[word]) * times.get(before, 1) for before, word in pairwise(words) if word in _DIGIT_OF_WORD
    )
    return "".join(read)


def _fold_email(written: str) -> str:
    spelled = re.sub(r"[ (\[]{1,2}(?:at)[ )\]]{1,2}", "@", written.lower())
    spelled = re.sub(r"[ (\[]{1,2}(?:dot)[ )\]]{1,2}", ".", spelled)
    return spelled.replace(" ", "")


def _fold_amounts(folded: str) -> list[str]:
    """Return the amounts of a text without thousands separators and trailing zeros of cents: "1,250.00" is "1250"."""
    plain = [re.sub(r"[,. ](?=[0-9]{3}(?![0-9]))", "", match.group()) for match in _NUMBER.finditer(folded)]
    plain = [amount.replace(",", ".") for amount in plain]
    return [amount.rstrip("0").rstrip(".") if "." in amount else amount for amount in plain]


def _read_dates(written: str) -> set[str]:
    """Return the days that a written date can mean, as year-month-day; 03/04/1980 can mean two days."""
    numbers = [int(number) for number in re.findall(r"[0-9]+", written)]
    month = next(
        (_MONTH_NUMBER[word[:3]] for word in re.findall(r"[a-z]{3,9}", written.lower()) if word[:3] in _MONTH_NUMBER),
        None,
    )
    if month is not None and len(numbers) == 2:
        day, year = numbers
        return {f"{year}-{month}-{day}"}
    if len(numbers) != 3:
        return set()
    first, second, third = numbers
    if first > 31:
        return {f"{first}-{second}-{third}"}
    years = [third] if third >= 100 else [1900 + third, 2000 + third]
    return {
        f"{year}-{month}-{day}" for year in years for day, month in ((first, second), (second, first)) if month <= 12
    }


def _fold_words(text: str) -> list[str]:
    """Return the words of a text without case, accents, possessives and abbreviations of streets."""
    plain = text.casefold()
    if not text.isascii():
        spelled_out = unicodedata.normalize("NFKD", text).casefold()
        plain = "".join(character for character in spelled_out if not unicodedata.combining(character))
    plain = re.sub(r"['\u2019]s\b", "", plain)
    return [_SAME_WORDS.get(word, word) for word in re.findall(r"[^\W_]+", plain)]


#: Prepares a query or chunk for lookups; whoever reads a batch clears it behind.
read_once = lru_cache(maxsize=4096)(_Reading)


def expose_spans(answer: str, spans: Sequence[Span], query: str, chunks: Sequence[str]) -> list[dict[str, Any]]:
    """Return one finding per distinct value of an answer, in order of first occurrence."""
    findings: dict[tuple[str, str], dict[str, Any]] = {}
    for span in spans:
        value = answer[span.start : span.end]
        key = (span.entity_type, " ".join(_fold_words(value)))
        if key in findings:
            findings[key]["count_occurrences"] += 1
            continue
        findings[key] = {
            "finding_index": len(findings),
            "entity_type": span.entity_type,
            "exposure": _find_exposure(value, span.entity_type, query, chunks),
            "masked": mask_value(value, span.entity_type),
            "rule": span.rule,
            "first_start": span.start,
            "first_end": span.end,
            "count_occurrences": 1,
        }
    return list(findings.values())


def _find_exposure(value: str, entity_type: str, query: str, chunks: Sequence[str]) -> str:
    if query and read_once(query).holds(value, entity_type):
        return "in_query"
    if any(read_once(chunk).holds(value, entity_type) for chunk in chunks):
        return "in_context"
    return "leaked"
