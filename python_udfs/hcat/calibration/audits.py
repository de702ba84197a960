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
import pyarrow as pa

from hcat.calibration.conformal import check_sets
from hcat.calibration.conformal_tables import AuditSample, fit_sets, read_samples
from hcat.calibration.targets import Labels
from hcat.statistics.arrays import Flags, Floats, Keys
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

#: Sets of a class hold its labels as often as promised; probabilities are no higher than what people accept.
COVERAGE: Final = "coverage"
OVERCONFIDENCE: Final = "overconfidence"
#: Level of the tests, after Holm's correction over months and metrics.
LEVEL: Final = 0.01
#: Clusters of a month below which its probabilities are not tested.
MINIMUM_CLUSTERS: Final = 10


def check_audits(labels: pa.Table, targets: pa.Table, predictions: pa.Table, alpha: float) -> pa.Table:
    """Return the one-sided tests of every month's audit labels, adjusted over all of them."""
    rows: list[dict[str, Any]] = []
    for target, own, sample in read_samples(labels, targets, predictions):
        if not len(own.scores):
            nothing = {"test": OVERCONFIDENCE, "status": "no_labels", "count_labels": 0, "count_clusters": 0}
            rows.append(target.head | nothing)
        for month in np.unique(own.months).tolist():
            is_month = own.months == month
            rows += [
                target.head | {"rated_month": month} | row for row in _test(own.take(is_month), sample, is_month, alpha)
            ]
    tested = [row for row in rows if row.get("p_value") is not None]
    for row, adjusted in zip(tested, holm([row["p_value"] for row in tested]).tolist(), strict=True):
        row |= {"p_value_adjusted": adjusted, "status": "failed" if adjusted < LEVEL else "passed"}
    return pa.Table.from_pylist(rows, schema=AUDIT_SCHEMA)


def overconfidence(probabilities: Floats, labels: Floats, clusters: Keys) -> float:
    """Return the one-sided P-value that probabilities lie above the shares of labels, clusters varying together."""
    excess = probabilities - labels
    mean = float(excess.mean())
    names, codes = np.unique(clusters, return_inverse=True)
    error = error_of_mean(excess - mean, codes, len(excess))
    if error == 0:
        return 1.0 if mean <= 0 else 0.0
    return float(t_tail(mean / error, len(names) - 1))


def _test(own: Labels, sample: AuditSample | None, is_month: Flags, alpha: float) -> Iterator[dict[str, Any]]:
    """Yield the tests of one month; those with a P-value are judged later."""
    counts = {"count_labels": len(own.scores), "count_clusters": own.count_clusters}
    if sample is None:
        yield counts | {"test": COVERAGE, "status": "not_calibrated"}
        yield counts | {"test": OVERCONFIDENCE, "status": "not_calibrated"}
        return
    conformalizer, month = fit_sets(sample.take(~is_month), alpha), sample.take(is_month)
    checks = check_sets(conformalizer, alpha, month.standings, own.accepted, own.strata, own.clusters)
    for cell, check in zip(conformalizer.cells, checks, strict=True):
        if check.count_test or cell.count_rows:  # a cell that nothing fell into promises nothing
            is_tested = check.p_value is not None
            yield {
                "test": COVERAGE,
                "stratum": cell.group,
                "label": cell.label,
                "status": None if is_tested else "too_few_clusters",
                "count_clusters": check.count_test,
                "value": check.count_covered / check.count_test if is_tested else None,
                "expected": check.expected_coverage,
                "p_value": check.p_value,
            }
    row = counts | {"test": OVERCONFIDENCE}
    if own.count_clusters < MINIMUM_CLUSTERS:
        yield row | {"status": "too_few_clusters"}
        return
    yield row | {
        "value": float(own.accepted.mean()),
        "expected": float(month.out_of_fold.mean()),
        "p_value": overconfidence(month.out_of_fold, own.accepted.astype(np.float64), own.clusters),
    }
