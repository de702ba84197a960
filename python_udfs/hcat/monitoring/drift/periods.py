"""Periods: which weeks are compared with which (docs/drift.md), and what else is declared before drift is measured."""

from datetime import date, timedelta
from typing import Final, NamedTuple

from hcat.statistics.arrays import Integers

WEEK_DAYS: Final = 7
#: Day 0 of every day number.
EPOCH: Final = date(1970, 1, 1)


class DriftSettings(NamedTuple):
    """A build sets the first two (hcat_drift_reference_start, hcat_confidence); all others are fixed."""

    #: ISO date from which weeks count as reference; empty = the first complete week of the logs.
    reference_start: str = ""
    #: Two-sided, of the intervals of differences, each on its own.
    confidence: float = 0.95
    #: Longest reference. A year holds every season once, and remains the approved period.
    reference_weeks: int = 52
    #: One week detects sudden changes, three weeks detect smaller ones.
    window_weeks: tuple[int, ...] = (1, 3)
    #: Their shares of the level. The longer window gets most of it, for small changes; a sudden large change also
    #: exceeds the stricter limit of the short window.
    window_shares: tuple[float, ...] = (0.05, 0.95)
    #: Least weeks of the reference with a score. The error of an alarm is the spread of the weeks, and few weeks hardly
    #: show it: with 4 weeks and a window of 3, Student's t has 5 degrees of freedom.
    minimum_weeks: int = 4
    #: Least weeks of the reference that can show whether weeks correlate.
    minimum_weeks_correlated: int = 20
    #: Dimension by which means compare like with like: each of its segments is compared with its own mean of the
    #: reference, so that a quarter end with other topics moves mix_shift and no mean. Empty = means move with the mix.
    mix_dimension: str = "topic"
    #: Least effective interactions (Kish, by cluster): in the reference (also of a segment that is centred on its own
    #: mean), in the window of a mean, and in both periods of a mix.
    minimum_reference: float = 30.0
    minimum_window: float = 10.0
    minimum_shape: float = 50.0
    #: Effective interactions that a segment of a mix expects without drift; smaller segments are joined.
    minimum_expected: float = 10.0
    #: Least shift of a mean that alarms, in standard deviations of the reference: large logs make trifles significant.
    minimum_shift: float = 0.1
    #: Share of weeks with any alarm when nothing drifts.
    alarm_level: float = 0.01
    #: Part of that level that the mix of segments has; the means have the rest.
    mix_share: float = 0.2
    #: Part of the level of the means that the series over all interactions have; the dimensions share the rest equally.
    headline_share: float = 0.5


class Window(NamedTuple):
    """A window of complete weeks, as day numbers of Mondays: from `start` up to but not including `end`."""

    weeks: int
    start: int
    end: int


class Plan(NamedTuple):
    """Which weeks are compared, as day numbers of Mondays; `first` = `reference_end`: none is left for a reference."""

    first: int
    reference_end: int
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
    return Plan(first, max(first, reference_end), windows)


def name_dates(first: int, reference_end: int, start: int, end: int) -> dict[str, date]:
    """Return the first and last days of the periods that are not empty."""
    periods = (("reference", first, reference_end), ("window", start, end))
    days = {name: (begin, after - 1) for name, begin, after in periods if after > begin}
    return {
        f"{name}_{side}": EPOCH + timedelta(days=day)
        for name, ends in days.items()
        for side, day in zip(("start", "end"), ends, strict=True)
    }
