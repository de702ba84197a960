"""Queries made from tables as a file of the raw contract, for ``hcat collect``; whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hcat.engine.warehouse import Place
from hcat.test_set.export import to_jsonl, write_whole

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


@dataclass(frozen=True, slots=True)
class WrittenQueries:
    """Queries that were written, or stood there already.

    Parameters
    ----------
    path : Path
        Their file.
    sha256 : str
        Of its bytes.
    is_new : bool
        False where the file held the same bytes before.
    count_templates, count_groups, count_queries : int
        SQL templates, filled SQL queries, and queries.
    rejected : mapping of str to int
        Why filled SQL queries are not asked -> how many.
    """

    path: Path
    sha256: str
    is_new: bool
    count_templates: int
    count_groups: int
    count_queries: int
    rejected: Mapping[str, int]

    def describe(self) -> list[tuple[str, str]]:
        """Return names and texts to print."""
        made = f"{self.count_queries:,}: {self.count_groups:,} facts of {self.count_templates} SQL templates"
        lines = [
            ("queries", f"{self.path}{'' if self.is_new else ', as it was'}"),
            ("sha256", self.sha256),
            ("written", made),
        ]
        if self.rejected:
            told = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.rejected.items()))
            lines.append(("not asked", f"{sum(self.rejected.values()):,} fillings: {told}"))
        lines.append(("next", f"hcat collect <endpoint.yml> --queries {self.path} --output {self.path.parent}"))
        return lines


def write_queries(warehouse: Path | Place, output: Path | None = None, *, is_replacing: bool = False) -> WrittenQueries:
    """Write the queries of ``fct_grammar_queries`` to a JSON Lines file."""
    from hcat.engine.warehouse import find_folder, open_warehouse

    path = output or find_folder(warehouse) / "grammar" / "queries.jsonl"
    if path.suffix != ".jsonl":
        raise ValueError(f"queries are written to a file *.jsonl, got {path}")
    tables = ("fct_grammar_queries", "fct_rejected_grammar_queries")
    with open_warehouse(warehouse) as opened:
        missing = opened.lacks(*tables)
        if missing:
            raise ValueError(f"{warehouse} must hold {' and '.join(tables)}, got no {missing[0]}: {_HOW_TO_BUILD}")
        rows = opened.rows("select * from fct_grammar_queries order by query_group, query_id", tables[:1])
        rejected = opened.rows("select reason from fct_rejected_grammar_queries", tables[1:])
    if not rows:
        raise ValueError(f"fct_grammar_queries must hold queries, got none: {_HOW_TO_BUILD}")
    content = to_jsonl([_record(row) for row in rows]).encode("utf-8")
    return WrittenQueries(
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        is_new=write_whole(path, content, is_replacing),
        count_templates=len({row["sql_template_id"] for row in rows}),
        count_groups=len({row["query_group"] for row in rows}),
        count_queries=len(rows),
        rejected=Counter(row["reason"] for row in rejected),
    )


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
