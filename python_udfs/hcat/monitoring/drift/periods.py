"""Periods: which weeks are compared with which.

A week begins on Monday, and only complete weeks count: there is one look a week. The reference is the first
``reference_weeks`` complete weeks from ``reference_start`` on. While the logs are younger, it is as many weeks as lie
before the longest window. All windows end with the last complete week and never overlap the reference.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, NamedTuple

from hcat.monitoring.drift.settings import DriftSettings
from hcat.statistics.arrays import Integers

WEEK_DAYS: Final = 7
#: Day 0 of every day number.
EPOCH: Final = date(1970, 1, 1)


class Window(NamedTuple):
    """A window of complete weeks, as day numbers of Mondays: from `start` up to but not including `end`."""

    weeks: int
    start: int
    end: int


class Plan(NamedTuple):
    """Which weeks are compared, as day numbers of Mondays (days since 1970-01-01); ends are exclusive.

    `first` = `reference_end` means that no week is left for a reference.
    """

    first: int
    reference_end: int
    end: int
    windows: tuple[Window, ...]


def plan_periods(days: Integers, settings: DriftSettings) -> Plan | None:
    """Return which weeks are compared; None without a complete week."""
    if not len(days):
        return None
    end = int(days.max()) + WEEK_DAYS
    first = int(days.min())
    if settings.reference_start:
        try:
            declared = (date.fromisoformat(settings.reference_start) - EPOCH).days
        except ValueError:
            message = f"hcat_drift_reference_start must be an ISO date or empty, got {settings.reference_start!r}"
            raise ValueError(message) from None
        # the first Monday on or after the declared day: a week counts whole
        monday = declared + (first - declared) % WEEK_DAYS
        first = max(first, monday)
    windows = tuple(Window(weeks, end - WEEK_DAYS * weeks, end) for weeks in settings.window_weeks)
    reference_end = min(first + WEEK_DAYS * settings.reference_weeks, min(window.start for window in windows))
    return Plan(first, max(first, reference_end), end, windows)


def name_dates(first: int, reference_end: int, start: int, end: int) -> dict[str, date | None]:
    """Return the periods as first and last days; null for an empty one."""
    has_reference, has_window = reference_end > first, end > start
    return {
        "reference_start": _to_date(first) if has_reference else None,
        "reference_end": _to_date(reference_end - 1) if has_reference else None,
        "window_start": _to_date(start) if has_window else None,
        "window_end": _to_date(end - 1) if has_window else None,
    }


def _to_date(day: int) -> date:
    return EPOCH + timedelta(days=day)
