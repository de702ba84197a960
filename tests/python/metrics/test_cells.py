"""Numbers held against the cells that a sentence names, and results computed from cells: worked tables."""

import pytest

from hcat.language.features import extract_features
from hcat.language.verbalisation import verbalise_sentences
from hcat.metrics.cells import Aligned, Tables, align, read_rows

FEES = "| Service | Price |\n|---|---|\n| Monthly fee | 12 euros |\n| Card | 5 euros |\n| Wire | 10 euros |"
FEES_AS_KEYS = '{"fees": {"Monthly fee": "12 euros", "Card": "5 euros", "Wire": "10 euros"}}'
FEES_AS_RECORDS = '[{"service": "Monthly fee", "price": 12, "days": 2}, {"service": "Wire", "price": 10, "days": 4}]'
FEES_AS_LIST = "- Monthly fee: 12 euros\n- Card: 5 euros\n- Wire: 10 euros"
INCOME = "| | 2021 | 2022 |\n|---|---|---|\n| Net income | 5,363 | 4,869 |\n| Revenue | 10,000 | 9,000 |"
PLANS = "| Plan | Price | Data |\n|---|---|---|\n| Small | 10 euros | 5 GB |\n| Large | 35 euros | 60 GB |"
GAMES = "row 1: game: 2 ; team: Reno ; points: 106 row 2: game: 3 ; team: Boston ; points: 98"


def read(sentence: str, context: str) -> Aligned:
    rows = [row for unit in verbalise_sentences(context) for row in read_rows(unit.text, extract_features(unit.text))]
    return align(sentence, extract_features(sentence), Tables.from_rows(rows))


@pytest.mark.parametrize("context", [FEES, FEES_AS_KEYS, FEES_AS_LIST])
@pytest.mark.parametrize(
    "sentence",
    [
        "The monthly fee is {} euros and a wire costs {} euros.",
        "{} euros for the monthly fee and {} euros for a wire.",
        "Monthly fee: {} euros, wire: {} euros.",
    ],
)
def test_exchanged_values_contradict_their_cells(context, sentence):
    assert read(sentence.format(12, 10), context).contradicted == ()
    assert len(read(sentence.format(10, 12), context).contradicted) == 2


@pytest.mark.parametrize(
    ("sentence", "context", "cell"),
    [
        ("Service: Wire; price: 12 euros.", FEES, "Price of Wire: 10 euros"),
        ("Service: Wire; price: 12.", FEES_AS_RECORDS, "price of Wire: 10"),
        ("Revenue in 2022 was 10,000.", INCOME, "2022 of Revenue: 9,000"),
        ("Reno scored 98 points.", GAMES, "points of Reno: 106"),
        ("The Large plan has 5 GB.", PLANS, "Data of Large: 60 GB"),
        ("The cheapest plan is Large at 35 euros.", PLANS, "cheapest Price: Small (10 euros)"),
    ],
)
def test_a_number_contradicts_the_cell_of_the_row_and_column_beside_it(sentence, context, cell):
    assert read(sentence, context).contradicted == (cell,)


@pytest.mark.parametrize(
    ("sentence", "context"),
    [
        ("Monthly fee and wire cost 12 and 10 euros respectively.", FEES),
        ("A wire costs 11 euros.", FEES),
        ("From 12 euros a month on; a wire is 10 euros, the card 5 euros.", FEES),
        # "the basic fee" is no row: its number is not that of the row before
        ("The card costs 5 euros and the basic fee is 12 euros.", FEES),
        ("The card costs 5 euros and not 12.", FEES),
        ("A wire costs 10 and takes 4 days.", FEES_AS_RECORDS),
        ("Net income was 5,363 in 2021 and 4,869 in 2022.", INCOME),
        ("Boston had 98 points in game 3.", GAMES),
        ("The fee is due in 12 days.", "The fee is 12 euros. It is due: at once."),
    ],
)
def test_right_values_and_numbers_of_no_other_cell_contradict_nothing(sentence, context):
    assert read(sentence, context).contradicted == ()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The cheapest service is the card.", "The cheapest service is the wire."),
        ("The second highest price is that of a wire.", "The second highest price is that of the card."),
        ("A wire has a lower price than the monthly fee.", "A wire has a higher price than the monthly fee."),
    ],
)
def test_highest_lowest_and_order_are_computed(right, wrong):
    assert (len(read(right, FEES).computed), read(right, FEES).contradicted) == (1, ())
    assert (read(wrong, FEES).computed, len(read(wrong, FEES).contradicted)) == ((), 1)


def test_a_superlative_of_price_is_not_held_against_another_column():
    plans = PLANS.replace("35 euros", "3 euros")
    assert read("The cheapest plan is Large with 60 GB.", plans).contradicted == ()
    assert read("The cheapest plan is Small at 10 euros.", plans).contradicted == ("cheapest Price: Large (3 euros)",)


def test_sum_difference_and_count_support_numbers_that_no_cell_has():
    assert read("All three services cost 27 euros in total.", FEES).computed == (
        "count of Service: 3",
        "sum of Price: 27",
    )
    assert read("A wire is 2 euros cheaper than the monthly fee.", FEES).starts == frozenset([10])
    assert read("A wire is 4 euros cheaper than the monthly fee.", FEES).starts == frozenset()
    assert read("The card makes up 18.5 % of the price.", FEES).computed == ("share of Price: 18.5 %",)
