"""What a sentence says: numbers, dates and names in one normal form, stems of words, where each mention stands."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.language.features import extract_features
from hcat.language.words import stem_word
from hcat.metrics.support import Evidence, measure_support

FEATURE_TEXTS = st.one_of(
    st.text(max_size=120),
    st.lists(
        st.sampled_from(
            [
                "$1,000", "5%", "12 March 2024", "John Smith", "U.S.", "W-8BEN", "a@b.example", "two", "million",
                "FY22", "5-10 %", "between", "and", "half of", "a third", "one in five", "1/4", "twenty-five",
                "a hundred", "Q1 2024", "first quarter", "1990s", "International", "Business", "United", "States",
                "of", "Inc.", "&", "Z\u00fcrich's", "(", ".",
            ]
        ),
        max_size=12,
    ).map(" ".join),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000 or 1000 or 1k or 1 thousand", ("1000",) * 4),
        ("3.50 and 3.5 and .5", ("3.5", "3.5", "0.5")),
        ("1,00,000 rupees and \u20b95 crore", ("100000 inr", "50000000 inr")),
        ("1.000.000,50 EUR, 1'000 CHF", ("1000000.5 eur", "1000 chf")),
        ("5%, 5 percent, 5 per cent, 5.0 %", ("5 %",) * 4),
        ("50 basis points or 50 bps", ("0.5 %", "0.5 %")),
        ("$5, US$5, 5 USD, 5 dollars", ("5 usd",) * 4),
        ("$1,577 million, \u20ac4.5bn, \u00a31.2m", ("1577000000 usd", "4500000000 eur", "1200000 gbp")),
        ("one of them, and one million", ("1000000",)),
        ("the 3rd and the third", ("3 ordinal", "3 ordinal")),
        ("First, open it.", ()),
        ("in 2024, FY2024 and FY24", ("2024", "2024", "2024")),
        ("section 4.2.1, telephone 0800 123", ("4.2.1", "0800", "123")),
        ("-5% and (5)%", ("-5 %", "5")),
        ("Passage 3 and [2] say so", ()),
        # number words
        (
            "two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, "
            "sixteen, seventeen, eighteen, nineteen, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety",
            tuple(f"{number} word" for number in (*range(2, 20), *range(20, 100, 10))),
        ),
        ("twenty-five or twenty five", ("25 word",) * 2),
        ("a hundred, two hundred, one hundred and fifty", ("100", "200", "150")),
        ("two thousand and five, three hundred forty-two thousand", ("2005", "342000")),
        ("a million, two and a half million dollars", ("1000000", "2500000 usd")),
        ("twelve hundred men, two million five hundred thousand men", ("1200", "2500000")),
        ("five six, twenty twenty", ("5 word", "6 word", "20 word", "20 word")),
        ("hundreds of them, several hundred, a few thousand", ()),
        ("the twenty-first and the thirteenth", ("21 ordinal", "13 ordinal")),
        ("a thirty-second delay", ("30 second",)),
        ("5-10m, 4-5k", ("5000000", "10000000", "4000", "5000")),
        # fractions
        ("half of it, one half, cut by half", ("1/2 fraction",) * 3),
        ("a third of it, one-third, one third.", ("1/3 fraction",) * 3),
        ("two thirds, two-thirds, three quarters of it", ("2/3 fraction", "2/3 fraction", "3/4 fraction")),
        ("one in five, 1 in 5, one out of every five", ("1/5 fraction",) * 3),
        ("1/4, 3/4 of it", ("1/4 fraction", "3/4 fraction")),
        ("6 1/2, 6\u00bd and \u00be, 2 1/4 %", ("6.5", "6.5", "0.75", "2.25 %")),
        ("half a percentage point, a quarter of a percent, 1/4 %", ("0.5 pp", "0.25 %", "0.25 %")),
        ("half a million dollars, a quarter of a million", ("500000 usd", "250000")),
        # and what is none
        ("the second half, half-year, halfway, the other half", ("2 ordinal",)),
        ("a third party, a quarter, the last three quarters", ("3 quarter",)),
        ("the third party", ("3 ordinal",)),
        ("3/12 and 24/6 and 12/3/4", ("3", "12", "24", "6", "12", "3", "4")),
        # what claims no number: tops of scales, manners of speaking, what orders the text
        ("Rated 4.5 out of 5, 4 stars out of 5, 3/5 stars", ("4.5", "4", "3")),
        ("9 out of 10 customers, 4 out of 5 dentists", ("9", "10", "4", "5")),
        ("Open 24/7, seven days a week, 24 hours a day", ()),
        ("Within 24 hours, in seven days", ("24 hour", "7 day")),
        ("Repeat steps 7 and 8 of the second passage in 50 words", ()),
        ("You first need a card, a third reviewer says, then first open it", ()),
        ("It took 3 steps and 200 words on the first day", ("3", "200", "1 ordinal")),
        ("one in five years, 2 in 2023, one in ten million", ("5 year", "2", "2023", "10000000")),
        # ranges
        ("5-10 %, 5\u201310%, 5 - 10 percent", ("5 %", "10 %") * 3),
        ("5 to 10 percent, between 5 and 10 percent", ("5 %", "10 %") * 2),
        ("$5-10 million, $5 to $10 million", ("5000000 usd", "10000000 usd") * 2),
        ("\u20ac1.5-2.5bn, 5-10 million euros", ("1500000000 eur", "2500000000 eur", "5000000 eur", "10000000 eur")),
        ("two to three million, $1,500-2,000", ("2000000", "3000000", "1500 usd", "2000 usd")),
        ("$500 to $1 million", ("500 usd", "1000000 usd")),  # 500 million to 1 million is no range
        ("5 and 10 %, 5, 10 %", ("5", "10 %") * 2),
        ("2019-2021, 2019\u201321, 2019/20", ("2019", "2021", "2019", "2021", "2019", "2020")),
        ("from 2019 to 5 %, in 2019-5 %", ("2019", "5 %") * 2),
        ("555-1234 and 2024-03-12", ("555", "1234", "2024-03-12")),
        ("2010-12", ("2010", "12")),  # December, or up to 2012
    ],
)
def test_numbers_have_one_normal_form(text, expected):
    assert extract_features(text).numbers == expected


@pytest.mark.parametrize("text", ["2024-03-12", "12th of March, 2024", "March 12, 2024", "Mar. 12 2024"])
def test_dates_have_one_normal_form(text):
    assert extract_features(f"It opened on {text} there").numbers == ("2024-03-12",)


def test_dates_in_part_and_in_doubt():
    assert extract_features("Paid in March 2024, on 5 April and in May.").numbers == ("2024-03", "--04-05", "--05")
    assert extract_features("It may rise.").numbers == ()
    assert extract_features("25/12/2024 or 12/25/2024").numbers == ("2024-12-25", "2024-12-25")
    assert extract_features("12.03.2024, 12.03.24 or 12/25.").numbers[:2] == ("2024-03-12",) * 2
    for text in ("12/03/2024", "12-03-2024"):
        assert extract_features(text).numbers == ("12/03/2024",)
    assert extract_features("10:30 pm, 9 a.m., 17:05").numbers == ("22:30", "09:00", "17:05")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q1 2024, 1Q24, Q1'24, Q1 FY24, 2024 Q1", ("2024-q1",) * 5),
        ("first quarter of 2024, first-quarter 2024, 1st quarter of fiscal year 2024", ("2024-q1",) * 3),
        ("H1 2024, the first half of 2024", ("2024-h1",) * 2),
        ("Q3, the third quarter", ("--q3",) * 2),
        ("2h, the second half, Q5, quarter", ("2", "2 ordinal")),
        ("the 1990s, the mid-1990s, the 2010s", ("1990s", "1990s", "2010s")),
        ("FAQ1 2024, Q1-Q3", ("2024",)),
    ],
)
def test_periods_have_one_normal_form(text, expected):
    assert extract_features(text).numbers == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left Bank of America.", ("bank of america",)),
        ("Staff of the Day Surgery and the Staff of the Day Surgery", ("day surgery", "staff of the day surgery")),
        ("Customers pay fees.", ()),
        ("However Boeing said no.", ("boeing",)),
        ("FDIC insures it, says AT&T.", ("fdic", "at&t")),
        ("The U.S. Treasury and the US.", ("us treasury", "us")),
        ("J. P. Morgan's CEO left.", ("j p morgan", "ceo")),
        ("File W-8BEN and 10-K for ISA2024 or a 401(k).", ("w8ben", "10k", "isa2024", "401k")),
        ("mid-2022, 5-year, 1990s, 3rd, 5km", ()),
        ("Mail Help@Bank.example or see https://bank.example/a.", ("help@bank.example", "https://bank.example/a")),
        ("OPEN AN ACCOUNT WITH W-8BEN", ("w8ben",)),
        ("\u4f60\u597d", ()),
        ("He runs Apple Inc. and Apple, Inc. and Siemens AG.", ("apple", "apple", "siemens")),
        ("The Company and Ford Motor Company pay.", ("company", "ford motor")),
        ("It is Johnson & Johnson.", ("johnson&johnson",)),
        ("In the United States, the USA, the UK, the U.N.", ("us", "us", "uk", "un")),
        ("Contact us. The United States of America's debt.", ("us",)),
        ("She left Z\u00fcrich for Sa\u0303o Paulo.", ("zurich", "sao paulo")),
        ("The ATMs came.", ("atm",)),
    ],
)
def test_entities(text, expected):
    assert extract_features(text).entities == expected


@pytest.mark.parametrize(
    "family",
    [
        ("fee", "fees"),
        ("apply", "applies", "applied", "applying"),
        ("plan", "plans", "planned", "planning"),
        ("bank", "banks", "bank's"),
        ("loss", "losses"),
        ("exceed", "exceeded", "exceeding"),
        ("use", "used", "using", "uses"),
    ],
)
def test_stems_of_a_family_are_one(family):
    assert len({stem_word(word) for word in family}) == 1


@pytest.mark.parametrize(
    "pair",
    [("business", "busy"), ("string", "str"), ("status", "stat"), ("interest", "interested party"), ("not", "no")],
)
def test_stems_of_strangers_differ(pair):
    assert stem_word(pair[0]) != stem_word(pair[1])


@settings(deadline=None)
@given(FEATURE_TEXTS)
def test_mentions_show_the_text_in_place_and_in_order(text):
    features = extract_features(text)
    for mentions in (features.word_mentions, features.number_mentions, features.entity_mentions):
        assert all(text[mention.start : mention.end] == mention.surface for mention in mentions)
        assert [mention.start for mention in mentions] == sorted(mention.start for mention in mentions)


@pytest.mark.parametrize(
    "text",
    ["1,00", "a@", "1 ", "Aa ", "a-", "1.000", "12 march ", "A.", "one hundred and ", "a half a third of ",
     "one in five ", "1/4 ", "5-", "Q1 of the 2024 ", "Aa of the ", "US United States ", "The ", "Inc ", "\u00e9"],
)  # fmt: skip
def test_long_texts_take_seconds(text):
    start = time.process_time()
    extract_features(text * (200_000 // len(text)) + " 5 @")
    # Measured below 1 s each on one busy core; a quadratic rule takes many minutes.
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("said", "other", "wrong"),
    [
        ("Die Strafe beträgt einhundertzwanzig Euro.", "Die Strafe beträgt 120 Euro.", "102 Euro"),
        ("Il y a soixante-douze agences.", "Il y a 72 agences.", "62 agences"),
        ("Hay treinta y cinco oficinas.", "Hay 35 oficinas.", "53 oficinas"),
        ("Ci sono undici filiali.", "Ci sono 11 filiali.", "12 filiali"),
        ("Er zijn zesenzeventig filialen.", "Er zijn 76 filialen.", "67 filialen"),
        ("Der Saal fasst 2.500 Gäste und das Zelt 85.", "2500 Gäste", "2.050 Gäste im Saal"),
        ("The shop closes at half past three.", "The shop closes at 15:30.", "It closes at 2:30."),
        ("Der Laden schließt um halb vier.", "The shop closes at 3:30 pm.", "It closes at 4:30 pm."),
        ("El tren sale a las 5 de la tarde.", "El tren sale a las 17:00.", "El tren sale a las 15:00."),
        ("Le délai expire le 1er mars 2025.", "It expires on 1 March 2025.", "It expires on 11 March 2025."),
        ("La garantía dura dos años.", "The warranty is 24 months.", "The warranty is 12 months."),
        ("The film runs 1 hour 45 minutes.", "The film runs 105 minutes.", "The film runs 145 minutes."),
        ("Data is kept for half a year.", "Data is kept for 6 months.", "Data is kept for 5 months."),
        ("Die Hälfte der Mitglieder stimmte zu.", "50 % agreed.", "40 % agreed."),
        (
            "De rente stijgt met 25 basispunten.",
            "It rises by 0.25 percentage points.",
            "It rises by 2.5 percentage points.",
        ),
        ("La bolsa cuesta 10 céntimos.", "La bolsa cuesta 0,10 euros.", "La bolsa cuesta 1 euro."),
        ("La temperatura es de 10 grados bajo cero.", "It is -10 degrees.", "It is 10 degrees."),
        ("Net income: (1,250) USD.", "Net income was -1,250 USD.", "Net income was 1,250 USD."),
        ("Bake at 350 °F.", "Bake at 177 °C.", "Bake at 197 °C."),
        ("Born on 31.12.99.", "Born on 31 December 1999.", "Born on 31 December 2099."),
        ("The rate rose by 2 percentage points.", "It rose by 2 pp.", "It rose by 2 percent."),
    ],
)
def test_what_is_said_in_words_supports_the_same_value_and_no_other(said, other, wrong):
    evidence = Evidence.from_features([extract_features(said)])
    right, false = (measure_support(extract_features(text), evidence) for text in (other, wrong))
    assert right.count_numbers == right.count_numbers_supported > 0
    assert false.count_numbers > false.count_numbers_supported


@pytest.mark.parametrize(
    "text",
    [
        "Onze kennisbank bevat dat niet.",
        "The rent is due once a month.",
        "Au dos du billet.",
        "Five per cent of Dix.",
        "The Audi Quattro is fast.",
    ],
)
def test_words_that_only_look_like_numerals_stay(text):
    assert all(
        mention.surface.lower() in ("five per cent", "month") for mention in extract_features(text).number_mentions
    )


def test_a_number_in_words_stands_where_the_text_says_it():
    text = "Es gibt einundzwanzig Filialen, um halb vier."
    assert [text[each.start : each.end] for each in extract_features(text).number_mentions] == [
        "einundzwanzig",
        "halb vier",
    ]
