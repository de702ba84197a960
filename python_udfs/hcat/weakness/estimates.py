"""Estimates of cells from their sums: value, rest and difference, with standard errors that leave out whole clusters.

SQL adds up (``int_cell_sums``); here the sums become estimates. A cell is compared with the rest of its partition: all
other interactions that have a value in its dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.statistics.arrays import Floats, Integers
from hcat.statistics.clusters import JackknifeEstimates, jackknife_cells

#: Measurement -> column that counts its rows, and column that adds up their values.
SUMS: Final = {
    "mean_score": ("count_scored", "sum_scores"),
    "share_failing": ("count_decided", "count_failing"),
    "share_failing_of_all": ("count_decided_of_all", "count_failing_of_all"),
}
#: Half of the clusters -> column of the cells that counts those with an interaction.
HALVES: Final = {"all": "count_clusters", "first": "count_clusters_first", "second": "count_clusters_second"}
#: Figures in the unit of the measurement.
_IN_UNITS: Final = ("value", "standard_error", "rest_value", "difference", "difference_standard_error")
_KEYS: Final = ("cell_id", "metric_name", "first_dimension", "first_segment", "second_dimension", "second_segment")


def estimate_cells(cells: pa.Table, sums: pa.Table, groups: pa.Table) -> pa.Table:
    """Return one row per (cell, measurement, half of the clusters).

    Parameters
    ----------
    cells : Table
        int_metric_cells: cell_id, metric_name, first_dimension, first_segment, second_dimension, second_segment,
        metric_number, cell_number, partition_number, scores_per_unit, count_interactions, count_clusters,
        count_clusters_first, count_clusters_second.
    sums : Table
        int_cell_sums: metric_number, cell_number, jackknife_group, sum_squared_scores and the columns of :data:`SUMS`,
        whole numbers. A cell without a score has no row.
    groups : Table
        jackknife_group, half (`first` or `second`).

    Returns
    -------
    Table
        The key columns of the cells, measurement, half, count_interactions (of the whole cell), count_clusters (of the
        half), the fields of :class:`hcat.statistics.clusters.JackknifeEstimates` and standard_deviation. Figures are
        null where there is nothing to estimate from. Cells keep their order.

    Examples
    --------
    Two clusters of one answer each: one fails in the cell, none in the rest.

    >>> cells = {"cell_id": ["a", "b"], "metric_name": ["m"] * 2, "first_dimension": ["topic"] * 2}
    >>> cells |= {"first_segment": ["cards", "loans"], "metric_number": [1, 1], "cell_number": [1, 2]}
    >>> cells |= {name: pa.nulls(2, pa.string()) for name in ("second_dimension", "second_segment")}
    >>> cells |= {"partition_number": [1, 1], "scores_per_unit": [1.0, 1.0], "count_interactions": [1, 1]}
    >>> cells |= {name: [1, 1] for name in HALVES.values()}
    >>> sums = {"metric_number": [1, 1], "cell_number": [1, 2], "jackknife_group": [1, 2]}
    >>> sums |= {name: [1, 1] for names in SUMS.values() for name in names} | {"sum_squared_scores": [1, 1]}
    >>> sums["count_failing"] = [1, 0]
    >>> groups = pa.table({"jackknife_group": [1, 2], "half": ["first", "second"]})
    >>> found = estimate_cells(pa.table(cells), pa.table(sums), groups).to_pylist()
    >>> [row["difference"] for row in found if row["measurement"] == "share_failing" and row["half"] == "all"]
    [1.0, -1.0]
    """
    located = _locate(cells, sums)
    half_of = np.zeros(1 + max(groups["jackknife_group"].to_pylist(), default=0), dtype="U6")
    half_of[groups["jackknife_group"].to_numpy()] = groups["half"].to_pylist()
    estimates = _make_estimates(cells.num_rows)
    positions, numbers = located["position"].to_numpy(), located["jackknife_group"].to_numpy()
    columns = {name: located[name].to_numpy().astype(np.float64) for names in SUMS.values() for name in names}
    for members, rows in _partitions(cells, positions):
        places = np.searchsorted(members, positions[rows])
        present, group_codes = np.unique(numbers[rows], return_inverse=True)
        for measurement, names in SUMS.items():
            counts, values = np.zeros((2, len(present), len(members)))
            for spread, name in zip((counts, values), names, strict=True):
                spread[group_codes, places] = columns[name][rows]
            for half in HALVES:
                chosen = np.ones(len(present), dtype=bool) if half == "all" else half_of[present] == half
                of_half = counts[chosen], values[chosen]
                found = jackknife_cells(*of_half, of_half[0].sum(axis=1), of_half[1].sum(axis=1))
                for name, column in found._asdict().items():
                    estimates[measurement, half][name][members] = column
    deviations = _deviations(located, half_of, cells.num_rows)
    return pa.concat_tables(
        _to_table(cells, measurement, half, found, deviations[half] if measurement == "mean_score" else None)
        for (measurement, half), found in estimates.items()
    )


def _locate(cells: pa.Table, sums: pa.Table) -> pa.Table:
    """Return the sums with the position of their cell, ordered by position and group."""
    keys = ["metric_number", "cell_number"]
    positions = cells.select(keys).append_column("position", pa.array(np.arange(cells.num_rows)))
    typed = [(name, sums.schema.field(name).type) for name in keys]
    positions = positions.select([*keys, "position"]).cast(pa.schema([*typed, ("position", pa.int64())]))
    joined = sums.join(positions, keys, join_type="inner")
    return joined.sort_by([("position", "ascending"), ("jackknife_group", "ascending")]).combine_chunks()


def _partitions(cells: pa.Table, positions: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield for each metric and partition the positions of its cells, ascending, and the rows of their sums."""
    metrics, partitions = (cells[name].to_numpy() for name in ("metric_number", "partition_number"))
    order = np.lexsort((np.arange(cells.num_rows), partitions, metrics))
    is_new = (np.diff(metrics[order]) != 0) | (np.diff(partitions[order]) != 0)
    first_rows = np.searchsorted(positions, np.arange(cells.num_rows + 1))
    for members in np.split(order, np.flatnonzero(is_new) + 1):
        if len(members):
            yield members, np.concatenate([np.arange(first_rows[cell], first_rows[cell + 1]) for cell in members])


def _make_estimates(count_cells: int) -> dict[tuple[str, str], dict[str, Floats]]:
    """Return room for the estimates of each measurement and half."""
    return {
        (measurement, half): {name: np.full(count_cells, np.nan) for name in JackknifeEstimates._fields}
        for measurement in SUMS
        for half in HALVES
    }


def _deviations(located: pa.Table, half_of: np.ndarray, count_cells: int) -> dict[str, Floats]:
    """Return the standard deviation of whole scores of each cell and half; NaN with fewer than two.

    Of whole numbers: scores that are all equal have exactly none.
    """
    halves = pa.array(half_of[located["jackknife_group"].to_numpy()].tolist(), type=pa.string())
    names = ("count_scored", "sum_scores", "sum_squared_scores")
    exact = pa.table(
        {"position": located["position"], "half": halves}
        | {name: pc.cast(located[name], pa.decimal128(38, 0)) for name in names}
    )
    totals = exact.group_by(["position", "half"]).aggregate([(name, "sum") for name in names])
    by_half: dict[str, dict[int, list[int]]] = {half: {} for half in HALVES}
    for row in totals.to_pylist():
        for half in ("all", row["half"]):
            own = by_half[half].setdefault(row["position"], [0, 0, 0])
            for place, name in enumerate(names):
                own[place] += int(row[f"{name}_sum"])
    found = {half: np.full(count_cells, np.nan) for half in HALVES}
    for half, cells in by_half.items():
        for position, (count, total, squares) in cells.items():
            if count > 1:
                found[half][position] = math.sqrt((count * squares - total * total) / (count * (count - 1)))
    return found


def _to_table(
    cells: pa.Table, measurement: str, half: str, found: dict[str, Floats], deviations: Floats | None
) -> pa.Table:
    """Return the rows of one measurement and half."""
    units = cells["scores_per_unit"].to_numpy() if measurement == "mean_score" else np.ones(cells.num_rows)
    figures = {name: column / units if name in _IN_UNITS else column for name, column in found.items()}
    for name in ("count_scored", "jackknife_groups", "count_scored_rest", "jackknife_groups_rest"):
        figures[name] = np.nan_to_num(figures[name])
    if measurement == "mean_score":
        figures["clusters_carrying"] = np.full(cells.num_rows, np.nan)
    figures["standard_deviation"] = np.full(cells.num_rows, np.nan) if deviations is None else deviations / units
    columns = {name: cells[name] for name in _KEYS}
    columns |= {name: pa.repeat(text, cells.num_rows) for name, text in (("measurement", measurement), ("half", half))}
    columns |= {"count_interactions": cells["count_interactions"], "count_clusters": cells[HALVES[half]]}
    columns |= {name: pa.array(column, from_pandas=True) for name, column in figures.items()}
    return pa.table(columns)
