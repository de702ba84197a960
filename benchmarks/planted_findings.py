"""Findings of the demo, judged by the labels of the same warehouse, and where these are too few by its verdicts."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import duckdb
import numpy as np

from benchmarks.harness import ROOT
from hcat.statistics.intervals import kish_effective_n, wilson_interval

#: Findings that a reader looks at first, how many of them may lack support, and how many labels can speak of a cell.
FIRST_FINDINGS: Final = 10
UNSUPPORTED_ALLOWED: Final = 1
LEAST_LABELS: Final = 10
QUANTILE: Final = 1.96

#: Severities of findings, worst first.
_SEVERITIES: Final = ("severe", "moderate", "minor")

_FINDINGS = """
select metric_name, first_dimension, first_segment, second_dimension, second_segment, severity, kind, difference
from fct_findings
where status <> 'closed_by_data'
"""

_MEMBERS = "select interaction_id from int_interaction_segments where dimension = $dimension and segment = $segment"

# one label of an answer and criterion, with the chance that the answer had of being rated
_LABELS = """
select interaction_id, criterion, max(human_label) = 0 as is_failing, 1 / min(inclusion_probability) as weight
from fct_ratings
where human_label is not null
group by interaction_id, criterion
"""

VERDICTS: Final = """
select interaction_id, verdict = 'failing' as is_failing, 1.0 as weight
from fct_verdicts
where verdict in ('failing', 'acceptable')
"""


def segments_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the segments of a cell by dimension; a joint dimension `topic x query_type` is taken apart.

    Examples
    --------
    >>> segments_of(
    ...     {"first_dimension": "system", "first_segment": "a", "second_dimension": "topic x query_type"}
    ...     | {"second_segment": "fees x yes_no"}
    ... )
    {'system': 'a', 'topic': 'fees', 'query_type': 'yes_no'}
    """
    segments = {}
    for place in ("first", "second"):
        dimension, segment = row[f"{place}_dimension"], row[f"{place}_segment"]
        if dimension is not None:
            names = dimension.split(" x ")
            values = segment.split(" x ") if len(names) > 1 else [segment]
            segments |= dict(zip(names, values, strict=True))
    return segments


class Judged(NamedTuple):
    """A finding and what labels and verdicts of the same warehouse say of it."""

    row: dict[str, Any]
    #: supported, contradicted or unsupported
    judgement: str
    judged_by: str
    effect: str


def judge_findings(connection: duckdb.DuckDBPyConnection) -> list[Judged]:
    """Return the first findings, each judged: do more answers fail in its cell than elsewhere?

    Labels of the metric's criterion judge it, for a metric without one those of any criterion. Where fewer than
    ``LEAST_LABELS`` answers of the cell are rated, verdicts do. A finding is supported where the interval of the
    difference lies above zero, contradicted where the difference does not, and unsupported between.
    """
    criteria = read_criteria()
    labels = connection.execute(_LABELS).fetchall()
    verdicts = {key: (failing, weight) for key, failing, weight in connection.execute(VERDICTS).fetchall()}
    rows = read_rows(connection, _FINDINGS)
    rows.sort(key=lambda row: (_rank_of(row["severity"]), -(row["difference"] or 0.0), json.dumps(segments_of(row))))
    judged = []
    for row in rows[:FIRST_FINDINGS]:
        members = _members(connection, segments_of(row))
        criterion = criteria.get(row["metric_name"])
        own: dict[str, tuple[bool, float]] = {}
        for key, rated, is_failing, weight in labels:
            if criterion in (None, rated):
                own[key] = (is_failing or own.get(key, (False, 0.0))[0], weight)
        judged_by = f"labels ({criterion or 'any criterion'})"
        if len(own.keys() & members) < LEAST_LABELS:
            own, judged_by = verdicts, "verdicts"
        judged.append(Judged(row, *_judge(own, members, judged_by)))
    return judged


def read_criteria() -> dict[str, str]:
    """Return the rated criterion of each metric that has one."""
    with (ROOT / "seeds" / "calibration_targets.csv").open(encoding="utf-8", newline="") as lines:
        criteria = {row["metric_name"]: row["criterion"] for row in csv.DictReader(lines)}
    return criteria | {"contradiction": "faithfulness"}


def cell_name(row: Mapping[str, Any]) -> str:
    """Return the segments of a cell in words."""
    return " and ".join(f"{name} {value}" for name, value in segments_of(row).items())


def read_rows(connection: duckdb.DuckDBPyConnection, query: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return the rows of a query by column."""
    result = connection.execute(query, parameters) if parameters else connection.execute(query)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _members(connection: duckdb.DuckDBPyConnection, segments: Mapping[str, str]) -> set[str]:
    """Return the interactions of a cell."""
    found = [
        {key for (key,) in connection.execute(_MEMBERS, {"dimension": name, "segment": value}).fetchall()}
        for name, value in segments.items()
    ]
    return set.intersection(*found)


def _judge(answers: Mapping[str, tuple[bool, float]], members: set[str], judged_by: str) -> tuple[str, str, str]:
    """Return judgement, judge and effect of a cell: failing shares inside and elsewhere, Newcombe's interval."""
    inside = [answer for key, answer in answers.items() if key in members]
    others = [answer for key, answer in answers.items() if key not in members]
    if not inside or not others:
        return "unsupported", judged_by, "no answers to compare"
    share, lower, _ = _share_of(inside)
    other, _, upper = _share_of(others)
    least = share - other - math.hypot(share - lower, upper - other)
    effect = f"{share:.0%} of {len(inside)} fail, {other:.0%} of {len(others)} elsewhere"
    judgement = "supported" if least > 0 else "contradicted" if share <= other else "unsupported"
    return judgement, judged_by, effect


def _share_of(answers: Sequence[tuple[bool, float]]) -> tuple[float, float, float]:
    """Return the weighted share of failing answers with Wilson's bounds at Kish's n."""
    failing, weights = (np.array(column, dtype=np.float64) for column in zip(*answers, strict=True))
    share = float(failing @ weights / weights.sum())
    return share, *wilson_interval(share, kish_effective_n(weights), QUANTILE)


def _rank_of(severity: str | None) -> int:
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)
