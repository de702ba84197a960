"""Two versions of an application over the same queries, as Arrow tables: which differences are more than noise.

SQL pairs the queries, averages replicates and sums by cluster (``int_version_cells_measured``); here its rows get an
interval, a p-value, a q-value over the one family of the build and a verdict. A difference is positive where the
candidate is better, whatever the direction of the metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.statistics.intervals import t_quantile, t_tail
from hcat.statistics.multiple_tests import benjamini_hochberg

VERSION_DIFFERENCE_SCHEMA: Final = pa.schema(
    [
        ("version_comparison_id", pa.string()),
        ("status", pa.string()),
        ("method", pa.string()),
        ("difference_lower", pa.float64()),
        ("difference_upper", pa.float64()),
        ("p_value", pa.float64()),
        ("q_value", pa.float64()),
        ("verdict", pa.string()),
    ]
)

#: Status -> meaning. Only `tested` and `no_change` stand in the family and have a verdict.
STATUSES: Final = {
    "tested": "the difference was tested, in the family of the build",
    "no_change": "tested: no cluster has another value, p = 1",
    "not_in_family": "no rule of the seed version_rules: interval and p-value are shown, and there is no verdict",
    "too_few_clusters": "fewer independent clusters than the least: levels are shown, without an interval",
    "no_scores": "no common query has the measurement on both sides",
    "no_threshold": "nobody has decided what a failure is",
    "no_pairs": "the versions have no query in common",
}

#: better, worse: q at most the false discovery rate and the whole interval beyond the margin.
VERDICTS: Final = ("better", "worse", "no_difference_shown", "not_evaluated")


def compare_versions(
    cells: pa.Table,
    *,
    confidence: float,
    false_discovery_rate: float,
    minimum_clusters: int,
    least_changed_clusters: int,
) -> pa.Table:
    """Return interval, p-value, q-value and verdict of every cell.

    Parameters
    ----------
    cells : Table
        version_comparison_id, count_shared_queries, count_pairs, count_clusters, clusters_effective (Kish), difference,
        standard_error (jackknife over clusters), gain and loss (>= 0; what the better and the worse clusters
        contribute: difference = gain - loss), count_clusters_better, count_clusters_worse, value_range (how far two
        values can lie apart), margin (null = not in the family), has_threshold. One row per cell, null where there is
        no value.
    confidence : float
        Of the two-sided intervals, in (0, 1).
    false_discovery_rate : float
        Greatest q-value of a verdict, in (0, 1).
    minimum_clusters : int
        Clusters below which nothing is tested, at least 2.
    least_changed_clusters : int
        Clusters with another value below which t is not to be trusted and the exact test takes its place, at least 0.

    Returns
    -------
    Table
        Schema :data:`VERSION_DIFFERENCE_SCHEMA`, in the order of `cells`.

    Raises
    ------
    ValueError
        If a setting lies outside its range, or a margin is negative.

    Notes
    -----
    `jackknife`: difference +- t x standard error, with effective clusters - 1 degrees of freedom. `exact`, where few
    clusters changed at all: the sign test over them (McNemar's exact test where a cluster is one query with one
    answer), and an interval from Clopper-Pearson bounds of the shares of clusters that gained and lost, each at a
    quarter of 1 - confidence. A cluster that lost may have lost the whole range there, so that this interval is never
    too narrow.

    Examples
    --------
    Effective clusters 5, difference 0.2, standard error 0.05: t = 4 with 4 degrees of freedom.

    >>> cell = dict(version_comparison_id="v", count_shared_queries=9, count_pairs=9, count_clusters=9)
    >>> cell |= dict(clusters_effective=5.0, difference=0.2, standard_error=0.05, gain=0.3, loss=0.1)
    >>> cell |= dict(count_clusters_better=7, count_clusters_worse=2, value_range=1.0, margin=0.0, has_threshold=True)
    >>> settings = dict(confidence=0.95, false_discovery_rate=0.05, minimum_clusters=2, least_changed_clusters=2)
    >>> row = compare_versions(pa.Table.from_pylist([cell]), **settings).to_pylist()[0]
    >>> row["status"], round(row["p_value"], 4), row["verdict"]
    ('tested', 0.0161, 'better')
    """
    _check_settings(cells, confidence, false_discovery_rate, minimum_clusters, least_changed_clusters)
    rows = [
        _test_cell(cell, confidence, minimum_clusters, least_changed_clusters)
        for cell in cells.select(_COLUMNS_READ).to_pylist()
    ]
    in_family = [row for row in rows if row["status"] in ("tested", "no_change")]
    q_values = benjamini_hochberg(np.asarray([row["p_value"] for row in in_family], dtype=np.float64))
    for row, q_value in zip(in_family, q_values.tolist(), strict=True):
        row["q_value"] = q_value
    for row in rows:
        row["verdict"] = _judge(row, row.pop("margin"), false_discovery_rate)
    return pa.Table.from_pylist(rows, schema=VERSION_DIFFERENCE_SCHEMA)


_COLUMNS_READ: Final = [
    "version_comparison_id",
    "count_shared_queries",
    "count_pairs",
    "count_clusters",
    "clusters_effective",
    "difference",
    "standard_error",
    "gain",
    "loss",
    "count_clusters_better",
    "count_clusters_worse",
    "value_range",
    "margin",
    "has_threshold",
]


def _test_cell(
    cell: Mapping[str, Any], confidence: float, minimum_clusters: int, least_changed_clusters: int
) -> dict[str, Any]:
    """Return the columns of one cell but q-value and verdict, and its margin."""
    row = {"version_comparison_id": cell["version_comparison_id"], "margin": cell["margin"], "q_value": None}
    status = _status(cell, minimum_clusters)
    if status not in ("tested", "no_change", "not_in_family"):
        return row | {"status": status, "p_value": None}
    count_changed = cell["count_clusters_better"] + cell["count_clusters_worse"]
    if count_changed < least_changed_clusters or not cell["standard_error"]:
        p_value, lower, upper = _compare_exactly(cell, 1 - confidence)
        method = "exact"
    else:
        p_value, lower, upper = _compare_by_t(cell, confidence)
        method = "jackknife"
    found = {"method": method, "p_value": p_value, "difference_lower": lower, "difference_upper": upper}
    return row | found | {"status": status}


def _status(cell: Mapping[str, Any], minimum_clusters: int) -> str:
    if cell["count_shared_queries"] == 0:
        return "no_pairs"
    if not cell["has_threshold"]:
        return "no_threshold"
    if cell["count_pairs"] == 0:
        return "no_scores"
    if cell["count_clusters"] < minimum_clusters:
        return "too_few_clusters"
    if cell["margin"] is None:
        return "not_in_family"
    return "tested" if cell["count_clusters_better"] + cell["count_clusters_worse"] else "no_change"


def _compare_by_t(cell: Mapping[str, Any], confidence: float) -> tuple[float, float, float]:
    """Return p-value and bounds from the jackknife error."""
    # siblings that outweigh all others leave less than one effective cluster to spare
    degrees = max(cell["clusters_effective"] - 1, 1.0)
    error = cell["standard_error"]
    half_width = float(t_quantile((1 + confidence) / 2, degrees)) * error
    p_value = 2 * float(t_tail(abs(cell["difference"]) / error, degrees))
    return p_value, cell["difference"] - half_width, cell["difference"] + half_width


def _compare_exactly(cell: Mapping[str, Any], miscoverage: float) -> tuple[float, float, float]:
    """Return p-value of the sign test over the clusters that changed, and bounds from their shares."""
    from scipy.special import bdtr

    better, worse = cell["count_clusters_better"], cell["count_clusters_worse"]
    count = cell["count_clusters"]
    p_value = min(1.0, 2 * float(bdtr(min(better, worse), better + worse, 0.5))) if better + worse else 1.0
    least_better, most_better = _bound_share(better, count, miscoverage / 4)
    least_worse, most_worse = _bound_share(worse, count, miscoverage / 4)
    # gain and loss are means over all queries: over the share of clusters they are what one such cluster contributes
    gain_of_one = cell["gain"] * count / better if better else 0.0
    loss_of_one = cell["loss"] * count / worse if worse else 0.0
    lower = least_better * gain_of_one - most_worse * cell["value_range"]
    upper = most_better * cell["value_range"] - least_worse * loss_of_one
    return p_value, lower, upper


def _bound_share(count: int, total: int, tail: float) -> tuple[float, float]:
    """Return the Clopper-Pearson bounds of count / total, each missed with at most the probability `tail`."""
    from scipy.special import betaincinv

    lower = float(betaincinv(count, total - count + 1, tail)) if count else 0.0
    upper = float(betaincinv(count + 1, total - count, 1 - tail)) if count < total else 1.0
    return lower, upper


def _judge(row: Mapping[str, Any], margin: float | None, false_discovery_rate: float) -> str:
    if row["q_value"] is None or margin is None:
        return "not_evaluated"
    if row["q_value"] <= false_discovery_rate and row["difference_lower"] > margin:
        return "better"
    if row["q_value"] <= false_discovery_rate and row["difference_upper"] < -margin:
        return "worse"
    return "no_difference_shown"


def _check_settings(
    cells: pa.Table, confidence: float, false_discovery_rate: float, minimum_clusters: int, least_changed_clusters: int
) -> None:
    for name, value in (("confidence", confidence), ("false_discovery_rate", false_discovery_rate)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie in (0, 1), got {value}")
    if minimum_clusters < 2:
        raise ValueError(f"minimum_clusters must be at least 2, got {minimum_clusters}")
    if least_changed_clusters < 0:
        raise ValueError(f"least_changed_clusters must be at least 0, got {least_changed_clusters}")
    negative = [margin for margin in cells["margin"].to_pylist() if margin is not None and not margin >= 0]
    if negative:
        raise ValueError(f"version_rules: margin must be at least 0, got {negative[0]}")
