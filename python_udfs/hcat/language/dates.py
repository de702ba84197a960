"""Find dates, times of day, years, decades, quarters and halves of a year in a sentence."""

import re
from typing import Final

from hcat.language.mentions import Scan

_MONTHS = {
    name: f"{month:02}"
    for month, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
# Also words or names: alone they need a capital inside a sentence.
_AMBIGUOUS_MONTHS = frozenset({"march", "may", "mar", "jan", "dec"})
MONTH_CUES: Final = _MONTHS.keys()
"""A text without one of these words, case-folded, has no date with the name of a month."""
PERIOD_CUES: Final = frozenset({"quarter", "half"})
"""A text without one of these words, case-folded, has no period in words."""
_ORDINAL_DIGITS = {
    ordinal: digit
    for digit, ordinals in zip("1234", ("first 1st", "second 2nd", "third 3rd", "fourth 4th"), strict=True)
    for ordinal in ordinals.split()
}
# The patterns run on text in lower case. Repetitions that another start could repeat are bounded, so that no text takes
# quadratic time.
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[5-9]|2[01])\d\d(?!\d)"
_NUMERIC_DATE = re.compile(
    rf"(?<![\w/.-])(?:(?P<iso>{_YEAR}(?P<mark>[-/.])(?:0\d|1[0-2])(?P=mark)(?:[0-2]\d|3[01]))"
    r"(?:t(?P<time>[0-2]\d:[0-5]\d)(?::\d\d(?:[.,]\d{1,9})?)?(?:z|[+-]\d\d:?\d\d)?)?(?![\w-])"
    r"|(?P<first>\d{1,2})(?P<separator>[/.-])(?P<second>\d{1,2})(?P=separator)"
    r"(?P<year>(?:1[5-9]|2[01])\d\d|(?<=[./])\d\d)(?![\w/-]|\.\d))"
)
_MONTH_DATE = re.compile(
    rf"\b(?:(?P<day>{_DAY})\.?(?:\s+of)?[\s-]+(?P<month>{_MONTH})(?:,?[\s-]+(?P<year>{_YEAR}))?"
    rf"|(?P<month_first>{_MONTH})(?:\s+(?P<day_second>{_DAY})(?![\w%:]|[.,]\d)(?:,?\s+(?P<year_last>{_YEAR}))?"
    rf"|,?\s+(?P<year_second>{_YEAR}))?)"
)
_CLOCK = re.compile(
    r"(?<![\w:.])(?:(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]?\d)(?!\d)(?::[0-5]\d(?!\d))?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"|(?P<full_hour>0?[1-9]|1[0-2])\s?(?P<full_half>[ap])\.?m\b\.?)"
)
# Without these there is no time of day and no date in numbers; they are found faster.
_CLOCK_CUE = re.compile(r"\d(?::|\s?[ap]\.?m)")
# "Q1 2024", "1Q24", "2024 Q1", "first quarter of fiscal 2024", "H1 2024", "first half of 2024".
_PERIOD = re.compile(
    rf"(?<![\w.-])(?:(?P<year_before>{_YEAR})[\s-]?)?"
    r"(?:(?P<letter>[qh])(?P<digit>[1-4])|(?P<digit_before>[1-4])(?P<letter_behind>[qh])"
    r"|(?P<ordinal>first|second|third|fourth|1st|2nd|3rd|4th)[\s-](?P<period>quarter|half))"
    r"(?:(?:(?<=[a-z])[\s-]|\s|-|(?<=\d)/|,\s)?(?:of\s)?(?:the\s)?"
    r"(?:(?:fiscal|financial|calendar)\s(?:year\s)?|year\s)?(?:"
    rf"(?:fy\s?)?(?P<year>{_YEAR})|(?:(?:fy|['\u2019/])\s?['\u2019]?|(?<=[qh]))(?P<short>\d\d)))?(?![\w-])"
)
_DECADE = re.compile(r"(?<![\w.,])(?P<decade>(?:1[5-9]|2[01])\d0s)(?!\w)")
_FISCAL_YEAR = re.compile(r"\bfy\s?['\u2019]?(?P<year>(?:19|20)?\d\d)(?!\d)")
_THREE_NUMBERS = re.compile(r"\d[-/.]\d\d?[-/.]\d")


def find_periods(scan: Scan) -> None:
    """Add quarters and halves of a year: Q1 2024, 1Q24, first quarter of 2024, H1 2024, third quarter."""
    for match in _PERIOD.finditer(scan.lower):
        letter = match["letter"] or match["letter_behind"] or match["period"][0]
        digit = match["digit"] or match["digit_before"] or _ORDINAL_DIGITS[match["ordinal"]]
        year = match["year"] or match["year_before"] or (f"20{match['short']}" if match["short"] else "")
        if (letter == "h" and (not year or digit > "2")) or (match["digit_before"] and not year):
            continue  # "the second half" may be half of anything, "2h" may be two hours
        form = f"{year or '-'}-{letter}{digit}"
        ordinal = [f"{digit} ordinal"] if match["ordinal"] else []
        scan.add(*match.span(), (form,), [form, f"--{letter}{digit}", *ordinal, *year_forms(year)])


def find_numeric_dates(scan: Scan) -> None:
    """Add ISO dates and dates such as 25/12/2024."""
    if not _THREE_NUMBERS.search(scan.text):
        return
    for match in _NUMERIC_DATE.finditer(scan.lower):
        readings: list[tuple[str, ...]] = []
        keys: tuple[str, ...] = ()
        if match["iso"]:
            year, month, day = match["iso"].split(match["mark"])
            readings = [_date_forms(year, month, day)]
        else:
            first, second = match["first"].zfill(2), match["second"].zfill(2)
            year = match["year"] if len(match["year"]) > 2 else f"20{match['year']}"
            if "01" <= second <= "12" and "01" <= first <= "31":
                readings.append(_date_forms(year, second, first))
            # A date with dots is day.month.year.
            is_decided = bool(readings) and match["separator"] == "."
            if "01" <= first <= "12" and "01" <= second <= "31" and first != second and not is_decided:
                readings.append(_date_forms(year, first, second))
            if len(readings) == 2:
                keys = (f"{first}/{second}/{year}",)
        if readings:
            forms = [form for reading in readings for form in reading]
            keys = (*keys, *(reading[0] for reading in readings))
            scan.add(*match.span(), keys, [*keys, *forms, *year_forms(year), match["time"] or ""])


def find_month_dates(scan: Scan) -> None:
    """Add dates with the name of a month: 12 March 2024, March 12, 2024, March 2024, 12 March, March."""
    for match in _MONTH_DATE.finditer(scan.lower):
        start, end = match.span()
        name = (match["month"] or match["month_first"]).rstrip(".")
        year = match["year"] or match["year_last"] or match["year_second"] or ""
        day = (match["day"] or match["day_second"] or "").rstrip("stndrh")
        if not year and not day:
            if not scan.text[start].isupper() or (name in _AMBIGUOUS_MONTHS and start == 0):
                continue
            end -= scan.lower[end - 1] == "."
        forms = _date_forms(year, _MONTHS[name], day and day.zfill(2))
        scan.add(start, end, forms[:1], [*forms, *year_forms(year)])


def find_times(scan: Scan) -> None:
    """Add times of day (10:30 pm, 9 a.m.), fiscal years (FY24) and decades (1990s)."""
    for match in _CLOCK.finditer(scan.lower) if _CLOCK_CUE.search(scan.lower) else ():
        hour = int(match["hour"] or match["full_hour"])
        half = match["half"] or match["full_half"]
        if half and hour <= 12:
            hour = hour % 12 + (12 if half == "p" else 0)
        form = f"{hour % 24:02}:{int(match['minute'] or 0):02}"
        scan.add(*match.span(), (form,), [form])
    for match in _FISCAL_YEAR.finditer(scan.lower) if "fy" in scan.lower else ():
        year = match["year"] if len(match["year"]) == 4 else f"20{match['year']}"
        scan.add(*match.span(), (year,), year_forms(year))
    for match in _DECADE.finditer(scan.lower) if "0s" in scan.lower else ():
        scan.add(*match.span(), (match["decade"],), [match["decade"]])


def year_forms(year: str) -> tuple[str, ...]:
    """Return what a year supports: itself, its value with any unit as for a bare number, and its decade."""
    return (year, f"{year} =", f"{year[:3]}0s") if year else ()


def _date_forms(year: str, month: str, day: str) -> tuple[str, ...]:
    """Return the normal form of a date, and then every coarser date that it implies; a missing part is empty."""
    dates = ((year, month, day), (year, month), ("-", month, day), ("-", month), (year,))
    return tuple(["-".join(parts) for parts in dates if all(parts)])
