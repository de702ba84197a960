"""Drift as Arrow tables: scores with their weeks become one row per series, window and test.

The statistics are those of :mod:`hcat.monitoring.drift`; here interactions become series and weeks become periods.

Periods. A week begins on Monday, and only complete weeks are looked at: one look a week. The reference is the first
`reference_weeks` complete weeks from `reference_start` on; while the logs are younger, as many as lie before the
longest window. All windows end with the last complete week and are never part of the reference. The sequential test
takes the first `base_weeks` of the reference for granted and watches all weeks since.

Alarms. One level a week is shared out over the tests (`alarm_shares`), so that the chance of any alarm without drift is
at most that level, however many series there are. Within a test all series and windows of a build are one family:
Benjamini and Hochberg, except the stability index, which is held against a chance limit with Bonferroni's correction.
Windows weigh by `window_shares`: p-values are divided by weights of mean 1 (Genovese, Roeder and Wasserman 2006), so
that most of the level goes to the window that finds the smaller changes.

Memory: one metric at a time. Measured on one core: 200,000 interactions in 10 dimensions take 1.7 s a metric and
430 MiB, 200 bytes per interaction and dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.monitoring.drift import (
    SERIES_TESTS,
    TESTS,
    Period,
    Rows,
    arrange_rows,
    compare_means,
    compare_mixes,
    describe_period,
    distance_limit,
    distance_p_values,
    measure_distance,
    measure_stability,
    rejection_limit,
    stability_limit,
    stability_p_values,
    watch_means,
)
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.multiple_tests import adjust_p_values

#: Status of a row -> meaning. Only `tested` has a p-value.
STATUSES: Final = {
    "tested": "both periods hold enough",
    "no_scores": "the series has no score at all",
    "no_timestamps": "no scored interaction of the series says when it was asked",
    "too_few_reference": "the reference holds too few effective rows for the test",
    "too_few_window": "the window holds too few effective rows for the test",
    "constant": "nothing varies: equal scores, or a reference that cannot be split in two bins or segments",
}

#: Status of a week -> meaning.
WEEK_STATUSES: Final = ("complete", "incomplete", "no_timestamp")

DRIFT_SCHEMA: Final = pa.schema(
    [
        ("metric_name", pa.string()),
        ("dimension", pa.string()),
        ("segment", pa.string()),
        ("test", pa.string()),
        ("window_weeks", pa.int64()),
        ("status", pa.string()),
        ("detail", pa.string()),
        ("window_start", pa.date32()),
        ("window_end", pa.date32()),
        ("reference_start", pa.date32()),
        ("reference_end", pa.date32()),
        ("count_reference", pa.int64()),
        ("count_window", pa.int64()),
        ("count_sources_reference", pa.int64()),
        ("count_sources_window", pa.int64()),
        ("effective_reference", pa.float64()),
        ("effective_window", pa.float64()),
        ("count_without_week", pa.int64()),
        ("count_incomplete_week", pa.int64()),
        ("statistic", pa.float64()),
        ("degrees_of_freedom", pa.float64()),
        ("limit_value", pa.float64()),
        ("value_reference", pa.float64()),
        ("value_window", pa.float64()),
        ("standard_deviation_reference", pa.float64()),
        ("standard_error", pa.float64()),
        ("difference", pa.float64()),
        ("difference_lower", pa.float64()),
        ("difference_upper", pa.float64()),
        ("band_lower", pa.float64()),
        ("band_upper", pa.float64()),
        ("p_value", pa.float64()),
        ("q_value", pa.float64()),
        ("alarm_level", pa.float64()),
        ("is_drifting", pa.bool_()),
    ]
)

_DAYS = 7
_EPOCH = date(1970, 1, 1)
#: Column of a week's mean -> those that :func:`bound_weeks` adds.
_BOUNDS = ("mean_lower", "mean_upper")


@dataclass(frozen=True, slots=True)
class DriftSettings:
    """Settings of the drift tests; units in parentheses.

    Attributes
    ----------
    reference_start : str
        ISO date from which weeks count as reference; empty = the first complete week of the logs.
    reference_weeks, base_weeks : int
        Longest reference, and what the sequential test takes for granted (weeks).
    window_weeks : sequence of int
        Lengths of the windows (weeks).
    window_shares : sequence of float
        Their shares of a test's level, above 0, together 1.
    minimum_reference, minimum_window, minimum_shape : float
        Least effective rows of the reference, of the window for a mean, and of both for a distribution or a mix.
    count_bins : int
        Most bins of the stability index.
    minimum_expected : float
        Effective rows that a bin or segment expects without drift.
    minimum_shift : float
        Least shift of a mean that alarms (standard deviations of the reference).
    minimum_distance : float
        Least Kolmogorov-Smirnov distance that alarms (0 to 1).
    expected_shift : float
        What the sequential test looks out for (standard deviations).
    alarm_level : float
        Largest share of weeks with any alarm when nothing drifts, in (0, 1).
    alarm_shares : mapping of str to float
        Test -> its share of the level, at least 0, together at most 1; 0 = shown, never alarms.
    confidence : float
        Of the intervals of differences, each for itself, in (0, 1).
    """

    reference_start: str = ""
    reference_weeks: int = 26
    base_weeks: int = 4
    window_weeks: Sequence[int] = (1, 3)
    window_shares: Sequence[float] = (0.05, 0.95)
    minimum_reference: float = 30.0
    minimum_window: float = 10.0
    minimum_shape: float = 50.0
    count_bins: int = 10
    minimum_expected: float = 10.0
    minimum_shift: float = 0.1
    minimum_distance: float = 0.1
    expected_shift: float = 0.3
    alarm_level: float = 0.01
    alarm_shares: Mapping[str, float] = field(
        default_factory=lambda: {
            "mean_shift": 0.96,
            "population_stability": 0.01,
            "kolmogorov_smirnov": 0.01,
            "sequential_mean": 0.01,
            "mix_shift": 0.01,
        }
    )
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse settings that no test could keep its promise with."""
        for name, least in (("reference_weeks", 1), ("base_weeks", 1), ("count_bins", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.base_weeks > self.reference_weeks:
            raise ValueError(
                f"base_weeks must not exceed reference_weeks, got {self.base_weeks} and {self.reference_weeks}"
            )
        lengths = list(self.window_weeks)
        if not lengths or min(lengths) < 1 or len(set(lengths)) != len(lengths):
            raise ValueError(f"window_weeks must be distinct lengths of at least 1, got {lengths}")
        parts = list(self.window_shares)
        if len(parts) != len(lengths) or min(parts) <= 0 or abs(sum(parts) - 1) > 1e-9:
            raise ValueError(f"window_shares must be {len(lengths)} shares above 0 that add up to 1, got {parts}")
        # two sources are the least that a variance can be made of
        for name in ("minimum_reference", "minimum_window", "minimum_shape"):
            if not getattr(self, name) >= 2:
                raise ValueError(f"{name} must be at least 2, got {getattr(self, name)}")
        for name in ("minimum_expected", "expected_shift"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("alarm_level", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must lie in (0, 1), got {getattr(self, name)}")
        for name in ("minimum_shift", "minimum_distance"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        if set(self.alarm_shares) != set(TESTS):
            raise ValueError(f"alarm_shares must name {', '.join(TESTS)}, got {', '.join(sorted(self.alarm_shares))}")
        shares = list(self.alarm_shares.values())
        if min(shares) < 0 or sum(shares) > 1 + 1e-9:
            raise ValueError(f"alarm_shares must be at least 0 and add up to at most 1, got {dict(self.alarm_shares)}")
        if self.reference_start:
            try:
                date.fromisoformat(self.reference_start)
            except ValueError:
                raise ValueError(
                    f"reference_start must be an ISO date or empty, got {self.reference_start!r}"
                ) from None


class Window(NamedTuple):
    """A window of complete weeks, as day numbers of Mondays: from `start` up to and without `end`."""

    weeks: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Which weeks are compared, as day numbers of Mondays (days since 1970-01-01); ends are exclusive.

    `first` = `reference_end` means that no week is left for a reference.
    """

    first: int
    reference_end: int
    base_end: int
    end: int
    windows: tuple[Window, ...]


class _Interactions(NamedTuple):
    """All interactions: ids, codes of their sources, Monday as day number, and whether the week is complete."""

    ids: pa.Array
    sources: Integers
    days: Integers
    has_week: Flags
    is_complete: Flags


class Weekly(NamedTuple):
    """Rows, effective rows, mean and variance of the mean of each week of the plan, shape (n_weeks,) each."""

    scored: Floats
    effective: Floats
    means: Floats
    variances: Floats

    @classmethod
    def without_rows(cls, count_weeks: int) -> Weekly:
        """Return weeks without rows."""
        return cls(*(np.full(count_weeks, value) for value in (0.0, 0.0, np.nan, np.nan)))


class _Memberships(NamedTuple):
    """(dimension, segment) names in order, and for each membership the interaction and the cell."""

    names: list[tuple[str, str]]
    interactions: Integers
    cells: Integers


def plan_periods(days: Integers, settings: DriftSettings) -> Plan | None:
    """Return which weeks are compared, given the Mondays of all complete weeks with interactions; None without any."""
    if not len(days):
        return None
    end = int(days.max()) + _DAYS
    first = int(days.min())
    if settings.reference_start:
        declared = (date.fromisoformat(settings.reference_start) - _EPOCH).days
        # the first Monday on or after the declared day: a week counts whole
        monday = declared + (first - declared) % _DAYS
        first = max(first, monday)
    windows = tuple(Window(weeks, end - _DAYS * weeks, end) for weeks in settings.window_weeks)
    reference_end = min(first + _DAYS * settings.reference_weeks, min(window.start for window in windows))
    return Plan(first, max(first, reference_end), first + _DAYS * settings.base_weeks, end, windows)


def measure_drift(
    interactions: pa.Table,
    segments: Iterable[pa.RecordBatch],
    evaluations: Iterable[pa.RecordBatch],
    weeks: pa.Table,
    settings: DriftSettings,
) -> pa.Table:
    """Return one row per (metric, dimension, segment, test, window), and one per (dimension, window) for the mix.

    Parameters
    ----------
    interactions : Table
        interaction_id, source_group, week_start (date of a Monday, null without a time), week_status (one of
        :data:`WEEK_STATUSES`).
    segments : iterable of RecordBatch
        interaction_id, dimension, segment; every interaction also in `all`, `all`. Read once.
    evaluations : iterable of RecordBatch
        metric_name, interaction_id, raw_score (null = none); ordered by metric_name, at most one row per interaction.
        Read once. Interactions without a row are not of the metric.
    weeks : Table
        metric_name, dimension, segment, week_start, week_status, count_scored, scored_effective, mean_score,
        standard_error: weekly means of the same scores, for the sequential test.
    settings : DriftSettings

    Returns
    -------
    Table
        Schema :data:`DRIFT_SCHEMA`, ordered by metric_name (null last), dimension, segment, test, window_weeks. A
        difference is window - reference in the unit of the metric.

    Raises
    ------
    ValueError
        If an interaction is named that is not among `interactions`, metrics do not stand together, or a week_status
        is unknown.
    """
    known = _read_interactions(interactions)
    cells = _read_memberships(segments, known)
    plan = plan_periods(known.days[known.is_complete], settings)
    watched = _read_weeks(weeks, plan)
    rows: list[dict[str, Any]] = []
    for metric_name, owners, scores in _read_metrics(evaluations, known):
        rows += _measure_metric(metric_name, owners, scores, known, cells, plan, watched.get(metric_name, {}), settings)
    rows += _measure_mix(known, cells, plan, settings)
    judge(rows, settings)
    rows.sort(
        key=lambda row: (
            row["metric_name"] is None,
            row["metric_name"] or "",
            row["dimension"],
            row["segment"],
            row["test"],
            row["window_weeks"] or 0,
        )
    )
    return pa.Table.from_pylist([_without_nan(row) for row in rows], schema=DRIFT_SCHEMA)


def measure_drift_of(
    interactions: pa.Table,
    segments: Iterable[pa.RecordBatch],
    evaluations: Iterable[pa.RecordBatch],
    weeks: pa.Table,
    settings: Mapping[str, Any],
) -> pa.Table:
    """Return :func:`measure_drift` with settings by name, as a dbt model reads them."""
    return measure_drift(interactions, segments, evaluations, weeks, DriftSettings(**settings))


def bound_weeks(weeks: pa.Table, confidence: float) -> pa.Table:
    """Return ``weeks`` with mean_lower and mean_upper: Student's interval of each week's mean, for itself.

    Parameters
    ----------
    weeks : Table
        mean_score, standard_error (by source), scored_effective, and any other columns.
    confidence : float
        In (0, 1).

    Returns
    -------
    Table
        Degrees of freedom = effective rows - 1; null where there is no standard error or at most one effective row.
    """
    from scipy.special import stdtrit

    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
    mean, error, effective = (_floats(weeks[name]) for name in ("mean_score", "standard_error", "scored_effective"))
    margin = np.full(len(mean), np.nan)
    is_known = np.isfinite(mean) & np.isfinite(error) & (np.nan_to_num(effective) > 1 + 1e-9)
    margin[is_known] = stdtrit(effective[is_known] - 1, (1 + confidence) / 2) * error[is_known]
    for name, values in zip(_BOUNDS, (mean - margin, mean + margin), strict=True):
        weeks = weeks.append_column(name, pa.array(values, pa.float64(), from_pandas=True))
    return weeks


def compare_period(
    rows: Rows, is_reference: Flags, is_window: Flags, reference: Period, window: Period, settings: DriftSettings
) -> dict[str, dict[str, npt.NDArray[Any]]]:
    """Return the columns of each test of one window: statistic, p_value and what :func:`decide` reads besides.

    Parameters
    ----------
    rows : Rows
    is_reference, is_window : ndarray of bool, shape (n,)
        Which rows are of which period, in the order of `rows`.
    reference, window : Period
        The same periods, described.
    settings : DriftSettings

    Returns
    -------
    dict
        Test -> column -> ndarray, shape (count_series,); `is_constant` says that nothing varies.
    """
    from scipy.special import stdtrit

    shift = compare_means(rows, reference, window)
    with np.errstate(invalid="ignore"):
        margin = stdtrit(shift.degrees, (1 + settings.confidence) / 2) * shift.standard_error
    before, after = reference.effective, window.effective
    index, chi_square, degrees = measure_stability(
        rows, is_reference, is_window, before, after, settings.count_bins, settings.minimum_expected
    )
    distance = measure_distance(rows, is_reference, is_window)
    return {
        "mean_shift": {
            "statistic": shift.statistic,
            "degrees_of_freedom": shift.degrees,
            "standard_error": shift.standard_error,
            "difference": shift.difference,
            "difference_lower": shift.difference - margin,
            "difference_upper": shift.difference + margin,
            "p_value": shift.p_value,
            "is_constant": ~np.isfinite(shift.p_value),
        },
        "population_stability": {
            "statistic": index,
            "degrees_of_freedom": degrees.astype(np.float64),
            "p_value": stability_p_values(index, chi_square, degrees, before, after),
            "is_constant": degrees == 0,
        },
        "kolmogorov_smirnov": {
            "statistic": distance,
            "p_value": distance_p_values(distance, before, after),
            "is_constant": _is_constant(rows),
        },
    }


def judge(rows: list[dict[str, Any]], settings: DriftSettings) -> None:
    """Add q_value, limit_value, band, alarm_level and is_drifting to the rows of one build, in place.

    A row needs test, status, window_weeks, p_value and, where its test has one, what its limit is made of:
    degrees_of_freedom, standard_error, difference, standard_deviation_reference, value_reference, effective_reference,
    effective_window.
    """
    for test in TESTS:
        level = settings.alarm_level * settings.alarm_shares[test]
        family = [row for row in rows if row["test"] == test]
        for row in family:
            row |= {"alarm_level": level, "is_drifting": False}
        tested = [row for row in family if row["status"] == "tested"]
        if not tested:
            continue
        columns = {
            name: _column(tested, name)
            for name in (
                "p_value",
                "statistic",
                "degrees_of_freedom",
                "effective_reference",
                "effective_window",
                "difference",
                "standard_error",
                "standard_deviation_reference",
                "value_reference",
            )
        }
        shares = dict(zip(settings.window_weeks, settings.window_shares, strict=True))
        columns["share"] = np.array([shares.get(row["window_weeks"], 1.0) for row in tested])
        if test == "sequential_mean":
            columns["share"] = np.ones(len(tested))
        found = decide(test, columns, level, settings)
        for name, values in found.items():
            for row, value in zip(tested, values.tolist(), strict=True):
                row[name] = value


def decide(
    test: str, columns: Mapping[str, Floats], level: float, settings: DriftSettings
) -> dict[str, npt.NDArray[Any]]:
    """Return q_value, limit_value and is_drifting (for `mean_shift` also the band) of all tested rows of one test.

    Parameters
    ----------
    test : str
        One of :data:`hcat.monitoring.drift.TESTS`.
    columns : mapping of str to ndarray, shape (n,)
        As in :func:`judge`, and `share`: that of the row's window.
    level : float
        The test's share of the alarm level; 0 = no row alarms and there is no limit.
    settings : DriftSettings
    """
    from scipy.special import chdtri, stdtrit

    weights = columns["share"] / columns["share"].mean()
    p_values = columns["p_value"] / weights
    count = len(p_values)
    before, after = columns["effective_reference"], columns["effective_window"]
    nothing: Floats = np.full(count, np.nan)
    if test == "population_stability":
        q_values: Floats = np.minimum(1.0, p_values * count)
        limit = level / count * weights
    else:
        q_values = adjust_p_values(p_values)
        limit = rejection_limit(p_values, level) * weights
    # a weighted limit may pass 1 when nearly everything is rejected
    limit = np.minimum(limit, 1.0)
    found: dict[str, npt.NDArray[Any]] = {"q_value": q_values}
    is_drifting = (q_values <= level) & (level > 0)
    if level <= 0:
        return found | {"limit_value": nothing, "is_drifting": is_drifting}
    if test == "mean_shift":
        quantile = -stdtrit(columns["degrees_of_freedom"], limit / 2)
        least = settings.minimum_shift * np.nan_to_num(columns["standard_deviation_reference"])
        margin = np.fmax(quantile * columns["standard_error"], least)
        found |= {
            "limit_value": np.fmax(quantile, least / columns["standard_error"]),
            "band_lower": columns["value_reference"] - margin,
            "band_upper": columns["value_reference"] + margin,
        }
        is_drifting &= np.abs(columns["difference"]) >= least
    elif test == "population_stability":
        found["limit_value"] = stability_limit(limit, columns["degrees_of_freedom"], before, after)
    elif test == "kolmogorov_smirnov":
        found["limit_value"] = np.fmax(distance_limit(limit, before, after), settings.minimum_distance)
        is_drifting &= columns["statistic"] >= settings.minimum_distance
    elif test == "sequential_mean":
        found["limit_value"] = -np.log(limit)
    else:
        found["limit_value"] = chdtri(columns["degrees_of_freedom"], limit)
    return found | {"is_drifting": is_drifting}


def _measure_metric(
    metric_name: str,
    owners: Integers,
    scores: Floats,
    known: _Interactions,
    cells: _Memberships,
    plan: Plan | None,
    watched: Mapping[tuple[str, str], Weekly],
    settings: DriftSettings,
) -> list[dict[str, Any]]:
    """Return the rows of all series of one metric, without what the family of the build decides."""
    place = np.full(len(known.ids), -1)
    place[owners] = np.arange(len(owners))
    of_metric = place[cells.interactions]
    is_own = of_metric >= 0
    member, cell = of_metric[is_own], cells.cells[is_own]
    present, series = np.unique(cell, return_inverse=True)
    count_series = len(present)
    is_scored = np.isfinite(scores)[member]
    interaction = owners[member]
    without_week = is_scored & ~known.has_week[interaction]
    incomplete = is_scored & known.has_week[interaction] & ~known.is_complete[interaction]
    counts = {
        "count_scored": np.bincount(series[is_scored], minlength=count_series),
        "count_without_week": np.bincount(series[without_week], minlength=count_series),
        "count_incomplete_week": np.bincount(series[incomplete], minlength=count_series),
    }
    shared: list[dict[str, Any]] = [
        {"metric_name": metric_name, "dimension": cells.names[code][0], "segment": cells.names[code][1]}
        | {name: int(values[number]) for name, values in counts.items()}
        for number, code in enumerate(present.tolist())
    ]
    rows = _measure_windows(shared, series, member, interaction, scores, known, plan, settings)
    rows += _watch(shared, watched, plan, settings)
    for row in rows:
        del row["count_scored"]
    return rows


def _measure_windows(
    shared: list[dict[str, Any]],
    series: Integers,
    member: Integers,
    interaction: Integers,
    scores: Floats,
    known: _Interactions,
    plan: Plan | None,
    settings: DriftSettings,
) -> list[dict[str, Any]]:
    """Return the rows of the tests that compare one window with the reference."""
    window_tests = tuple(test for test in SERIES_TESTS if test != "sequential_mean")
    if plan is None:
        return [
            row | _nothing(test, weeks, "no_scores" if not row["count_scored"] else _without_plan(row))
            for row in shared
            for test in window_tests
            for weeks in settings.window_weeks
        ]
    days = known.days[interaction]
    in_reference = (days >= plan.first) & (days < plan.reference_end)
    latest = min(window.start for window in plan.windows)
    is_used = np.isfinite(scores)[member] & known.is_complete[interaction] & (in_reference | (days >= latest))
    rows = arrange_rows(series[is_used], known.sources[interaction[is_used]], scores[member[is_used]], len(shared))
    days = days[is_used][rows.order]
    is_reference = in_reference[is_used][rows.order]
    reference = describe_period(rows, is_reference)
    found: list[dict[str, Any]] = []
    for window in plan.windows:
        is_window = (days >= window.start) & (days < window.end) & ~is_reference
        period = describe_period(rows, is_window)
        for test, columns in compare_period(rows, is_reference, is_window, reference, period, settings).items():
            shape = test != "mean_shift"
            statuses = [
                _status(row, before, after, is_constant, settings, shape)
                for row, before, after, is_constant in zip(
                    shared,
                    reference.effective.tolist(),
                    period.effective.tolist(),
                    columns.pop("is_constant").tolist(),
                    strict=True,
                )
            ]
            for number, (row, status) in enumerate(zip(shared, statuses, strict=True)):
                measured = {name: _at(values, number) for name, values in columns.items()}
                found.append(
                    row
                    | _nothing(test, window.weeks, status)
                    | _dates(plan.first, plan.reference_end, window.start, window.end)
                    | _sizes(reference, period, number)
                    | {"value_reference": _at(reference.mean, number), "value_window": _at(period.mean, number)}
                    | {"standard_deviation_reference": _at(reference.standard_deviation, number)}
                    | (measured if status == "tested" else {})
                )
    return found


def _watch(
    shared: list[dict[str, Any]],
    watched: Mapping[tuple[str, str], Weekly],
    plan: Plan | None,
    settings: DriftSettings,
) -> list[dict[str, Any]]:
    """Return the rows of the sequential test."""
    test = "sequential_mean"
    if plan is None:
        return [
            row | _nothing(test, None, "no_scores" if not row["count_scored"] else _without_plan(row)) for row in shared
        ]
    count_weeks = max(0, (plan.end - plan.first) // _DAYS)
    weeks = max(0, count_weeks - settings.base_weeks)
    silent = Weekly.without_rows(count_weeks)
    of_series = [watched.get((row["dimension"], row["segment"]), silent) for row in shared]
    count, effective, means, variances = (
        np.array(values).reshape(len(shared), count_weeks) for values in zip(*of_series, strict=True)
    )
    watch = watch_means(
        effective,
        means,
        variances,
        settings.base_weeks,
        expected_shift=settings.expected_shift,
        minimum_reference=settings.minimum_reference,
        minimum_window=settings.minimum_window,
        confidence=settings.confidence,
    )
    found = []
    for number, row in enumerate(shared):
        before = float(effective[number, : settings.base_weeks].sum())
        after = float(effective[number, settings.base_weeks :].sum())
        if watch.is_watched[number]:
            status = "tested"
        else:
            status = _status(row, before, after, False, settings, False)
            # rows enough in all, but never on both sides of a supposed change, or nothing that varies
            status = "constant" if status == "tested" else status
        measured: dict[str, Any] = {
            "count_reference": int(count[number, : settings.base_weeks].sum()),
            "count_window": int(count[number, settings.base_weeks :].sum()),
            "effective_reference": before,
            "effective_window": after,
        }
        if status == "tested":
            measured |= {
                "statistic": _at(watch.log_e_value, number),
                "p_value": _at(watch.p_value, number),
                "difference": _at(watch.difference, number),
                "difference_lower": _at(watch.lower, number),
                "difference_upper": _at(watch.upper, number),
            }
        dates = _dates(plan.first, min(plan.base_end, plan.end), min(plan.base_end, plan.end), plan.end)
        found.append(row | _nothing(test, weeks, status) | dates | measured)
    return found


def _measure_mix(
    known: _Interactions, cells: _Memberships, plan: Plan | None, settings: DriftSettings
) -> list[dict[str, Any]]:
    """Return the rows of the mix of segments, one per dimension and window."""
    dimensions = sorted({dimension for dimension, _ in cells.names} - {"all"})
    found: list[dict[str, Any]] = []
    of_cell = np.array([dimension for dimension, _ in cells.names], dtype=np.str_)
    days = known.days[cells.interactions]
    has_week = known.has_week[cells.interactions]
    is_complete = known.is_complete[cells.interactions]
    for dimension in dimensions:
        own_cells = np.flatnonzero(of_cell == dimension)
        is_own = np.isin(cells.cells, own_cells)
        segments = np.searchsorted(own_cells, cells.cells[is_own])
        sources = known.sources[cells.interactions[is_own]]
        own_days, complete = days[is_own], is_complete[is_own]
        shared = {
            "metric_name": None,
            "dimension": dimension,
            "segment": "all",
            "count_without_week": int((~has_week[is_own]).sum()),
            "count_incomplete_week": int((has_week[is_own] & ~complete).sum()),
            "count_scored": int(is_own.sum()),
        }
        if plan is None:
            status = _without_plan(shared)
            found += [shared | _nothing("mix_shift", weeks, status) for weeks in settings.window_weeks]
            continue
        # one series whose scores nobody reads: only counts and effective rows
        rows = arrange_rows(np.zeros(len(segments), dtype=np.int64), sources, np.zeros(len(segments)), 1)
        ordered, own_days, complete = segments[rows.order], own_days[rows.order], complete[rows.order]
        is_reference = complete & (own_days >= plan.first) & (own_days < plan.reference_end)
        reference = describe_period(rows, is_reference)
        names = [cells.names[code][1] for code in own_cells.tolist()]
        for window in plan.windows:
            is_window = complete & (own_days >= window.start) & (own_days < window.end) & ~is_reference
            period = describe_period(rows, is_window)
            before, after = float(reference.effective[0]), float(period.effective[0])
            expected, found_now = (
                np.bincount(ordered[part], minlength=len(names)).astype(np.float64)
                for part in (is_reference, is_window)
            )
            statistic, degrees, p_value = compare_mixes(expected, found_now, before, after, settings.minimum_expected)
            status = _status(shared, before, after, degrees == 0, settings, True)
            found.append(
                shared
                | _nothing("mix_shift", window.weeks, status)
                | _dates(plan.first, plan.reference_end, window.start, window.end)
                | _sizes(reference, period, 0)
                | (
                    {"statistic": statistic, "degrees_of_freedom": float(degrees), "p_value": p_value}
                    | _name_mover(names, expected, found_now)
                    if status == "tested"
                    else {}
                )
            )
    for row in found:
        del row["count_scored"]
    return found


def _name_mover(names: Sequence[str], reference: Floats, window: Floats) -> dict[str, Any]:
    """Return the share of the segment that moved most in both periods, and its name in words."""
    before, after = reference / reference.sum(), window / window.sum()
    most = int(np.argmax(np.abs(after - before)))
    return {
        "value_reference": float(before[most]),
        "value_window": float(after[most]),
        "difference": float(after[most] - before[most]),
        "detail": f"{names[most]}: {before[most]:.1%} -> {after[most]:.1%}",
    }


def _status(
    row: Mapping[str, Any], before: float, after: float, is_constant: bool, settings: DriftSettings, shape: bool
) -> str:
    if not row["count_scored"]:
        return "no_scores"
    if row["count_without_week"] == row["count_scored"]:
        return "no_timestamps"
    if before < (max(settings.minimum_reference, settings.minimum_shape) if shape else settings.minimum_reference):
        return "too_few_reference"
    if after < (max(settings.minimum_window, settings.minimum_shape) if shape else settings.minimum_window):
        return "too_few_window"
    return "constant" if is_constant else "tested"


def _without_plan(row: Mapping[str, Any]) -> str:
    """Return the status of a series when no week of the logs is complete."""
    return "no_timestamps" if row["count_without_week"] == row["count_scored"] else "too_few_reference"


def _nothing(test: str, weeks: int | None, status: str) -> dict[str, Any]:
    """Return the columns of a row about which nothing is known yet."""
    counts = ("count_reference", "count_window", "count_sources_reference", "count_sources_window")
    return {"test": test, "window_weeks": weeks, "status": status} | dict.fromkeys(counts, 0)


def _dates(first: int, reference_end: int, start: int, end: int) -> dict[str, date | None]:
    """Return the periods as first and last days; null for an empty one."""
    has_reference, has_window = reference_end > first, end > start
    return {
        "reference_start": _to_date(first) if has_reference else None,
        "reference_end": _to_date(reference_end - 1) if has_reference else None,
        "window_start": _to_date(start) if has_window else None,
        "window_end": _to_date(end - 1) if has_window else None,
    }


def _sizes(reference: Period, window: Period, number: int) -> dict[str, Any]:
    return {
        "count_reference": int(reference.count[number]),
        "count_window": int(window.count[number]),
        "count_sources_reference": int(reference.count_sources[number]),
        "count_sources_window": int(window.count_sources[number]),
        "effective_reference": float(reference.effective[number]),
        "effective_window": float(window.effective[number]),
    }


def _is_constant(rows: Rows) -> Flags:
    """Return which series hold one score only, or no row."""
    lowest, highest = np.full(rows.count_series, np.inf), np.full(rows.count_series, -np.inf)
    np.minimum.at(lowest, rows.series, rows.scores)
    np.maximum.at(highest, rows.series, rows.scores)
    return lowest >= highest


def _read_interactions(table: pa.Table) -> _Interactions:
    unknown = sorted(set(pc.unique(table["week_status"]).to_pylist()) - set(WEEK_STATUSES), key=str)
    if unknown:
        raise ValueError(f"week_status must be among {', '.join(WEEK_STATUSES)}, got {', '.join(map(str, unknown))}")
    sources = pc.index_in(table["source_group"], value_set=pc.unique(table["source_group"]))
    days = table["week_start"].cast(pa.date32()).cast(pa.int32())
    has_week = pc.is_valid(days).to_numpy(zero_copy_only=False)
    is_complete = pc.equal(table["week_status"], "complete").to_numpy(zero_copy_only=False)
    return _Interactions(
        _one_chunk(table["interaction_id"]),
        sources.to_numpy(zero_copy_only=False).astype(np.int64),
        pc.fill_null(days, 0).to_numpy(zero_copy_only=False).astype(np.int64),
        has_week,
        is_complete & has_week,
    )


def _read_memberships(segments: Iterable[pa.RecordBatch], known: _Interactions) -> _Memberships:
    schema = pa.schema([("interaction_id", pa.string()), ("dimension", pa.string()), ("segment", pa.string())])
    batches = [batch.select(schema.names).cast(schema) for batch in segments]
    table = pa.Table.from_batches(batches, schema=schema)
    keys = table.group_by(["dimension", "segment"]).aggregate([])
    names = sorted(zip(keys["dimension"].to_pylist(), keys["segment"].to_pylist(), strict=True))
    dimensions = sorted({dimension for dimension, _ in names})
    values = sorted({segment for _, segment in names})
    codes = _place(table["dimension"], pa.array(dimensions, pa.string()), "dimension") * max(1, len(values))
    codes = codes + _place(table["segment"], pa.array(values, pa.string()), "segment")
    # names are in order of dimension and segment, and so are their codes
    of_dimension = {name: place for place, name in enumerate(dimensions)}
    of_segment = {name: place for place, name in enumerate(values)}
    ordered = [of_dimension[first] * max(1, len(values)) + of_segment[second] for first, second in names]
    sorted_codes = np.array(ordered, dtype=np.int64)
    return _Memberships(
        names,
        _place(table["interaction_id"], known.ids, "interaction_id of segments"),
        np.searchsorted(sorted_codes, codes).astype(np.int64),
    )


def _read_metrics(
    evaluations: Iterable[pa.RecordBatch], known: _Interactions
) -> Iterator[tuple[str, Integers, Floats]]:
    """Yield name, interactions and scores of each metric when its last batch has come."""
    finished: set[str] = set()
    current: str | None = None
    parts: list[pa.RecordBatch] = []

    def collected() -> tuple[str, Integers, Floats]:
        table = pa.Table.from_batches(parts)
        owners = _place(table["interaction_id"], known.ids, "interaction_id of evaluations")
        return str(current), owners, _floats(table["raw_score"])

    for batch in evaluations:
        names = batch.column("metric_name")
        for name in pc.unique(names).to_pylist():
            if name != current:
                if current is not None:
                    yield collected()
                    finished.add(current)
                if name in finished:
                    raise ValueError(f"evaluations must be ordered by metric_name, got {name} again after {current}")
                current, parts = name, []
            parts.append(batch.filter(pc.equal(names, name)).select(["interaction_id", "raw_score"]))
    if current is not None:
        yield collected()


def _read_weeks(weeks: pa.Table, plan: Plan | None) -> dict[str, dict[tuple[str, str], Weekly]]:
    """Return effective rows, means and variances by metric and series, each of one number per week of the plan."""
    found: dict[str, dict[tuple[str, str], Weekly]] = {}
    if plan is None:
        return found
    count_weeks = max(0, (plan.end - plan.first) // _DAYS)
    for row in weeks.to_pylist():
        if row["week_status"] != "complete" or not row["scored_effective"]:
            continue
        number = ((row["week_start"] - _EPOCH).days - plan.first) // _DAYS
        if not 0 <= number < count_weeks:
            continue
        series = found.setdefault(row["metric_name"], {}).setdefault(
            (row["dimension"], row["segment"]),
            Weekly.without_rows(count_weeks),
        )
        series.scored[number] = row["count_scored"]
        series.effective[number] = row["scored_effective"]
        series.means[number] = row["mean_score"]
        if row["standard_error"] is not None:
            series.variances[number] = row["standard_error"] ** 2
    return found


def _place(column: pa.ChunkedArray, values: pa.Array, name: str) -> Integers:
    """Return the position of each value of a column among ``values``."""
    found = pc.index_in(column, value_set=values)
    if found.null_count:
        missing = column.filter(pc.is_null(found))[0].as_py()
        raise ValueError(f"{name} must be among the {len(values)} known ones, got {missing!r}")
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    chunk = column.cast(pa.string()).combine_chunks()
    return pa.concat_arrays(chunk.chunks) if isinstance(chunk, pa.ChunkedArray) else chunk


def _floats(column: pa.ChunkedArray) -> Floats:
    """Return a column as doubles, NaN for null."""
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> Floats:
    return np.array([np.nan if row.get(name) is None else row[name] for row in rows], dtype=np.float64)


def _at(values: npt.NDArray[Any], number: int) -> float | None:
    value = float(values[number])
    return value if np.isfinite(value) else None


def _without_nan(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and not np.isfinite(value) else value for name, value in row.items()}


def _to_date(day: int) -> date:
    return _EPOCH + timedelta(days=day)
