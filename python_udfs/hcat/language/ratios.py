"""Find fractions, ratios and ratings: a third, 1/4, one in five, 4.5 out of 5 stars."""

import functools
import math
import re
from pathlib import Path
from typing import Final

from hcat.language.amounts import NUMBER_WORDS, SCALES, UNITS, Amount, add_amount, is_year, read_measure, shift_decimal
from hcat.language.expressions import read_expressions
from hcat.language.mentions import Scan, claim

_DENOMINATORS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip
FRACTION_CUES: Final = _DENOMINATORS.keys() | {word + "s" for word in _DENOMINATORS}
"""A text without one of these words, case-folded, has no fraction in words."""
_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
_PART, _RATIO, _PROPORTION, _STARS, _RATING, _RATIO_COUNT, _SLASH, _TOP_OF_SCALE = (
    re.compile(_WRITTEN[name])
    for name in ("part", "ratio", "proportion", "stars", "rating", "ratio_count", "slash", "top_of_scale")
)
_BEFORE_NO_FRACTION, _BEFORE_FRACTION, _OF_A_PERIOD, _BEHIND_HALF, _BEHIND_FRACTION = (
    re.compile(_WRITTEN[name])
    for name in ("before_no_fraction", "before_fraction", "of_a_period", "behind_half", "behind_fraction")
)
_PROPORTION_CUE = re.compile(r"\d ?:|[ -](?:to|for)[ -]")
_COUNT_CHARACTERS = 8  # of the longest count before "in" or "out of", and one more
_CHARACTERS_BEFORE = 16  # enough for the word that says whether a half is a fraction


def claim_tops_of_scales(scan: Scan) -> None:
    """Claim the top of a rating scale ("out of 5 stars"), so that only the rating itself counts as a number."""
    if "/" not in scan.lower and "out of" not in scan.lower:
        return
    for match in _TOP_OF_SCALE.finditer(scan.lower):
        is_rating = (
            "." in match["value"] or match["stars"] or match["stars_behind"] or _is_rating(scan.lower, *match.span())
        )
        if is_rating and float(match["value"]) <= _count(match["top"]):
            claim(match.start("top"), match.end("top"), scan.claimed)


def find_ratios(scan: Scan) -> dict[int, tuple[str, ...]]:
    """Add fractions such as 1/4 and "one in five", and return what else supports the numbers of other ratios."""
    keys_by_start: dict[int, tuple[str, ...]] = {}
    for match in _PROPORTION.finditer(scan.lower) if _PROPORTION_CUE.search(scan.lower) else ():
        forms = (f"{_count(match['part'])}:{_count(match['whole'])} ratio",)
        keys_by_start.update(dict.fromkeys((match.start("part"), match.start("whole")), forms))
        scan.offered.update(forms)
    if "/" in scan.lower:
        for match in _SLASH.finditer(scan.lower):
            part, whole = int(match["part"]), int(match["whole"])
            if part >= whole or math.gcd(part, whole) > 1 or (whole > 8 and not (match["percent"] or match["of"])):
                continue
            value = _exact_decimal(part, whole)
            size = read_measure(value, scan.lower, match.end("whole"))
            keys, offered = ((*forms, *size) for forms in _fraction_forms(part, whole))
            if match["percent"]:
                if value and claim(match.start(), match.end("percent"), scan.claimed):
                    span = (match.start(), match.end("percent"))
                    add_amount(scan, Amount(*span, value, 0, "pp" if "point" in match["percent"] else "%"))
            elif part == 1 or match["of"]:
                scan.add(match.start(), match.end("whole"), keys, offered)
            elif not _is_rating(scan.lower, match.start(), match.end()):
                keys_by_start.update(dict.fromkeys((match.start("part"), match.start("whole")), keys))
                scan.offered.update(offered)
    if " in " in scan.lower or " out of " in scan.lower:
        for match in _RATIO.finditer(scan.lower):
            before = _RATIO_COUNT.search(scan.lower, max(0, match.start() - _COUNT_CHARACTERS), match.start())
            if before is None or is_year(match["whole"]) or _is_rating(scan.lower, before.start(), match.end()):
                continue
            part, whole = _count(before["part"]), _count(match["whole"])
            if not 0 < part < whole:
                continue
            keys, offered = _fraction_forms(part, whole)
            if part == 1:
                scan.add(before.start(), match.end(), keys, offered)
            else:
                keys_by_start.update(dict.fromkeys((before.start(), match.start("whole")), keys))
                scan.offered.update(offered)
    return keys_by_start


def find_parts(scan: Scan) -> None:
    """Add fractions in words ("half of", "a third", "three quarters") and parts of a unit ("half a million")."""
    for match in _PART.finditer(scan.lower):
        count, name, plural = match.group("count", "part", "plural")
        start, end = match.start(), match.start("whole") if match["whole"] else match.end()
        whole = _DENOMINATORS[name]
        part = 1 if count in (None, "a", "an") else _count(count)
        if (part > 1) != bool(plural) or part >= whole or math.gcd(part, whole) > 1:
            continue
        if match["whole"] and (count or name == "half" or "point" in match["unit"]):
            value = _exact_decimal(part, whole)
            unit = match["unit"]
            scale = SCALES.get(unit, 0)
            kind = "" if scale else "pp" if "point" in unit else "%"
            if match["currency"] and scale:
                kind = UNITS[match["currency"]]
            elif match["currency"]:
                continue
            if value and claim(start, match.end(), scan.claimed):
                add_amount(scan, Amount(start, match.end(), value, scale, kind))
            continue
        if (name != "half" and count is None) or scan.claimed[start]:
            continue
        if _is_fraction(scan.lower, start, end, name, count or "", is_plural=part > 1):
            scan.add(start, end, *_fraction_forms(part, whole))
        elif name == "half" or part > 1 or _BEHIND_FRACTION.match(scan.lower, end):  # not "a third party"
            scan.offered.add(f"{part}/{whole} fraction")
        if part == 1 and name not in ("half", "quarter"):
            scan.offered.add(f"{whole} ordinal")


@functools.lru_cache(maxsize=1 << 12)
def _fraction_forms(part: int, whole: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the forms that support a fraction, and those that it supports: itself, percentages, decimal numbers."""
    divisor = math.gcd(part, whole)
    values: dict[str, None] = {}  # a set that keeps the order
    if part * 10_000 % whole == 0:
        values[shift_decimal(str(part * 10_000 // whole), -2)] = None
    else:
        for decimals in range(3):
            scaled = part * 100 * 10**decimals
            for rounded in ((2 * scaled + whole) // (2 * whole), scaled // whole):
                values[shift_decimal(str(rounded), -decimals)] = None
    values.pop("0", None)
    form = f"{part // divisor}/{whole // divisor} fraction"
    percentages = [f"{value} %" for value in values]
    decimals_below_one = [shift_decimal(value, -2) for value in values]
    keys = (form, *percentages, *[f"{value} =" for value in decimals_below_one])
    return keys, (form, *percentages, *decimals_below_one)


def _is_rating(lower: str, start: int, end: int) -> bool:
    """Return whether a ratio is a rating: 4 out of 5 stars are not four fifths of anything."""
    return (
        _STARS.match(lower, end) is not None
        or _RATING.search(lower, max(0, start - 2 * _CHARACTERS_BEFORE), start) is not None
    )


def _count(written: str) -> int:
    return int(written) if written.isdigit() else NUMBER_WORDS[written]


def _exact_decimal(part: int, whole: int) -> str:
    """Return a fraction as a decimal number if four decimals are exact, else an empty string."""
    scaled, rest = divmod(part * 10_000, whole)
    return "" if rest else shift_decimal(str(scaled), -4)


def _is_fraction(lower: str, start: int, end: int, name: str, count: str, *, is_plural: bool) -> bool:
    """Return whether the words around a possible fraction allow no other meaning."""
    before = lower[max(0, start - _CHARACTERS_BEFORE) : start]
    if _BEFORE_NO_FRACTION.search(before) and not (is_plural and name not in ("half", "quarter")):
        return False
    if name in ("half", "quarter") and _OF_A_PERIOD.match(lower, end):
        return False
    if is_plural and name != "quarter":
        return True
    if _BEFORE_FRACTION.search(before) and (name == "half" or _BEHIND_FRACTION.match(lower, end)):
        return True
    if name == "half":
        return count == "one" or _BEHIND_HALF.match(lower, end) is not None
    if lower.startswith(" of", end):
        return True
    is_hyphenated = lower[start + len(count) : start + len(count) + 1] == "-"
    return count not in ("a", "an") and (is_hyphenated or _BEHIND_FRACTION.match(lower, end) is not None)
