"""Drift: how many weeks alarm when nothing drifts, how soon is a shift of .3 standard deviations found, PSI beside .1?

Scores are drawn, and every decision is made by `hcat.monitoring.drift.statistics` and
`hcat.monitoring.drift.alarms.decide` with the default settings. 960 series are looked at every week. A week alarms when
any test of any series does.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Outcome, Table, argument_parser, finish, verdict
from hcat.monitoring.drift.alarms import decide
from hcat.monitoring.drift.measuring import compare_period
from hcat.monitoring.drift.sequential import watch_means
from hcat.monitoring.drift.settings import DriftSettings
from hcat.monitoring.drift.statistics import (
    Rows,
    arrange_rows,
    compare_mixes,
    describe_period,
    measure_stability,
    stability_limit,
)
from hcat.statistics.arrays import Flags, Floats, Integers

COUNT_SERIES = 960
#: Largest share of weeks with an alarm when nothing drifts.
LIMIT_ALARMS = 0.01
#: Reference size -> least share of runs that find the shift within three weeks, at 200 interactions a week.
LIMIT_FOUND = {800: 0.85, 5_000: 0.95}
WEEKLY = 200
SHIFT = 0.3
COUNT_WEEKS = 3
SEED = 20260101
#: Standard errors of the simulation that the alarmed weeks may exceed their limit by.
LIMIT_ERRORS = 2.0

_SETTINGS = DriftSettings()
_WINDOW_TESTS = ("mean_shift", "population_stability", "kolmogorov_smirnov")
_BARE_LIMIT = 0.1
_SEGMENTS = 8
_DIMENSIONS = 10
_WATCHED_WEEKS = 52
_CHUNK = 250


@dataclass(frozen=True, slots=True)
class Scenario:
    """How scores arise, each of standard deviation 1.

    Attributes
    ----------
    name : str
    rows_per_cluster : int
        Siblings within a week.
    likeness : float
        Share of the variance that rows of a cluster have in common (intraclass correlation).
    is_repeated : bool
        The same clusters are asked every week.
    share_failing : float
        0 = normal scores; else scores are 0 (fails) or 1, before they are standardised.
    """

    name: str
    rows_per_cluster: int = 1
    likeness: float = 0.0
    is_repeated: bool = False
    share_failing: float = 0.0


INDEPENDENT = Scenario("independent interactions")
SIBLINGS = Scenario("clusters of 4 interactions, ICC .3", 4, 0.3)
REPEATED = Scenario("the same 200 queries every week, ICC .5", 1, 0.5, True)
RARE = Scenario("failures, 2 in 100", share_failing=0.02)


@dataclass(frozen=True, slots=True)
class Draw:
    """Scores of many series; columns are interactions, in the order of time.

    Attributes
    ----------
    scores : ndarray, shape (count_series, n)
    clusters, weeks : ndarray of int, shape (n,)
        Weeks of the reference are negative, -1 the last; those after it count from 0.
    """

    scores: Floats
    clusters: Integers
    weeks: Integers


def draw(
    random: np.random.Generator, scenario: Scenario, count_series: int, reference: int, weekly: int, count_weeks: int
) -> Draw:
    """Return scores without drift: ``reference`` rows in as many weeks as they fill, and ``count_weeks`` weeks more."""
    sizes = _split_reference(reference, weekly) + [weekly] * count_weeks
    weeks = np.repeat(np.arange(len(sizes)) - (len(sizes) - count_weeks), sizes)
    within = np.concatenate([np.arange(size) for size in sizes])
    local = within // scenario.rows_per_cluster
    clusters = local if scenario.is_repeated else (weeks - weeks.min()) * (weekly + 1) + local
    clusters = np.unique(clusters, return_inverse=True)[1]
    scores = random.standard_normal((count_series, len(weeks)))
    if scenario.likeness:
        shared = random.standard_normal((count_series, int(clusters.max()) + 1))
        scores = math.sqrt(scenario.likeness) * shared[:, clusters] + math.sqrt(1 - scenario.likeness) * scores
    if scenario.share_failing:
        from scipy.special import ndtri

        share = scenario.share_failing
        scores = ((scores > ndtri(share)) - (1 - share)) / math.sqrt(share * (1 - share))
    return Draw(scores, clusters, weeks)


def _split_reference(reference: int, weekly: int) -> list[int]:
    """Return the sizes of the reference's weeks: full weeks, the first one takes the rest."""
    count = max(1, reference // weekly)
    return [reference - weekly * (count - 1)] + [weekly] * (count - 1)


def look(found: Draw, week: int, settings: DriftSettings = _SETTINGS) -> dict[str, dict[str, Floats]]:
    """Return the columns of the tests of windows that end with ``week``, shape (count_series, n_windows) each."""
    count_series = len(found.scores)
    is_used = (found.weeks < 0) | ((found.weeks <= week) & (found.weeks > week - max(settings.window_weeks)))
    clusters, weeks = found.clusters[is_used], found.weeks[is_used]
    rows = arrange_rows(
        np.repeat(np.arange(count_series), len(clusters)),
        np.tile(clusters, count_series),
        found.scores[:, is_used].ravel(),
        count_series,
    )
    weeks = weeks[rows.order % len(clusters)]
    is_reference = weeks < 0
    reference = describe_period(rows, is_reference)
    columns: dict[str, dict[str, list[Floats]]] = {test: {} for test in _WINDOW_TESTS}
    for length, share in zip(settings.window_weeks, settings.window_shares, strict=True):
        is_window = ~is_reference & (weeks > week - length)
        period = describe_period(rows, is_window)
        shared = {
            "effective_reference": reference.effective,
            "effective_window": period.effective,
            "value_reference": reference.mean,
            "standard_deviation_reference": reference.standard_deviation,
            "share": np.full(count_series, share),
        }
        for test, values in compare_period(rows, is_reference, is_window, reference, period, settings).items():
            for name, column in (shared | values).items():
                columns[test].setdefault(name, []).append(np.asarray(column, dtype=np.float64))
    return {test: {name: np.stack(parts, axis=1) for name, parts in values.items()} for test, values in columns.items()}


def alarms(test: str, columns: Mapping[str, Floats], settings: DriftSettings = _SETTINGS) -> Flags:
    """Return which of the rows of one family alarm; columns of any shape are read as one family."""
    flat = {name: column.ravel() for name, column in columns.items()}
    tested = np.isfinite(flat["p_value"])
    flags = np.zeros(len(tested), dtype=np.bool_)
    if tested.any():
        level = settings.alarm_level * settings.alarm_shares[test]
        flags[tested] = decide(test, {name: column[tested] for name, column in flat.items()}, level, settings)[
            "is_drifting"
        ]
    return flags


def count_false_alarms(scenario: Scenario, count_looks: int, weekly: int = WEEKLY, seed: int = SEED) -> dict[str, int]:
    """Return in how many of ``count_looks`` independent weeks without drift each test of windows alarms, and any."""
    random = np.random.default_rng(seed)
    counts = dict.fromkeys((*_WINDOW_TESTS, "any"), 0)
    for _ in range(count_looks):
        found = look(draw(random, scenario, COUNT_SERIES, 4 * weekly, weekly, COUNT_WEEKS), COUNT_WEEKS - 1)
        fired = {test: bool(alarms(test, columns).any()) for test, columns in found.items()}
        for test, is_fired in fired.items():
            counts[test] += is_fired
        counts["any"] += any(fired.values())
    return counts


def count_false_mixes(count_looks: int, weekly: int = WEEKLY, seed: int = SEED) -> int:
    """Return in how many weeks without drift the mix of any of ten dimensions of eight segments alarms."""
    random = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, _SEGMENTS + 1)
    shares /= shares.sum()
    alarmed = 0
    for _ in range(count_looks):
        reference = random.multinomial(4 * weekly, shares, _DIMENSIONS).astype(np.float64)
        by_week = random.multinomial(weekly, shares, (COUNT_WEEKS, _DIMENSIONS)).astype(np.float64)
        tested = [
            compare_mixes(before, after, before.sum(), after.sum(), _SETTINGS.minimum_expected)
            for window in (by_week[-1], by_week.sum(axis=0))
            for before, after in zip(reference, window, strict=True)
        ]
        statistic, degrees, p_values = (np.array(column, dtype=np.float64) for column in zip(*tested, strict=True))
        nothing = np.full(len(tested), np.nan)
        columns = {
            "statistic": statistic,
            "degrees_of_freedom": degrees,
            "p_value": p_values,
            "effective_reference": nothing,
            "effective_window": nothing,
            "share": np.repeat(_SETTINGS.window_shares, _DIMENSIONS),
        }
        alarmed += bool(alarms("mix_shift", columns).any())
    return alarmed


def count_false_watches(count_runs: int, weekly: int = WEEKLY, seed: int = SEED) -> int:
    """Return in how many runs of 52 watched weeks without drift the sequential test alarms in any week of any series.

    Weekly means and variances are drawn from their exact law for independent normal scores.
    """
    random = np.random.default_rng(seed)
    alarmed = 0
    for _ in range(count_runs):
        shape = (COUNT_SERIES, _SETTINGS.base_weeks + _WATCHED_WEEKS)
        means = random.standard_normal(shape) / math.sqrt(weekly)
        variances = random.chisquare(weekly - 1, shape) / (weekly - 1) / weekly
        alarmed += bool(alarms("sequential_mean", _watch(np.full(shape, float(weekly)), means, variances)).any())
    return alarmed


def _watch(effective: Floats, means: Floats, variances: Floats) -> dict[str, Floats]:
    watch = watch_means(
        effective,
        means,
        variances,
        _SETTINGS.base_weeks,
        expected_shift=_SETTINGS.expected_shift,
        minimum_reference=_SETTINGS.minimum_reference,
        minimum_window=_SETTINGS.minimum_window,
        confidence=_SETTINGS.confidence,
    )
    nothing = np.full(len(watch.p_value), np.nan)
    return {
        "p_value": np.where(watch.is_watched, watch.p_value, np.nan),
        "effective_reference": nothing,
        "effective_window": nothing,
        "share": np.ones(len(nothing)),
    }


def share_found(
    scenario: Scenario, reference: int, weekly: int, count_runs: int, seed: int = SEED
) -> dict[str, list[float]]:
    """Return the share of runs in which each test, and any, has alarmed by the end of week 1, 2 and 3 of a shift.

    One series of 960 shifts by .3 standard deviations. The other 959 are given p = 1: whatever they did, the limit
    that the shifted one has to pass could only become laxer.
    """
    random = np.random.default_rng(seed)
    found: dict[str, list[Floats]] = {}
    for count in _chunks(count_runs):
        # two quiet weeks, so that the first windows of three hold one week of the shift
        drawn = draw(random, scenario, count, reference, weekly, COUNT_WEEKS + 2)
        drawn = Draw(drawn.scores + SHIFT * (drawn.weeks >= 2), drawn.clusters, drawn.weeks)
        by_test: dict[str, list[Flags]] = {}
        weekly_means = _describe_weeks(drawn)
        base = len(weekly_means[0][0]) - (COUNT_WEEKS + 2)
        for week in range(2, 2 + COUNT_WEEKS):
            columns = look(drawn, week)
            until = base + week + 1
            columns["sequential_mean"] = {
                name: column[:, None] for name, column in _watch(*(part[:, :until] for part in weekly_means)).items()
            }
            for test, values in columns.items():
                by_test.setdefault(test, []).append(
                    np.array([_alarms_among_quiet(test, values, number) for number in range(count)])
                )
        by_test["any"] = [np.logical_or.reduce(flags) for flags in zip(*by_test.values(), strict=True)]
        for test, flags in by_test.items():
            found.setdefault(test, []).append(np.logical_or.accumulate(np.array(flags), axis=0).astype(np.float64))
    return {test: np.concatenate(parts, axis=1).mean(axis=1).tolist() for test, parts in found.items()}


def _alarms_among_quiet(test: str, columns: Mapping[str, Floats], number: int) -> bool:
    """Return whether one series alarms in a family with 959 quiet ones, in any of its windows."""
    own = {name: column[number] for name, column in columns.items()}
    windows = len(own["p_value"])
    quiet = {name: np.full(windows, np.nan) for name in own} | {"p_value": np.ones(windows), "share": own["share"]}
    family = {name: np.concatenate([values, np.tile(quiet[name], COUNT_SERIES - 1)]) for name, values in own.items()}
    return bool(alarms(test, family)[:windows].any())


def _describe_weeks(found: Draw) -> tuple[Floats, Floats, Floats]:
    """Return effective rows, means and variances by week; the first ones of the reference are joined to four."""
    count_series, count = found.scores.shape
    rows = arrange_rows(
        np.repeat(np.arange(count_series), count),
        np.tile(found.clusters, count_series),
        found.scores.ravel(),
        count_series,
    )
    weeks = np.maximum(found.weeks, -_SETTINGS.base_weeks)[rows.order % count]
    periods = [describe_period(rows, weeks == week) for week in np.unique(weeks)]
    return (
        np.stack([period.effective for period in periods], axis=1),
        np.stack([period.mean for period in periods], axis=1),
        np.stack([period.variance for period in periods], axis=1),
    )


def _chunks(count: int) -> Iterator[int]:
    while count > 0:
        yield min(count, _CHUNK)
        count -= _CHUNK


def share_of_stability_alarms(window: int, reference: int, count: int, seed: int = SEED) -> tuple[float, float, float]:
    """Return how often an index of ten bins without drift exceeds .1, and its chance limit at 5 % and 1 %."""
    random = np.random.default_rng(seed)
    rows = _normal_rows(random, count, reference + window)
    is_window = rows.order % (reference + window) >= reference
    before, after = np.full(count, float(reference)), np.full(count, float(window))
    index, _, degrees = measure_stability(rows, ~is_window, is_window, before, after, 10, window / 10)
    limits = (
        stability_limit(np.full(count, level), degrees.astype(np.float64), before, after) for level in (0.05, 0.01)
    )
    five, one = (float((index > limit).mean()) for limit in limits)
    return float((index > _BARE_LIMIT).mean()), five, one


def _normal_rows(random: np.random.Generator, count_series: int, size: int) -> Rows:
    return arrange_rows(
        np.repeat(np.arange(count_series), size),
        np.tile(np.arange(size), count_series),
        random.standard_normal(count_series * size),
        count_series,
    )


def _error(share: float, count: int) -> float:
    return math.sqrt(share * (1 - share) / count)


def run(is_quick: bool = False) -> Outcome:
    """Return the outcome."""
    noise, is_noise_met = _noise_tables(is_quick)
    power, is_power_met = _power_tables(is_quick)
    stability_count = 2_000 if is_quick else 20_000
    stability = []
    for window in (50, 100, 200):
        bare, five, one = share_of_stability_alarms(window, 800, stability_count)
        stability.append((str(window), f"{bare:.1%}", f"{five:.1%}", f"{one:.1%}"))
    tables = [
        *noise,
        *power,
        Table(
            f"Stability index of ten bins without drift, reference of 800, {stability_count:,} windows: share above",
            ("interactions of the window", "a bare .1", "chance limit of 5 %", "chance limit of 1 %"),
            stability,
        ),
    ]
    shares = ", ".join(f"{test} {share:g}" for test, share in _SETTINGS.alarm_shares.items())
    notes = [
        f"{COUNT_SERIES} series, windows of 1 and 3 weeks, level {_SETTINGS.alarm_level:g} a week, shared: {shares}.",
        "Noise: every look is a new draw of reference and three weeks. The sequential test is counted over 52 weekly "
        "looks of a run: a run alarms when any of its weeks does. The rates of windows, mix and sequential test add up "
        "to an upper limit on all of them.",
        "Power: the reference leaves out the two weeks before the shift. Found = alarmed in week 1, 2 or 3 of it. "
        f"The limits apply to {WEEKLY} independent interactions a week; a reference of 800 is four such weeks. With "
        "fewer interactions the shift is found later, or not within three weeks.",
        "Tests of rare failures are cautious: their error takes the larger of both periods' variances, so that "
        "false alarms below the stated level are expected.",
        "The chance limits of the index are those of one series. At small windows they are least exact in the far "
        "tail, which is why an alarm also needs Pearson's chi-square (docs/drift.md).",
    ]
    is_met = is_noise_met and is_power_met
    return Outcome("drift", "Drift", tables, notes, is_quick, is_quick or is_met)


def _noise_tables(is_quick: bool) -> tuple[list[Table], bool]:
    looks = 10 if is_quick else 1_000
    lines, windows, is_met = [], {}, True
    for scenario in (INDEPENDENT, SIBLINGS, REPEATED, RARE):
        # the independent one is held against the limit with all tests, and drawn most often
        count = looks if scenario is INDEPENDENT else max(1, looks // 5)
        counts = count_false_alarms(scenario, count)
        windows[scenario.name] = counts["any"] / count
        lines.append(_noise_line(scenario.name, counts, count))
        is_met &= _is_rare(counts["any"], count)
    count_mixes, count_runs = (100, 2) if is_quick else (4_000, 200)
    mixes, watches = count_false_mixes(count_mixes), count_false_watches(count_runs)
    total = windows[INDEPENDENT.name] + mixes / count_mixes + watches / count_runs
    error = math.sqrt(
        _error(windows[INDEPENDENT.name], looks) ** 2
        + _error(mixes / count_mixes, count_mixes) ** 2
        + _error(watches / count_runs, count_runs) ** 2
    )
    is_total_met = total <= LIMIT_ALARMS + LIMIT_ERRORS * max(error, _error(LIMIT_ALARMS, looks))
    columns = ("scores, looks", "mean_shift", "population_stability", "kolmogorov_smirnov", "any (error)", "verdict")
    others = [
        ("mix_shift of 10 dimensions of 8 segments", f"{mixes} of {count_mixes:,} weeks", ""),
        (f"sequential_mean over {_WATCHED_WEEKS} looks", f"{watches} of {count_runs:,} runs", ""),
        ("all tests, independent interactions", f"{total:.4f} ({error:.4f})", verdict(is_total_met)),
    ]
    return [
        Table(
            f"Alarmed weeks without drift, {COUNT_SERIES} series, {WEEKLY} interactions a week, reference of 800: "
            f"share (at most {LIMIT_ALARMS:g})",
            columns,
            lines,
        ),
        Table("Alarms without drift of the other tests, and of all", ("test", "alarmed", "verdict"), others),
    ], is_met and is_total_met


def _is_rare(alarmed: int, count: int) -> bool:
    return alarmed / count <= LIMIT_ALARMS + LIMIT_ERRORS * _error(LIMIT_ALARMS, count)


def _noise_line(name: str, counts: Mapping[str, int], count: int) -> tuple[str, ...]:
    share = counts["any"] / count
    return (
        f"{name}, {count:,}",
        *(f"{counts[test] / count:.4f}" for test in _WINDOW_TESTS),
        f"{share:.4f} ({_error(share, count):.4f})",
        verdict(_is_rare(counts["any"], count)),
    )


def _power_tables(is_quick: bool) -> tuple[list[Table], bool]:
    lines, is_met = [], True
    cases = [(INDEPENDENT, reference, weekly) for reference in LIMIT_FOUND for weekly in (50, 100, 150, WEEKLY, 300)]
    cases += [(scenario, reference, WEEKLY) for scenario in (SIBLINGS, REPEATED) for reference in LIMIT_FOUND]
    for scenario, reference, weekly in cases:
        limit = LIMIT_FOUND[reference] if scenario is INDEPENDENT and weekly == WEEKLY else None
        # what is held against a limit is drawn most often
        count = 50 if is_quick else 1_000 if limit is None else 4_000
        found = share_found(scenario, reference, weekly, count)
        share = found["any"][-1]
        is_met &= limit is None or share >= limit
        lines.append(
            (
                f"{scenario.name}, reference {reference:,}, {weekly} a week; {count:,} runs",
                " / ".join(f"{value:.3f}" for value in found["mean_shift"]),
                f"{found['kolmogorov_smirnov'][-1]:.3f}",
                f"{found['population_stability'][-1]:.3f}",
                f"{found['sequential_mean'][-1]:.3f}",
                f"{share:.3f} ({_error(share, count):.3f})",
                "" if limit is None else f"{limit:g}: {verdict(share >= limit)}",
            )
        )
    return [
        Table(
            f"One of {COUNT_SERIES} series shifts by {SHIFT} standard deviations: share of runs that find it "
            "within 1 / 2 / 3 weeks (mean_shift) and within 3 weeks (others)",
            (
                "scores",
                "mean_shift",
                "kolmogorov_smirnov",
                "population_stability",
                "sequential_mean",
                "any (error)",
                "at least",
            ),
            lines,
        )
    ], is_met


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    options = argument_parser("drift", __doc__.splitlines()[0]).parse_args(arguments)
    return finish(run(options.quick), "python -m benchmarks.drift")


if __name__ == "__main__":
    sys.exit(main())
