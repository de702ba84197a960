"""How far a metric of context relevance can be believed: which of two retrieved chunks it puts first.

A pair holds one relevant and one other chunk that the same query retrieved. The metric is right about the pair if it
scores the relevant chunk higher (Es et al. 2024, RAGAS, section 5, compare two contexts of one question in this way).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.robustness.reliability import Reliability, ReliabilitySettings, measure_share

MEASURES: Final = {
    "pairs_ordered": "share of the pairs in which the relevant chunk comes first; a tie is half a pair",
    "pairs_against_rank": "share of the pairs that are ordered rightly, of those that the rank orders the other way",
    "pairs_against_words": "the same, of those that the overlap of words orders the other way",
}
STATUSES: Final = {
    "estimated": "value with interval",
    "too_few_groups": "fewer clusters than the least: value without interval",
    "no_pairs": "no pair of known relevance, or none on which the two disagree",
}
#: What an order by lot reaches in every measure.
CHANCE: Final = 0.5

#: What is read: one row per system, metric, measure and cluster.
ORDERS_SCHEMA = pa.schema(
    [
        ("system", pa.string()),
        ("metric_name", pa.string()),
        ("measure", pa.string()),
        ("cluster_id", pa.string()),
        ("count_right", pa.int64()),
        ("count_tied", pa.int64()),
        ("count_wrong", pa.int64()),
        ("count_assumed", pa.int64()),
        ("count_unscored", pa.int64()),
        ("count_undecided", pa.int64()),
    ]
)

#: One row per system, metric and measure.
MEASURED_ORDERS_SCHEMA = pa.schema(
    [
        ("system_id", pa.string()),
        ("metric", pa.string()),
        ("measure", pa.string()),
        ("status", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("chance_value", pa.float64()),
        ("effective_n", pa.float64()),
        ("count_hits", pa.int64()),
        ("count_pairs", pa.int64()),
        ("count_clusters", pa.int64()),
        ("count_assumed", pa.int64()),
        ("count_unscored", pa.int64()),
        ("count_undecided", pa.int64()),
    ]
)


def measure_orders(orders: pa.Table, settings: ReliabilitySettings | None = None) -> pa.Table:
    """Return the share of pairs that each metric of each system orders rightly, with an interval by cluster."""
    missing = [name for name in ORDERS_SCHEMA.names if name not in orders.column_names]
    if missing:
        raise ValueError(f"orders must have the columns of ORDERS_SCHEMA, without {', '.join(missing)}")
    chosen = settings or ReliabilitySettings()
    series: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in orders.select(ORDERS_SCHEMA.names).to_pylist():
        series.setdefault((row["system"], row["metric_name"], row["measure"]), []).append(row)
    rows: list[dict[str, Any]] = []
    for (system, metric, measure), clusters in sorted(series.items()):
        # sums must not depend on the order of rows
        clusters.sort(key=lambda row: str(row["cluster_id"]))
        found = _measure(clusters, chosen)
        counts = {name: sum(row[name] for row in clusters) for name in ORDERS_SCHEMA.names[-3:]}
        rows.append(
            {
                "system_id": system,
                "metric": metric,
                "measure": measure,
                "status": found.status,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "chance_value": CHANCE if found.count_answers else None,
                "effective_n": found.effective_n,
                "count_hits": found.count_hits,
                "count_pairs": found.count_answers,
                "count_clusters": found.count_groups,
                **counts,
            }
        )
    return pa.Table.from_pylist(rows, schema=MEASURED_ORDERS_SCHEMA)


def _measure(clusters: list[dict[str, Any]], settings: ReliabilitySettings) -> Reliability:
    right, tied, wrong = (
        np.array([row[name] for row in clusters], dtype=np.int64)
        for name in ("count_right", "count_tied", "count_wrong")
    )
    # Two halves a pair: a tie is right in one and wrong in the other. The variance is that between clusters, so that
    # the number of halves makes no interval narrower.
    halves = np.stack([2 * right + tied, 2 * wrong + tied], axis=1)
    is_hit = np.repeat(np.tile([True, False], len(clusters)), halves.ravel())
    codes = np.repeat(np.arange(len(clusters)), halves.sum(axis=1))
    share = measure_share(is_hit, codes, settings.confidence, settings.minimum_groups, empty="no_pairs")
    return replace(share, count_hits=int(right.sum()), count_answers=share.count_answers // 2)
