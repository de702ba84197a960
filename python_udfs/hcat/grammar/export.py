"""Queries made from tables as a file of the raw contract, for ``hcat collect``; whole or not at all."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hcat.engine.warehouse import Place, find_folder
from hcat.test_set.export import Written, open_made, to_jsonl, write_whole

COLUMNS: Final = (
    "query_id",
    "query_group",
    "source_group",
    "variant_type",
    "text",
    "reference_answer",
    "query_type",
    "difficulty",
    "answer_type",
    "expected_behaviour",
    "language",
    "tags",
)
"""Columns of the file, in order: those of queries in the raw contract, and the language, which goes with the answer."""

_HOW_TO_BUILD: Final = (
    "`dbt build --select +tag:grammar --indirect-selection cautious --vars '{hcat_grammar: true}'` makes them"
)


def write_queries(warehouse: Path | Place, output: Path | None = None, *, is_replacing: bool = False) -> Written:
    """Write the queries of ``fct_grammar_queries`` to a JSON Lines file."""
    path = output or find_folder(warehouse) / "grammar" / "queries.jsonl"
    if path.suffix != ".jsonl":
        raise ValueError(f"queries are written to a file *.jsonl, got {path}")
    tables = ("fct_grammar_queries", "fct_rejected_grammar_queries")
    with open_made(warehouse, tables, _HOW_TO_BUILD) as opened:
        rows = opened.rows("select * from fct_grammar_queries order by query_group, query_id", tables[:1])
        rejected = opened.rows("select reason from fct_rejected_grammar_queries", tables[1:])
    if not rows:
        raise ValueError(f"fct_grammar_queries must hold queries, got none: {_HOW_TO_BUILD}")
    counts = [len({row[name] for row in rows}) for name in ("query_group", "sql_template_id")]
    lines = [("written", f"{len(rows):,}: {counts[0]:,} facts of {counts[1]} SQL templates")]
    if rejected:
        reasons = sorted(Counter(row["reason"] for row in rejected).items())
        told = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
        lines.append(("not asked", f"{len(rejected):,} fillings: {told}"))
    return write_whole(path, "queries", to_jsonl([_record(row) for row in rows]), lines, is_replacing)


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    values = {
        **row,
        "text": row["query_text"],
        # all wordings of one fact are one source: intervals and folds never take them apart
        "source_group": row["query_group"],
        "variant_type": "original",
        "tags": json.loads(row["tags"]),
    }
    return {name: values[name] for name in COLUMNS}
