"""Personal data of each kind is found and nothing else, without overlap."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.privacy import recognition
from hcat.privacy.masking import mask_text
from hcat.privacy.recognition import find_spans, resolve_overlaps
from hcat.privacy.spans import ENTITY_TYPES, Span, fold_text, read_tokens

CARD = "4111 1111 1111 1111"
IBAN = "GB82 WEST 1234 5698 7654 32"


def _found(text: str, entity_type: str) -> list[str]:
    return [text[span.start : span.end] for span in find_spans([text])[0] if span.entity_type == entity_type]


@pytest.mark.parametrize(
    ("entity_type", "text", "value"),
    [
        ("card", "card \uff14\uff11\uff11\uff11 1111 1111 1111", "\uff14\uff11\uff11\uff11 1111 1111 1111"),
        ("iban", f"Send it to {IBAN} please", IBAN),
        ("iban", "Send it to gb82west12345698765432.", "gb82west12345698765432"),
        ("iban", "DE89-3704-0044-0532-0130-00 is hers", "DE89-3704-0044-0532-0130-00"),
        ("ssn", "SSN: 219-09-9999 on file", "219-09-9999"),
        ("ssn", "her social security number is 219099999", "219099999"),
        ("national_insurance", "NI number QQ 12 34 56 C is invalid, AB 12 34 56 C is not", "AB 12 34 56 C"),
        ("email", "Write to jane.doe+bank@example.co.uk.", "jane.doe+bank@example.co.uk"),
        ("email", "Write to jane dot doe at example dot com today", "jane dot doe at example dot com"),
        ("phone", "Call +44 20 7946 0958 today", "+44 20 7946 0958"),
        ("phone", "Call (212) 555-0142 ext. 12", "(212) 555-0142 ext. 12"),
        ("phone", "my mobile is 07700900123", "07700900123"),
        (
            "phone",
            "it is zero seven seven double zero nine zero one two three",
            "zero seven seven double zero nine zero one two three",
        ),
        ("sort_code", "sort code 20-45-12 and account 55779911", "20-45-12"),
        ("account", "pay 20-45-12 55779911", "55779911"),
        ("reference", "Transaction reference TX-20931-88", "TX-20931-88"),
        ("reference", "Your customer number is C1029384", "C1029384"),
        ("date_of_birth", "She was born on 12 March 1980 in Leeds", "12 March 1980"),
        ("date_of_birth", "DOB: 12/03/1980", "12/03/1980"),
        ("transaction", "Your current balance is $1,250.00 today", "$1,250.00"),
        ("transaction", "You withdrew \u00a340 on Monday", "\u00a340"),
        (
            "address",
            "She lives at 14 Crown Street, Flat 2, London SW1A 1AA now",
            "14 Crown Street, Flat 2, London SW1A 1AA",
        ),
        ("address", "Post it to P.O. Box 186 please", "P.O. Box 186"),
        ("address", "Send it to Unit 4719 Box 7394\nDPO AP 70942", "Unit 4719 Box 7394\nDPO AP 70942"),
        ("address", "Er wohnt in der Hauptstrasse 61", "Hauptstrasse 61"),
        ("place", "She is travelling to Zwolle next week", "Zwolle"),
        ("person", "My name is Bekbolat Musliyevich.", "Bekbolat Musliyevich"),
        ("person", "Maybe it is under Elita B Desaulniers", "Elita B Desaulniers"),
        ("person", "Irenka is very careful, so ask her", "Irenka"),
        ("person", "This was said by nobody but Calquín Cazares himself", "Calquín Cazares"),
        ("person", "The account is of the Sokolov family", "Sokolov"),
    ],
)
def test_a_value_of_each_kind_is_found(entity_type: str, text: str, value: str) -> None:
    assert _found(text, entity_type) == [value]


@pytest.mark.parametrize(
    ("entity_type", "text"),
    [
        ("card", "Your card 4111 1111 1111 1112 was charged."),  # wrong check digit
        ("card", "The total was 4,111,111,111,111,111 in all"),
        ("iban", "Send it to GB82 WEST 1234 5698 7654 33."),  # wrong check number
        ("iban", "Send it to GB82 WEST 1234 5698 7654."),  # too short for its country
        ("iban", "Send it to ZZ82 WEST 1234 5698 7654 32."),
        ("ssn", "The code is 000-12-3456"),
        ("phone", "It costs 1,250,000 euros"),
        ("phone", "Open 2019-2023, on 12.03.2020 and 2020-03-12"),
        ("phone", "Account 12345678901 and reference 0207 946 0958"),
        ("account", "Open an account in 2024 with 3 documents"),
        ("reference", "The order of 25.00 pounds arrives in 10 days"),
        ("transaction", "The fee is $25 a month"),
        ("address", "A 24 Month Fixed Rate at 5 percent"),
        ("address", "You have 3 free withdrawals at 12 ATMs"),
        ("date_of_birth", "The offer ends on 12 March 2030"),
        ("email", "Tweet @bank or meet at noon dot"),
        ("person", "The Clipper Gold Card earns Harbour Points at Kingsway Bank."),
        ("person", "Ask for Grace Period, Bill Pay or a Chase Bank branch."),
        ("person", "Johnson & Johnson and Goldman Sachs are firms."),
        ("person", "Dear Customer, contact Support on Monday."),
        ("place", "Apply for a Premier Savings Account"),
    ],
)
def test_what_is_no_personal_data_is_left(entity_type: str, text: str) -> None:
    assert _found(text, entity_type) == []


@pytest.mark.parametrize(
    ("text", "spans", "kept"),
    [
        # a checked number beats a telephone, and the rest is kept
        ("0123456789 abcdef", [(0, 17, "phone"), (0, 10, "card")], [(0, 10, "card"), (11, 17, "phone")]),
        # an address takes the town in it
        ("14 Crown Street, London", [(17, 23, "place"), (0, 23, "address")], [(0, 23, "address")]),
        # a canary is nobody's telephone
        ("Call 0800 555 0100 HCAT-2025550123 now", [(5, 34, "phone")], [(5, 18, "phone")]),
    ],
)
def test_one_of_two_overlapping_values_wins(text: str, spans: list[Any], kept: list[Any]) -> None:
    assert [span[:3] for span in resolve_overlaps(text, [Span(*span, "a") for span in spans])] == kept
    assert mask_text("HCAT-2025550123") == "HCAT-2025550123"


@given(
    st.lists(
        st.tuples(st.integers(0, 39), st.integers(1, 20), st.sampled_from(ENTITY_TYPES)).map(
            lambda drawn: Span(drawn[0], min(40, drawn[0] + drawn[1]), drawn[2], "r")
        ),
        max_size=12,
    )
)
def test_resolved_spans_never_overlap_and_keep_all_but_slivers(spans: list[Span]) -> None:
    text = "abcdefghij" * 4
    resolved = resolve_overlaps(text, spans)
    assert all(left.end <= right.start for left, right in pairwise(resolved))
    assert resolve_overlaps(text, resolved) == resolved
    assert resolve_overlaps(text, list(reversed(spans))) == resolved


def test_each_distinct_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(recognition, "find_by_rules", lambda text: asked.append(text) or [])
    find_spans(["one", "two", "one", "one"])
    assert asked == ["one", "two"]


def test_very_long_text_is_read_in_pieces() -> None:
    text = "word " * 4_500 + "My name is Thelma Mitchell."
    assert _found(text, "person") == ["Thelma Mitchell"]
    assert find_spans(["x" * 25_000])[0] == []


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_gives_spans_inside_it(text: str) -> None:
    (spans,) = find_spans([text])
    assert all(0 <= span.start < span.end <= len(text) and span.entity_type in ENTITY_TYPES for span in spans)
    assert all(left.end <= right.start for left, right in pairwise(spans))
    tokens = read_tokens(fold_text(text))
    assert all(left.end <= right.start for left, right in pairwise(tokens))


_CHECKED_VALUES = (
    "4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "4111111111111111",
    "GB29 NWBK 6016 1331 9268 19",
    "DE89 3704 0044 0532 0130 00",
    "de89370400440532013000",
    "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "a 7 cards",
    "ref 2024",
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.one_of(st.sampled_from(_CHECKED_VALUES), st.text("0123456789 -abAB1\u017f\u212a", max_size=40)), max_size=4
    )
)
def test_recognisers_of_presidio_are_left_out_only_where_they_find_nothing(parts: list[str]) -> None:
    text = " and ".join([*parts, "1"])
    assert recognition.ask_presidio(text) == recognition.ask_presidio(text, is_necessary_only=False)
