"""What was deleted on request: of which weeks only sums are left, and the proof of each deletion."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report.showing import EXCERPT_CHARACTERS, format_time

MAXIMUM_DELETIONS = 20

LIST_DELETIONS = "select * from fct_deletions order by deletion_number desc"


def describe_deletions(source: Warehouse) -> dict[str, Any] | None:
    """Return what was deleted in one sentence, with the last deletions; None if nothing was."""
    rows = source.rows(LIST_DELETIONS, ["fct_deletions"])
    if not rows:
        return None
    return {
        "sentence": say_what_was_deleted(rows),
        "weeks_before": max((row["weeks_before"] for row in rows if row["weeks_before"]), default=None),
        "rows": [
            {
                **row,
                "reason": clean_label(row["reason"], EXCERPT_CHARACTERS) if row["reason"] else None,
                "deleted_at": format_time(row["deleted_at"]),
            }
            for row in rows[:MAXIMUM_DELETIONS]
        ],
        "count_left_out": max(0, len(rows) - MAXIMUM_DELETIONS),
    }


def say_what_was_deleted(rows: list[Row]) -> str:
    """Return in a sentence of which weeks only sums are left, and how many single interactions were deleted."""
    pruned = [row for row in rows if row["command"] == "prune"]
    count_forgotten = sum(row["count_interactions"] for row in rows if row["command"] == "forget")
    parts = []
    if pruned:
        weeks = max(row["weeks_before"] for row in pruned)
        count = sum(row["count_interactions"] for row in pruned)
        parts.append(f"Weeks before {weeks}: sums only, {count:,} interactions deleted.")
    if count_forgotten:
        parts.append(f"{count_forgotten:,} single interactions deleted.")
    return " ".join(parts)
