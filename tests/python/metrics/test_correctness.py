"""Answers checked against true answers: their key, their rivals, and batches."""

import pyarrow as pa
from schemas import make_schema

from hcat.metrics.correctness import CHECKED_SCHEMA, check_pending


def to_check(*rows: tuple[str, str, list[str] | None]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [
            {
                "interaction_id": f"i{number}",
                "input_key": f"k{number}",
                "query": "Where is it?",
                "answer": answer,
                "true_answer": truth,
                "rivals": rivals,
            }
            for number, (answer, truth, rivals) in enumerate(rows)
        ],
        schema=make_schema(string="interaction_id input_key query answer true_answer", string_lists="rivals"),
    )


def test_checks_keep_their_key_and_the_true_answer_is_no_rival_of_itself() -> None:
    checked = check_pending(
        to_check(
            ("It is in Oslo.", "Oslo", ["Oslo", "Rome"]),
            ("In Oslo or so, or Rome.", "Oslo", ["Oslo", "Rome"]),
            ("The head office of the bank stands in the old town of Oslo.",
             "The head office of the bank stands in the old town of Oslo since then.", None),
        )
    )  # fmt: skip
    rows = checked.to_pylist()
    assert checked.schema == CHECKED_SCHEMA
    assert [row["input_key"] for row in rows] == ["k0", "k1", "k2"]
    assert [row["check_status"] for row in rows] == ["correct", "undecided", "undecided"]
    # decided, or suspected, by rule: the facts are not asked
    assert [row["facts_status"] for row in rows] == [None, None, "correct"]
