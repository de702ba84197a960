"""Numbers and names that stand where the context puts another one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat.language.features import extract_features
from hcat.metrics.placement import Displacement, Places, find_displaced, place_mentions


def find(sentence: str, *context: str, query: str = "") -> Displacement:
    places = Places.from_sentences(
        [place_mentions(text, extract_features(text)) for text in context],
        [place_mentions(query, extract_features(query))] if query else [],
    )
    return find_displaced(place_mentions(sentence, extract_features(sentence)), places)


FEES = (
    "The account costs nothing in the first year.",
    "The monthly fee of the current account is 5 euros.",
    "A replacement card costs 12 euros.",
    "Complaints are answered within 14 days.",
)
PEOPLE = (
    "The board met in Zurich.",
    "Maria Keller leads the retail bank since May.",
    "Anton Weber was appointed head of compliance last year.",
    "The auditors left the firm.",
)


def test_a_number_in_the_place_of_another_is_displaced() -> None:
    found = find("The monthly fee of the current account is 12 euros.", *FEES)
    assert found.number > 0.4
    assert found.entity == 0
    assert found.displaced == ("12 euros instead of 5 euros",)


def test_a_name_in_the_place_of_another_is_displaced() -> None:
    found = find("Anton Weber leads the retail bank.", *PEOPLE)
    assert found.entity > 0.3
    assert found.number == 0
    assert found.displaced == ("Anton Weber instead of Maria Keller",)


@pytest.mark.parametrize("sentence", [*FEES, *PEOPLE, "Its monthly fee is 5 euros.", "Keller leads the retail bank."])
def test_what_the_context_says_is_in_place(sentence: str) -> None:
    assert find(sentence, *FEES, *PEOPLE) == Displacement(0.0, 0.0, ())


def test_only_like_is_compared_with_like() -> None:
    # 14 counts days, so that it cannot be meant where euros stand
    assert find("The monthly fee of the current account is 12 euros.", FEES[2], FEES[3]).number == 0
    # a person and an acronym
    assert find("Anton Weber leads the IMF.", "The IMF leads the work.", "Anton Weber was ill.").entity == 0


def test_what_the_context_lacks_is_unsupported_and_not_displaced() -> None:
    assert find("The monthly fee of the current account is 99 euros.", *FEES) == Displacement(0.0, 0.0, ())


def test_a_number_of_the_query_has_no_place_in_the_context() -> None:
    sentence = "The monthly fee of the current account is 7 euros."
    assert find(sentence, *FEES).number == 0
    assert find(sentence, *FEES, query="Is the fee 7 euros?").displaced == ("7 euros instead of 5 euros",)


def test_fields_of_one_record_have_no_place() -> None:
    record = ("Name: La Casa.", "City: Santa Barbara.", "Owner: Pat Green.", "Categories: Hotels, Bars.")
    assert find("La Casa is owned in Santa Barbara by Pat Green.", *record) == Displacement(0.0, 0.0, ())


def test_a_cell_stands_in_its_row_and_under_its_column() -> None:
    rows = [
        f"Country: {name}; Daily allowance: {day} EUR; Hotel limit: {night} EUR."
        for name, day, night in (("Denmark", 62, 165), ("Poland", 38, 110), ("Norway", 71, 190))
    ]
    table = ("Country, Daily allowance, Hotel limit.", *rows)
    assert find("The daily allowance for Norway is 71 EUR.", *table) == Displacement(0.0, 0.0, ())
    assert find("In Poland the hotel limit is 165 EUR.", *table).displaced == ("165 EUR instead of 110 EUR",)


def test_a_name_that_the_text_is_about_may_be_meant_everywhere() -> None:
    swapped = "Anton Weber leads the retail bank."
    rare = find(swapped, *PEOPLE)
    told = find(swapped, "Anton Weber is the new man.", "Anton Weber met the board.", "Anton Weber speaks.", *PEOPLE)
    assert rare.entity > told.entity > 0


def test_weekdays_are_not_compared() -> None:
    assert find("The branch closes on Monday.", "The branch closes on Sunday.", "It opens on Monday.").entity == 0


def test_nothing_to_compare() -> None:
    assert find("Nothing here.") == Displacement(0.0, 0.0, ())
    assert find("The fee is 5 euros.") == Displacement(0.0, 0.0, ())
    assert find("") == Displacement(0.0, 0.0, ())


VOCABULARY = "Keller Weber fee bank 5 12 2,000 euros of the card in % Monday: IMF"
TEXTS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=9).map(" ".join)


@given(TEXTS, st.lists(TEXTS, max_size=6), TEXTS)
def test_displacements_are_shares_and_named(sentence: str, context: list[str], query: str) -> None:
    found = find(sentence, *context, query=query)
    assert 0 <= found.number <= 1
    assert 0 <= found.entity <= 1
    assert bool(found.displaced) == (max(found.number, found.entity) > 0)
    assert found == find(sentence, *context, query=query)


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=6))
def test_a_sentence_of_the_context_fits_its_own_place_best(context: list[str]) -> None:
    # its own place holds every word at its distance, so that no rival can do better
    assert find(context[0], *dict.fromkeys(context)).displaced == ()


def test_a_context_of_ten_thousand_numbers_takes_seconds() -> None:
    context = [f"Row {n}: the fee of account {n} is {n * 7} euros in branch {n % 90}." for n in range(5_000)]
    started = time.perf_counter()
    find("The fee of account 17 is 119 euros in branch 17, of account 20 it is 140 euros and 5 percent.", *context)
    assert time.perf_counter() - started < 20
