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
    ],
)
def test_facts_of_a_sentence(answer: str | None, expected: str) -> None:
    assert check_facts(answer, TRUTH, QUERY) == (*expected.split(), None)


OPTIONS, FEE = "How much is the fee? A) 15 euros B) 25 euros", "15 euros. The fee for a late payment is 15 euros."
TRANSFERS = "Transfers cost 3 euros. Cheques cost 7 euros."
REVENUE = "Net revenue of the segment grew by 19.1 percent."
WRONG = "The Pier Account costs 11 euros a month, and the fee is waived from 2,500 euros."


@pytest.mark.parametrize(
    ("answer", "truth", "query", "status"),
    [
        # another option of the query is another value
        (f"A) {FEE}", f"A) {FEE}", OPTIONS, "correct"),
        (f"B) {FEE.replace('15', '25')}", f"A) {FEE}", OPTIONS, "incorrect"),
        # rounding and scale are none
        (REVENUE.replace("19.1", "19"), REVENUE, "", "near_value"),
        (REVENUE.replace("19.1", "27"), REVENUE, "", "incorrect"),
        # a long answer reckons, and is never called incorrect
        (WRONG, TRUTH, QUERY, "incorrect"),
        (WRONG + " Thank you." * SHORT_ANSWER_WORDS, TRUTH, QUERY, "undecided"),
        # every sentence of the true answer counts
        ("Cheques cost 7 euros. Transfers cost 3 euros.", TRANSFERS, "", "correct"),
        ("Cheques cost 8 euros. Transfers cost 3 euros.", TRANSFERS, "", "incorrect"),
        # what the query says is no fact
        ("A fee of 5 euros.", "A fee of 5 euros.", "Is there a fee of 5 euros?", "no_facts"),
    ],
)
def test_what_decides_and_what_does_not(answer: str, truth: str, query: str, status: str) -> None:
    assert status in check_facts(answer, truth, query)[:2]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_any_text_has_a_status_and_a_reason(answer: str, truth: str, query: str) -> None:
    checked = check_facts(answer, truth, query)
    assert checked.status in ("correct", "incorrect", "undecided")
