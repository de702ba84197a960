"""Faults of each kind, and what they guarantee."""

from random import Random

import pytest

from hcat.test_set.perturbation.antonyms import ANTONYMS
from training.faults import (
    ANTONYM,
    DROPPED_QUALIFIER,
    ENTITY_INSIDE,
    ENTITY_OUTSIDE,
    KINDS,
    NEGATION,
    NUMBER_INSIDE,
    NUMBER_OUTSIDE,
    perturb,
)

SEEDS = range(60)
POOL = ["Barclays", "Jane Doe", "Anchor Account", "SEC", "We met Ada Lovelace at Ford", "10-K", "Monday", "x@y.example"]


def texts(sentence: str, kind: str, context=(), pool=()) -> set[str]:
    faults = [perturb(sentence, kind, context, Random(seed), pool) for seed in SEEDS]
    return {fault.text for fault in faults if fault is not None}


def afters(sentence: str, kind: str, context=(), pool=()) -> set[str]:
    faults = [perturb(sentence, kind, context, Random(seed), pool) for seed in SEEDS]
    found = [fault for fault in faults if fault is not None]
    assert all(fault.text[fault.start : fault.end] == fault.after for fault in found)
    assert all(fault.text.replace(fault.after, fault.before, 1) == sentence for fault in found)
    return {fault.after for fault in found}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sentence", ["", "...", "Yes.", "\u4f60\u597d"])
def test_without_a_place_there_is_no_fault(kind, sentence):
    assert perturb(sentence, kind, ["It costs \u20ac5 at Barclays."], Random(0), POOL) is None


def test_a_value_of_the_context_is_not_new_with_another_unit():
    context = ["Fees are 2%, 3%, 4% and 5%, in 6 and 7 of 8 cases."]
    assert afters("It costs \u20ac1.", NUMBER_OUTSIDE, context) == {"\u20ac9"}
    assert afters("It is the 3rd.", NUMBER_OUTSIDE, ["The 1st, 2nd, 4th, 5th and sixth of 7."]) == {"8th", "9th"}


@pytest.mark.parametrize(
    ("sentence", "context", "expected"),
    [
        ("It costs \u20ac5.", "It is \u20ac5, \u20ac1,200.50 or 9%, in 3 to 7 days.", {"\u20ac1,200.50"}),
        ("Five days pass.", "Within five days, or two.", {"Two"}),
        ("It is on 2 May 2024.", "On 2 May 2024, not on 3 June 2025. or in July 2023.", {"3 June 2025"}),
        ("It opens at 9 a.m. daily.", "From 9 a.m. to 17:00, or to 10 a.m. daily.", {"10 a.m."}),
        ("It is a 5% fee.", "A 5% fee, not 8% or 6%.", {"6%"}),  # "a 8% fee" would be no English
        ("It has 1 branch.", "There is 1 branch, 5 people.", set()),
        ("It costs \u20ac5.", "It costs \u20ac5.00.", set()),
        ("Use Windows 11 now.", "Windows 11 and 12 computers.", set()),
    ],
)
def test_a_number_from_inside_is_of_the_same_kind(sentence, context, expected):
    assert afters(sentence, NUMBER_INSIDE, [context]) == expected


@pytest.mark.parametrize(
    ("sentence", "context", "outside", "inside"),
    [
        ("Call Barclays today.", "Call Barclays, not HSBC, or ask Jane Doe.", {"Ford"}, set()),
        ("It is open on Monday.", "Open on Monday and Friday.", set(), {"Friday"}),
        ("Ask a@bank.example.", "a@bank.example or b@bank.example", {"x@y.example"}, {"b@bank.example"}),
        ("Open a Quay Account.", "A Quay Account, a Pier Account or an Anchor Account.", set(), {"Pier Account"}),
    ],
)
def test_a_name_from_outside_or_inside_is_of_the_same_kind(sentence, context, outside, inside):
    assert afters(sentence, ENTITY_OUTSIDE, [context], POOL) == outside
    assert afters(sentence, ENTITY_INSIDE, [context], POOL) == inside


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It is free.", {"It is not free."}),
        ("It is not free.", {"It is free."}),
        ("It has no annual fee.", {"It has an annual fee."}),
        ("No fee applies.", {"A fee applies.", "No fee does not apply."}),
        ("By phone, but not in the app.", {"By phone, and also in the app."}),
        ("When do I need a PIN?", {"When do I not need a PIN?"}),
        (
            "If you don't have a card, you pay.",
            {"If you have a card, you pay.", "If you don't have a card, you do not pay."},
        ),
        # left alone: no verb, another meaning, or no grammatical way
        ("Neither bank is free.", set()),
        ("He has left a will behind.", {"He has not left a will behind."}),
    ],
)
def test_negation(sentence, expected):
    assert texts(sentence, NEGATION) == expected


def test_antonyms_are_symmetric():
    for word, opposite in ANTONYMS.items():
        assert word != opposite
        assert ANTONYMS[opposite] == word


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Fees increased.", {"Fees decreased."}),
        ("It is at least \u20ac5.", {"It is at most \u20ac5."}),
        ("Without a PIN it ends.", {"With a PIN it ends.", "Without a PIN it starts."}),
        ("An increase came.", {"A decrease came."}),
        ("It is allowed.", {"It is forbidden."}),
        ("We allowed it.", set()),
        ("It is free of charge.", {"It is for a fee."}),
        ("It is free of interest, a tax-free sum.", set()),
        ("Branches open on Monday.", {"Branches close on Monday."}),
        ("People over 16 pay, go over it.", {"People under 16 pay, go over it."}),
        ("The New York office pays.", set()),
        ("They \u017fend it.", set()),
    ],
)
def test_antonyms(sentence, expected):
    assert texts(sentence, ANTONYM) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The card costs at most 9 euros.", {"The card costs 9 euros."}),
        ("Only students pay nothing.", {"Students pay nothing."}),
        ("Most of the money is insured.", set()),
        ("The account is free for everyone unless you are a company.", {"The account is free for everyone."}),
    ],
)
def test_dropped_qualifiers(sentence, expected):
    assert texts(sentence, DROPPED_QUALIFIER) == expected
