"""The rows of every series: sizes, statistics and p-values of one metric or dimension, without alarms."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.monitoring.drift.chart import (
    Chart,
    MixShift,
    average_weeks,
    center_on_strata,
    chart_weeks,
    compare_mixes,
    correlate_weeks,
)
from hcat.monitoring.drift.periods import DriftSettings, Plan, name_dates
from hcat.monitoring.drift.reading import Interactions
from hcat.monitoring.drift.statistics import Period, Rows, arrange_rows, describe_period, error_by_cluster
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.clusters import sum_by_cluster
from hcat.statistics.memberships import Memberships

#: Memberships whose series are measured at once: the working copies of one take about 200 bytes.
MOST_MEMBERSHIPS: Final = 250_000


class Means(NamedTuple):
    """Scores of many series by week, freed of the mix."""

    #: With the centred scores.
    rows: Rows
    #: Week of each row, from 0, in the order of `rows`.
    weeks: Integers
    #: By series and week.
    counts: Floats
    means: Floats
    #: By week.
    is_reference: Flags
    #: Of the centred scores.
    reference: Period


def center_means(
    rows: Rows, weeks: Integers, is_reference: Flags, strata: Integers | None, settings: DriftSettings
) -> Means:
    """Return the weekly means of all series after each stratum was centred on its mean of the reference."""
    in_reference = is_reference[weeks]
    if strata is not None and len(strata):
        scores = center_on_strata(rows, in_reference, strata, int(strata.max()) + 1, settings.minimum_reference)
        rows = rows._replace(scores=scores)
    counts, means = average_weeks(rows, rows.scores, weeks, len(is_reference))
    return Means(rows, weeks, counts, means, is_reference, describe_period(rows, in_reference))


def compare_weeks(centred: Means, is_window: Flags) -> Chart:
    """Return the chart of one window: its error is that between weeks, and at least that between clusters."""
    rows, reference = centred.rows, centred.reference
    window = describe_period(rows, is_window[centred.weeks])
    return chart_weeks(
        centred.counts,
        centred.means,
        centred.is_reference,
        is_window,
        reference.variance * reference.weight,
        error_by_cluster(rows, reference, window),
    )


def measure_metric(
    metric_name: str,
    owners: Integers,
    scores: Floats,
    known: Interactions,
    cells: Memberships,
    strata: Integers | None,
    plan: Plan | None,
    settings: DriftSettings,
) -> list[dict[str, Any]]:
    """Return the rows of all series of one metric, without the columns of alarms."""
    place = np.full(len(known.ids), -1)
    place[owners] = np.arange(len(owners))
    is_scored = np.isfinite(scores)
    found: list[dict[str, Any]] = []
    for cell, interaction in cells.parts(MOST_MEMBERSHIPS):
        of_metric = place[interaction]
        is_own = of_metric >= 0
        if not is_own.any():
            continue
        members = _Members(*np.unique(cell[is_own], return_inverse=True), interaction[is_own], of_metric[is_own])
        names = [cells.names[code] for code in members.cells.tolist()]
        shared = [
            {"metric_name": metric_name, "dimension": dimension, "segment": segment} | counts
            for (dimension, segment), counts in zip(names, _count(members, is_scored, known), strict=True)
        ]
        found += _measure_windows(shared, members, scores, known, strata, plan, settings)
    return found


class _Members(NamedTuple):
    """Memberships of some cells that have a row of the metric; arrays but the first are of shape (n_memberships,)."""

    cells: Integers  # shape (n_series,): the cells with such a membership
    series: Integers  # place in `cells`
    interactions: npt.NDArray[np.int32]
    rows: Integers  # place among the rows of the metric


def _count(members: _Members, is_scored: Flags, known: Interactions) -> list[dict[str, int]]:
    """Return the scored interactions of each series, and how many of them have no week or an incomplete one."""
    interaction, own = members.interactions, is_scored[members.rows]
    counts = {
        "count_scored": own,
        "count_without_week": own & ~known.has_week[interaction],
        "count_incomplete_week": own & known.has_week[interaction] & ~known.is_complete[interaction],
    }
    columns = [np.bincount(members.series[flags], minlength=len(members.cells)).tolist() for flags in counts.values()]
    return [dict(zip(counts, values, strict=True)) for values in zip(*columns, strict=True)]


def _measure_windows(
    shared: list[dict[str, Any]],
    members: _Members,
    scores: Floats,
    known: Interactions,
    strata: Integers | None,
    plan: Plan | None,
    settings: DriftSettings,
) -> list[dict[str, Any]]:
    """Return the rows of the means, one per series and window, without what :func:`mark_alarms` adds."""
    if plan is None:
        return [
            row | _nothing("mean_shift", weeks, _status(row, (0.0, 0.0), 0, True, settings))
            for row in shared
            for weeks in settings.window_weeks
        ]
    interaction = members.interactions
    days = known.days[interaction]
    in_reference = (days >= plan.first) & (days < plan.reference_end)
    latest = min(window.start for window in plan.windows)
    of_metric = scores[members.rows]
    is_used = np.isfinite(of_metric) & known.is_complete[interaction] & (in_reference | (days >= latest))
    used = interaction[is_used]
    series, clusters, weights = members.series[is_used], known.clusters[used], known.weights[used]
    rows = arrange_rows(series, clusters, of_metric[is_used], len(shared), weights)
    days = days[is_used][rows.order]
    is_reference = in_reference[is_used][rows.order]
    mondays, weeks = np.unique(days, return_inverse=True)
    own_strata = None if strata is None else strata[interaction[is_used][rows.order]]
    centred = center_means(rows, weeks, mondays < plan.reference_end, own_strata, settings)
    reference = describe_period(rows, is_reference)
    found: list[dict[str, Any]] = []
    for number, row in enumerate(shared):
        if row["dimension"] == "all":
            weekly = (part[number, centred.is_reference] for part in (centred.counts, centred.means))
            row["lag_correlation"] = correlate_weeks(*weekly)
    for window in plan.windows:
        is_window = (days >= window.start) & (days < window.end) & ~is_reference
        period = describe_period(rows, is_window)
        chart = compare_weeks(centred, (mondays >= window.start) & ~centred.is_reference)
        tested = {
            "degrees_of_freedom": chart.degrees,
            "standard_error": chart.standard_error,
            "value_reference": chart.reference,
            "value_window": chart.window,
            "difference": chart.difference,
        }
        known_of_any = {
            "value_reference": reference.mean,
            "value_window": period.mean,
            "standard_deviation_reference": reference.standard_deviation,
        }
        for number, row in enumerate(shared):
            status = _status(
                row,
                (float(reference.effective[number]), float(period.effective[number])),
                int(chart.reference_weeks[number]),
                not np.isfinite(chart.p_value[number]),
                settings,
            )
            columns = known_of_any | (tested if status == "tested" else {})
            found.append(
                row
                | _nothing("mean_shift", window.weeks, status)
                | name_dates(plan.first, plan.reference_end, window.start, window.end)
                | _sizes(reference, period, number)
                | {name: float(column[number]) for name, column in columns.items()}
                | {"reference_weeks": int(chart.reference_weeks[number])}
            )
    return found


def measure_mix(
    known: Interactions, cells: Memberships, plan: Plan | None, settings: DriftSettings
) -> list[dict[str, Any]]:
    """Return the rows of the mix of segments, one per dimension and window, without the columns of alarms."""
    found: list[dict[str, Any]] = []
    for dimension, of_dimension in groupby(range(len(cells.names)), key=lambda cell: cells.names[cell][0]):
        if dimension == "all":
            continue
        own_cells = list(of_dimension)
        interactions = np.concatenate([cells.of(cell) for cell in own_cells])
        segments = np.repeat(np.arange(len(own_cells)), [len(cells.of(cell)) for cell in own_cells])
        clusters, has_week = known.clusters[interactions], known.has_week[interactions]
        own_days, complete = known.days[interactions], known.is_complete[interactions]
        shared = {
            "metric_name": None,
            "dimension": dimension,
            "segment": "all",
            "count_without_week": int((~has_week).sum()),
            "count_incomplete_week": int((has_week & ~complete).sum()),
            "count_scored": len(interactions),
        }
        if plan is None:
            status = _status(shared, (0.0, 0.0), 0, True, settings)
            found += [shared | _nothing("mix_shift", weeks, status) for weeks in settings.window_weeks]
            continue
        # one series whose scores nobody reads: only counts and effective rows
        no_scores, weights = np.zeros(len(segments)), known.weights[interactions]
        rows = arrange_rows(np.zeros(len(segments), dtype=np.int64), clusters, no_scores, 1, weights)
        ordered, own_days, complete = segments[rows.order], own_days[rows.order], complete[rows.order]
        is_reference = complete & (own_days >= plan.first) & (own_days < plan.reference_end)
        is_counted = is_reference | (complete & (own_days >= min(window.start for window in plan.windows)))
        mondays, weeks = np.unique(own_days[is_counted], return_inverse=True)
        keys = ordered[is_counted] * len(mondays) + weeks
        by_week = sum_by_cluster(rows.weights[is_counted], keys, len(own_cells) * len(mondays))
        by_week = by_week.reshape(len(own_cells), len(mondays))
        reference = describe_period(rows, is_reference)
        names = [cells.names[cell][1] for cell in own_cells]
        for window in plan.windows:
            is_window = complete & (own_days >= window.start) & (own_days < window.end) & ~is_reference
            period = describe_period(rows, is_window)
            before, after = float(reference.effective[0]), float(period.effective[0])
            mix = compare_mixes(
                by_week,
                mondays < plan.reference_end,
                (mondays >= max(window.start, plan.reference_end)) & (mondays < window.end),
                before,
                after,
                settings.minimum_expected,
            )
            status = _status(shared, (before, after), mix.reference_weeks, not mix.count_compared, settings)
            found.append(
                shared
                | _nothing("mix_shift", window.weeks, status)
                | name_dates(plan.first, plan.reference_end, window.start, window.end)
                | _sizes(reference, period, 0)
                | (_columns_of_mix(mix, names) if status == "tested" else {})
            )
    return found


def _columns_of_mix(mix: MixShift, names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of `mix_shift`, with the segment that speaks most against an unchanged mix in words."""
    places = mix.places.tolist()
    name = names[places[0]] if len(places) == 1 else f"{len(places)} rare segments"
    return {
        "statistic": mix.statistic,
        "degrees_of_freedom": mix.degrees,
        "p_value": mix.p_value,
        "count_compared": mix.count_compared,
        "value_reference": mix.reference,
        "value_window": mix.window,
        "difference": mix.window - mix.reference,
        "detail": f"{name}: {mix.reference:.1%} -> {mix.window:.1%}",
    }


def _status(
    row: Mapping[str, Any],
    effective: tuple[float, float],
    reference_weeks: int,
    is_constant: bool,
    settings: DriftSettings,
) -> str:
    """Return the status of a row from the effective rows of reference and window; a mix asks for more."""
    if not row["count_scored"]:
        return "no_scores"
    if row["count_without_week"] == row["count_scored"]:
        return "no_timestamps"
    least = settings.minimum_shape if row["metric_name"] is None else 0.0
    if effective[0] < max(settings.minimum_reference, least):
        return "too_few_reference"
    if reference_weeks < settings.minimum_weeks:
        return "too_few_weeks"
    if effective[1] < max(settings.minimum_window, least):
        return "too_few_window"
    return "constant" if is_constant else "tested"


def _nothing(test: str, weeks: int, status: str) -> dict[str, Any]:
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
