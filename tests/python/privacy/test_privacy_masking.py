"""Masks show at most a third of a number, and nothing raw leaves."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.privacy.identifiers import has_luhn_check
from hcat.privacy.masking import mask_text, mask_value
from hcat.privacy.spans import ENTITY_TYPES
from hcat.privacy.tables import expose_answers, recognise_texts

CARD = "4111 1111 1111 1111"
IBAN = "GB82 WEST 1234 5698 7654 32"


@pytest.mark.parametrize(
    ("value", "entity_type", "masked"),
    [
        (CARD, "card", "****1111"),
        (IBAN, "iban", "****5432"),
        ("20-45-12", "sort_code", "****"),
        ("one two three four five six seven", "phone", "****"),
        ("Thelma Mitchell", "person", "[person]"),
    ],
)
def test_masks_show_at_most_a_third(value: str, entity_type: str, masked: str) -> None:
    assert mask_value(value, entity_type) == masked


def test_unknown_types_are_refused() -> None:
    with pytest.raises(ValueError, match="entity_type must be among"):
        mask_value("x", "shoe_size")


def test_masked_text_keeps_everything_else() -> None:
    text = f"Dear Ms Okonkwo,\nyour card {CARD} was charged. Harbour Points stay."
    assert mask_text(text) == "Dear Ms [person],\nyour card ****1111 was charged. Harbour Points stay."
    assert mask_text("Open the app.") == "Open the app."


_digits = st.text("0123456789", min_size=8, max_size=8)


@given(st.lists(st.tuples(_digits, _digits), min_size=1, max_size=3), st.sampled_from(["", "\n", " and "]))
@settings(max_examples=40, deadline=None)
def test_no_raw_value_leaves(pairs: list[tuple[str, str]], joint: str) -> None:
    sentences = []
    values = ["thelma", "okonkwo", "crown"]
    for first, second in pairs:
        body = "4" + first[:7] + second[:7]
        card = next(body + str(check) for check in range(10) if has_luhn_check(body + str(check)))
        sentences.append(
            f"Ms Thelma Okonkwo, card {card}, account number {second}, lives at 14 Crown Street, London, "
            f"call +44{first}00, t{first}@example.com."
        )
        values += [card, second, f"+44{first}00", f"t{first}@example.com"]
    answer = f"{joint} ".join(sentences)
    texts = pa.RecordBatch.from_pylist([{"text_id": "h", "reading_key": "k", "text": answer, "is_tagged": True}])
    (read,) = recognise_texts(texts, masked_types=ENTITY_TYPES).to_pylist()
    asked = {"interaction_id": "i0", "exposure_key": "k", "answer": answer, "spans": read["spans"]}
    batch = pa.RecordBatch.from_pylist([asked | {"query": "How?", "contexts": pa.scalar([], pa.list_(pa.string()))}])
    rows = expose_answers(batch).to_pylist()
    assert sum(row["exposure"] == "leaked" for row in rows) >= 5
    shown = (str(rows) + str(read) + mask_text(answer)).lower()
    assert not [value for value in values if value.lower() in shown]
