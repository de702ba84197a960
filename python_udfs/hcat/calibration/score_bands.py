"""How often people fail answers by band of the score: what a reader wants to know before any threshold."""

from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.calibration.targets import read_labels
from hcat.engine.columns import schema
from hcat.statistics.arrays import Floats
from hcat.statistics.clustered import crossed_rate_interval

BAND_SCHEMA: Final = schema(
    "string: metric_name criterion direction",
    "int64: band",
    "float64: lower_bound upper_bound",
    "int64: count_labels count_failed count_clusters",
    "float64: failure_rate failure_rate_low failure_rate_high largest_cluster_share",
)

#: Bands of about equally many labels.
COUNT_BANDS: Final = 5
#: Decimals to which people round a threshold, and to which bounds are rounded.
DECIMALS: Final = 2


def band_bounds(scores: Floats) -> Floats:
    """Return the lower bounds of bands of about equally many scores, rounded, the first one minus infinity."""
    if not len(scores):
        return np.array([-np.inf])
    cuts = np.unique(np.round(np.quantile(scores, np.arange(1, COUNT_BANDS) / COUNT_BANDS), DECIMALS))
    # a band must hold a score, and the lowest band too
    return np.asarray(np.concatenate([[-np.inf], cuts[(cuts > scores.min()) & (cuts <= scores.max())]]))


def measure_score_bands(labels: pa.Table, targets: pa.Table, confidence: float) -> pa.Table:
    """Return the share of answers that people fail in each band of the score, with its interval by cluster."""
    rows: list[dict[str, Any]] = []
    for target, own in read_labels(labels, targets):
        bounds = band_bounds(own.scores)
        places = np.searchsorted(bounds, own.scores, side="right") - 1
        found = []
        for place in np.unique(places).tolist():
            band = own.take(places == place)
            is_failed = band.accepted == 0
            rate = crossed_rate_interval(is_failed, band.clusters, band.second_clusters, band.weights, confidence)
            found.append(
                target.head
                | {
                    "direction": target.direction,
                    "lower_bound": float(bounds[place]) if place else None,
                    "upper_bound": float(bounds[place + 1]) if place + 1 < len(bounds) else None,
                    "count_labels": rate.count_rows,
                    "count_failed": int(is_failed.sum()),
                    "count_clusters": rate.count_clusters,
                    "failure_rate": rate.estimate,
                    "failure_rate_low": rate.low,
                    "failure_rate_high": rate.high,
                    "largest_cluster_share": rate.largest_share,
                }
            )
        if target.direction != "higher_is_better":
            found.reverse()
        rows += [row | {"band": band} for band, row in enumerate(found, 1)]
    return pa.Table.from_pylist(rows, schema=BAND_SCHEMA)
