"""Is a finding there on clusters that are newer than itself? One test per finding, on sums by jackknife group.

SQL sums the newer clusters (``int_new_clusters_summed``). Here each cell is tested against its rest as the weakness was
(:mod:`hcat.weakness.statistics`), with clusters and documents as its two keys.
"""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import schema
from hcat.statistics.clusters import jackknife_cells
from hcat.statistics.intervals import t_tail
from hcat.weakness.statistics import Cells, can_be_tested, with_documents, with_whole

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
        Of the model int_new_clusters_summed, ordered by cell_id, is_second and jackknife_group.
    minimum_clusters : int
        Groups that the cell and its rest need, at least 2.

    Returns
    -------
    Table
        Schema :data:`RETEST_SCHEMA`. A finding waits while the newer clusters hold fewer interactions of the cell than
        it needs, while there are too few groups, and while nothing varies.

    Examples
    --------
    Twenty groups of two rows, each about one document. The cell holds one, which fails in all but the first group.

    >>> row = dict(cell_id="c", run_id="r", build_number=2, built_at=None, count_needed_to_confirm=20)
    >>> row |= dict(count_second_clusters=6, count_new_second_clusters=0)
    >>> row |= dict(count_clusters_cell=1, count_clusters_all=2, count_pairs_cell=1, count_cell=1)
    >>> row |= dict(weight_cell=1.0, squares_cell=1.0, weight_all=2.0, squares_all=2.0)
    >>> failing = [dict.fromkeys(("sum_cell", "sum_all", "sum_squares_all"), float(group > 0)) for group in range(20)]
    >>> sums = [row | {"is_second": is_second} | values for is_second in (False, True) for values in failing]
    >>> found = retest_findings(pa.Table.from_pylist(sums), 10).to_pylist()
    >>> [(one["count_interactions"], one["difference"], one["is_confirmed"]) for one in found]
    [(20, 0.95, True)]
    """
    rows = []
    for cell_id in pc.unique(sums["cell_id"]).to_pylist():
        of_cell = sums.filter(pc.field("cell_id") == cell_id)
        keys = [of_cell.filter(pc.field("is_second") == is_second) for is_second in (False, True)]
        first = keys[0].slice(0, 1).to_pylist()[0]
        count, clusters = (sum(keys[0][name].to_pylist()) for name in ("count_cell", "count_clusters_cell"))
        if count < (first["count_needed_to_confirm"] or np.inf):
            continue
        cells = with_documents(*(_estimate(sums_of_key) for sums_of_key in keys))
        if can_be_tested(cells, minimum_clusters)[0]:
            difference = float(cells.difference[0])
            p_value = float(t_tail(cells.difference / cells.test_error, cells.degrees_of_freedom)[0])
            names = ("cell_id", "run_id", "build_number", "built_at")
            key = {name: first[name] for name in (*names, "count_second_clusters", "count_new_second_clusters")}
            found = {"count_interactions": count, "count_clusters": clusters, "difference": difference}
            rows.append(key | found | {"p_value": p_value, "is_confirmed": p_value <= ERROR_RATE})
    return pa.Table.from_pylist(rows, schema=RETEST_SCHEMA)


def _estimate(sums: pa.Table) -> Cells:
    """Return the cell and, as one more cell, all rows of its metric, by the groups of one key."""
    weights, squares, values, clusters = (
        np.column_stack([np.asarray(sums[f"{name}_{of}"].to_pylist(), dtype=np.float64) for of in ("cell", "all")])
        for name in ("weight", "squares", "sum", "count_clusters")
    )
    weight, total = weights[:, 1], values[:, 1]
    estimates = jackknife_cells(weights, values, weight, total, squares, squares[:, 1])
    variance = sum(sums["sum_squares_all"].to_pylist()) / weight.sum() - (total.sum() / weight.sum()) ** 2
    spread = np.full(2, np.sqrt(max(float(variance), 0.0)))
    pairs = np.asarray(sum(sums["count_pairs_cell"].to_pylist()), dtype=np.float64)
    return with_whole(estimates._asdict() | {"pairs": pairs}, clusters.sum(axis=0), spread, np.asarray([1, 1]))
