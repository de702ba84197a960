"""Is a finding there on clusters that are newer than itself? One test per finding, on sums by jackknife group.

SQL sums the newer clusters (``int_new_clusters_summed``). Here each cell is tested against its rest as the weakness was
(:mod:`hcat.weakness.statistics`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import schema
from hcat.statistics.clusters import jackknife_cells
from hcat.statistics.intervals import t_tail
from hcat.weakness.statistics import can_be_tested, with_whole

#: Largest one-sided P-value that confirms: the share of false flags that is tolerated among weak cells.
ERROR_RATE: Final = 0.05

RETEST_SCHEMA: Final = schema(
    "string: cell_id run_id",
    "int64: build_number count_interactions count_clusters count_second_clusters count_new_second_clusters",
    "float64: difference p_value",
    "bool: is_confirmed",
    "timestamp[us]: built_at",
)


def retest_findings(sums: pa.Table, minimum_clusters: int) -> pa.Table:
    """Return one row per finding of which the newer clusters hold enough to test it.

    Parameters
    ----------
    sums : Table
        Of the model int_new_clusters_summed, ordered by cell_id and jackknife_group.
    minimum_clusters : int
        Groups that the cell and its rest need, at least 2.

    Returns
    -------
    Table
        Schema :data:`RETEST_SCHEMA`. A finding waits while the newer clusters hold fewer interactions of the cell than
        it needs, while there are too few groups, and while nothing varies.

    Examples
    --------
    Twenty groups of two rows, of which the cell holds one; it fails in all but the first, and the rest in none.

    >>> row = dict(cell_id="c", run_id="r", build_number=2, built_at=None, count_needed_to_confirm=20)
    >>> row |= dict(count_second_clusters=6, count_new_second_clusters=0)
    >>> row |= dict(count_clusters_cell=1, count_clusters_all=2, count_cell=1)
    >>> row |= dict(weight_cell=1.0, squares_cell=1.0, weight_all=2.0, squares_all=2.0)
    >>> failing = [float(group > 0) for group in range(20)]
    >>> sums = [row | dict(sum_cell=value, sum_all=value, sum_squares_all=value) for value in failing]
    >>> found = retest_findings(pa.Table.from_pylist(sums), 10).to_pylist()
    >>> [(one["count_interactions"], one["difference"], one["is_confirmed"]) for one in found]
    [(20, 0.95, True)]
    """
    rows = []
    for cell_id in pc.unique(sums["cell_id"]).to_pylist():
        of_cell = sums.filter(pc.field("cell_id") == cell_id)
        first = of_cell.slice(0, 1).to_pylist()[0]
        count, clusters = (sum(of_cell[name].to_pylist()) for name in ("count_cell", "count_clusters_cell"))
        if count < (first["count_needed_to_confirm"] or np.inf):
            continue
        tested = _test(of_cell, minimum_clusters)
        if tested is not None:
            difference, p_value = tested
            names = ("cell_id", "run_id", "build_number", "built_at")
            key = {name: first[name] for name in (*names, "count_second_clusters", "count_new_second_clusters")}
            found = {"count_interactions": count, "count_clusters": clusters, "difference": difference}
            rows.append(key | found | {"p_value": p_value, "is_confirmed": p_value <= ERROR_RATE})
    return pa.Table.from_pylist(rows, schema=RETEST_SCHEMA)


def _test(sums: pa.Table, minimum_clusters: int) -> tuple[float, float] | None:
    """Return difference and one-sided P-value of a cell against its rest; None where it cannot be tested."""
    # the cell and, as one more cell, all rows of its metric
    weights, squares, values, clusters = (
        np.column_stack([np.asarray(sums[f"{name}_{of}"].to_pylist(), dtype=np.float64) for of in ("cell", "all")])
        for name in ("weight", "squares", "sum", "count_clusters")
    )
    weight, total = weights[:, 1], values[:, 1]
    estimates = jackknife_cells(weights, values, weight, total, squares, squares[:, 1])
    of_values = sum(sums["sum_squares_all"].to_pylist())
    variance = of_values / weight.sum() - (total.sum() / weight.sum()) ** 2
    spread = np.full(2, np.sqrt(max(float(variance), 0.0)))
    cells = with_whole(estimates._asdict(), clusters.sum(axis=0), spread, np.asarray([1, 1]))
    if not can_be_tested(cells, minimum_clusters)[0]:
        return None
    p_values = t_tail(cells.difference / cells.test_error, cells.degrees_of_freedom)
    return float(cells.difference[0]), float(p_values[0])
