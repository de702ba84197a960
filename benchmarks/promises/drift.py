"""Drift: alarmed weeks when nothing drifts inside topics, and how often a real shift is found.

Weeks differ by chance, clusters are uneven, holidays are quiet, quarter ends bring other topics. Every score is drawn,
and every decision is made by the functions of the product with its default settings: the chart of the means, the chart
of the mix, and the division of the level.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from benchmarks.promises.common import Designs, Promise, promise_of_share, zipf_sizes
from hcat.monitoring.drift.alarms import decide, share_level
from hcat.monitoring.drift.chart import Chart, compare_mixes, correlate_weeks, pool_correlations, widen_errors
from hcat.monitoring.drift.measuring import center_means, compare_weeks
from hcat.monitoring.drift.periods import DriftSettings
from hcat.monitoring.drift.statistics import arrange_rows
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.intervals import t_tail

NO_ALARM: Final = "A week in which no topic changes raises no alarm: share of weekly looks with any alarm"
NO_MEAN_ALARM: Final = "A change of the mix alone raises no alarm of a mean: share of weekly looks with one"
FOUND: Final = "A shift of a mean is found: share of runs that find it in time"
LIMIT_ALARMS: Final = 0.012
SETTINGS: Final = DriftSettings()
#: Relative sizes of the topics, and how far their means lie apart (standard deviations of a score).
TOPIC_SHARES: Final = np.array([0.4, 0.25, 0.2, 0.1, 0.05])
TOPIC_SPREAD: Final = 0.6
#: Weeks of a quarter, and how much of a quarter end's volume goes to one topic.
QUARTER_WEEKS: Final = 13
QUARTER_SHARE: Final = 0.25
YEAR_WEEKS: Final = 52
#: Volume of a holiday week, as a share of the usual one.
HOLIDAY_VOLUME: Final = 0.2
#: A run draws every interaction of half a year: so many fewer runs than in the other parts.
RUNS_DIVISOR: Final = 5


@dataclass(frozen=True, slots=True)
class Design:
    """How logs arise; scores have standard deviation 1 within a topic and week."""

    name: str
    #: Interactions of a usual week.
    weekly: int = 200
    #: Each is looked at over all interactions and in five topics.
    count_metrics: int = 10
    #: Standard deviation of the effect of a week, drawn for each metric and each week.
    week_spread: float = 0.0
    #: Lag-1 correlation of these effects, and the height of a wave that takes a year.
    week_likeness: float = 0.0
    season: float = 0.0
    #: Zipf clusters a week, the largest with a tenth of the rows; 0 = each interaction is its own.
    count_clusters: int = 0
    #: Share of the variance that rows of a cluster have in common.
    likeness: float = 0.3
    #: Weeks with few interactions; negative ones count from the last.
    holidays: tuple[int, ...] = ()
    #: Every 13th week brings one topic more; which one is drawn, and so is the phase.
    has_quarters: bool = False
    #: Share that moves from the first topic to the third over all weeks.
    slow_mix: float = 0.0
    #: Weeks of the reference.
    reference: int = 26
    #: Of the first metric, after the reference.
    shift: float = 0.0
    #: Weeks over which the shift grows; 1 = at once.
    weeks_to_shift: int = 1
    #: Weekly looks after the reference.
    weeks_to_find: int = 3


@dataclass(frozen=True, slots=True)
class Logs:
    """Interactions by week: scores of shape (count_metrics, n), the rest of shape (n,)."""

    scores: Floats
    weeks: Integers
    topics: Integers
    clusters: Integers


QUIET: Final = (
    *(
        Design(f"week effects of sd {spread:g}, {weekly:,} a week", weekly, metrics, spread)
        for weekly, metrics in ((200, 10), (1_000, 5))
        for spread in (0.0, 0.05, 0.10, 0.15)
    ),
    Design("Zipf clusters of likeness .3, week effects of sd .05", count_clusters=40, week_spread=0.05),
    Design("holidays in reference and window, no week effects", holidays=(7, 20, -2)),
    Design("holidays in reference and window, week effects of sd .10", week_spread=0.1, holidays=(7, 20, -2)),
    Design("two of the last three weeks are holidays, week effects of sd .10", week_spread=0.1, holidays=(-3, -1)),
    Design("quarter ends with other topics, week effects of sd .05", week_spread=0.05, has_quarters=True),
    Design("quarter ends with other topics, 1,000 a week", 1_000, 5, 0.05, has_quarters=True),
    Design("a reference of 8 weeks, week effects of sd .10", week_spread=0.1, reference=8),
    Design("week effects of sd .10 that correlate by .5", week_spread=0.1, week_likeness=0.5),
    Design("week effects of sd .10 that correlate by .8", week_spread=0.1, week_likeness=0.8),
    Design("a season of .1 sd, a year of reference", week_spread=0.05, season=0.1, reference=YEAR_WEEKS),
)
OTHER_MIX: Final = (
    Design("a fifth of the questions moves to another topic in half a year", week_spread=0.05, slow_mix=0.2),
    Design("the first quarter end, after 8 weeks", week_spread=0.05, has_quarters=True, reference=8),
)
AT_ONCE: Final = Design(".3 sd at once, 200 a week, within 3 weeks", count_metrics=20, shift=0.3)
#: Design -> least share of runs that find the shift; None = shown.
SHIFTED: Final = (
    (AT_ONCE, 0.95),
    (replace(AT_ONCE, name=f"{AT_ONCE.name}, week effects of sd .05", week_spread=0.05), 0.85),
    (replace(AT_ONCE, name=f"{AT_ONCE.name}, week effects of sd .10", week_spread=0.1), None),
    (replace(AT_ONCE, name=f"{AT_ONCE.name}, quarter ends", has_quarters=True), 0.95),
    (Design("ramp to .3 sd in 8 weeks, 300 a week", 300, 20, shift=0.3, weeks_to_shift=8, weeks_to_find=8), 0.95),
)


def designs(seed: int) -> Designs:
    """Return the alarmed looks of every quiet design, and the found shifts; a fifth of the runs each."""
    found: dict[str, Callable[[int], list[Promise]]] = {}
    for is_other_mix, listed in ((False, QUIET), (True, OTHER_MIX)):
        for number, design in enumerate(listed):
            found[design.name] = partial(_of_quiet, is_other_mix, number, seed)
    return found | {design.name: partial(_of_shifted, number, seed) for number, (design, _) in enumerate(SHIFTED)}


def _of_quiet(is_other_mix: bool, number: int, seed: int, count_runs: int) -> list[Promise]:
    design, count = (OTHER_MIX if is_other_mix else QUIET)[number], max(2, count_runs // RUNS_DIVISOR)
    looks = [_look_last(np.random.default_rng([seed, 1 + is_other_mix, number, run]), design) for run in range(count)]
    note = f"means {np.mean([mean for mean, _ in looks]):.3f}, mix {np.mean([mix for _, mix in looks]):.3f}"
    alarmed = [mean or (mix and not is_other_mix) for mean, mix in looks]
    text = NO_MEAN_ALARM if is_other_mix else NO_ALARM
    return [promise_of_share(text, design.name, alarmed, high=LIMIT_ALARMS, note=note)]


def _of_shifted(number: int, seed: int, count_runs: int) -> list[Promise]:
    (design, least), count = SHIFTED[number], max(2, count_runs // RUNS_DIVISOR)
    hits = [_finds(np.random.default_rng([seed, 3, number, run]), design) for run in range(count)]
    return [promise_of_share(FOUND, design.name, hits, low=least)]


def draw_logs(random: np.random.Generator, design: Design) -> Logs:
    """Return the logs of reference and looked-at weeks."""
    count_weeks = design.reference + design.weeks_to_find
    volumes = np.full(count_weeks, design.weekly)
    volumes[list(design.holidays)] = round(design.weekly * HOLIDAY_VOLUME)
    weeks = np.repeat(np.arange(count_weeks), volumes)
    topics = _draw_topics(random, design, weeks, count_weeks)
    scores = random.standard_normal((design.count_metrics, len(weeks)))
    clusters = np.arange(len(weeks))
    if design.count_clusters:
        sizes = zipf_sizes(random, design.count_clusters)
        of_rows = random.choice(design.count_clusters, len(weeks), p=sizes / sizes.sum())
        clusters = np.unique(weeks * design.count_clusters + of_rows, return_inverse=True)[1]
        shared = random.standard_normal((design.count_metrics, int(clusters.max()) + 1))
        scores = math.sqrt(design.likeness) * shared[:, clusters] + math.sqrt(1 - design.likeness) * scores
    scores += _draw_weeks(random, design, count_weeks)[:, weeks]
    scores += random.normal(0, TOPIC_SPREAD, (design.count_metrics, len(TOPIC_SHARES)))[:, topics]
    grown = np.clip((weeks - design.reference + 1) / design.weeks_to_shift, 0, 1)
    scores[0] += design.shift * grown
    return Logs(scores, weeks, topics, clusters)


def _draw_weeks(random: np.random.Generator, design: Design, count_weeks: int) -> Floats:
    """Return the effects of weeks, shape (count_metrics, count_weeks)."""
    effects = random.standard_normal((design.count_metrics, count_weeks))
    for week in range(1, count_weeks):
        own = math.sqrt(1 - design.week_likeness**2) * effects[:, week]
        effects[:, week] = design.week_likeness * effects[:, week - 1] + own
    wave = np.sin(2 * np.pi * (np.arange(count_weeks) / YEAR_WEEKS + random.random()))
    return design.week_spread * effects + design.season * wave


def _draw_topics(random: np.random.Generator, design: Design, weeks: Integers, count_weeks: int) -> Integers:
    shares = np.tile(TOPIC_SHARES, (count_weeks, 1))
    if design.has_quarters:
        # a young reference sees its first quarter end in the window
        phase = int(random.integers(QUARTER_WEEKS)) if design.reference >= QUARTER_WEEKS else count_weeks - 2
        ends = np.arange(count_weeks) % QUARTER_WEEKS == phase % QUARTER_WEEKS
        shares[ends] *= 1 - QUARTER_SHARE
        shares[ends, 2] += QUARTER_SHARE
    moved = design.slow_mix * np.arange(count_weeks) / (count_weeks - 1)
    shares[:, 0] -= moved
    shares[:, 2] += moved
    limits = shares.cumsum(axis=1)[weeks]
    found: Integers = (random.random(len(weeks))[:, None] > limits[:, :-1]).sum(axis=1)
    return found


def look(logs: Logs, reference: int, last: int) -> tuple[Flags, bool]:
    """Return which metrics alarm, shape (count_metrics,), and whether the mix does, at the end of week ``last``."""
    count_metrics = len(logs.scores)
    windows = {length: last - length + 1 for length in SETTINGS.window_weeks}
    kept = np.flatnonzero((logs.weeks < reference) | ((logs.weeks >= min(windows.values())) & (logs.weeks <= last)))
    weeks, topics = logs.weeks[kept], logs.topics[kept]
    starts = np.arange(last + 1)
    is_reference = starts < reference
    count_series, count_topics = count_metrics * (1 + len(TOPIC_SHARES)), len(TOPIC_SHARES)
    of_all = np.repeat(np.arange(count_metrics), len(kept))
    series = np.concatenate([of_all, count_metrics + of_all * count_topics + np.tile(topics, count_metrics)])
    places = np.tile(kept, 2 * count_metrics)
    scores = np.tile(logs.scores[:, kept].ravel(), 2)
    rows = arrange_rows(series, logs.clusters[places], scores, count_series)
    of_rows = places[rows.order]
    centred = center_means(rows, logs.weeks[of_rows], is_reference, logs.topics[of_rows], SETTINGS)
    in_windows = {length: (starts >= start) & ~is_reference for length, start in windows.items()}
    charts = [compare_weeks(centred, in_window) for in_window in in_windows.values()]
    weekly = zip(centred.counts[:count_metrics, :reference], centred.means[:, :reference], strict=False)
    lags = np.array([correlate_weeks(*of_metric) for of_metric in weekly])
    correlation = pool_correlations(lags, reference, SETTINGS.minimum_weeks_correlated)
    charts = [_widen(chart, correlation, is_in.sum()) for chart, is_in in zip(charts, in_windows.values(), strict=True)]
    is_drifting = _alarms_of_means(charts, list(windows), centred.reference.standard_deviation, count_metrics)
    by_week = np.zeros((count_topics, last + 1))
    np.add.at(by_week, (topics, weeks), 1.0)
    return is_drifting, _alarm_of_mix(by_week, is_reference, in_windows)


def _widen(chart: Chart, correlation: float, window_weeks: int) -> Chart:
    """Return the chart with the errors that correlated weeks have."""
    weeks = chart.reference_weeks.astype(np.float64)
    factor, share = widen_errors(correlation, weeks, np.full(len(weeks), float(window_weeks)))
    error, degrees = chart.standard_error * factor, chart.degrees * share
    p_value = 2 * t_tail(np.abs(chart.difference) / error, degrees)
    return chart._replace(standard_error=error, degrees=degrees, p_value=p_value)


def _alarms_of_means(charts: Sequence[Chart], windows: Sequence[int], deviation: Floats, count_metrics: int) -> Flags:
    """Return which metrics alarm in any of their series."""
    count_series = len(deviation)
    dimensions = ["all" if number < count_metrics else "topic" for number in range(count_series)] * len(charts)
    lengths = [length for length in windows for _ in range(count_series)]
    columns = {
        "p_value": np.concatenate([chart.p_value for chart in charts]),
        "degrees_of_freedom": np.concatenate([chart.degrees for chart in charts]),
        "standard_error": np.concatenate([chart.standard_error for chart in charts]),
        "difference": np.concatenate([chart.difference for chart in charts]),
        "value_reference": np.concatenate([chart.reference for chart in charts]),
        "standard_deviation_reference": np.tile(deviation, len(charts)),
    }
    level = SETTINGS.alarm_level * (1 - SETTINGS.mix_share)
    found = decide("mean_shift", columns, share_level(dimensions, lengths, SETTINGS), level, SETTINGS)
    owners = np.concatenate([np.arange(count_metrics), np.repeat(np.arange(count_metrics), len(TOPIC_SHARES))])
    return np.bincount(np.tile(owners, len(charts)), found["is_drifting"], count_metrics) > 0


def _alarm_of_mix(by_week: Floats, is_reference: Flags, windows: dict[int, Flags]) -> bool:
    mixes = [
        compare_mixes(
            by_week,
            is_reference,
            in_window,
            float(by_week[:, is_reference].sum()),
            float(by_week[:, in_window].sum()),
            SETTINGS.minimum_expected,
        )
        for in_window in windows.values()
    ]
    columns = {
        "p_value": np.array([mix.p_value for mix in mixes]),
        "degrees_of_freedom": np.array([mix.degrees for mix in mixes]),
        "count_compared": np.array([float(mix.count_compared) for mix in mixes]),
    }
    shares = share_level(["topic"] * len(mixes), list(windows), SETTINGS)
    level = SETTINGS.alarm_level * SETTINGS.mix_share
    return bool(decide("mix_shift", columns, shares, level, SETTINGS)["is_drifting"].any())


def _look_last(random: np.random.Generator, design: Design) -> tuple[bool, bool]:
    """Return whether any mean and whether the mix alarms at the end of the last week."""
    means, mix = look(draw_logs(random, design), design.reference, design.reference + design.weeks_to_find - 1)
    return bool(means.any()), mix


def _finds(random: np.random.Generator, design: Design) -> bool:
    """Return whether the first metric alarms at any of the weekly looks after the reference, the last one first."""
    logs = draw_logs(random, design)
    lasts = range(design.reference + design.weeks_to_find - 1, design.reference - 1, -1)
    return any(bool(look(logs, design.reference, last)[0][0]) for last in lasts)
