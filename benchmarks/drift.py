"""Drift: what the chart of weeks finds by volume, and how often single rows exceed their limit in quiet weeks.

Scores are drawn, and the chart is that of the product with the default settings. How often quiet weeks alarm, and
whether shifts are found in time, is measured under harder data by `python -m benchmarks.promises --part drift`.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from benchmarks.harness import Outcome, Table, argument_parser, finish, verdict
from hcat.monitoring.drift.alarms import share_level
from hcat.monitoring.drift.chart import chart_weeks
from hcat.monitoring.drift.measuring import center_means, compare_weeks
from hcat.monitoring.drift.settings import DriftSettings
from hcat.monitoring.drift.statistics import arrange_rows
from hcat.statistics.arrays import Floats

SHIFT = 0.3
#: Metrics, each over all interactions and in so many topics: the family in which one metric shifts.
COUNT_METRICS, COUNT_TOPICS = 20, 5
COUNT_WEEKS = 3
SEED = 20260101
#: Least share found within 3 weeks, by the standard deviation of week effects, at this volume.
PROMISED, PROMISED_WEEKLY = {0.0: 0.95, 0.05: 0.75}, 200
#: Weekly level of single rows.
LEVEL = 0.05

_SETTINGS = DriftSettings()
_WEEKLY = (50, 100, 200, 300, 1_000)
_SPREADS = (0.0, 0.05, 0.1, 0.15)


def share_found(
    weekly: int, reference_weeks: int, week_spread: float, count_runs: int, seed: int = SEED
) -> list[float]:
    """Return the share of runs that have found a shift by the end of week 1, 2 and 3.

    One metric shifts over all interactions by .3 standard deviations. The other series of the family are quiet: what
    they do could only make the limit laxer. Weekly means are drawn from their law for independent normal scores.
    """
    random = np.random.default_rng(seed)
    limits = _limits_of_headline()
    # two quiet weeks, so that the first windows of three hold one week of the shift
    count_weeks = reference_weeks + 2 + COUNT_WEEKS
    means = random.standard_normal((count_runs, count_weeks)) * math.hypot(week_spread, 1 / math.sqrt(weekly))
    means[:, -COUNT_WEEKS:] += SHIFT
    weeks = np.arange(count_weeks)
    found = np.zeros((COUNT_WEEKS, count_runs), dtype=np.bool_)
    for number in range(COUNT_WEEKS):
        last = reference_weeks + 2 + number
        for length, limit in zip(_SETTINGS.window_weeks, limits, strict=True):
            least = math.sqrt((1 / reference_weeks + 1 / length) / weekly)
            chart = chart_weeks(
                np.full(means.shape, float(weekly)),
                means,
                weeks < reference_weeks,
                (weeks <= last) & (weeks > last - length),
                np.ones(count_runs),
                np.full(count_runs, least),
            )
            found[number] |= chart.p_value <= limit
    return np.logical_or.accumulate(found, axis=0).mean(axis=1).tolist()


def _limits_of_headline() -> Floats:
    """Return the p-value up to which a metric over all interactions alarms, by window, when nothing else does."""
    dimensions = ["all"] * COUNT_METRICS + ["topic"] * COUNT_METRICS * COUNT_TOPICS
    count = len(dimensions)
    windows = [length for length in _SETTINGS.window_weeks for _ in range(count)]
    shares = share_level(dimensions * len(_SETTINGS.window_weeks), windows, _SETTINGS)
    limits: Floats = _SETTINGS.alarm_level * (1 - _SETTINGS.mix_share) * shares[::count] / shares.sum()
    return limits


def share_of_quiet_rows(week_spread: float, weekly: int, count: int, seed: int = SEED) -> float:
    """Return how often a single mean exceeds its limit of 5 % when weeks differ by chance only."""
    random = np.random.default_rng(seed)
    count_weeks = _SETTINGS.reference_weeks + COUNT_WEEKS
    weeks = np.repeat(np.arange(count_weeks), weekly)
    scores = random.standard_normal((count, len(weeks)))
    scores += week_spread * random.standard_normal((count, count_weeks))[:, weeks]
    rows = arrange_rows(
        np.repeat(np.arange(count), len(weeks)), np.tile(np.arange(len(weeks)), count), scores.ravel(), count
    )
    of_rows = weeks[rows.order % len(weeks)]
    starts = np.arange(count_weeks)
    centred = center_means(rows, of_rows, starts < _SETTINGS.reference_weeks, None, _SETTINGS)
    return float((compare_weeks(centred, ~centred.is_reference).p_value <= LEVEL).mean())


def _error(share: float, count: int) -> float:
    return math.sqrt(share * (1 - share) / count)


def run(is_quick: bool = False) -> Outcome:
    """Return the outcome."""
    count_runs, count_quiet = (200, 20) if is_quick else (20_000, 400)
    shares_found = {
        (weekly, reference_weeks, spread): share_found(weekly, reference_weeks, spread, count_runs)
        for reference_weeks in (8, _SETTINGS.reference_weeks)
        for weekly in _WEEKLY
        for spread in _SPREADS
    }
    found = [
        (
            f"{weekly:,} a week, reference of {reference_weeks} weeks",
            *(
                " / ".join(f"{share:.3f}" for share in shares_found[weekly, reference_weeks, spread])
                for spread in _SPREADS
            ),
        )
        for reference_weeks in (8, _SETTINGS.reference_weeks)
        for weekly in _WEEKLY
    ]
    promised, is_met = [], True
    for spread, least in PROMISED.items():
        share = shares_found[PROMISED_WEEKLY, _SETTINGS.reference_weeks, spread][-1]
        is_kept = share >= least - 2 * _error(least, count_runs)
        is_met &= is_kept
        promised.append((f"week effects {spread:g}", f"{share:.3f}", f"≥{least:g}", verdict(is_kept)))
    quiet = []
    for weekly in (200, 1_000):
        for spread in _SPREADS:
            share = share_of_quiet_rows(spread, weekly, count_quiet)
            is_kept = share <= LEVEL + 2 * _error(LEVEL, count_quiet)
            is_met &= is_kept
            quiet.append((f"{spread:g}, {weekly:,} a week", f"{share:.3f}", verdict(is_kept)))
    tables = [
        Table(
            f"One metric shifts by {SHIFT} standard deviations: share of {count_runs:,} runs that find it within "
            "1 / 2 / 3 weeks, by the standard deviation of week effects",
            ("volume", *(f"week effects {spread:g}" for spread in _SPREADS)),
            found,
        ),
        Table(
            f"Found within 3 weeks at {PROMISED_WEEKLY} a week, reference of {_SETTINGS.reference_weeks} weeks",
            ("sd of week effects", "share", "limit", "reached"),
            promised,
        ),
        Table(
            f"Single rows beyond their limit of {LEVEL:.0%} in quiet weeks, {count_quiet:,} series",
            ("sd of week effects", "mean_shift", "mean_shift at its level"),
            quiet,
        ),
    ]
    notes = [
        f"Found: {COUNT_METRICS} metrics over all interactions and in {COUNT_TOPICS} topics each are one family of "
        f"level {_SETTINGS.alarm_level * (1 - _SETTINGS.mix_share):g}; the shift is over all interactions. The "
        "reference leaves out the two weeks before it.",
        "Quiet weeks: a window of 3 weeks after a reference of 26.",
    ]
    return Outcome("drift", "Drift", tables, notes, is_quick, is_quick or is_met)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    options = argument_parser("drift", __doc__.splitlines()[0]).parse_args(arguments)
    return finish(run(options.quick), "python -m benchmarks.drift")


if __name__ == "__main__":
    sys.exit(main())
