"""Flags and opening hours of records against what an answer says of them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat.language.features import extract_features
from hcat.language.verbalisation import verbalise_sentences
from hcat.metrics.records import Records, find_contradictions, read_fields

BRANCH = {
    "name": "Harbour Branch",
    "address": "12 Main Street",
    "hours": {"Monday": "9:0-17:0", "Tuesday": "9:0-17:0", "Saturday": "10:0-14:0"},
    "attributes": {
        "CustomerParking": {"garage": True, "street": False, "lot": None},
        "BranchAppointments": True,
        "BranchCashDesk": False,
        "BranchTakeOut": True,
        "WiFi": "free",
        "Wheelchair access": None,
        "Ambience": {"quiet": True, "modern": False},
    },
    "review_info": [{"review_text": "A lot of people, but the modern lockers are fine."}],
}


def records_of(*contexts: str) -> Records:
    units = [unit.text for context in contexts for unit in verbalise_sentences(context)]
    return Records.from_fields((read_fields(unit), extract_features(unit).words) for unit in units)


@pytest.fixture(scope="module")
def branch() -> Records:
    return records_of(json.dumps(BRANCH))


def test_fields_are_read_from_verbalised_json(branch: Records) -> None:
    values = {flag.name: (flag.words, flag.values) for flag in branch.flags}
    # the word that all names of the branch begin with is left out
    assert values["Branch cash desk"] == (("cash", "desk"), {"no"})
    assert values["Customer parking street"] == (("street",), {"no"})
    assert values["WiFi"] == (("wifi",), {"yes"})
    assert values["Wheelchair access"] == (("wheelchair", "access"), {"unknown"})
    assert branch.hours == {0: {(540, 1020)}, 1: {(540, 1020)}, 5: {(600, 840)}}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # agreement is silent
        ("The branch offers free Wi-Fi and takes appointments.", []),
        ("It does not have a cash desk or street parking.", []),
        ("Garage parking is available, but street parking is not.", []),
        ("Whether there is wheelchair access is not specified.", []),
        # contradiction
        ("The branch has a cash desk.", ["Branch cash desk: no"]),
        ("Wi-Fi, a cash desk and appointments are not offered.", ["Branch appointments: yes", "WiFi: yes"]),
        ("It has garage and street parking.", ["Customer parking street: no"]),
        ("It does not offer a cash desk and has no takeout.", ["Branch take out: yes"]),
        (
            "There is no garage parking, street parking is available.",
            ["Customer parking garage: yes", "Customer parking street: no"],
        ),
        ("The ambience is quiet and modern.", ["Ambience modern: no"]),
        # of what is unknown neither may be said
        ("It has wheelchair access.", ["Wheelchair access: unknown"]),
    ],
)  # fmt: skip
def test_flags(branch: Records, sentence: str, expected: list[str]) -> None:
    assert find_contradictions(sentence, branch) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "A lot of customers come on Saturdays.",  # "lot" stands in a review too
        "It lies on Main Street.",  # a name
        "Customers like the modern lockers.",  # the group is not named, and the review has the word
    ],
)
def test_a_word_that_can_mean_something_else_is_left_alone(branch: Records, sentence: str) -> None:
    assert find_contradictions(sentence, branch) == []


@pytest.mark.parametrize(
    ("sentence", "agrees"),
    [
        ("Open Monday to Tuesday from 9:00 AM to 5:00 PM.", True),
        ("Open Monday and Tuesday, 9 am - 5 pm, and on Saturdays from 10:00 until 14:00.", True),
        ("Open from 9:00 to 17:00.", True),
        ("Open every day from 9 am to 5 pm.", False),
        ("On Saturday it is open from 9:00 to 17:00.", False),
        ("Open from 9:00 to 18:00.", False),
        # not understood, so nothing is said
        ("Open 9:00 to 17:00 except on Saturdays.", True),
        ("Open on weekdays from 9 to 5.", True),
        ("Happy hour runs from 3 pm to 4 pm.", True),
    ],
)
def test_hours(branch: Records, sentence: str, agrees: bool) -> None:
    assert ("hours" not in find_contradictions(sentence, branch)) == agrees


def test_records_that_differ_contradict_nothing() -> None:
    records = records_of("| Account | Overdraft allowed |\n|---|---|\n| Basic | no |\n| Plus | yes |")
    assert find_contradictions("An overdraft is allowed.", records) == []
    same = records_of("| Account | Overdraft allowed |\n|---|---|\n| Basic | no |\n| Plus | no |")
    assert find_contradictions("An overdraft is possible.", same) == ["Overdraft allowed: no"]


def test_prose_has_no_records() -> None:
    assert records_of("The account is free. It has no overdraft, and it is open to all.") == Records()
    assert find_contradictions("There is an overdraft.", Records()) == []


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_read(context: str, sentence: str) -> None:
    records = records_of(context)
    assert find_contradictions(sentence, records) == find_contradictions(sentence, records)


def test_hostile_text_takes_no_time(branch: Records) -> None:
    """Ten seconds of backtracking would be caught by the limit of the suite; here the length is what counts."""
    for text in (
        "no " * 5000 + "wifi",
        "wifi " + "a " * 5000 + "is",
        "9 to " * 5000,
        "Monday, " * 5000,
        "x: no; " * 3000,
    ):
        find_contradictions(text, branch)
        read_fields(text)
