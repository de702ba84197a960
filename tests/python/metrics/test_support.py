"""Support of words, numbers and names by evidence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_features import FEATURE_TEXTS

from hcat.language.features import extract_features
from hcat.metrics.support import Evidence, measure_support, name_fault


def support(sentence: str, *evidence: str):
    return measure_support(extract_features(sentence), Evidence.from_features(map(extract_features, evidence)))


@pytest.mark.parametrize(
    ("sentence", "evidence", "supported"),
    [
        ("It costs $1,000.", "The price is 1000 dollars.", True),
        ("It costs $1,000.", "1,000", True),  # a table whose header has the unit
        ("It costs $1,000.", "It costs \u20ac1,000.", False),
        ("It rose 5%.", "It rose $5.", False),
        ("Sales were $1,577 million.", "(in millions) 1,577", True),
        ("Sales were $5 million.", "Item 5", False),  # one digit is no mantissa to rely on
        ("It has 3 branches.", "There are three branches.", True),
        ("It opened in March 2024.", "It opened on 2024-03-12.", True),
        ("It opened in 2024.", "It opened on 12 March 2024.", True),
        ("It opened on 12 March 2024.", "It opened in March 2024.", False),
        ("It opened on 12/03/2024.", "It opened on 3 December 2024.", True),  # either reading
        ("It opened on 12/03/2024.", "It opened on 4 December 2024.", False),
        ("The third try.", "3 tries.", False),
        ("It rose 5%.", "a share of 0.05", True),  # a bare decimal number below 1
        ("It was 0.05 then.", "It was 5 percent.", True),
        ("It rose 5%.", "It costs $0.05.", False),
        ("It rose 0%.", "a share of 0.0001", False),
        ("Half of them left.", "50 % left", True),
        ("Half of them left.", "0.5 left", True),
        ("50 % left.", "half the staff left", True),
        ("Half of them left.", "the other half left", True),  # the same word
        ("A third of them left.", "33.3% left", True),
        ("67 % left.", "two thirds of them left", True),
        ("65 % left.", "two thirds of them left", False),
        ("One in five left.", "20 percent left", True),
        ("One in five left.", "one of five left", False),
        ("45 % left.", "nine out of 20 left", True),
        ("80 % left.", "Its rating is 4/5.", False),
        ("It has 4.0 out of 5 stars.", "Stars: 4.0.", True),
        ("It has 25 branches.", "It has twenty branches and five agents.", False),
        ("It costs $5.", "It rose 5-10 %.", False),
        ("It opened in Q1 2024.", "It opened in the first quarter of 2024.", True),
        ("It opened in the first quarter.", "It opened in Q1 2024.", True),
        ("It opened in Q1 2024.", "It opened in Q2 2024.", False),
        ("It opened in the third quarter.", "It was the third try.", False),
        ("It was the third try.", "It opened in the third quarter.", True),
        ("It opened in the 1990s.", "It opened in 1994.", True),
        ("It opened in the 1990s.", "It opened in 1984.", False),
        ("It opened in 1990.", "It opened in the 1990s.", False),
        # units
        ("It takes two weeks.", "It takes 14 days.", True),
        ("It takes 14 days.", "It takes 14 hours.", False),
        ("It takes 14 days.", "Days: 14.", True),
        ("It takes 10 days.", "It takes 5-10 days.", True),
        ("It weighs 1.5 kg.", "It weighs 1,500 grams.", True),
        ("It weighs 150 lbs.", "It weighs 150 pounds.", True),
        # hundredths of a currency
        ("It costs 1.50 euros.", "It costs 150 cents.", True),
        ("It costs 99p.", "It costs \u00a30.99.", True),
        ("It costs 150 cents.", "It costs 150 euros.", False),
        ("It holds 5 GB.", "It holds 5 MB.", False),
        ("It costs 150 cents.", "It costs \u00a31.50.", False),
        # signs
        ("It was -3.2 %.", "It fell by 3.2 %.", True),
        ("It was -3.2.", "Result, 2024: (3.2).", True),
        ("It was 3.2 %.", "It was -3.2 %.", False),
        ("It was -3.2 %.", "It was 3.2 %.", False),
        # decimal and thousands marks
        ("It rose 0.75 %.", "It rose 0,75 %.", True),
        ("It rose 75 %.", "It rose 0,75 %.", False),
        ("It costs 1,234.50 euros.", "It costs 1.234,50 euros.", True),
        ("It costs 5,000 euros.", "It costs 5 000 euros.", True),
        ("It costs 5,000 euros.", "It costs 5.000 euros.", True),
        # dates
        ("It ends on 4 March 2026.", "It ends on 04.03.2026.", True),
        ("It ends on 3 April 2026.", "It ends on 04.03.2026.", False),
        ("It ends on 6 May 2026.", "It ends at 2026-05-06T10:30:00.000Z.", True),
        ("It ends at 10:30.", "It ends at 2026-05-06T10:30:00.000Z.", True),
        ("It ends on 6 May 2026.", "It ends on 06-May-2026.", True),
        # bounds
        ("It takes at most 5 days.", "It takes at least 5 days.", False),
        ("It takes no more than 5 days.", "It takes up to 120 hours.", True),
        ("It takes at most 5 days.", "It takes 5 days.", True),
        ("It takes 5 days.", "It takes at least 5 days.", True),
        ("It opens after 5 May.", "It opens before 5 May.", False),
        ("It is not open after 5 May.", "It is open until 5 May.", True),
        ("Es endet nach dem 5. Mai.", "Es endet sp\u00e4testens am 5. Mai.", False),
        ("It is free from 5 May.", "Guests who come before 5 May pay.", True),  # other words
        ("Ask at least 5 days before it.", "Ask no later than 5 days before it.", True),
    ],
)
def test_support_of_one_number(sentence, evidence, supported):
    counts = support(sentence, evidence)
    assert counts.count_numbers == 1
    assert counts.count_numbers_supported == int(supported)


def test_a_range_is_supported_by_both_its_ends():
    counts = support("It rose 5-10 %.", "It rose 5 % and then 10 %.")
    assert (counts.count_numbers, counts.count_numbers_supported) == (2, 2)
    counts = support("It rose 5-10 %.", "It rose 5 to 12 percent.")
    assert (counts.count_numbers, counts.count_numbers_supported) == (2, 1)
    assert counts.unsupported == ("10 %",)
    assert support("$5-10 million", "$5 to $10").count_numbers_supported == 0
    assert support("It lost 40 mm.", "It lost 4 cm.").count_numbers_supported == 1
    assert support("$40mm and 3 mm USD", "$40 million and 3 million dollars").count_numbers_supported == 2


def test_a_ratio_is_supported_by_its_percentage_or_by_both_numbers():
    sentence = "Nine out of 20 left."
    assert support(sentence, "45 % left.").count_numbers_supported == 2
    assert support(sentence, "Of the 20, nine left.").count_numbers_supported == 2
    assert support(sentence, "Of the 20, eight left.").unsupported == ("Nine",)
    assert support(sentence, "40 % left.").count_numbers_supported == 0


@settings(deadline=None)
@given(st.integers(0, 10**12), st.integers(0, 99))
def test_a_number_supports_itself_in_every_format_and_not_its_neighbour(whole, cents):
    plain = f"{whole}.{cents:02}"
    grouped = f"{whole:,}.{cents:02}"
    assert support(f"It is ${grouped}.", f"It is {plain} dollars").count_numbers_supported == 1
    assert support(f"It is ${grouped}.", f"It is {whole + 1}.{cents:02} dollars").count_numbers_supported == 0


def test_entity_is_supported_by_itself_or_by_all_its_parts():
    assert support("He met Angela Merkel.", "merkel, angela").count_entities_supported == 1
    assert support("He met Angela Merkel.", "merkel").count_entities_supported == 0
    assert support("It is the US.", "the U.S. economy").count_entities_supported == 1
    assert support("Use form W-8BEN.", "Use form w8ben").count_entities_supported == 1


@pytest.mark.parametrize(
    ("sentence", "evidence", "supported"),
    [
        ("He left IBM.", "International Business Machines left.", True),
        ("He left IBM.", "International Business Affairs left.", False),
        ("He left IBM.", "international business machines", False),  # no full name without capitals
        ("He left the BIS.", "It is the Bank for International Settlements in Basel.", True),
        ("He left the BIS.", "The report is of the Bank for International Settlements (BIS).", True),
        ("He left the SEC.", "The U.S. Securities and Exchange Commission and the Department of Justice.", True),
        ("He left the CD.", "Charles Dickens left.", False),  # two letters stand for too much
        ("He paid the ISAs.", "Each Individual Savings Account pays.", True),
        ("He left the US.", "The United States left.", True),
        ("He left the United States.", "The U.S. left.", True),
        ("He left the US.", "Contact us.", False),
        ("He left the US Treasury.", "The United States Treasury left.", True),
        ("He left the US Treasury.", "The UK Treasury left.", False),
        ("He left the UN.", "The United Nations left.", True),
        ("He left the US.", "CONTACT US TODAY", False),
        ("He left the European Union.", "The EU's law is new.", True),
        ("He left the UN.", "The United Kingdom left.", False),
        ("He met Merkel.", "Angela Merkel left.", True),
        ("He met Mr. Smith.", "John Smith left.", True),
        ("He met Dr. Smith.", "John Smith left.", False),
        ("He left Apple.", "Apple Inc. left.", True),
        ("He left Apple Inc.", "Orange Inc. left.", False),
        ("He left Boeing.", "It is Boeing's jet.", True),
        ("He left Zurich.", "It is in Z\u00fcrich.", True),
        ("He left Z\u00fcrich.", "It is in Zuerich.", False),
        ("He left Marks and Spencer.", "It is Marks & Spencer.", True),
    ],
)
def test_support_of_names_in_other_forms(sentence, evidence, supported):
    counts = support(sentence, evidence)
    assert counts.count_entities >= 1
    assert (counts.count_entities == counts.count_entities_supported) is supported


def test_words_inside_a_supported_name_are_supported():
    assert support("He left IBM.", "He left International Business Machines.").unsupported == ()
    assert support("The United States left.", "The US left.").unsupported == ()
    assert support("He left IBM.", "He left.").unsupported == ("IBM",)


def test_support_counts_by_hand():
    counts = support(
        "John Smith pays the monthly fees of $25 and 3% to Barclays.",
        "A monthly fee of $25 is paid by Smith.",
        "Barclays",
    )
    # words john, smith, pays, monthly, fees, barclays (john is missing; pays and paid differ, an irregular form)
    assert (counts.count_words, counts.count_words_supported) == (6, 4)
    assert (counts.count_numbers, counts.count_numbers_supported) == (2, 1)
    assert (counts.count_entities, counts.count_entities_supported) == (2, 1)
    assert counts.unsupported == ("John Smith", "pays", "3%")


def test_negation_is_a_word():
    assert support("The fee is not refundable.", "The fee is refundable.").unsupported == ("not",)


def test_compound_keys_support_their_parts():
    assert support("It has outdoor seating.", '"OutdoorSeating": true').unsupported == ()


@settings(deadline=None)
@given(FEATURE_TEXTS)
def test_a_text_supports_itself_and_nothing_supports_it_without_evidence(text):
    features = extract_features(text)
    own = measure_support(features, Evidence.from_features([features]))
    assert own.count_words == own.count_words_supported
    assert own.count_numbers == own.count_numbers_supported == len(features.numbers)
    assert own.count_entities == own.count_entities_supported == len(features.entities)
    assert own.unsupported == ()
    none = measure_support(features, Evidence.from_features([]))
    assert none.count_words_supported == none.count_numbers_supported == none.count_entities_supported == 0


@settings(deadline=None)
@given(FEATURE_TEXTS, FEATURE_TEXTS, FEATURE_TEXTS)
def test_more_evidence_never_lowers_support(sentence, first, second):
    less = support(sentence, first)
    more = support(sentence, first, second)
    assert more.count_words_supported >= less.count_words_supported
    assert more.count_numbers_supported >= less.count_numbers_supported
    assert more.count_entities_supported >= less.count_entities_supported


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("It costs 13 euros.", "number"),
        ("It costs 12 dollars.", "unit"),
        ("It costs over 12 euros.", "number"),
        ("It is due on 5 May 2024.", "date"),
        ("It costs 13 euros in Basel.", "number"),
        ("Ask in Basel.", "name"),
        ("It costs 12 euros.", None),
    ],
)
def test_the_gravest_kind_of_a_mention_that_is_not_found(sentence, kind):
    evidence = Evidence.from_features([extract_features("It costs up to 12 euros from 4 May 2024. Ask in Bern.")])
    assert name_fault(extract_features(sentence), evidence, ()) == kind
    assert name_fault(extract_features("Ask in Bern."), evidence, ["Bern instead of Basel"]) == "name"
