"""Findings of the demo as its mart tells them: those of page one with what labels say, and the life of all of them."""

from collections.abc import Mapping
from typing import Any, Final

import duckdb

#: Findings that a reader looks at first, and how many of them labels may neither support nor contradict.
FIRST_FINDINGS: Final = 10
UNSUPPORTED_ALLOWED: Final = 1
QUANTILE: Final = 1.96

_FINDINGS = """
select metric_name, first_dimension, first_segment, second_dimension, second_segment, severity, difference,
    failed_answers_a_week, labels_say, labels_by, count_labels_inside, count_failed_labels_inside,
    count_labels_outside, count_failed_labels_outside
from fct_findings
where page_rank <= $count
order by page_rank
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


def list_findings(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the findings of page one: the leading one of each hole, in the order of the mart."""
    return read_rows(connection, _FINDINGS, count=FIRST_FINDINGS)


def cell_name(row: Mapping[str, Any]) -> str:
    """Return the segments of a cell in words."""
    return " and ".join(f"{name} {value}" for name, value in segments_of(row).items())


def describe_labels(row: Mapping[str, Any]) -> str:
    """Return how many labelled answers fail in a cell and elsewhere."""
    inside, outside = (
        f"{row[f'count_failed_labels_{side}']} of {row[f'count_labels_{side}']}" for side in ("inside", "outside")
    )
    return f"{inside} fail, {outside} elsewhere"


def read_rows(connection: duckdb.DuckDBPyConnection, query: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return the rows of a query by column."""
    result = connection.execute(query, parameters) if parameters else connection.execute(query)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
