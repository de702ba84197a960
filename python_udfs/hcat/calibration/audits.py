"""Monthly tests of audit labels as an Arrow table: do the promises of calibration still hold for newly rated answers?

Audit labels are a plain random sample. Those of fold `test`, which nothing was fitted on, are tested month by month,
one-sided: sets that hold fewer labels than promised, and probabilities that lie above what people accept. More coverage
than promised and probabilities that are too low do no harm to customers and are no failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.conformal_tables import fit_quantiles
from hcat.calibration.tables import TEST, as_texts, read_calibrators
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
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, alpha: float, level: float, minimum_clusters: int
) -> pa.Table:
    """Return the one-sided tests of every month's audit labels, adjusted over all of them.

    Parameters
    ----------
    labels : Table
        int_audit_labels: the columns of :func:`hcat.calibration.conformal_tables.fit_quantiles` and rated_month
        (`YYYY-MM`).
    targets, calibrators : Table
        As in :func:`hcat.calibration.conformal_tables.fit_quantiles`.
    alpha : float
        Miscoverage of the sets in force, in (0, 1).
    level : float
        A P-value below it, after Holm's adjustment over all tests of the build, fails; in (0, 1).
    minimum_clusters : int
        Clusters of a month below which probabilities are not tested, at least 2.

    Returns
    -------
    Table
        Schema :data:`AUDIT_SCHEMA`, one row per (metric, month, test, stratum, label), ordered. Of `coverage`, value is
        the share of clusters that are covered and expected what their quantile promises, a row per class and stratum
        with a quantile of its own; of `overconfidence`, value is the mean label and expected the mean probability. A
        metric without any such label has one row with the status `no_labels`.

    Raises
    ------
    ValueError
        If level or minimum_clusters lies outside its range.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    if minimum_clusters < 2:
        raise ValueError(f"minimum_clusters must be at least 2, got {minimum_clusters}")
    is_test = pc.equal(labels["fold"], TEST)
    tested = labels.filter(is_test)
    rows: list[dict[str, Any]] = []
    for target in targets.sort_by("metric_name").to_pylist():
        own = tested.filter(pc.equal(tested["metric_name"], target["metric_name"]))
        months = sorted(set(own["rated_month"].to_pylist()))
        head = {"metric_name": target["metric_name"], "criterion": target["criterion"]}
        if not months:
            rows.append(dict.fromkeys(AUDIT_SCHEMA.names) | head | _nothing(OVERCONFIDENCE, "no_labels"))
            continue
        target_rows = targets.filter(pc.equal(targets["metric_name"], target["metric_name"]))
        for month in months:
            is_kept = pc.or_(pc.invert(is_test), pc.equal(labels["rated_month"], month))
            of_month = labels.filter(is_kept)
            month_head = dict.fromkeys(AUDIT_SCHEMA.names) | head | {"rated_month": month}
            rows += [
                month_head | row
                for row in (
                    *_test_coverage(of_month, target_rows, calibrators, alpha),
                    _test_overconfidence(of_month, target["metric_name"], calibrators, minimum_clusters),
                )
            ]
    _judge(rows, level)
    return pa.Table.from_pylist(rows, schema=AUDIT_SCHEMA)


def overconfidence(
    probabilities: npt.NDArray[np.float64], labels: npt.NDArray[np.float64], clusters: npt.NDArray[Any]
) -> float:
    """Return the one-sided P-value that probabilities lie above the shares of labels, whole clusters varying together.

    The mean of probability - label over rows, its variance linearised by cluster (Cochran 1977, section 11.8; CR1), and
    Student's t with clusters - 1 degrees of freedom.

    Parameters
    ----------
    probabilities, labels : ndarray, shape (n,)
        Probability that people accept, in [0, 1], and 1 where they did.
    clusters : ndarray, shape (n,)
        At least two distinct.

    Returns
    -------
    float
        In [0, 1]; 1 where nothing varies and the mean is not above 0, 0 where it is above.

    Examples
    --------
    Predictions exceed the labels by 0.5 on average, by 0 and 1 in the two clusters: t = 1 with one degree of freedom.

    >>> p_value = overconfidence(np.array([1.0, 1.0]), np.array([1.0, 0.0]), np.array(["a", "b"]))
    >>> round(float(p_value), 12)
    0.25
    """
    excess = probabilities - labels
    mean = float(excess.mean())
    names, codes = np.unique(clusters, return_inverse=True)
    error = error_of_mean(excess - mean, codes, len(excess))
    if error == 0:
        return 1.0 if mean <= 0 else 0.0
    return float(t_tail(mean / error, len(names) - 1))


def _nothing(test: str, status: str) -> dict[str, Any]:
    return {"test": test, "status": status, "count_labels": 0, "count_clusters": 0}


def _test_coverage(
    labels: pa.Table, targets: pa.Table, calibrators: pa.Table, alpha: float
) -> Iterator[dict[str, Any]]:
    quantiles = fit_quantiles(labels, targets, calibrators, [alpha])
    in_force = quantiles.filter(pc.equal(quantiles["stratification"], "label_conditional"))
    for cell in in_force.to_pylist():
        count = cell["count_test_clusters"] or 0
        if not count and not cell["count_labels"]:
            continue  # a cell that nothing fell into promises nothing
        is_tested = cell["p_value"] is not None
        status = "not_calibrated" if cell["status"] == "not_calibrated" else "too_few_clusters"
        yield {
            "test": COVERAGE,
            "stratum": cell["stratum"],
            "label": cell["label"],
            "status": None if is_tested else status,
            "count_labels": None,
            "count_clusters": count,
            "value": cell["count_covered"] / count if is_tested else None,
            "expected": cell["expected_coverage"] if is_tested else None,
            "p_value": cell["p_value"],
        }


def _test_overconfidence(
    labels: pa.Table, metric_name: str, calibrators: pa.Table, minimum_clusters: int
) -> dict[str, Any]:
    known = read_calibrators(calibrators).get(metric_name)
    own = labels.filter(pc.and_(pc.equal(labels["metric_name"], metric_name), pc.equal(labels["fold"], TEST)))
    own = own.sort_by("interaction_id")
    clusters = as_texts(own["cluster_id"])
    count_clusters = len(np.unique(clusters))
    row = {"test": OVERCONFIDENCE, "count_labels": own.num_rows, "count_clusters": count_clusters}
    if known is None:
        return row | {"status": "not_calibrated"}
    if count_clusters < minimum_clusters:
        return row | {"status": "too_few_clusters"}
    probabilities = known.apply(own["raw_score"].to_numpy(), as_texts(own["segment"]))
    accepted = own["label"].to_numpy().astype(np.float64)
    return row | {
        "status": None,
        "value": float(accepted.mean()),
        "expected": float(probabilities.mean()),
        "p_value": overconfidence(probabilities, accepted, clusters),
    }


def _judge(rows: list[dict[str, Any]], level: float) -> None:
    """Write status and adjusted P-value into the rows that were tested."""
    tested = [row for row in rows if row["p_value"] is not None]
    for row, adjusted in zip(tested, holm([row["p_value"] for row in tested]).tolist(), strict=True):
        row["p_value_adjusted"] = adjusted
        row["status"] = "failed" if adjusted < level else "passed"
