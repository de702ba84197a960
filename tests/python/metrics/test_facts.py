"""Free text checked by its facts: numbers, names, words, negations; what cannot be told stays undecided."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.metrics.facts import SHORT_ANSWER_WORDS, check_facts

QUERY = "Which fee has the Pier Account?"
TRUTH = "The Pier Account costs 9 euros a month, and the fee is waived from 2,500 euros."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Yes. The Pier Account costs 9 euros a month; the fee is waived from 2500 euros.", "correct same_facts"),
        ("The Pier Account costs 11 euros a month, and the fee is waived from 2,500 euros.", "incorrect other_value"),
        ("The Pier Account costs 9 euros a month, and the fee is not waived from 2,500 euros.", "undecided negation"),
        ("The Quay Account costs 9 euros a month, and the fee is waived from 2,500 euros.", "undecided other_name"),
        ("The Pier Account costs a fee by the month, which is waived.", "undecided facts_missing"),
        ("Cheques take long.", "undecided other_subject"),
        ("", "undecided no_text"),
        (None, "undecided no_text"),
    ],
)
def test_facts_of_a_sentence(answer: str | None, expected: str) -> None:
    assert check_facts(answer, TRUTH, QUERY) == (*expected.split(), None)


def test_another_option_of_the_query_is_another_value() -> None:
    query = "How much is the fee? A) 15 euros B) 25 euros"
    truth = "A) 15 euros. The fee for a late payment is 15 euros."
    assert check_facts("A) 15 euros. The fee for a late payment is 15 euros.", truth, query).status == "correct"
    assert check_facts("B) 25 euros. The fee for a late payment is 25 euros.", truth, query).status == "incorrect"


def test_rounding_and_scale_are_no_other_value() -> None:
    truth = "Net revenue of the segment grew by 19.1 percent."
    assert check_facts("Net revenue of the segment grew by 19 percent.", truth).reason == "near_value"
    assert check_facts("Net revenue of the segment grew by 27 percent.", truth).status == "incorrect"


def test_a_long_answer_reckons_and_is_never_called_incorrect() -> None:
    wrong = "The Pier Account costs 11 euros a month, and the fee is waived from 2,500 euros."
    assert check_facts(wrong, TRUTH, QUERY).status == "incorrect"
    assert check_facts(wrong + " Thank you." * SHORT_ANSWER_WORDS, TRUTH, QUERY).status == "undecided"


def test_every_sentence_of_the_true_answer_counts() -> None:
    truth = "Transfers cost 3 euros. Cheques cost 7 euros."
    assert check_facts("Cheques cost 7 euros. Transfers cost 3 euros.", truth).status == "correct"
    assert check_facts("Cheques cost 8 euros. Transfers cost 3 euros.", truth).status == "incorrect"


def test_what_the_query_says_is_no_fact() -> None:
    assert check_facts("A fee of 5 euros.", "A fee of 5 euros.", "Is there a fee of 5 euros?").reason == "no_facts"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_any_text_has_a_status_and_a_reason(answer: str, truth: str, query: str) -> None:
    checked = check_facts(answer, truth, query)
    assert checked.status in ("correct", "incorrect", "undecided")
