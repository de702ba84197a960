"""Find dates, times of day, years, decades, quarters and halves of a year in a sentence."""

import re
from pathlib import Path
from typing import Final

from hcat.language.expressions import read_expressions
from hcat.language.mentions import Scan
from hcat.language.text import WORD_LISTS

_MONTHS = {name: month for names, month in WORD_LISTS["months"].items() for name in names.split()}
# Also words or names: alone they need a capital inside a sentence.
_AMBIGUOUS_MONTHS = frozenset({"march", "may", "mar", "jan", "dec"})
MONTH_CUES: Final = _MONTHS.keys()
"""A text without one of these words, case-folded, has no date with the name of a month."""
_ORDINALS = {word: str(value) for word, value in WORD_LISTS["ordinals"].items()}
PERIOD_CUES: Final = frozenset({"quarter", "half"})
"""A text without one of these words, case-folded, has no period in words."""
_WRITTEN = read_expressions(
    Path(__file__).with_suffix(".yml"), {"MONTH": "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"}
)
_NUMERIC_DATE, _MONTH_DATE, _CLOCK, _CLOCK_CUE, _PERIOD, _DECADE, _FISCAL_YEAR = (
    re.compile(_WRITTEN[name])
    for name in ("numeric_date", "month_date", "clock", "clock_cue", "period", "decade", "fiscal_year")
)
_THREE_NUMBERS = re.compile(r"\d[-/.]\d\d?[-/.]\d")


def find_periods(scan: Scan) -> None:
    """Add quarters and halves of a year: Q1 2024, 1Q24, first quarter of 2024, H1 2024, third quarter."""
    for match in _PERIOD.finditer(scan.lower):
        letter = match["letter"] or match["letter_behind"] or match["period"][0]
        digit = match["digit"] or match["digit_before"] or _ORDINALS.get(match["ordinal"], match["ordinal"][0])
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
            year = match["year"]
            if len(year) == 2:  # 31.12.99 is a day of 1999
                year = f"{19 + (year < '50')}{year}"
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
        hours = (hour, hour + 12) if match["either"] else (hour,)
        forms = tuple([f"{hour % 24:02}:{int(match['minute'] or 0):02}" for hour in hours])
        scan.add(*match.span(), forms, forms)
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
