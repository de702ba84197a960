"""Numbers that identify nobody are left alone, whoever took them for a card; cards are found however written."""

import pytest

from hcat.privacy.numbers import identifies_nobody
from hcat.privacy.recognition import ask_presidio, find_spans
from hcat.privacy.spans import Span, fold_text

CARD = "4539148803436467"
GROUPS = ("4539", "1488", "0343", "6467")
AMEX = ("3782", "822463", "10005")
SEPARATORS = (
    *("", " ", "  ", "-", ".", "_", "/", "\\", "|", ":", ",", "*", "~", "'", " / ", " - ", " . ", "\t"),
    *("\u00a0", "\u2009", "\u202f", "\u200b", "\u2010", "\u2011", "\u2013", "\u2014", "\u2212", "\u00b7", "\u2022"),
    *("\u2219", "\u30fb", "\uff0f"),
)

FRACTIONS = (
    f"The confidence was 0.{CARD} for that label.",
    f"about .{CARD} of it",
    f"p=.{CARD}",
    f"[0.{CARD}, 3.{CARD}]",
    f"0,{CARD}",
    f"1,234.{CARD}",
    f"\u20ac1.234,{CARD}",
    f"1234\u00b7{CARD}",
    "4.539148803436467e-05",
    "4.539148803436467",
    f"1.{CARD}E+10",
    f"{CARD}.25 in all",
)
OTHER_NUMBERS = (
    f"{CARD} bytes",
    f"{CARD}%",
    f"{CARD} per cent",
    "The total was 4 539 148 803 436 467 in all",
    f"Order number: {CARD}",
    f"page_id={CARD}",
    f"https://docs.example/page/{CARD}",
    f"chunk {CARD}",
    "v4539.1488.0343.6467",
    f"sha256 {CARD}",
    f"9f{CARD}ab",
    f"TX-{CARD}",
    "imei 356938035643809",
    "45391488-0343-6467-4539-148803436467",
    "4539:1488:0343:6467:0:0:0:1",
    "The card was updated at 1700000000003",
    "The card was updated at 20240229123459",
)
NO_TELEPHONES = (
    "The call rate is 0.5227687358",
    "Our office is at 51.507351, -0.127758",
    "Home: 40.7128 -74.0060",
    "The work has 1 234 567 890 rows",
    "Server 12.10.22.33 is up",
    "Call about version 12.10.22.33",
    "The desk was called at 20240229123459",
    "the change was +12.3456789012",
)


def _types(text: str) -> list[str]:
    return [span.entity_type for span in find_spans([text], is_tagged=False)[0] if span.entity_type != "reference"]


@pytest.mark.parametrize("text", [*FRACTIONS, *OTHER_NUMBERS, *NO_TELEPHONES])
def test_other_numbers_are_no_cards_and_no_telephones(text: str) -> None:
    found = find_spans([text], is_tagged=False)[0]
    assert [span for span in found if span.entity_type in ("card", "phone", "ssn")] == []
    assert all(identifies_nobody(fold_text(text), span) for span in ask_presidio(text))


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("groups", [GROUPS, AMEX])
@pytest.mark.parametrize("sentence", ["on file:{} 12/27", "**{}**", "card_number={}"])
def test_cards_are_found_with_any_single_separator(separator: str, groups: tuple[str, ...], sentence: str) -> None:
    text = sentence.format(separator.join(groups))
    found = [text[span.start : span.end] for span in find_spans([text], is_tagged=False)[0]]
    assert found == [separator.join(groups)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4539 1488-0343.6467", 1),
        ("4539 1488 0343 6467 5500 0000 0000 0004", 2),
        (f"{CARD},12/27,123", 1),
        (f"on file\u2014{CARD}", 1),
        (f"VISA{CARD}", 1),
        (f"Card id {CARD}", 1),
        (f"The order was paid with {CARD}", 1),
        ("my card 45 39 14 88 03 43 64 67", 1),
        ("rows 45 39 14 88 03 43 64 67", 0),
        ("4539+1488+0343+6467", 0),
    ],
)
def test_cards_beside_other_words_and_numbers(text: str, count: int) -> None:
    assert _types(text).count("card") == count


@pytest.mark.parametrize(
    "text",
    ["Call 0161.4960000", "Call 0800 555 0163 24 hours a day", "Tel. 01.23.45.67.89", "Send a message: 07700 900 123"],
)
def test_telephones_with_dots_and_words_around_them_stay(text: str) -> None:
    assert _types(text) == ["phone"]


@pytest.mark.parametrize("entity_type", ["card", "phone", "ssn", "account"])
def test_the_filter_asks_for_no_recogniser(entity_type: str) -> None:
    text = fold_text(f"It is 0.{CARD} in all")
    assert identifies_nobody(text, Span(8, 24, entity_type, "somebody"))
    assert not identifies_nobody(text, Span(8, 24, "person", "somebody"))
