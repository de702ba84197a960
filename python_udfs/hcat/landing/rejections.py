"""What was rejected, said on standard error while a build runs: one line per file and reason, also with ``--quiet``.

Optional fields that could not be read of records that are kept are said likewise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from hcat.engine.retention_rules import DELETED
from hcat.engine.saying import say

#: Lines that a build says; the rest is one line with their number.
SAID_LINES = 20

_SCHEMA = pa.schema([("rejection", pa.string())])


def say_rejections(rejections: pa.Table) -> pa.Table:
    """Return the lines that were said of rejected records, as a table of one column.

    Parameters
    ----------
    rejections : Table
        Columns entity, source_file, kind, reason (texts), count_records and first_row (integers). The kind `field` says
        that the records are kept in part.

    Examples
    --------
    >>> row = {"entity": "interactions", "source_file": "calls.jsonl", "kind": "record", "reason": "malformed JSON"}
    >>> said = say_rejections(pa.Table.from_pylist([row | {"count_records": 2, "first_row": 7}]))
    >>> said["rejection"].to_pylist()
    ['calls.jsonl: 2 records of interactions rejected: malformed JSON (first in row 7)']
    """
    # nobody has to mend what was deleted on request
    found = [row for row in rejections.to_pylist() if row["reason"] != DELETED]
    rows = sorted(found, key=lambda row: (-row["count_records"], describe(row)))
    lines = [describe(row) for row in rows]
    more = len(lines) - SAID_LINES
    said = [*lines[:SAID_LINES], *([f"{more} more reasons stand in stg_rejected_records"] if more > 0 else [])]
    for line in said:
        say(f"hcat: {line}", is_error=True)
    return pa.table({"rejection": lines}, schema=_SCHEMA)


def describe(row: Mapping[str, Any]) -> str:
    """Return one line on the records of a file that were rejected, or kept in part, for one reason.

    Row 0 is the file as a whole.
    """
    if not row["first_row"]:
        return f"file rejected: {row['reason']}"
    entity = row["entity"].replace("_", " ")
    is_one = row["count_records"] == 1
    records, place = ("record", "row") if is_one else ("records", "first in row")
    what = "kept in part" if row["kind"] == "field" else "rejected"
    counted = f"{row['count_records']} {records} of {entity} {what}"
    return f"{row['source_file']}: {counted}: {row['reason']} ({place} {row['first_row']})"
