"""What a variant of a query changes: the score, and whether the answer is still right."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.robustness.rates import MINIMUM_GROUPS
from hcat.robustness.reliability import measure_share
from hcat.statistics.arrays import Integers
from hcat.statistics.clusters import mean_and_error
from hcat.statistics.intervals import t_quantile

_KEYS: Final = ("system", "variant_type", "variant_meaning", "metric_name")
#: Share of pairs -> outcomes that count.
_SHARES: Final = {"share_flipped": ("broken", "mended"), "share_broken": ("broken",)}

#: One row per system, variant type and metric.
VARIANT_SCHEMA: Final = schema(
    f"string: {' '.join(_KEYS)} change_status flip_status",
    "int64: count_pairs count_scored_pairs count_decided_pairs count_clusters count_broken count_mended",
    "float64: mean_change mean_change_lower mean_change_upper share_flipped share_flipped_lower share_flipped_upper",
    "float64: share_broken share_broken_lower share_broken_upper",
)


def measure_variants(pairs: pa.Table, confidence: float) -> pa.Table:
    """Return change and flips of every system, variant type and metric, with intervals that count clusters."""
    found: dict[tuple[str, ...], list[tuple[str, float | None, str]]] = {}
    for pair in pairs.select([*_KEYS, "cluster_id", "score_change", "outcome"]).to_pylist():
        of_key = found.setdefault(tuple(pair[key] for key in _KEYS), [])
        of_key.append((pair["cluster_id"], pair["score_change"], pair["outcome"]))
    rows: list[dict[str, Any]] = []
    for key in sorted(found):
        # sums must not depend on the order of rows
        cell = sorted(found[key], key=lambda one: (one[0], one[1] is None, one[1] or 0.0, one[2]))
        scored = [(cluster, change) for cluster, change, _ in cell if change is not None]
        decided = [(cluster, outcome) for cluster, _, outcome in cell if outcome != "undecided"]
        outcomes = [outcome for _, outcome in decided]
        row: dict[str, Any] = {**dict(zip(_KEYS, key, strict=True)), **_mean_change(scored, confidence)}
        for name, counted in _SHARES.items():
            codes = _codes([cluster for cluster, _ in decided])
            share = measure_share(np.isin(outcomes, counted), codes, confidence)
            row |= {name: share.value, f"{name}_lower": share.low, f"{name}_upper": share.high}
        rows.append(
            row
            | {
                "change_status": _status(len(scored), row["mean_change_lower"]),
                "flip_status": _status(len(decided), row["share_flipped_lower"]),
                "count_pairs": len(cell),
                "count_scored_pairs": len(scored),
                "count_decided_pairs": len(decided),
                "count_clusters": len({cluster for cluster, _, _ in cell}),
                "count_broken": outcomes.count("broken"),
                "count_mended": outcomes.count("mended"),
            }
        )
    return pa.Table.from_pylist(rows, schema=VARIANT_SCHEMA)


def _status(count: int, lower: float | None) -> str:
    if not count:
        return "no_pairs"
    return "too_few_clusters" if lower is None else "estimated"


def _codes(clusters: Sequence[str]) -> Integers:
    return np.unique(np.asarray(clusters, dtype=object), return_inverse=True)[1].astype(np.int64)


def _mean_change(scored: Sequence[tuple[str, float]], confidence: float) -> dict[str, float | None]:
    """Return the mean with its bounds; none below the least number of clusters."""
    changes = np.array([change for _, change in scored], dtype=np.float64)
    codes = _codes([cluster for cluster, _ in scored])
    count_clusters = len(np.unique(codes))
    row = dict[str, float | None].fromkeys(("mean_change", "mean_change_lower", "mean_change_upper"))
    if scored:
        row["mean_change"] = mean = float(changes.mean())
        if count_clusters >= MINIMUM_GROUPS:
            error = mean_and_error(changes, codes)[1]
            margin = float(t_quantile((1 + confidence) / 2, count_clusters - 1)) * error
            row |= {"mean_change_lower": mean - margin, "mean_change_upper": mean + margin}
    return row
