"""Answers checked against true answers, by rules and by facts, as Arrow batches with a content key."""

from typing import Final

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.metrics.answers import check_answer
from hcat.metrics.facts import READ_BY_FACTS, check_facts
from hcat.metrics.texts import to_batch

#: One row per answer and content.
CHECKED_SCHEMA: Final = schema(
    "string: interaction_id input_key check_status check_reason answer_kind",
    "bool: is_correct",
    "string: facts_status facts_reason",
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
    rows = []
    for row in batch.to_pylist():
        answer, true_answer, query = row["answer"], row["true_answer"], row["query"]
        rivals = [each for each in row["rivals"] or () if each is not None and each != true_answer]
        checked = check_answer(answer, true_answer, query, rivals)
        is_correct = None if checked.status == "undecided" else checked.status == "correct"
        facts = check_facts(answer, true_answer, query)[:2] if checked.reason in READ_BY_FACTS else (None, None)
        rows.append((row["interaction_id"], row["input_key"], *checked, is_correct, *facts))
    return to_batch(rows, CHECKED_SCHEMA)
