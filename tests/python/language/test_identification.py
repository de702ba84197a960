"""The language of a text: what is recognised, what stays undecided by its own figures, and the order of rows."""

import pyarrow as pa
import pytest

from hcat.language.identification import LANGUAGE_SCHEMA, identify_languages


def identify(*texts):
    batch = pa.RecordBatch.from_pydict(
        {"passage_id": [str(number) for number in range(len(texts))], "passage_text": list(texts)}
    )
    found = identify_languages(batch)
    assert found.schema == LANGUAGE_SCHEMA
    assert found["passage_id"].to_pylist() == batch["passage_id"].to_pylist()
    return found.to_pylist()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("You can block the card in the app or by telephone at any time.", "en"),
        ("Sie können die Karte jederzeit in der App oder am Telefon sperren.", "de"),
        ("Puede bloquear la tarjeta en cualquier momento en la aplicación o por teléfono.", "es"),
        ("Vous pouvez bloquer la carte à tout moment dans l'application ou par téléphone.", "fr"),
        ("Вы можете заблокировать карту в приложении в любое время.", "ru"),
    ],
)
def test_sentences_are_recognised(text, language):
    (found,) = identify(text)
    assert found["language"] == language
    assert found["language_probability"] > 0.95


def test_marks_numbers_and_short_texts_show_how_little_they_say():
    nothing, short, empty = identify("5.00 % (2026)", "OK.", "")
    assert (nothing["count_letters"], short["count_letters"], empty["count_letters"]) == (0, 2, 0)


def test_a_long_text_is_read_from_its_beginning():
    (found,) = identify("The fee is five euros a year. " * 100_000)
    assert found["language"] == "en"
    assert found["count_letters"] < 500


def test_no_text_gives_no_row():
    assert identify() == []
