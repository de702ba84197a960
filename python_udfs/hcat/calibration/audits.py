"""Monthly tests of audit labels as an Arrow table: do the promises of calibration still hold for newly rated answers?

Audit labels are a plain random sample. They are tested month by month, each against what the labels of all other
months say, one-sided: sets that hold fewer labels than promised, and out-of-fold probabilities that lie above what
people accept. More coverage than promised and probabilities that are too low do no harm to customers and are no
failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.conformal import check_sets
from hcat.calibration.conformal_tables import AuditSample, fit_in_force, read_sample
from hcat.calibration.tables import as_texts
from hcat.statistics.arrays import Flags
from hcat.statistics.clusters import error_of_mean
from hcat.statistics.intervals import t_tail
from hcat.statistics.multiple_tests import holm

AUDIT_SCHEMA = pa.schema(
    [
        ("metric_name", pa.string()),
        ("criterion", pa.string()),
        ("rated_month", pa.string()),
        ("test", pa.string()),
        ("stratum", pa.string()),
        ("label", pa.int32()),
        ("status", pa.string()),
        ("count_labels", pa.int64()),
        ("count_clusters", pa.int64()),
        ("value", pa.float64()),
        ("expected", pa.float64()),
        ("p_value", pa.float64()),
        ("p_value_adjusted", pa.float64()),
    ]
)

#: What a row may say; the first two are verdicts.
STATUSES: Final = ("passed", "failed", "too_few_clusters", "not_calibrated", "no_labels")

#: Sets of a class hold its labels as often as promised; probabilities are no higher than what people accept.
COVERAGE, OVERCONFIDENCE = "coverage", "overconfidence"


def check_audits(
    labels: pa.Table, targets: pa.Table, predictions: pa.Table, alpha: float, level: float, minimum_clusters: int
) -> pa.Table:
    """Return the one-sided tests of every month's audit labels, adjusted over all of them."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    if minimum_clusters < 2:
        raise ValueError(f"minimum_clusters must be at least 2, got {minimum_clusters}")
    ordered = labels.sort_by("interaction_id")
    rows: list[dict[str, Any]] = []
    for target in targets.sort_by("metric_name").to_pylist():
        own = ordered.filter(pc.equal(ordered["metric_name"], target["metric_name"]))
        head = {"metric_name": target["metric_name"], "criterion": target["criterion"]}
        if not own.num_rows:
            rows.append(dict.fromkeys(AUDIT_SCHEMA.names) | head | _nothing(OVERCONFIDENCE, "no_labels"))
            continue
        of_metric = predictions.filter(pc.equal(predictions["metric_name"], target["metric_name"]))
        sample = read_sample(own, target, of_metric) if of_metric.num_rows else None
        months = as_texts(own["rated_month"])
        for month in np.unique(months).tolist():
            month_head = dict.fromkeys(AUDIT_SCHEMA.names) | head | {"rated_month": month}
            if sample is None:
                of_month = own.filter(pc.equal(own["rated_month"], month))
                counts = {
                    "count_labels": of_month.num_rows,
                    "count_clusters": pc.count_distinct(of_month["cluster_id"]).as_py(),
                }
                rows += [
                    month_head | {"test": test, "status": "not_calibrated"} | counts
                    for test in (COVERAGE, OVERCONFIDENCE)
                ]
                continue
            is_month = months == month
            rows += [month_head | row for row in _test_coverage(sample, is_month, alpha)]
            rows.append(month_head | _test_overconfidence(sample, is_month, minimum_clusters))
    _judge(rows, level)
    return pa.Table.from_pylist(rows, schema=AUDIT_SCHEMA)


def overconfidence(
    probabilities: npt.NDArray[np.float64], labels: npt.NDArray[np.float64], clusters: npt.NDArray[Any]
) -> float:
    """Return the one-sided P-value that probabilities lie above the shares of labels, whole clusters varying
    together."""
    excess = probabilities - labels
    mean = float(excess.mean())
    names, codes = np.unique(clusters, return_inverse=True)
    error = error_of_mean(excess - mean, codes, len(excess))
    if error == 0:
        return 1.0 if mean <= 0 else 0.0
    return float(t_tail(mean / error, len(names) - 1))


def _nothing(test: str, status: str) -> dict[str, Any]:
    return {"test": test, "status": status, "count_labels": 0, "count_clusters": 0}


def _test_coverage(sample: AuditSample, is_month: Flags, alpha: float) -> Iterator[dict[str, Any]]:
    conformalizer = fit_in_force(sample, ~is_month, alpha)
    month = sample.take(is_month)
    checks = check_sets(conformalizer, month.standings, month.labels, month.groups, month.clusters)
    for cell, check in zip(conformalizer.cells, checks, strict=True):
        if not check.count_test and not cell.count_rows:
            continue  # a cell that nothing fell into promises nothing
        is_tested = check.p_value is not None
        yield {
            "test": COVERAGE,
            "stratum": cell.group,
            "label": cell.label,
            "status": None if is_tested else "too_few_clusters",
            "count_labels": None,
            "count_clusters": check.count_test,
            "value": check.count_covered / check.count_test if is_tested else None,
            "expected": check.expected_coverage,
            "p_value": check.p_value,
        }


def _test_overconfidence(sample: AuditSample, is_month: Flags, minimum_clusters: int) -> dict[str, Any]:
    month = sample.take(is_month)
    accepted, count_clusters = month.labels.astype(np.float64), len(np.unique(month.clusters))
    row = {"test": OVERCONFIDENCE, "count_labels": len(accepted), "count_clusters": count_clusters}
    if count_clusters < minimum_clusters:
        return row | {"status": "too_few_clusters"}
    return row | {
        "status": None,
        "value": float(accepted.mean()),
        "expected": float(month.out_of_fold.mean()),
        "p_value": overconfidence(month.out_of_fold, accepted, month.clusters),
    }


def _judge(rows: list[dict[str, Any]], level: float) -> None:
    """Write status and adjusted P-value into the rows that were tested."""
    tested = [row for row in rows if row["p_value"] is not None]
    for row, adjusted in zip(tested, holm([row["p_value"] for row in tested]).tolist(), strict=True):
        row["p_value_adjusted"] = adjusted
        row["status"] = "failed" if adjusted < level else "passed"
