"""How many labels a target needs: the plan of the seed `review_targets`."""

import math
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.calibration.decidable import auroc, expected_share_decided, labels_until_decided, measure_decidable, standings
from hcat.calibration.targets import Labels, read_labels
from hcat.engine.columns import schema
from hcat.statistics.clustered import crossed_rate_interval
from hcat.statistics.intervals import normal_quantile

#: What the seed `review_targets` may ask for.
PURPOSES: Final = ("half_width", "difference", "decided_share")

LABELS_NEEDED_SCHEMA = schema(
    "string: metric_name purpose",
    "float64: target confidence power failure_rate failure_rate_low failure_rate_high planning_rate",
    "float64: design_effect",
    "int64: count_groups count_labels count_clusters count_labels_needed",
    "int64: count_labels_needed_least count_labels_needed_most",
    "float64: auroc share_decidable share_decided_expected",
)


def labels_for_half_width(rate: float, half_width: float, confidence: float = 0.95, design_effect: float = 1.0) -> int:
    """Return how many labels give a rate's Wilson interval the half-width, at least 1."""
    squared = normal_quantile((1 + confidence) / 2) ** 2
    linear = squared * (2 * half_width**2 - rate * (1 - rate))
    constant = squared**2 * (half_width**2 - 0.25)
    # h < .5 makes the constant negative, so that exactly one root is positive
    count = (-linear + math.sqrt(linear**2 - 4 * half_width**2 * constant)) / (2 * half_width**2)
    return _round_up(count * design_effect)


def labels_for_difference(
    first_rate: float, second_rate: float, power: float = 0.80, confidence: float = 0.95, design_effect: float = 1.0
) -> int:
    """Return how many labels each of two groups needs so that a two-sided test tells their rates apart."""
    if not 0.5 <= power < 1:
        raise ValueError(f"power must lie in [0.5, 1), got {power}")
    effect = 2 * math.asin(math.sqrt(first_rate)) - 2 * math.asin(math.sqrt(second_rate))
    quantiles = normal_quantile((1 + confidence) / 2) + normal_quantile(power)
    return _round_up(2 * design_effect * (quantiles / effect) ** 2)


def measure_labels_needed(labels: pa.Table, wanted: pa.Table, targets: pa.Table) -> pa.Table:
    """Return how many labels each target of the seed `review_targets` needs, one row per target in its order."""
    calibrated = {target.name: (target.direction, own) for target, own in read_labels(labels, targets)}
    rows: list[dict[str, Any]] = []
    for row in wanted.select(["metric_name", "purpose", "target", "confidence", "power"]).to_pylist():
        place = f"review_targets, {row['metric_name']}"
        if row["purpose"] not in PURPOSES:
            raise ValueError(f"{place}: purpose must be among {', '.join(PURPOSES)}, got {row['purpose']}")
        largest = 1.0 if row["purpose"] == "decided_share" else 0.5
        if row["target"] is None or not 0 < row["target"] < largest:
            raise ValueError(f"{place}: target must lie in (0, {largest:g}), got {row['target']}")
        if (row["purpose"] == "difference") != (row["power"] is not None):
            raise ValueError(f"{place}: power belongs to the purpose difference, got {row['power']}")
        if row["metric_name"] not in calibrated:
            raise ValueError(f"{place}: the metric must be one of calibration_targets")
        direction, own = calibrated[row["metric_name"]]
        row |= _measure_rate(own, row["confidence"])
        is_of_sets = row["purpose"] == "decided_share"
        rows.append(row | (_plan_sets(own, row, direction) if is_of_sets else _plan_labels(row)))
    return pa.Table.from_pylist(rows, schema=LABELS_NEEDED_SCHEMA)


def _measure_rate(labels: Labels, confidence: float) -> dict[str, Any]:
    """Return failure rate, its interval, the rate to plan with and the design effect of one metric's labels."""
    found: dict[str, Any] = {"count_labels": len(labels.scores), "count_clusters": labels.count_clusters}
    if labels.count_clusters < 2:
        return found | {"planning_rate": 0.5, "design_effect": 1.0}
    keys = labels.clusters, labels.second_clusters
    rate = crossed_rate_interval(labels.accepted == 0, *keys, labels.weights, confidence)
    return found | {
        "failure_rate": rate.estimate,
        "failure_rate_low": rate.low,
        "failure_rate_high": rate.high,
        "planning_rate": rate.estimate,
        "design_effect": max(1.0, rate.count_rows / rate.effective_n),
    }


def _plan_labels(row: dict[str, Any]) -> dict[str, Any]:
    """Return the labels of all groups: for the rate of the labels, and the range for rates within its interval."""
    rate, interval = row["planning_rate"], (row["confidence"], row["design_effect"])
    low, high = row.get("failure_rate_low", rate), row.get("failure_rate_high", rate)
    found: dict[str, Any] = {"count_groups": 1 if row["purpose"] == "half_width" else 2}
    # a label says least where it fails as often as not
    rates = {"": rate, "_least": max(low, high, key=lambda end: abs(end - 0.5)), "_most": min(max(0.5, low), high)}
    for end, each in rates.items():
        if row["purpose"] == "half_width":
            found[f"count_labels_needed{end}"] = labels_for_half_width(each, row["target"], *interval)
        else:
            # the other rate lies on the side of .5, where more labels are needed
            other = each + row["target"] if each <= 0.5 else each - row["target"]
            found[f"count_labels_needed{end}"] = 2 * labels_for_difference(each, other, row["power"], *interval)
    return found


def _plan_sets(labels: Labels, row: dict[str, Any], direction: str) -> dict[str, Any]:
    """Return the plan of a share of answers that sets decide, from the audit labels that there are."""
    own = labels.take(labels.is_audit)
    count, count_clusters = len(own.scores), own.count_clusters
    found: dict[str, Any] = {"count_groups": 1, "count_labels": count, "count_clusters": count_clusters}
    if len(np.unique(own.accepted)) < 2:
        return found
    alpha = round(1 - row["confidence"], 12)
    ranks = standings(own.scores, direction)
    quality, ceiling = auroc(ranks, own.accepted), measure_decidable(ranks, own.accepted, alpha)
    rate, per_cluster = float(np.mean(own.accepted == 0)), count / count_clusters
    return found | {
        "planning_rate": rate,
        "design_effect": per_cluster,
        "count_labels_needed": labels_until_decided(row["target"], quality, alpha, rate, per_cluster)
        if row["target"] < ceiling
        else None,
        "auroc": quality,
        "share_decidable": ceiling,
        "share_decided_expected": expected_share_decided(quality, alpha, rate, count_clusters),
    }


def _round_up(count: float) -> int:
    """Return the least integer not below the count; a count that is an integer up to rounding stays."""
    return max(1, math.ceil(count - 1e-9))
