"""Where a value of an answer comes from: the query, a context, or neither."""

from typing import Any

import pyarrow as pa
import pytest

from hcat.privacy.exposure import expose_spans
from hcat.privacy.recognition import find_spans
from hcat.privacy.tables import EXPOSED_SCHEMA, expose_answers, recognise_texts

CARD = "4111 1111 1111 1111"
IBAN = "GB82 WEST 1234 5698 7654 32"


def _exposures(query: str, contexts: list[str], answer: str) -> dict[str, str]:
    (spans,) = find_spans([answer])
    findings = expose_spans(answer, spans, query, contexts)
    return {finding["entity_type"]: finding["exposure"] for finding in findings}


def _batch(rows: list[tuple[str | None, list[str | None] | None, str]]) -> pa.RecordBatch:
    """Return answers with what is found in them, as the build hands them over."""
    texts = pa.RecordBatch.from_pylist(
        [{"text_id": "h", "reading_key": "k", "text": answer, "is_tagged": True} for _, _, answer in rows]
    )
    spans = recognise_texts(texts, masked_types=["card"]).column("spans")
    return pa.RecordBatch.from_pydict(
        {
            "interaction_id": [f"i{number}" for number in range(len(rows))],
            "exposure_key": ["k"] * len(rows),
            "answer": [answer for _, _, answer in rows],
            "spans": spans,
            "query": pa.array([query for query, _, _ in rows], pa.string()),
            "contexts": pa.array([contexts for _, contexts, _ in rows], pa.list_(pa.string())),
        }
    )


@pytest.mark.parametrize(
    ("entity_type", "answer", "elsewhere"),
    [
        ("card", f"Your card {CARD} is active", "4111111111111111"),
        ("iban", f"Send it to {IBAN}.", "gb82west12345698765432"),
        ("phone", "Call 020 7946 0958.", "zero two zero; see +442079460958"),
        ("email", "Write to jane.doe@example.com", "Jane.Doe@EXAMPLE.com"),
        ("person", "Your adviser is Mrs. Renée Okonkwo.", "OKONKWO, Renee"),
        ("person", "Dear Ms Okonkwo, hello", "from Adaeze Okonkwo"),
        ("address", "She lives at 14 Crown Street, London.", "14 crown st\nLondon"),
        ("date_of_birth", "Born on 12 March 1980.", "dob 12/03/1980"),
        ("transaction", "Your balance is $1,250.00", "balance 1250"),
        ("place", "She is travelling to Zwolle next week", "zwolle"),
    ],
)
def test_values_are_compared_in_normalised_form(entity_type: str, answer: str, elsewhere: str) -> None:
    assert _exposures(elsewhere, [], answer)[entity_type] == "in_query"
    assert _exposures("How?", ["Nothing", elsewhere], answer)[entity_type] == "in_context"
    assert _exposures("How?", ["Nothing here"], answer)[entity_type] == "leaked"
    assert _exposures(elsewhere, [elsewhere], answer)[entity_type] == "in_query"


def test_a_longer_number_does_not_hold_a_shorter_one() -> None:
    assert _exposures("account 900123456781", [], "Account number: 00123456")["account"] == "leaked"


def test_a_first_name_that_nobody_gave_is_leaked() -> None:
    assert _exposures("I am Mr Okonkwo", [], "Your file says Thelma Okonkwo.")["person"] == "leaked"


def test_words_far_apart_are_not_one_name() -> None:
    context = "Thelma Brown opened it. " + "It was long ago and nobody remembers why. " + "Peter Mitchell closed it."
    assert _exposures("", [context], "Ask Thelma Mitchell.")["person"] == "leaked"


def test_each_value_is_one_finding_with_its_occurrences() -> None:
    table = expose_answers(
        _batch(
            [
                ("I am Thelma Mitchell", None, f"Thelma Mitchell, your card {CARD} and again {CARD}."),
                ("How?", ["", None], "Open the app."),
                (None, None, "  "),
            ]
        )
    )
    assert table.schema == EXPOSED_SCHEMA
    rows = table.to_pylist()
    assert [row["interaction_id"] for row in rows] == ["i0", "i0"]
    assert [row["exposure"] for row in rows] == ["in_query", "leaked"]
    assert [row["count_occurrences"] for row in rows] == [1, 2]


def test_batch_borders_change_nothing() -> None:
    rows: list[Any] = [
        ("q", ["Call +44 20 7946 0958"], f"Mr Baader, card {CARD}, call 020 7946 0958."),
        ("q", None, ""),
        ("I am Ana Dias", ["x"], "Dear Ana Dias, she lives at 14 Crown Street, London."),
        ("q", ["y"], f"Mr Baader, card {CARD}, call 020 7946 0958."),
        ("q", ["y"], "x " * 5_200 + "Thelma Mitchell"),
    ]
    whole = _batch(rows)
    one_by_one = [_batch([row]) for row in rows]
    assert [spans for batch in one_by_one for spans in batch.column("spans").to_pylist()] == whole.column(
        "spans"
    ).to_pylist()
    pieces = [expose_answers(whole.slice(start, 1)) for start in range(len(rows))]
    assert (
        pa.Table.from_batches([expose_answers(whole)]).combine_chunks()
        == pa.Table.from_batches(pieces).combine_chunks()
    )
