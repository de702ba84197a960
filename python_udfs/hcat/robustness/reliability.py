"""How far a metric that needs no reference can be believed: its verdicts against true correctness.

A metric with a decided threshold is a classifier of answers: accepted or not. Where the true answer is known, its
precision is the share of the accepted answers that are right, and its recall the share of the right answers that it
accepts (Li et al. 2024, GRAMMAR, section 4.1 and table 1). A low precision is optimism, a low recall is cynicism.

Answers to queries of one group succeed and fail together, so that intervals count groups and not answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.statistics.arrays import Flags, Integers
from hcat.statistics.survey import estimate_shares

MEASURES: Final = {
    "precision": "share of the accepted answers that are right; low = optimistic",
    "recall": "share of the right answers that are accepted; low = cynical",
}
STATUSES: Final = {
    "estimated": "value with interval",
    "too_few_groups": "fewer groups than the least: value without interval",
    "nothing_accepted": "no accepted answer: no precision",
    "nothing_correct": "no right answer: no recall",
    "no_verdicts": "no answer with a verdict of the metric and a known correctness",
    "no_threshold": "no threshold is decided for the metric, so that it accepts and rejects nothing",
}
READINGS: Final = {
    "low": "the whole interval lies below the floor: optimistic (precision), cynical (recall)",
    "high_enough": "the whole interval lies at or above the floor",
    "not_shown": "the interval holds the floor, or there is no interval",
}

#: What is read. ``cluster_id`` holds answers that succeed and fail together (the query group). ``is_accepted`` is the
#: metric's verdict by its decided threshold, null without a score or a decision; ``is_correct`` is null when undecided.
#: ``has_threshold`` says whether the metric has a decision at all, in force or not.
VERDICT_SCHEMA = pa.schema(
    [
        ("system_id", pa.string()),
        ("metric", pa.string()),
        ("cluster_id", pa.string()),
        ("is_accepted", pa.bool_()),
        ("is_correct", pa.bool_()),
        ("has_threshold", pa.bool_()),
    ]
)

#: One row per system, metric and measure.
RELIABILITY_SCHEMA = pa.schema(
    [
        ("system_id", pa.string()),
        ("metric", pa.string()),
        ("measure", pa.string()),
        ("status", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("chance_value", pa.float64()),
        ("floor", pa.float64()),
        ("reading", pa.string()),
        ("count_hits", pa.int64()),
        ("count_answers", pa.int64()),
        ("count_groups", pa.int64()),
        ("effective_n", pa.float64()),
        ("count_without_verdict", pa.int64()),
        ("count_undecided", pa.int64()),
    ]
)

#: Members of the population for which one answer stands: so many that the sample is a small part of it.
_UNLIMITED = 1e12


@dataclass(frozen=True, slots=True)
class ReliabilitySettings:
    """How reliability is measured.

    Parameters
    ----------
    confidence : float
        Two-sided, in (0, 1).
    minimum_groups : int
        Groups below which there is no interval; at least 2.
    precision_floor, recall_floor : float or None
        What a team asks for, in [0, 1]; None = no reading.
    """

    confidence: float = 0.95
    minimum_groups: int = 10
    precision_floor: float | None = None
    recall_floor: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must lie in (0, 1), got {self.confidence}")
        if self.minimum_groups < 2:
            raise ValueError(f"minimum_groups must be at least 2, got {self.minimum_groups}")
        for name, floor in (("precision_floor", self.precision_floor), ("recall_floor", self.recall_floor)):
            if floor is not None and not 0 <= floor <= 1:
                raise ValueError(f"{name} must lie in [0, 1], got {floor}")


@dataclass(frozen=True, slots=True)
class Reliability:
    """One share with its interval.

    Attributes
    ----------
    status : str
        One of :data:`STATUSES`.
    value, low, high : float or None
        In [0, 1].
    effective_n : float or None
        Independent answers that would tell as much: fewer than there are where answers of a group are alike.
    count_hits, count_answers, count_groups : int
        Answers that are accepted and right, those of the denominator, and their groups.
    """

    status: str
    value: float | None
    low: float | None
    high: float | None
    effective_n: float | None
    count_hits: int
    count_answers: int
    count_groups: int


def measure_share(
    is_hit: Flags, groups: Integers, confidence: float = 0.95, minimum_groups: int = 10, empty: str = "nothing_accepted"
) -> Reliability:
    """Return a share with an interval that counts groups."""
    if len(is_hit) != len(groups):
        raise ValueError(f"hits and groups must have one length, got {len(is_hit)} and {len(groups)}")
    count_hits, count_answers, count_groups = int(is_hit.sum()), len(is_hit), len(np.unique(groups))
    if not count_answers:
        return Reliability(empty, None, None, None, None, 0, 0, 0)
    value = count_hits / count_answers
    if count_groups < minimum_groups:
        return Reliability("too_few_groups", value, None, None, None, count_hits, count_answers, count_groups)
    found = estimate_shares(
        is_hit,
        np.zeros(count_answers, dtype=np.int64),
        np.full(count_answers, _UNLIMITED),
        groups,
        confidence,
    )
    effective = float(found.effective_n[0])
    low, high = min(value, float(found.low[0])), max(value, float(found.high[0]))
    return Reliability("estimated", value, low, high, effective, count_hits, count_answers, count_groups)


def measure_reliability(verdicts: pa.Table, settings: ReliabilitySettings | None = None) -> pa.Table:
    """Return precision and recall of every metric of every system against true correctness."""
    chosen = settings or ReliabilitySettings()
    rows: list[dict[str, Any]] = []
    for (system, metric), found in _read_metrics(verdicts):
        is_accepted = np.array([accepted for _, accepted, _ in found["used"]], dtype=bool)
        is_correct = np.array([correct for _, _, correct in found["used"]], dtype=bool)
        names = sorted({group for group, _, _ in found["used"]})
        codes = {name: code for code, name in enumerate(names)}
        groups = np.array([codes[group] for group, _, _ in found["used"]], dtype=np.int64)
        for measure, is_counted, is_hit, empty, floor in (
            ("precision", is_accepted, is_correct, "nothing_accepted", chosen.precision_floor),
            ("recall", is_correct, is_accepted, "nothing_correct", chosen.recall_floor),
        ):
            share = measure_share(
                is_hit[is_counted],
                groups[is_counted],
                chosen.confidence,
                chosen.minimum_groups,
                empty if len(is_hit) else "no_verdicts" if found["has_threshold"] else "no_threshold",
            )
            rows.append(
                {
                    "system_id": system,
                    "metric": metric,
                    "measure": measure,
                    "status": share.status,
                    "value": share.value,
                    "low": share.low,
                    "high": share.high,
                    "chance_value": float(is_hit.mean()) if len(is_hit) else None,
                    "floor": floor,
                    "reading": _read(share, floor),
                    "count_hits": share.count_hits,
                    "count_answers": share.count_answers,
                    "count_groups": share.count_groups,
                    "effective_n": share.effective_n,
                    "count_without_verdict": found["without_verdict"],
                    "count_undecided": found["undecided"],
                }
            )
    return pa.Table.from_pylist(rows, schema=RELIABILITY_SCHEMA)


def _read(share: Reliability, floor: float | None) -> str | None:
    if floor is None:
        return None
    if share.low is None or share.high is None:
        return "not_shown"
    if share.high < floor:
        return "low"
    return "high_enough" if share.low >= floor else "not_shown"


def _read_metrics(verdicts: pa.Table) -> Iterable[tuple[tuple[str, str], dict[str, Any]]]:
    missing = [name for name in VERDICT_SCHEMA.names if name not in verdicts.column_names]
    if missing:
        raise ValueError(f"verdicts must have the columns of VERDICT_SCHEMA, without {', '.join(missing)}")
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in verdicts.select(VERDICT_SCHEMA.names).to_pylist():
        if None in (row["system_id"], row["metric"], row["cluster_id"]):
            raise ValueError("system_id, metric and cluster_id must not be null")
        of_metric = found.setdefault(
            (row["system_id"], row["metric"]),
            {"used": [], "without_verdict": 0, "undecided": 0, "has_threshold": row["has_threshold"]},
        )
        if row["is_accepted"] is None:
            of_metric["without_verdict"] += 1
        elif row["is_correct"] is None:
            of_metric["undecided"] += 1
        else:
            of_metric["used"].append((row["cluster_id"], row["is_accepted"], row["is_correct"]))
    for each in found.values():
        # sums must not depend on the order of rows
        each["used"].sort()
    return sorted(found.items(), key=lambda item: item[0])
