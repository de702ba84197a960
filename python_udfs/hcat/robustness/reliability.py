"""How far a metric that needs no reference can be believed: its verdicts, and its order of chunks, against the truth.

Answers to queries of one group succeed and fail together, so that intervals count groups and not answers.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.robustness.rates import MINIMUM_GROUPS
from hcat.statistics.arrays import Flags, Integers
from hcat.statistics.survey import estimate_shares

#: One row per system, metric and measure.
RELIABILITY_SCHEMA: Final = schema(
    "string: system_id metric measure status",
    "float64: value low high chance_value effective_n",
    "int64: count_hits count_answers count_groups count_without_verdict count_undecided count_assumed",
)

#: Members of the population for which one answer stands: so many that the sample is a small part of it.
_UNLIMITED: Final = 1e12


class Share(NamedTuple):
    """A share with its interval; None where there is none. `effective_n` are independent answers that tell as much."""

    status: str
    value: float | None
    low: float | None
    high: float | None
    effective_n: float | None
    count_hits: int
    count_answers: int
    count_groups: int


def measure_share(is_hit: Flags, groups: Integers, confidence: float = 0.95, empty: str = "nothing_accepted") -> Share:
    """Return a share with an interval that counts groups."""
    count_hits, count_answers, count_groups = int(is_hit.sum()), len(is_hit), len(np.unique(groups))
    if not count_answers:
        return Share(empty, None, None, None, None, 0, 0, 0)
    value = count_hits / count_answers
    if count_groups < MINIMUM_GROUPS:
        return Share("too_few_groups", value, None, None, None, count_hits, count_answers, count_groups)
    found = estimate_shares(
        is_hit, np.zeros(count_answers, dtype=np.int64), np.full(count_answers, _UNLIMITED), groups, confidence
    )
    low, high = min(value, float(found.low[0])), max(value, float(found.high[0]))
    return Share("estimated", value, low, high, float(found.effective_n[0]), count_hits, count_answers, count_groups)


def measure_reliability(verdicts: pa.Table, orders: pa.Table, confidence: float) -> pa.Table:
    """Return precision and recall of every metric of every system, and the pairs that it orders rightly."""
    rows = [row for series in _series(verdicts, "system_id", "metric") for row in _judge_verdicts(series, confidence)]
    rows += [_judge_orders(series, confidence) for series in _series(orders, "system", "metric_name", "measure")]
    return pa.Table.from_pylist(rows, schema=RELIABILITY_SCHEMA)


def _series(table: pa.Table, *keys: str) -> list[list[dict[str, Any]]]:
    """Return the rows of each key in order; sums must not depend on the order of rows."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [sorted(found[key], key=lambda row: row["cluster_id"]) for key in sorted(found)]


def _judge_verdicts(series: list[dict[str, Any]], confidence: float) -> list[dict[str, Any]]:
    known = [row for row in series if row["is_accepted"] is not None]
    used = [row for row in known if row["is_correct"] is not None]
    used.sort(key=lambda row: (row["cluster_id"], row["is_accepted"], row["is_correct"]))
    is_accepted, is_correct = (np.array([row[name] for row in used], bool) for name in ("is_accepted", "is_correct"))
    groups = np.unique(np.array([row["cluster_id"] for row in used], dtype=object), return_inverse=True)[1]
    nothing = "no_verdicts" if series[0]["has_threshold"] else "no_threshold"
    return [
        {"system_id": series[0]["system_id"], "metric": series[0]["metric"], "measure": measure}
        | measure_share(is_hit[is_counted], groups[is_counted], confidence, empty if used else nothing)._asdict()
        | {
            "chance_value": float(is_hit.mean()) if used else None,
            "count_without_verdict": len(series) - len(known),
            "count_undecided": len(known) - len(used),
            "count_assumed": 0,
        }
        for measure, is_counted, is_hit, empty in (
            ("precision", is_accepted, is_correct, "nothing_accepted"),
            ("recall", is_correct, is_accepted, "nothing_correct"),
        )
    ]


def _judge_orders(series: list[dict[str, Any]], confidence: float) -> dict[str, Any]:
    right, tied, wrong = (
        np.array([row[name] for row in series], dtype=np.int64) for name in ("count_right", "count_tied", "count_wrong")
    )
    # Two halves a pair: a tie is right in one and wrong in the other. The variance is that between clusters, so that
    # the number of halves makes no interval narrower.
    halves = np.stack([2 * right + tied, 2 * wrong + tied], axis=1)
    is_hit = np.repeat(np.tile([True, False], len(series)), halves.ravel())
    share = measure_share(is_hit, np.repeat(np.arange(len(series)), halves.sum(axis=1)), confidence, "no_pairs")
    return (
        {"system_id": series[0]["system"], "metric": series[0]["metric_name"], "measure": series[0]["measure"]}
        | share._asdict()
        | {
            # an order by lot
            "chance_value": 0.5 if share.count_answers else None,
            "count_hits": int(right.sum()),
            "count_answers": share.count_answers // 2,
            "count_without_verdict": sum(row["count_unscored"] for row in series),
            "count_undecided": sum(row["count_undecided"] for row in series),
            "count_assumed": sum(row["count_assumed"] for row in series),
        }
    )
