"""Answers checked against true answers, by rules and by facts, as Arrow batches with a content key."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from hcat.metrics.answers import CHECK_SCHEMA, check_answers
from hcat.metrics.facts import READ_BY_FACTS, check_facts

#: One row per answer and content.
CHECKED_SCHEMA: Final = pa.schema(
    [
        CHECK_SCHEMA.field(0),
        ("input_key", pa.string()),
        *[CHECK_SCHEMA.field(each) for each in range(1, 5)],
        ("facts_status", pa.string()),
        ("facts_reason", pa.string()),
    ]
)


def check_pending(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the check of each answer against the true one, with its content key (schema :data:`CHECKED_SCHEMA`).

    Parameters
    ----------
    batch : RecordBatch
        interaction_id, input_key, query, answer, true_answer (strings) and rivals (list of strings; the true answer
        itself is none).

    Notes
    -----
    The facts (:mod:`hcat.metrics.facts`) also check an answer whose wording the rules cannot read. Their result has
    columns of its own, and SQL chooses between the two.

    Examples
    --------
    >>> row = {"interaction_id": "i1", "input_key": "k", "query": "Which fee?", "answer": "The fee is 5 EUR."}
    >>> batch = pa.RecordBatch.from_pylist([row | {"true_answer": "5 EUR", "rivals": ["5 EUR"]}])
    >>> check_pending(batch).to_pylist()[0]["check_status"]
    'correct'
    """
    rivals = [
        None if others is None else [each for each in others if each != true_answer]
        for others, true_answer in zip(
            batch.column("rivals").to_pylist(), batch.column("true_answer").to_pylist(), strict=True
        )
    ]
    position = batch.schema.get_field_index("rivals")
    checked = check_answers(batch.set_column(position, "rivals", pa.array(rivals, pa.list_(pa.string()))))
    facts = [
        check_facts(row["answer"], row["true_answer"], row["query"]) if reason in READ_BY_FACTS else None
        for reason, row in zip(
            checked.column("check_reason").to_pylist(),
            batch.select(["answer", "true_answer", "query"]).to_pylist(),
            strict=True,
        )
    ]
    columns = [
        checked.column(0),
        batch.column("input_key"),
        *checked.columns[1:],
        pa.array([None if each is None else each.status for each in facts], pa.string()),
        pa.array([None if each is None else each.reason for each in facts], pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=CHECKED_SCHEMA)
