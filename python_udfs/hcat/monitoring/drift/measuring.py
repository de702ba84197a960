"""The rows of every series: sizes, statistics and p-values of one metric or dimension, without alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hcat.monitoring.drift.periods import WEEK_DAYS, Plan, name_dates
from hcat.monitoring.drift.reading import Interactions, Memberships, Weekly
from hcat.monitoring.drift.sequential import watch_means
from hcat.monitoring.drift.settings import DriftSettings
from hcat.monitoring.drift.statistics import (
    SERIES_TESTS,
    Period,
    Rows,
    arrange_rows,
    compare_means,
    compare_mixes,
    describe_period,
    distance_p_values,
    measure_distance,
    measure_stability,
    stability_p_values,
)
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.intervals import t_quantile

#: Status of a row -> meaning. Only a row with the status `tested` has a p-value.
STATUSES: Final = {
    "tested": "both periods hold enough",
    "no_scores": "the series has no score at all",
    "no_timestamps": "no scored interaction of the series says when it was asked",
    "too_few_reference": "the reference holds too few effective rows for the test",
    "too_few_window": "the window holds too few effective rows for the test",
    "constant": "nothing varies: equal scores, or a reference that cannot be split in two bins or segments",
}


def compare_period(
    rows: Rows, is_reference: Flags, is_window: Flags, reference: Period, window: Period, settings: DriftSettings
) -> dict[str, dict[str, npt.NDArray[Any]]]:
    """Return the columns of each test of one window.

    Parameters
    ----------
    rows : Rows
    is_reference, is_window : ndarray of bool, shape (n,)
        Which rows are of which period, in the order of `rows`.
    reference, window : Period
        The same periods, as :func:`hcat.monitoring.drift.statistics.describe_period` returns them.
    settings : DriftSettings

    Returns
    -------
    dict
        Test -> column -> ndarray, shape (count_series,): statistic, p_value and what
        :func:`hcat.monitoring.drift.alarms.decide` also reads. `is_constant` tells that nothing varies.

    Examples
    --------
    One series: reference 0, 2, 0, 2 and window 1, 3, each row of its own cluster.

    >>> scores = np.array([0.0, 2.0, 0.0, 2.0, 1.0, 3.0])
    >>> rows = arrange_rows(np.zeros(6, dtype=np.int64), np.arange(6), scores, 1)
    >>> is_reference = rows.order < 4
    >>> reference, window = describe_period(rows, is_reference), describe_period(rows, ~is_reference)
    >>> found = compare_period(rows, is_reference, ~is_reference, reference, window, DriftSettings())
    >>> float(found["mean_shift"]["difference"][0]), float(found["kolmogorov_smirnov"]["statistic"][0])
    (1.0, 0.5)
    """
    shift = compare_means(rows, reference, window)
    with np.errstate(invalid="ignore"):
        margin = t_quantile((1 + settings.confidence) / 2, shift.degrees) * shift.standard_error
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


def measure_metric(
    metric_name: str,
    owners: Integers,
    scores: Floats,
    known: Interactions,
    cells: Memberships,
    plan: Plan | None,
    watched: Mapping[tuple[str, str], Weekly],
    settings: DriftSettings,
) -> list[dict[str, Any]]:
    """Return the rows of all series of one metric, without the columns of alarms.

    Parameters
    ----------
    metric_name : str
    owners : ndarray of int, shape (n,)
        Place of the interaction of each score.
    scores : ndarray, shape (n,)
        NaN without a score.
    known : Interactions
    cells : Memberships
    plan : Plan or None
        None when no week of the logs is complete.
    watched : mapping of (str, str) to Weekly
        (dimension, segment) -> weekly means, for the sequential test.
    settings : DriftSettings
    """
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
    known: Interactions,
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
    rows = arrange_rows(series[is_used], known.clusters[interaction[is_used]], scores[member[is_used]], len(shared))
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
                    | name_dates(plan.first, plan.reference_end, window.start, window.end)
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
    count_weeks = max(0, (plan.end - plan.first) // WEEK_DAYS)
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
        dates = name_dates(plan.first, min(plan.base_end, plan.end), min(plan.base_end, plan.end), plan.end)
        found.append(row | _nothing(test, weeks, status) | dates | measured)
    return found


def measure_mix(
    known: Interactions, cells: Memberships, plan: Plan | None, settings: DriftSettings
) -> list[dict[str, Any]]:
    """Return the rows of the mix of segments, one per dimension and window, without the columns of alarms.

    Parameters
    ----------
    known : Interactions
    cells : Memberships
    plan : Plan or None
        None when no week of the logs is complete.
    settings : DriftSettings
    """
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
        clusters = known.clusters[cells.interactions[is_own]]
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
        rows = arrange_rows(np.zeros(len(segments), dtype=np.int64), clusters, np.zeros(len(segments)), 1)
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
                | name_dates(plan.first, plan.reference_end, window.start, window.end)
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
    """Return the status of a row from the effective rows of reference and window; ``shape`` asks for more rows."""
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
    counts = ("count_reference", "count_window", "count_clusters_reference", "count_clusters_window")
    return {"test": test, "window_weeks": weeks, "status": status} | dict.fromkeys(counts, 0)


def _sizes(reference: Period, window: Period, number: int) -> dict[str, Any]:
    """Return the columns of rows, clusters and effective rows of one series."""
    return {
        "count_reference": int(reference.count[number]),
        "count_window": int(window.count[number]),
        "count_clusters_reference": int(reference.count_clusters[number]),
        "count_clusters_window": int(window.count_clusters[number]),
        "effective_reference": float(reference.effective[number]),
        "effective_window": float(window.effective[number]),
    }


def _is_constant(rows: Rows) -> Flags:
    """Return which series hold one score only, or no row."""
    lowest, highest = np.full(rows.count_series, np.inf), np.full(rows.count_series, -np.inf)
    np.minimum.at(lowest, rows.series, rows.scores)
    np.maximum.at(highest, rows.series, rows.scores)
    return lowest >= highest


def _at(values: npt.NDArray[Any], number: int) -> float | None:
    """Return one value of an array, None where it is not finite."""
    value = float(values[number])
    return value if np.isfinite(value) else None
