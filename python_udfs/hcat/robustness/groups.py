"""Groups of queries with one meaning, and which module failed: retrieval or the language model.

A document that a right answer of the group had was enough there (Li et al. 2024, GRAMMAR, section 3.3). This holds
where one document suffices and right answers rest on documents, not on what the model knew beforehand.
"""

import hashlib
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text

KEY: Final = ("system_id", "hypothesis", "side", "group_id")

#: What is read. ``hypothesis`` names a split ("query length") and ``side`` a side of it ("long"); an evaluation
#: without one says "all", "all". Documents are ids, or texts where there are none; null = not logged, [] = nothing
#: retrieved.
ANSWER_SCHEMA: Final = schema(
    f"string: {' '.join(KEY)} interaction_id query", "bool: is_correct", "list<string>: context_ids context_texts"
)

#: One row per answer. ``faulty_module`` is `retrieval` or `language_model`.
ATTRIBUTION_SCHEMA: Final = schema(
    "string: system_id hypothesis side group_id interaction_id group_type",
    "bool: is_correct",
    "string: module_status faulty_module",
)

#: One row per group and side.
GROUP_SCHEMA: Final = schema(
    "string: system_id hypothesis side group_id group_status group_type",
    "bool: is_gap_on_every_side",
    "int64: count_answers count_correct count_undecided count_queries count_retrieval_errors",
    "int64: count_language_model_errors count_unattributed_errors",
    "float64: share_correct",
)

_UNATTRIBUTED: Final = ("no_context_logged", "no_context_of_right_answers")


def key_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Return system, hypothesis, side and group of a row."""
    return tuple(row[name] for name in KEY)


def name_faulty_modules(
    is_correct: Sequence[bool | None], documents: Sequence[frozenset[str] | None]
) -> list[tuple[str, str | None]]:
    """Return (status, faulty module) of every answer of one group, by comparing contexts."""
    sufficient = frozenset[str]().union(
        *(found for right, found in zip(is_correct, documents, strict=True) if right and found is not None)
    )
    named: list[tuple[str, str | None]] = []
    for right, found in zip(is_correct, documents, strict=True):
        if right is not False:
            named.append(("not_wrong", None))
        elif not any(is_correct):
            named.append(("not_non_robust", None))
        elif found is None:
            named.append(("no_context_logged", None))
        elif not sufficient:
            named.append(("no_context_of_right_answers", None))
        else:
            named.append(("compared", "retrieval" if found.isdisjoint(sufficient) else "language_model"))
    return named


def attribute_errors(answers: pa.Table) -> pa.Table:
    """Return for every answer the type of its group and, if it is wrong in a non-robust one, the faulty module."""
    rows = [row for group in _attribute(answers) for row in group]
    return pa.Table.from_pylist(rows, schema=ATTRIBUTION_SCHEMA)


def _attribute(answers: pa.Table) -> list[list[dict[str, Any]]]:
    """Return the answers of each group with what is said of them, in the order of their keys."""
    rows = sorted(answers.to_pylist(), key=lambda row: (*key_of(row), row["interaction_id"]))
    groups = [list(group) for _, group in groupby(rows, key=key_of)]
    for group in groups:
        judged = [row["is_correct"] for row in group]
        decided = {right for right in judged if right is not None}
        group_type = ("non_robust" if len(decided) > 1 else "robust" if decided.pop() else "gap") if decided else None
        named = name_faulty_modules(judged, [_documents_of(row) for row in group])
        for row, (status, module) in zip(group, named, strict=True):
            row |= {"group_type": group_type, "module_status": status, "faulty_module": module}
    return groups


def _documents_of(row: dict[str, Any]) -> frozenset[str] | None:
    """Return what tells the retrieved documents apart: their ids, or hashes of their texts where there are none."""
    if row["context_ids"] is not None:
        return frozenset(f"id:{each}" for each in row["context_ids"] if each is not None)
    if row["context_texts"] is not None:
        # layout makes no other document
        return frozenset(f"text:{hash_text(' '.join(each.split()))}" for each in row["context_texts"] if each)
    return None


def group_answers(answers: pa.Table) -> pa.Table:
    """Return one row per group and side (schema :data:`GROUP_SCHEMA`, ordered by its key)."""
    groups = _attribute(answers)
    answered = {
        (row["system_id"], row["hypothesis"], row["group_id"]) for group in groups for row in group if row["is_correct"]
    }
    grouped = []
    for group in groups:
        system, hypothesis, _, group_id = key_of(group[0])
        decided = [row["is_correct"] for row in group if row["is_correct"] is not None]
        modules = [row["faulty_module"] for row in group]
        grouped.append(
            {name: group[0][name] for name in (*KEY, "group_type")}
            | {
                "group_status": "undecided" if not decided else "complete" if len(decided) == len(group) else "partial",
                "is_gap_on_every_side": (system, hypothesis, group_id) not in answered if decided else None,
                "count_answers": len(decided),
                "count_correct": sum(decided),
                "count_undecided": len(group) - len(decided),
                "count_queries": len({" ".join(row["query"].split()) for row in group if row["query"] is not None}),
                "count_retrieval_errors": modules.count("retrieval"),
                "count_language_model_errors": modules.count("language_model"),
                "count_unattributed_errors": sum(row["module_status"] in _UNATTRIBUTED for row in group),
                "share_correct": sum(decided) / len(decided) if decided else None,
            }
        )
    return pa.Table.from_pylist(grouped, schema=GROUP_SCHEMA)


def equalise_groups(answers: pa.Table, group_size: int, random_seed: int) -> pa.Table:
    """Return ``group_size`` decided answers of every group that has them, drawn by hash; smaller groups leave."""
    rows_of: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for position, row in enumerate(answers.select([*KEY, "interaction_id", "is_correct"]).to_pylist()):
        if row["is_correct"] is not None:
            order = hashlib.sha256(f"{random_seed}:{row['interaction_id']}".encode()).hexdigest()
            rows_of.setdefault(key_of(row), []).append((order, position))
    kept = [
        position for rows in rows_of.values() if len(rows) >= group_size for _, position in sorted(rows)[:group_size]
    ]
    return answers.take(pa.array(sorted(kept), pa.int64()))
