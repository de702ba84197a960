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
#: Figures in the unit of the measurement.
_IN_UNITS: Final = ("value", "standard_error", "rest_value", "difference", "difference_standard_error")
_KEYS: Final = ("cell_id", "metric_name", "first_dimension", "first_segment", "second_dimension", "second_segment")


def estimate_cells(cells: pa.Table, sums: pa.Table) -> pa.Table:
    """Return one row per (cell, measurement).

    Parameters
    ----------
    cells : Table
        int_metric_cells: cell_id, metric_name, first_dimension, first_segment, second_dimension, second_segment,
        cell_key, count_interactions, count_clusters.
    sums : Table
        int_cell_sums: metric_name, cell_key, jackknife_group, scores_per_unit, sum_squared_scores and the columns of
        :data:`SUMS`, whole numbers. A cell without a score has no row.

    Returns
    -------
    Table
        The key columns of the cells, measurement, count_interactions, count_clusters, the fields of
        :class:`hcat.statistics.clusters.JackknifeEstimates` and standard_deviation. Figures are null where there is
        nothing to estimate from. Cells keep their order.

    Examples
    --------
    Two clusters of one answer each: one fails in the cell, none in the rest.

    >>> cells = {"cell_id": ["a", "b"], "metric_name": ["m"] * 2, "first_dimension": ["topic"] * 2}
    >>> cells |= {"first_segment": ["cards", "loans"], "cell_key": [1, 2], "count_interactions": [1, 1]}
    >>> cells |= {name: pa.nulls(2, pa.string()) for name in ("second_dimension", "second_segment")}
    >>> sums = {"metric_name": ["m"] * 2, "cell_key": [1, 2], "jackknife_group": ["s", "t"]}
    >>> sums |= {"scores_per_unit": [1.0, 1.0], "sum_squared_scores": [1, 1]}
    >>> sums |= {name: [1, 1] for names in SUMS.values() for name in names}
    >>> sums["count_failing"] = [1, 0]
    >>> found = estimate_cells(pa.table(cells | {"count_clusters": [1, 1]}), pa.table(sums)).to_pylist()
    >>> [row["difference"] for row in found if row["measurement"] == "share_failing"]
    [1.0, -1.0]
    """
    located = _locate(cells, sums)
    positions, groups = located["position"].to_numpy(), _encode(located, ["jackknife_group"])
    columns = {name: pc.cast(located[name], pa.float64()).to_numpy() for names in SUMS.values() for name in names}
    estimates = {
        measurement: {name: np.full(cells.num_rows, np.nan) for name in JackknifeEstimates._fields}
        for measurement in SUMS
    }
    for members, rows in _partitions(cells, positions):
        places = np.searchsorted(members, positions[rows])
        present, group_codes = np.unique(groups[rows], return_inverse=True)
        for measurement, names in SUMS.items():
            counts, values = np.zeros((2, len(present), len(members)))
            for spread, name in zip((counts, values), names, strict=True):
                spread[group_codes, places] = columns[name][rows]
            found = jackknife_cells(counts, values, counts.sum(axis=1), values.sum(axis=1))
            for name, column in found._asdict().items():
                estimates[measurement][name][members] = column
    unit_of = dict(zip(sums["metric_name"].to_pylist(), sums["scores_per_unit"].to_pylist(), strict=True))
    units = np.asarray([unit_of.get(metric, 1.0) for metric in cells["metric_name"].to_pylist()], dtype=np.float64)
    deviations = _deviations(located, cells.num_rows)
    return pa.concat_tables(
        _to_table(cells, measurement, found, units, deviations) for measurement, found in estimates.items()
    )


def _locate(cells: pa.Table, sums: pa.Table) -> pa.Table:
    """Return the sums with the position of their cell, ordered by position and group."""
    keys = ["metric_name", "cell_key"]
    positions = cells.select(keys).append_column("position", pa.array(np.arange(cells.num_rows)))
    joined = sums.join(positions, keys, join_type="inner")
    return joined.sort_by([("position", "ascending"), ("jackknife_group", "ascending")]).combine_chunks()


def _encode(table: pa.Table, names: list[str]) -> Integers:
    """Return whole numbers for the distinct tuples of some text columns, shape (n,)."""
    codes = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        texts = pc.fill_null(table[name].combine_chunks().dictionary_encode("encode").indices, 0).to_numpy()
        codes = np.unique(codes * (texts.max(initial=0) + 1) + texts, return_inverse=True)[1].astype(np.int64)
    return codes


def _partitions(cells: pa.Table, positions: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield for each metric and pair of dimensions the positions of its cells, ascending, and their rows of sums."""
    codes = _encode(cells, ["metric_name", "first_dimension", "second_dimension"])
    order = np.argsort(codes, kind="stable")
    first_rows = np.searchsorted(positions, np.arange(cells.num_rows + 1))
    for members in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        if len(members):
            yield members, np.concatenate([np.arange(first_rows[cell], first_rows[cell + 1]) for cell in members])


def _deviations(located: pa.Table, count_cells: int) -> Floats:
    """Return the standard deviation of whole scores of each cell; NaN with fewer than two."""
    names = ("count_scored", "sum_scores", "sum_squared_scores")
    exact = {name: pc.cast(located[name], pa.decimal128(38, 0)) for name in names}
    totals = pa.table({"position": located["position"]} | exact).group_by("position")
    found = np.full(count_cells, np.nan)
    for row in totals.aggregate([(name, "sum") for name in names]).to_pylist():
        count, total, squares = (int(row[f"{name}_sum"]) for name in names)
        if count > 1:
            found[row["position"]] = math.sqrt((count * squares - total * total) / (count * (count - 1)))
    return found


def _to_table(
    cells: pa.Table, measurement: str, found: dict[str, Floats], units: Floats, deviations: Floats
) -> pa.Table:
    """Return the rows of one measurement."""
    is_mean = measurement == "mean_score"
    figures = {name: column / units if is_mean and name in _IN_UNITS else column for name, column in found.items()}
    for name in ("count_scored", "jackknife_groups", "count_scored_rest", "jackknife_groups_rest"):
        figures[name] = np.nan_to_num(figures[name])
    if is_mean:
        figures["clusters_carrying"] = np.full(cells.num_rows, np.nan)
    figures["standard_deviation"] = deviations / units if is_mean else np.full(cells.num_rows, np.nan)
    columns = {name: cells[name] for name in _KEYS} | {"measurement": pa.repeat(measurement, cells.num_rows)}
    columns |= {name: cells[name] for name in ("count_interactions", "count_clusters")}
    columns |= {name: pa.array(column, from_pandas=True) for name, column in figures.items()}
    return pa.table(columns)
