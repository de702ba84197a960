"""Estimates of cells from their sums: value, rest and difference, with standard errors that leave out whole clusters.

SQL adds up (``int_cell_sums``); here the sums become estimates. A cell is compared with the rest of its partition: all
other interactions that have a value in its dimensions.
"""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import as_floats
from hcat.statistics.arrays import Floats, Integers
from hcat.statistics.clusters import JackknifeEstimates, jackknife_cells, sum_by_cluster

#: Measurement -> the end of the names of its columns: `count`, `weight`, `squares` of the weights, and weighted `sum`.
SUMS: Final = {"mean_score": "scored", "share_failing": "decided", "share_failing_of_all": "decided_of_all"}
#: Figures in the unit of the measurement.
_IN_UNITS: Final = ("value", "standard_error", "rest_value", "difference", "difference_standard_error")
_COUNTS: Final = ("count_scored", "jackknife_groups", "count_scored_rest", "jackknife_groups_rest")


def estimate_cells(cells: pa.Table, sums: pa.Table) -> list[dict[str, dict[str, Floats]]]:
    """Return the figures of every cell by measurement: first by clusters, then by documents."""
    by_cluster, by_document = (
        _locate(cells, sums.filter(pc.field("is_second") == is_second)) for is_second in (False, True)
    )
    found = [_jackknife(cells, located) for located in (by_cluster, by_document)]
    unit_of = dict(zip(sums["metric_name"].to_pylist(), sums["scores_per_unit"].to_pylist(), strict=True))
    units = np.asarray([unit_of.get(metric, 1.0) for metric in cells["metric_name"].to_pylist()], dtype=np.float64)
    positions = by_cluster["position"].to_numpy()
    for measurement, name in SUMS.items():
        for figure, column in (("count_rows", f"count_{name}"), ("count_failing", "count_failing")):
            found[0][measurement][figure] = sum_by_cluster(by_cluster[column].to_numpy(), positions, cells.num_rows)
    deviations = _deviations(by_cluster, cells.num_rows) / units
    for means in (estimates["mean_score"] for estimates in found):
        means |= {"standard_deviation": deviations} | {name: means[name] / units for name in _IN_UNITS}
    return found


def _jackknife(cells: pa.Table, located: pa.Table) -> dict[str, dict[str, Floats]]:
    """Return the figures of every cell by measurement, from sums by group, in the unit of the sums."""
    positions, groups = located["position"].to_numpy(), encode(located, "jackknife_group")
    kinds = ("weight", "squares", "sum")
    columns = {name: as_floats(located[name]) for name in located.column_names if name.startswith(kinds)}
    names_of_figures = (*JackknifeEstimates._fields, "standard_deviation")
    estimates = {
        measurement: {name: np.full(cells.num_rows, np.nan) for name in names_of_figures} for measurement in SUMS
    }
    for members, rows in _partitions(cells, positions):
        places = np.searchsorted(members, positions[rows])
        present, group_codes = np.unique(groups[rows], return_inverse=True)
        for measurement, name in SUMS.items():
            weights, squares, values = np.zeros((3, len(present), len(members)))
            for spread, kind in zip((weights, squares, values), kinds, strict=True):
                spread[group_codes, places] = columns[f"{kind}_{name}"][rows]
            found = jackknife_cells(
                weights, values, weights.sum(axis=1), values.sum(axis=1), squares, squares.sum(axis=1)
            )
            for name, column in found._asdict().items():
                estimates[measurement][name][members] = column
    for figures in estimates.values():
        figures |= {name: np.nan_to_num(figures[name]) for name in _COUNTS}
    return estimates


def encode(table: pa.Table, *names: str) -> Integers:
    """Return whole numbers for the distinct tuples of some text columns, shape (n,)."""
    codes = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        texts = pc.fill_null(table[name].combine_chunks().dictionary_encode("encode").indices, 0).to_numpy()
        codes = np.unique(codes * (texts.max(initial=0) + 1) + texts, return_inverse=True)[1].astype(np.int64)
    return codes


def _locate(cells: pa.Table, sums: pa.Table) -> pa.Table:
    """Return the sums with the position of their cell, ordered by position and group."""
    keys = ["metric_name", "cell_key"]
    positions = cells.select(keys).append_column("position", pa.array(np.arange(cells.num_rows)))
    joined = sums.join(positions, keys, join_type="inner")
    return joined.sort_by([("position", "ascending"), ("jackknife_group", "ascending")]).combine_chunks()


def _partitions(cells: pa.Table, positions: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield for each metric and pair of dimensions the positions of its cells, ascending, and their rows of sums."""
    codes = encode(cells, "metric_name", "first_dimension", "second_dimension")
    order = np.argsort(codes, kind="stable")
    first_rows = np.searchsorted(positions, np.arange(cells.num_rows + 1))
    for members in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        if len(members):
            yield members, np.concatenate([np.arange(first_rows[cell], first_rows[cell + 1]) for cell in members])


def _deviations(located: pa.Table, count_cells: int) -> Floats:
    """Return the standard deviation of whole scores of each cell; NaN with fewer than two."""
    names = ("weight_scored", "squares_scored", "sum_scored", "sum_squared_scores")
    exact = {name: pc.cast(located[name], pa.decimal128(38, 0)) for name in names}
    totals = pa.table({"position": located["position"]} | exact).group_by("position")
    found = np.full(count_cells, np.nan)
    for row in totals.aggregate([(name, "sum") for name in names]).to_pylist():
        weight, squared_weights, total, squares = (int(row[f"{name}_sum"]) for name in names)
        # a single row has all of the weight
        if weight**2 > squared_weights:
            found[row["position"]] = math.sqrt((weight * squares - total**2) / (weight**2 - squared_weights))
    return found
