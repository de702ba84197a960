"""Groups of queries with one meaning, and which module failed: retrieval or the language model.

Queries that ask the same thing in other words are a group. One correct answer in a group shows that the knowledge is
there; a wrong one beside it shows a lack of robustness (Li et al. 2024, GRAMMAR, section 3.3). Three types of group:

- ``gap``: every answer is wrong; the documents may lack the knowledge;
- ``robust``: every answer is right;
- ``non_robust``: right and wrong ones.

Robustness R and accuracy are made of them in :mod:`hcat.robustness.rates`.

Context comparison: a wrong answer of a non-robust group whose context holds a document that also a right answer of its
group had is an error of the language model, because the document was enough there; otherwise retrieval failed. This
holds where one document suffices and the right answers rest on documents, not on what the model knew beforehand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple

import pyarrow as pa

from hcat.engine.keys import hash_text

GroupType = Literal["gap", "robust", "non_robust"]
Module = Literal["retrieval", "language_model"]
Rule = Literal["any_document", "common_documents"]

GROUP_TYPES: Final = {
    "gap": "every answer is wrong",
    "robust": "every answer is right",
    "non_robust": "right and wrong answers",
}
GROUP_STATUSES: Final = {
    "complete": "every answer is judged right or wrong",
    "partial": "some answers are undecided; type and counts are those of the others",
    "undecided": "no answer is decided: no type",
}
MODULES: Final = {
    "retrieval": "the context holds no document that a right answer of the group had",
    "language_model": "the context holds a document that was enough for a right answer of the group",
}
MODULE_STATUSES: Final = {
    "compared": "the module is named",
    "no_context_logged": "the wrong answer's context was not logged",
    "no_context_of_right_answers": "no right answer of the group has a document to compare with",
    "not_non_robust": "a wrong answer in a gap group: nothing to compare with",
    "not_wrong": "the answer is right, or undecided",
}
RULES: Final = {
    "any_document": "a document that any right answer of the group retrieved is enough (as the paper)",
    "common_documents": (
        "every document that all right answers of the group retrieved is needed; any of one, where they share none. "
        "For several documents a query: the one that suffices is in every right answer's context, and a distractor "
        "that a wrong answer happens to share no longer stands for it"
    ),
}

KEY = [("system_id", pa.string()), ("hypothesis", pa.string()), ("side", pa.string())]

#: What is read. ``hypothesis`` names a split ("query length") and ``side`` a side of it ("long"); an evaluation
#: without one says "all", "all". Documents are ids, or texts where there are none; null = not logged, [] = nothing
#: retrieved.
ANSWER_SCHEMA = pa.schema(
    [
        *KEY,
        ("group_id", pa.string()),
        ("interaction_id", pa.string()),
        ("query", pa.string()),
        ("is_correct", pa.bool_()),
        ("context_ids", pa.list_(pa.string())),
        ("context_texts", pa.list_(pa.string())),
    ]
)

#: One row per answer.
ATTRIBUTION_SCHEMA = pa.schema(
    [
        *KEY,
        ("group_id", pa.string()),
        ("interaction_id", pa.string()),
        ("group_type", pa.string()),
        ("is_correct", pa.bool_()),
        ("module_status", pa.string()),
        ("faulty_module", pa.string()),
    ]
)

#: One row per group and side.
GROUP_SCHEMA = pa.schema(
    [
        *KEY,
        ("group_id", pa.string()),
        ("group_status", pa.string()),
        ("group_type", pa.string()),
        ("is_gap_on_every_side", pa.bool_()),
        ("count_answers", pa.int64()),
        ("count_correct", pa.int64()),
        ("count_undecided", pa.int64()),
        ("count_queries", pa.int64()),
        ("count_retrieval_errors", pa.int64()),
        ("count_language_model_errors", pa.int64()),
        ("count_unattributed_errors", pa.int64()),
        ("share_correct", pa.float64()),
    ]
)


def classify_group(count_correct: int, count_answers: int) -> GroupType:
    """Return the type of a group with ``count_correct`` right ones among ``count_answers`` >= 1 answers."""
    if not 0 <= count_correct <= count_answers or count_answers < 1:
        raise ValueError(f"0 <= correct <= answers and answers >= 1 must hold, got {count_correct} of {count_answers}")
    if count_correct == 0:
        return "gap"
    return "robust" if count_correct == count_answers else "non_robust"


class _Answer(NamedTuple):
    """One row of :data:`ANSWER_SCHEMA`; documents are None where they were not logged."""

    key: tuple[str, str, str, str]
    interaction_id: str
    query: str | None
    is_correct: bool | None
    documents: frozenset[str] | None


def name_faulty_modules(
    is_correct: Sequence[bool | None],
    documents: Sequence[frozenset[str] | None],
    rule: Rule = "any_document",
) -> list[tuple[str, Module | None]]:
    """Return (status, faulty module) of every answer of one group, by comparing contexts."""
    if len(is_correct) != len(documents):
        raise ValueError(
            f"answers and their documents must have one length, got {len(is_correct)} and {len(documents)}"
        )
    of_right = [
        found for right, found in zip(is_correct, documents, strict=True) if right is True and found is not None
    ]
    sufficient = frozenset().union(*of_right)
    common: frozenset[str] = frozenset()
    if rule == "common_documents" and sufficient:
        common = frozenset.intersection(*[found for found in of_right if found])
    has_right = any(right is True for right in is_correct)
    named: list[tuple[str, Module | None]] = []
    for right, found in zip(is_correct, documents, strict=True):
        if right is not False:
            named.append(("not_wrong", None))
        elif not has_right:
            named.append(("not_non_robust", None))
        elif found is None:
            named.append(("no_context_logged", None))
        elif not sufficient:
            named.append(("no_context_of_right_answers", None))
        else:
            has_enough = common <= found if common else not found.isdisjoint(sufficient)
            named.append(("compared", "language_model" if has_enough else "retrieval"))
    return named


def attribute_errors(answers: pa.Table, rule: Rule = "any_document") -> pa.Table:
    """Return for every answer the type of its group and, if it is wrong in a non-robust one, the faulty module."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}, got {rule!r}")
    rows: list[dict[str, Any]] = []
    for group in _read_groups(answers):
        system, hypothesis, side, group_id = group[0].key
        decided = [answer.is_correct for answer in group if answer.is_correct is not None]
        group_type = classify_group(sum(decided), len(decided)) if decided else None
        named = name_faulty_modules(
            [answer.is_correct for answer in group], [answer.documents for answer in group], rule
        )
        for answer, (status, module) in zip(group, named, strict=True):
            rows.append(
                {
                    "system_id": system,
                    "hypothesis": hypothesis,
                    "side": side,
                    "group_id": group_id,
                    "interaction_id": answer.interaction_id,
                    "group_type": group_type,
                    "is_correct": answer.is_correct,
                    "module_status": status,
                    "faulty_module": module,
                }
            )
    return pa.Table.from_pylist(rows, schema=ATTRIBUTION_SCHEMA)


def group_answers(answers: pa.Table, rule: Rule = "any_document") -> pa.Table:
    """Return one row per group and side (schema :data:`GROUP_SCHEMA`, ordered by its key)."""
    attributed = attribute_errors(answers, rule).to_pylist()
    queries: dict[tuple[str, ...], set[str]] = {}
    for row in answers.select([*[name for name, _ in KEY], "group_id", "query"]).to_pylist():
        if row["query"] is not None:
            queries.setdefault(key_of(row), set()).add(" ".join(row["query"].split()))
    by_group: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in attributed:
        by_group.setdefault(key_of(row), []).append(row)
    answered = {(key[0], key[1], key[3]) for key, rows in by_group.items() if any(row["is_correct"] for row in rows)}
    grouped = []
    for key, rows in by_group.items():
        system, hypothesis, side, group_id = key
        decided = [row for row in rows if row["is_correct"] is not None]
        count_correct = sum(row["is_correct"] for row in decided)
        modules = [row["faulty_module"] for row in rows]
        unattributed = ("no_context_logged", "no_context_of_right_answers")
        grouped.append(
            {
                "system_id": system,
                "hypothesis": hypothesis,
                "side": side,
                "group_id": group_id,
                "group_status": "undecided" if not decided else "complete" if len(decided) == len(rows) else "partial",
                "group_type": rows[0]["group_type"],
                "is_gap_on_every_side": (system, hypothesis, group_id) not in answered if decided else None,
                "count_answers": len(decided),
                "count_correct": count_correct,
                "count_undecided": len(rows) - len(decided),
                "count_queries": len(queries.get(key, ())),
                "count_retrieval_errors": modules.count("retrieval"),
                "count_language_model_errors": modules.count("language_model"),
                "count_unattributed_errors": sum(row["module_status"] in unattributed for row in rows),
                "share_correct": count_correct / len(decided) if decided else None,
            }
        )
    return pa.Table.from_pylist(grouped, schema=GROUP_SCHEMA)


def equalise_groups(answers: pa.Table, group_size: int, random_seed: int = 20260101) -> pa.Table:
    """Return ``group_size`` decided answers of every group that has them, in seeded hash order; smaller groups
    leave."""
    if group_size < 2:
        raise ValueError(f"group_size must be at least 2, got {group_size}")
    rows_of: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    columns = answers.select([*[name for name, _ in KEY], "group_id", "interaction_id", "is_correct"])
    for position, row in enumerate(columns.to_pylist()):
        if row["is_correct"] is not None:
            order = hashlib.sha256(f"{random_seed}:{row['interaction_id']}".encode()).hexdigest()
            rows_of.setdefault(key_of(row), []).append((order, position))
    kept = [
        position for rows in rows_of.values() if len(rows) >= group_size for _, position in sorted(rows)[:group_size]
    ]
    return answers.take(pa.array(sorted(kept), pa.int64()))


def key_of(row: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return system, hypothesis, side and group of a row."""
    return row["system_id"], row["hypothesis"], row["side"], row["group_id"]


def _read_groups(answers: pa.Table) -> Iterable[list[_Answer]]:
    """Yield the answers of each group, groups in order of their key and answers in order of their id."""
    missing = [name for name in ANSWER_SCHEMA.names if name not in answers.column_names]
    if missing:
        raise ValueError(f"answers must have the columns of ANSWER_SCHEMA, without {', '.join(missing)}")
    by_group: dict[tuple[str, str, str, str], list[_Answer]] = {}
    for row in answers.select(ANSWER_SCHEMA.names).to_pylist():
        key = key_of(row)
        if None in key or row["interaction_id"] is None:
            raise ValueError(f"system, hypothesis, side, group and interaction must not be null, got {key}")
        answer = _Answer(key, row["interaction_id"], row["query"], row["is_correct"], _documents_of(row))
        by_group.setdefault(key, []).append(answer)
    for key in sorted(by_group):
        group = sorted(by_group[key], key=lambda answer: answer.interaction_id)
        if len({answer.interaction_id for answer in group}) < len(group):
            raise ValueError(f"an interaction must stand once in a group, got one twice in {key}")
        yield group


def _documents_of(row: dict[str, Any]) -> frozenset[str] | None:
    """Return what tells the retrieved documents apart: their ids, or hashes of their texts where there are none."""
    if row["context_ids"] is not None:
        return frozenset(f"id:{each}" for each in row["context_ids"] if each is not None)
    if row["context_texts"] is not None:
        # layout makes no other document
        return frozenset(f"text:{hash_text(' '.join(each.split()))}" for each in row["context_texts"] if each)
    return None
