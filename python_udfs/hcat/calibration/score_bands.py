"""How often people fail answers by band of the score: what a reader wants to know before any threshold."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.tables import as_texts
from hcat.statistics.arrays import Floats
from hcat.statistics.clustered import rate_interval

BAND_SCHEMA: Final = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("direction", pa.string()),
        ("band", pa.int64()),
        ("lower_bound", pa.float64()),
        ("upper_bound", pa.float64()),
        ("count_labels", pa.int64()),
        ("count_failed", pa.int64()),
        ("count_clusters", pa.int64()),
        ("failure_rate", pa.float64()),
        ("failure_rate_low", pa.float64()),
        ("failure_rate_high", pa.float64()),
        ("largest_cluster_share", pa.float64()),
    ]
)


def band_bounds(scores: Floats, count_bands: int, decimals: int) -> Floats:
    """Return the lower bounds of bands of about equally many scores, rounded, the first one minus infinity."""
    if count_bands < 1:
        raise ValueError(f"count_bands must be at least 1, got {count_bands}")
    if not len(scores):
        return np.array([-np.inf])
    shares = np.arange(1, count_bands) / count_bands
    cuts = np.unique(np.round(np.quantile(scores, shares), decimals))
    # a band must hold a score, and the lowest band too
    inner = cuts[(cuts > scores.min()) & (cuts <= scores.max())]
    bounds: Floats = np.concatenate([[-np.inf], inner])
    return bounds


def measure_score_bands(
    labels: pa.Table, targets: pa.Table, count_bands: int, decimals: int, confidence: float
) -> pa.Table:
    """Return the share of answers that people fail in each band of the score, with its interval by cluster."""
    rows: list[dict[str, Any]] = []
    for target in targets.sort_by("metric_name").to_pylist():
        own = labels.filter(pc.equal(labels["metric_name"], target["metric_name"]))
        scores = own["raw_score"].to_numpy().astype(np.float64)
        bounds = band_bounds(scores, count_bands, decimals)
        places = np.searchsorted(bounds, scores, side="right") - 1
        failed, clusters = own["label"].to_numpy() == 0, as_texts(own["cluster_id"])
        weights = 1 / own["inclusion_probability"].to_numpy().astype(np.float64)
        found = []
        for place, bound in enumerate(bounds.tolist()):
            members = places == place
            if not members.any():
                continue
            rate = rate_interval(failed[members], clusters[members], weights[members], confidence)
            found.append(
                {name: target[name] for name in ("metric_name", "criterion", "direction")}
                | {
                    "lower_bound": None if np.isinf(bound) else bound,
                    "upper_bound": float(bounds[place + 1]) if place + 1 < len(bounds) else None,
                    "count_labels": rate.count_rows,
                    "count_failed": int(failed[members].sum()),
                    "count_clusters": rate.count_clusters,
                    "failure_rate": rate.estimate,
                    "failure_rate_low": rate.low,
                    "failure_rate_high": rate.high,
                    "largest_cluster_share": rate.largest_share,
                }
            )
        if target["direction"] != "higher_is_better":
            found.reverse()
        rows += [row | {"band": band} for band, row in enumerate(found, 1)]
    return pa.Table.from_pylist(rows, schema=BAND_SCHEMA)
