"""Monthly tests of audit labels as an Arrow table: do the promises of calibration still hold for newly rated answers?

docs/calibration.md says what a month is held against, and why within raters. Tests are one-sided: more coverage than
promised and probabilities that are too low do no harm to customers and are no failure.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.calibration.conformal import check_sets
from hcat.calibration.conformal_tables import AuditSample, fit_sets, read_samples
from hcat.calibration.targets import Labels
from hcat.engine.columns import schema
from hcat.statistics.arrays import Flags, Floats, Keys
from hcat.statistics.clusters import mean_and_error
from hcat.statistics.intervals import t_tail
from hcat.statistics.multiple_tests import holm

AUDIT_SCHEMA = schema(
    "string: metric_name criterion rated_month test stratum",
    "int32: label",
    "string: status",
    "int64: count_labels count_clusters",
    "float64: value expected p_value p_value_adjusted",
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
            rows += [target.head | {"rated_month": month} | row for row in _test(own, sample, is_month, alpha)]
    tested = [row for row in rows if row.get("p_value") is not None]
    for row, adjusted in zip(tested, holm([row["p_value"] for row in tested]).tolist(), strict=True):
        row |= {"p_value_adjusted": adjusted, "status": "failed" if adjusted < LEVEL else "passed"}
    return pa.Table.from_pylist(rows, schema=AUDIT_SCHEMA)


def overconfidence(excess: Floats, clusters: Keys, usual: Sequence[tuple[float, Floats, Keys]] = ()) -> float:
    """Return the one-sided P-value that probabilities less labels lie above the usual, clusters varying together."""
    # of each rater: the share of the labels, and those of other months; without raters, 0 is usual
    mean, error = mean_and_error(excess, clusters)
    for share, known, own in usual:
        mean_known, error_known = mean_and_error(known, own)
        mean, error = mean - share * mean_known, float(np.hypot(error, share * error_known))
    if error == 0:
        return 1.0 if mean <= 0 else 0.0
    return float(t_tail(mean / error, len(np.unique(clusters)) - 1))


def _test(labels: Labels, sample: AuditSample | None, is_month: Flags, alpha: float) -> Iterator[dict[str, Any]]:
    """Yield the tests of one month; those with a P-value are judged later."""
    raters = np.unique(labels.raters)
    # one rater alone is as strict in each month, and a first month has nothing to be compared with
    is_shared = len(raters) > 1 and not is_month.all()
    if is_shared:
        # who rated in the month, and enough in others
        raters = np.unique(labels.raters[is_month])
        counts_of = [len(np.unique(labels.clusters[~is_month & (labels.raters == rater)])) for rater in raters]
        raters = raters[np.array(counts_of) >= MINIMUM_CLUSTERS]
    is_compared = np.isin(labels.raters, raters)
    own = labels.take(is_month & is_compared)
    counts = {"count_labels": len(own.scores), "count_clusters": own.count_clusters}
    if sample is None or not len(raters):
        status = "not_calibrated" if sample is None else "other_raters"
        counts = {"count_labels": int(is_month.sum()), "count_clusters": labels.take(is_month).count_clusters}
        yield counts | {"test": COVERAGE, "status": status}
        yield counts | {"test": OVERCONFIDENCE, "status": status}
        return
    known, month = sample.take(~is_month & is_compared), sample.take(is_month & is_compared)
    conformalizer = fit_sets(known, alpha)
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
    excess, excess_known = (one.out_of_fold - one.labels.accepted for one in (month, known))
    usual = []
    for rater in raters.tolist() if is_shared else ():
        is_own = known.labels.raters == rater
        share = float(np.mean(own.raters == rater))
        usual.append((share, excess_known[is_own], known.labels.clusters[is_own]))
    yield row | {
        "value": float(own.accepted.mean()),
        "expected": float(month.out_of_fold.mean() - sum(share * one.mean() for share, one, _ in usual)),
        "p_value": overconfidence(excess, own.clusters, usual),
    }
