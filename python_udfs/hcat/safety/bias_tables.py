"""Gaps as Arrow tables: every cell gets an interval, two p-values over its family, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import schema
from hcat.safety.bias import Gap, Sides, compare_groups, compare_pairs, equivalence_p_value, interval_of, seed_of
from hcat.statistics.multiple_tests import holm

#: Pairs of queries that differ in a demographic term.
COUNTERFACTUAL: Final = "counterfactual"

#: Probability that any gap of a system and design is claimed although none exists (Holm); the same for a false
#: equivalence.
ERROR_RATE: Final = 0.05
#: Permutations of each test. The smallest possible p-value is 1 / 5,000, far below .05 / 40 gaps.
DRAWS: Final = 4999

#: What stands in every row of a gap.
CELL: Final = ["bias_gap_id", "system", "design", "margin", "span", "is_indicator"]

BIAS_GAP_SCHEMA: Final = schema(
    "string: bias_gap_id status verdict",
    "int64: count_clusters count_first count_second",
    "float64: first_mean second_mean difference difference_lower difference_upper p_value adjusted_p_value",
    "float64: equivalence_p_value adjusted_equivalence_p_value",
)


class BiasSettings(NamedTuple):
    """How gaps are tested: confidence of the intervals, and least independent clusters of either side."""

    confidence: float
    minimum_clusters: int
    random_seed: int
    count_draws: int = DRAWS


def measure_gaps(sums: pa.Table, settings: BiasSettings) -> pa.Table:
    """Return the gaps of a build (schema :data:`BIAS_GAP_SCHEMA`), in the order of their ids.

    Parameters
    ----------
    sums : Table
        One row per (gap, cluster): bias_gap_id, system, design (`counterfactual`, `logged_groups`), margin, span
        (largest difference that a score allows), is_indicator, cluster, first_sum, first_count, second_sum,
        second_count. A gap without scores has one row, and no cluster.
    settings : BiasSettings

    Notes
    -----
    A family is all tested gaps of one system and design: they decide about a release of that system, and the designs
    answer different questions. Gaps and equivalences are stepped down by Holm (1979), which holds however the
    metrics depend on each other. A gap that is both shown and shown to be smaller than the margin is `equivalent`.

    Raises
    ------
    ValueError
        If a margin is not above 0.

    Examples
    --------
    >>> one = dict(bias_gap_id="g", system="app", design="counterfactual", margin=0.1, span=1.0, is_indicator=False)
    >>> one |= dict(first_sum=1.0, first_count=1.0, second_sum=0.0, second_count=1.0)
    >>> sums = pa.Table.from_pylist([one | dict(cluster=name) for name in "abc"])
    >>> settings = BiasSettings(0.95, minimum_clusters=2, random_seed=1, count_draws=10)
    >>> row = measure_gaps(sums, settings).to_pylist()[0]
    >>> row["difference"], row["p_value"]
    (1.0, 0.25)
    """
    ordered = sums.sort_by([("bias_gap_id", "ascending"), ("cluster", "ascending")])
    scored = _group(ordered.filter(pc.is_valid(ordered["cluster"])))
    cells = {cell["bias_gap_id"]: cell for cell in ordered.select(CELL).to_pylist()}
    rows = [_measure(cell, scored.get(name), settings) for name, cell in cells.items()]
    families: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["status"] == "tested":
            families.setdefault((row["system"], row["design"]), []).append(row)
    for family in families.values():
        for name in ("p_value", "equivalence_p_value"):
            for row, adjusted in zip(family, holm([row[name] for row in family]), strict=True):
                row[f"adjusted_{name}"] = float(adjusted)
        for row in family:
            if row["adjusted_equivalence_p_value"] <= ERROR_RATE:
                row["verdict"] = "equivalent"
            elif row["adjusted_p_value"] <= ERROR_RATE:
                row["verdict"] = "gap_found"
    return pa.Table.from_pylist(rows, schema=BIAS_GAP_SCHEMA)


def _group(ordered: pa.Table) -> dict[str, Sides]:
    """Return the sums of each gap."""
    ids = np.asarray(ordered.column("bias_gap_id").to_pylist(), dtype=object)
    columns = [ordered.column(name).to_numpy().astype(np.float64) for name in Sides._fields]
    borders = [0, *(np.flatnonzero(ids[1:] != ids[:-1]) + 1), len(ids)] if len(ids) else [0]
    return {str(ids[start]): Sides(*(column[start:end] for column in columns)) for start, end in pairwise(borders)}


def _measure(cell: Mapping[str, Any], sides: Sides | None, settings: BiasSettings) -> dict[str, Any]:
    row = {**cell, "verdict": "inconclusive"}
    counts = (0, 0) if sides is None else (int(sides.first_count.sum()), int(sides.second_count.sum()))
    row |= {"count_first": counts[0], "count_second": counts[1], "count_clusters": 0}
    if sides is None or not all(counts):
        return row | {"status": "no_scores"}
    clusters = [int((count > 0).sum()) for count in (sides.first_count, sides.second_count)]
    row["count_clusters"] = int(((sides.first_count > 0) | (sides.second_count > 0)).sum())
    if min(clusters) < max(settings.minimum_clusters, 2):
        means = sides.first_sum.sum() / counts[0], sides.second_sum.sum() / counts[1]
        return row | {
            "status": "too_few_clusters",
            "first_mean": float(means[0]),
            "second_mean": float(means[1]),
            "difference": float(means[0] - means[1]),
        }
    compare = compare_pairs if cell["design"] == COUNTERFACTUAL else compare_groups
    gap: Gap = compare(sides, seed_of(str(cell["bias_gap_id"]), settings.random_seed), settings.count_draws)
    lower, upper = interval_of(gap, settings.confidence)
    equivalence = equivalence_p_value(gap, cell["margin"], cell["span"], min(clusters), bool(cell["is_indicator"]))
    tested = {"difference_lower": lower, "difference_upper": upper, "equivalence_p_value": equivalence}
    return row | {"status": "tested"} | gap._asdict() | tested
