"""Would a weakness still be found had a choice been another? One row per weak cell and variation, as an Arrow table.

SQL sums each variation by jackknife group (``int_finding_variations_summed``): other thresholds, answers compared with
answers of their own length, and length alone in place of the score. Here each is tested as the weakness was
(:mod:`hcat.weakness.statistics`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from hcat.statistics.arrays import Floats
from hcat.statistics.clusters import jackknife_cells
from hcat.statistics.intervals import t_quantile, t_tail
from hcat.weakness.statistics import Cells, with_whole

SENSITIVITY_SCHEMA: Final = pa.schema(
    [
        ("cell_id", pa.string()),
        ("variation", pa.string()),
        ("kind", pa.string()),
        ("status", pa.string()),
        ("count_jackknife_groups", pa.int64()),
        ("difference", pa.float64()),
        ("difference_bound", pa.float64()),
        ("p_value", pa.float64()),
        ("is_flagged", pa.bool_()),
    ]
)

#: Variation -> kind.
KINDS: Final = {
    "as_declared": "as_declared",
    "threshold_looser": "threshold",
    "threshold_stricter": "threshold",
    "length_adjusted": "length_adjusted",
    "length_only": "length_only",
}

#: Status -> meaning.
STATUSES: Final = {
    "tested": "has a P-value",
    "too_few_clusters": "fewer clusters than the least, in the cell or in its rest",
    "constant": "with this choice nothing varies",
}


class _Test(NamedTuple):
    """One-sided test of one cell; None where the status says why."""

    status: str
    count_jackknife_groups: int
    difference: float | None = None
    difference_bound: float | None = None
    p_value: float | None = None


class _Sums(NamedTuple):
    """Sums by jackknife group, each of shape (n_groups,); positive values are worse."""

    count_clusters_cell: Floats
    count_clusters_all: Floats
    count_cell: Floats
    sum_cell: Floats
    count_all: Floats
    sum_all: Floats
    sum_squares_all: Floats


def vary_findings(sums: pa.Table, *, confidence: float, minimum_clusters: int) -> pa.Table:
    """Return one row per (weak cell, variation) with its test.

    Parameters
    ----------
    sums : Table
        cell_id, variation (of :data:`KINDS`; each cell has `as_declared`), jackknife_group, count_clusters_cell,
        count_clusters_all, count_cell, sum_cell, count_all, sum_all, sum_squares_all (values turned so that more is
        worse), margin (in the unit of the values), cut_off (P-value up to which the build flagged cells). Ordered by
        cell_id and variation.
    confidence : float
        Of the one-sided bounds, in (0, 1).
    minimum_clusters : int
        Groups that the cell and its rest need, at least 2.

    Returns
    -------
    Table
        Schema :data:`SENSITIVITY_SCHEMA`, ordered by cell and variation. Flagged: P at most the cut-off of the build
        and the one-sided lower bound above the margin.

    Raises
    ------
    ValueError
        If a setting lies outside its range, a variation is unknown, or a cell lacks `as_declared`.

    Examples
    --------
    Three groups of two rows, of which the cell holds the one that fails: its share is 1, that of the rest 0.

    >>> row = dict(cell_id="c", variation="as_declared", margin=0.0, cut_off=0.05)
    >>> row |= dict(count_clusters_cell=1, count_clusters_all=2)
    >>> row |= dict(count_cell=1.0, sum_cell=1.0, count_all=2.0, sum_all=1.0, sum_squares_all=1.0)
    >>> sums = pa.Table.from_pylist([row | dict(jackknife_group=group) for group in range(3)])
    >>> settings = dict(confidence=0.95, minimum_clusters=2)
    >>> found = vary_findings(sums, **settings).to_pylist()[0]
    >>> found["difference"], found["is_flagged"]
    (1.0, False)
    """
    _check_settings(confidence, minimum_clusters)
    rows: list[dict[str, Any]] = []
    for cell_id, variations in _read_cells(sums):
        if "as_declared" not in variations:
            raise ValueError(f"every cell must have the variation as_declared, {cell_id} has {', '.join(variations)}")
        for variation, (found, margin, cut_off) in variations.items():
            test = _test(found, confidence, minimum_clusters)
            rows.append(_to_row(cell_id, variation, test, _is_flagged(test, margin, cut_off)))
    rows.sort(key=lambda row: (row["cell_id"], row["variation"]))
    return pa.Table.from_pylist(rows, schema=SENSITIVITY_SCHEMA)


def _to_row(cell_id: str, variation: str, test: _Test, is_flagged: bool | None) -> dict[str, Any]:
    if variation not in KINDS:
        raise ValueError(f"variation must be among {', '.join(KINDS)}, got {variation}")
    key = {"cell_id": cell_id, "variation": variation, "kind": KINDS[variation], "is_flagged": is_flagged}
    return key | test._asdict()


def _is_flagged(test: _Test, margin: float, cut_off: float) -> bool | None:
    if test.p_value is None or test.difference_bound is None:
        return None
    return test.p_value <= cut_off and test.difference_bound > margin


def _test(sums: _Sums, confidence: float, minimum_clusters: int) -> _Test:
    """Return the test of a cell against its rest, as the weakness itself was tested."""
    cells = _estimate(sums)
    if cells is None:
        return _Test("too_few_clusters", 0)
    groups, rest = float(cells.jackknife_groups[0]), float(cells.jackknife_groups_rest[0])
    degrees, error = float(cells.degrees_of_freedom[0]), float(cells.test_error[0])
    if min(groups, rest) < minimum_clusters or not degrees > 0:
        return _Test("too_few_clusters", int(groups))
    if not error > 0:
        return _Test("constant", int(groups))
    difference = float(cells.difference[0])
    bound = difference - float(t_quantile(confidence, degrees)) * error
    return _Test("tested", int(groups), difference, bound, float(t_tail(difference / error, degrees)))


def _estimate(sums: _Sums) -> Cells | None:
    """Return the cell (position 0) and all rows (position 1); None where there are none."""
    total = sums.count_all.sum()
    if not total or not sums.count_cell.sum():
        return None
    counts = np.column_stack([sums.count_cell, sums.count_all])
    values = np.column_stack([sums.sum_cell, sums.sum_all])
    estimates = jackknife_cells(counts, values, sums.count_all, sums.sum_all)
    variance = sums.sum_squares_all.sum() / total - (sums.sum_all.sum() / total) ** 2
    spread = np.full(2, np.sqrt(max(float(variance), 0.0)))
    clusters = np.asarray([sums.count_clusters_cell.sum(), sums.count_clusters_all.sum()])
    return with_whole(estimates._asdict(), clusters, spread, np.asarray([1, 1]))


def _read_cells(sums: pa.Table) -> Iterator[tuple[str, Mapping[str, tuple[_Sums, float, float]]]]:
    """Yield each cell with the sums, margin and cut-off of its variations."""
    rows = sums.to_pylist()
    for cell_id, of_cell in groupby(rows, key=lambda row: row["cell_id"]):
        variations = {}
        for variation, of_variation in groupby(of_cell, key=lambda row: row["variation"]):
            found = list(of_variation)
            columns = (np.asarray([row[name] for row in found], dtype=np.float64) for name in _Sums._fields)
            variations[variation] = (_Sums(*columns), found[0]["margin"], found[0]["cut_off"])
        yield cell_id, variations


def _check_settings(confidence: float, minimum_clusters: int) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
    if minimum_clusters < 2:
        raise ValueError(f"minimum_clusters must be at least 2, got {minimum_clusters}")
