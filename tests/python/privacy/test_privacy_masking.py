"""Personal data: what is found and left, overlaps, where values come from, and that nothing raw leaves."""

import re
import time
from itertools import pairwise
from re import _constants as constants
from re import _parser as parser
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# benchmarks is no installed package: it is run from the root of the repository
from benchmarks import privacy as benchmark
from benchmarks.__main__ import BENCHMARKS
from hcat.engine.devices import ModelError
from hcat.privacy import masking as privacy
from hcat.privacy import recognisers as privacy_recognisers
from hcat.privacy.masking import (
    ENTITY_TYPES,
    EXPOSURES,
    PRIVACY_SCHEMA,
    find_spans,
    mask_text,
    mask_texts,
    mask_value,
    measure_privacy,
    resolve_overlaps,
)
from hcat.privacy.recognisers import (
    Span,
    find_by_rules,
    fold_text,
    has_iban_check,
    has_luhn_check,
    is_person_name,
    read_tokens,
    replace_names,
)

CARD = "4111 1111 1111 1111"
IBAN = "GB82 WEST 1234 5698 7654 32"


def _found(text: str, entity_type: str) -> list[str]:
    return [text[span.start : span.end] for span in find_spans([text])[0] if span.entity_type == entity_type]


def _batch(rows: list[tuple[str | None, list[str | None] | None, str | None]]) -> pa.RecordBatch:
    queries, contexts, answers = zip(*rows, strict=True)
    return pa.RecordBatch.from_pydict(
        {
            "interaction_id": [f"i{number}" for number in range(len(rows))],
            "query": pa.array(queries, pa.string()),
            "contexts": pa.array(contexts, pa.list_(pa.string())),
            "answer": pa.array(answers, pa.string()),
        }
    )


def _exposures(query: str, contexts: list[str], answer: str) -> dict[str, str]:
    row = measure_privacy(_batch([(query, contexts, answer)])).to_pylist()[0]
    return {finding["entity_type"]: finding["exposure"] for finding in row["findings"]}


# --- each kind ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entity_type", "text", "value"),
    [
        ("card", f"Your card {CARD} was charged.", CARD),
        ("card", "Your card 4111-1111-1111-1111 was charged.", "4111-1111-1111-1111"),
        ("card", "Amex 378282246310005 is on file", "378282246310005"),
        ("card", "card \uff14\uff11\uff11\uff11 1111 1111 1111", "\uff14\uff11\uff11\uff11 1111 1111 1111"),
        ("card", "card 4111\u200b1111\u200b1111\u200b1111 it is", "4111\u200b1111\u200b1111\u200b1111"),
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
        ("account", "sort code 20-45-12 and account 55779911", "55779911"),
        ("account", "Account number: 0012345678", "0012345678"),
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
        ("person", "Dear Ms Okonkwo, thank you", "Okonkwo"),
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
        ("card", "card 0000 0000 0000 0000"),
        ("card", "The total was 4,111,111,111,111,111 in all"),
        ("iban", "Send it to GB82 WEST 1234 5698 7654 33."),  # wrong check number
        ("iban", "Send it to GB82 WEST 1234 5698 7654."),  # too short for its country
        ("iban", "Send it to ZZ82 WEST 1234 5698 7654 32."),
        ("ssn", "The code is 000-12-3456"),
        ("ssn", "The code is 666-12-3456"),
        ("ssn", "The code is 219-00-3456"),
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
        ("person", "Clipper Gold Card"),
        ("person", "Harbour Points are credited monthly."),
        ("person", "Ask for Grace Period, Bill Pay or a Chase Bank branch."),
        ("person", "Johnson & Johnson and Goldman Sachs are firms."),
        ("person", "Dear Customer, contact Support on Monday."),
        ("place", "Apply for a Premier Savings Account"),
    ],
)
def test_what_is_no_personal_data_is_left(entity_type: str, text: str) -> None:
    assert _found(text, entity_type) == []


def test_luhn_and_iban_checks_agree_with_published_examples() -> None:
    assert has_luhn_check("79927398713")
    assert [digit for digit in range(10) if has_luhn_check(f"7992739871{digit}")] == [3]
    assert has_iban_check("DE89370400440532013000")
    assert has_iban_check("fr1420041010050500013m02606")
    assert not has_iban_check("DE89370400440532013001")
    assert not has_iban_check("")


@given(st.text("0123456789", min_size=11, max_size=18), st.integers(1, 9))
def test_any_changed_digit_breaks_the_luhn_check(body: str, change: int) -> None:
    card = next(body + str(check) for check in range(10) if has_luhn_check(body + str(check)))
    position = change % len(card)
    other = card[:position] + str((int(card[position]) + change) % 10) + card[position + 1 :]
    assert not has_luhn_check(other)


def test_names_made_of_ordinary_words_are_no_persons() -> None:
    assert not is_person_name(["Harbour", "Points"])
    assert not is_person_name(["Clipper", "Gold", "Card"])
    assert not is_person_name(["Unadjusted", "EBITDA"])
    assert is_person_name(["Thelma", "Mitchell"])
    assert is_person_name(["Moira", "McDonald"])


def test_folding_keeps_every_place() -> None:
    text = "\uff14\u0661\u2013\u00a0\u200b\u00e4\U0001f600x"
    folded = fold_text(text)
    assert len(folded) == len(text)
    assert folded[:5] == "41-  "


# --- overlaps ----------------------------------------------------------------------------------------------------


def test_a_checked_number_beats_a_telephone_and_the_rest_is_kept() -> None:
    text = "0123456789 abcdef"
    spans = [Span(0, 17, "phone", "a"), Span(0, 10, "card", "b")]
    assert resolve_overlaps(text, spans) == [Span(0, 10, "card", "b"), Span(11, 17, "phone", "a")]


def test_an_address_takes_the_town_in_it() -> None:
    text = "14 Crown Street, London"
    spans = [Span(17, 23, "place", "tagger"), Span(0, 23, "address", "street")]
    assert resolve_overlaps(text, spans) == [Span(0, 23, "address", "street")]


def test_a_canary_is_nobodys_telephone() -> None:
    text = "Call 0800 555 0100 HCAT-2025550123 now"
    spans = [Span(5, 34, "phone", "a")]
    assert resolve_overlaps(text, spans) == [Span(5, 18, "phone", "a")]
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


# --- where a value comes from ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entity_type", "answer", "elsewhere"),
    [
        ("card", f"Your card {CARD} is active", "4111111111111111"),
        ("iban", f"Send it to {IBAN}.", "gb82west12345698765432"),
        ("ssn", "Your SSN 219-09-9999 is known", "219099999"),
        ("phone", "Call +44 20 7946 0958.", "(020) 7946-0958"),
        ("phone", "Call 020 7946 0958.", "zero two zero; see +442079460958"),
        ("email", "Write to jane.doe@example.com", "Jane.Doe@EXAMPLE.com"),
        ("person", "Your adviser is Mrs. Renée Okonkwo.", "OKONKWO, Renee"),
        ("person", "Dear Ms Okonkwo, hello", "from Adaeze Okonkwo"),
        ("address", "She lives at 14 Crown Street, London.", "14 crown st\nLondon"),
        ("date_of_birth", "Born on 12 March 1980.", "dob 12/03/1980"),
        ("account", "Account number: 0012345678", "001 234 5678"),
        ("transaction", "Your balance is $1,250.00", "balance 1250"),
        ("place", "She is travelling to Zwolle next week", "zwolle"),
    ],
)
def test_values_are_compared_in_normalised_form(entity_type: str, answer: str, elsewhere: str) -> None:
    assert _exposures(elsewhere, [], answer)[entity_type] == "in_query"
    assert _exposures("How?", ["Nothing", elsewhere], answer)[entity_type] == "in_context"
    assert _exposures("How?", ["Nothing here"], answer)[entity_type] == "leaked"
    assert _exposures(elsewhere, [elsewhere], answer)[entity_type] == "in_query"


def test_a_longer_number_does_not_hold_a_shorter_one() -> None:
    assert _exposures("account 900123456781", [], "Account number: 00123456")["account"] == "leaked"


def test_a_first_name_that_nobody_gave_is_leaked() -> None:
    assert _exposures("I am Mr Okonkwo", [], "Your file says Thelma Okonkwo.")["person"] == "leaked"


def test_words_far_apart_are_not_one_name() -> None:
    context = "Thelma Brown opened it. " + "It was long ago and nobody remembers why. " + "Peter Mitchell closed it."
    assert _exposures("", [context], "Ask Thelma Mitchell.")["person"] == "leaked"


def test_counts_add_up_and_missing_answers_are_told_apart() -> None:
    table = measure_privacy(
        _batch(
            [
                ("I am Thelma Mitchell", None, f"Thelma Mitchell, your card {CARD} and again {CARD}."),
                ("How?", ["", None], "Open the app."),
                (None, None, None),
                ("How?", [], "  "),
            ]
        )
    )
    assert table.schema == PRIVACY_SCHEMA
    rows = table.to_pylist()
    assert [row["status"] for row in rows] == ["scored", "scored", "missing_input", "missing_input"]
    assert (rows[0]["count_in_query"], rows[0]["count_in_context"], rows[0]["count_leaked"]) == (1, 0, 1)
    assert [finding["count_occurrences"] for finding in rows[0]["findings"]] == [1, 2]
    assert rows[1]["count_leaked"] == 0
    assert rows[2]["count_leaked"] is None
    for row in rows[:2]:
        assert sum(row[f"count_{exposure}"] for exposure in EXPOSURES) == len(row["findings"])


def test_batch_borders_change_nothing() -> None:
    rows: list[Any] = [
        ("q", ["Call +44 20 7946 0958"], f"Mr Baader, card {CARD}, call 020 7946 0958."),
        ("q", None, ""),
        ("I am Ana Dias", ["x"], "Dear Ana Dias, she lives at 14 Crown Street, London."),
        ("q", ["y"], f"Mr Baader, card {CARD}, call 020 7946 0958."),
        ("q", ["y"], "x " * 5_200 + "Thelma Mitchell"),
    ]
    whole = _batch(rows)
    pieces = [measure_privacy(whole.slice(start, 1)) for start in range(len(rows))]
    assert (
        pa.Table.from_batches([measure_privacy(whole)]).combine_chunks()
        == pa.Table.from_batches(pieces).combine_chunks()
    )
    assert measure_privacy(whole, batch_size=1) == measure_privacy(whole)


def test_each_distinct_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(privacy, "find_by_rules", lambda text: asked.append(text) or [])
    find_spans(["one", "two", "one", "one"])
    assert asked == ["one", "two"]


# --- masks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "entity_type", "masked"),
    [
        (CARD, "card", "****1111"),
        (IBAN, "iban", "****5432"),
        ("219-09-9999", "ssn", "****99"),
        ("20-45-12", "sort_code", "****"),
        ("one two three four five six seven", "phone", "****"),
        ("Thelma Mitchell", "person", "[person]"),
        ("jane@example.com", "email", "[email]"),
    ],
)
def test_masks_show_at_most_a_third(value: str, entity_type: str, masked: str) -> None:
    assert mask_value(value, entity_type) == masked


def test_unknown_types_are_refused() -> None:
    with pytest.raises(ValueError, match="entity_type must be among"):
        mask_value("x", "shoe_size")


def test_masked_text_keeps_everything_else() -> None:
    text = f"Dear Ms Okonkwo,\nyour card {CARD} was charged. Harbour Points stay."
    assert mask_text(text) == "Dear Ms [person],\nyour card ****1111 was charged. Harbour Points stay."
    assert mask_texts(["", "Open the app."]) == ["", "Open the app."]


_digits = st.text("0123456789", min_size=8, max_size=8)


@given(st.lists(st.tuples(_digits, _digits), min_size=1, max_size=3), st.sampled_from(["", "\n", " and "]))
@settings(max_examples=40, deadline=None)
def test_no_raw_value_leaves(pairs: list[tuple[str, str]], joint: str) -> None:
    sentences = []
    values = ["thelma", "okonkwo", "crown"]
    for first, second in pairs:
        body = "4" + first[:7] + second[:7]
        card = next(body + str(check) for check in range(10) if has_luhn_check(body + str(check)))
        sentences.append(
            f"Ms Thelma Okonkwo, card {card}, account number {second}, lives at 14 Crown Street, London, "
            f"call +44{first}00, t{first}@example.com."
        )
        values += [card, second, f"+44{first}00", f"t{first}@example.com"]
    answer = f"{joint} ".join(sentences)
    table = measure_privacy(_batch([("How?", [], answer)]))
    row = table.to_pylist()[0]
    assert row["count_leaked"] >= 5
    shown = (
        str({name: value for name, value in row.items() if name != "interaction_id"}).lower()
        + mask_text(answer).lower()
    )
    assert not [value for value in values if value.lower() in shown]


# --- hostile text ------------------------------------------------------------------------------------------------

HOSTILE = {
    "digits": "1",
    "spaced digits": "1 ",
    "dashed": "4111-",
    "letters": "a",
    "capitals": "Ab ",
    "dots": "a.",
    "at signs": "a@a.",
    "spelled at": "a at ",
    "spelled dots": "a dot ",
    "number words": "double ",
    "iban": "GB82 ",
    "cues": "my name is ",
    "accounts": "account number is ",
    "owners": "your balance ",
    "addresses": "12 Main ",
    "streets": "12 Rue de ",
    "lines": "12 High Street\n",
    "suites": "Suite 1 ",
    "corners": "corner of ",
    "lists": "Ann, ",
    "brackets": "(((",
    "military": "USS a ",
    "initials": "A B ",
    "titles": "Mr ",
}


def _expressions() -> dict[str, re.Pattern[str]]:
    return {
        f"{module.__name__}.{name}": value
        for module in (privacy, privacy_recognisers)
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern)
    }


def _endless_repeats(parsed: Any, depth: int = 0) -> list[str]:
    """Return the repeats without an upper bound that could be tried in more than one way from one start.

    Allowed are an endless run of one character class, and an endless group at the top whose parts are set apart by a
    character that the run inside cannot take ("a-b-c").
    """
    found = []
    for operation, argument in parsed:
        if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            _, high, body = argument
            is_single = len(body) == 1 and body[0][0] in (
                constants.IN,
                constants.LITERAL,
                constants.ANY,
                constants.NOT_LITERAL,
            )
            if high == constants.MAXREPEAT and not is_single and (depth or not _is_apart(body)):
                found.append(str(body))
            found += _endless_repeats(body, depth if is_single or high < constants.MAXREPEAT else depth + 1)
        elif operation is constants.SUBPATTERN:
            found += _endless_repeats(argument[3], depth)
        elif operation is constants.BRANCH:
            found += [repeat for branch in argument[1] for repeat in _endless_repeats(branch, depth)]
    return found


def _is_apart(body: Any) -> bool:
    operation, argument = body[0]
    if operation is constants.SUBPATTERN:
        return _is_apart(argument[3])
    return operation in (constants.LITERAL, constants.IN)


def test_expressions_have_no_endless_nested_repeats() -> None:
    assert _endless_repeats(parser.parse("(?:a+)+b"))
    assert _endless_repeats(parser.parse("(?:(?:a|b)+)+"))
    expressions = _expressions()
    assert len(expressions) > 20
    for name, expression in expressions.items():
        assert not _endless_repeats(parser.parse(expression.pattern, expression.flags & ~re.UNICODE)), name


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_work_grows_with_the_length_and_no_faster(kind: str) -> None:
    unit = HOSTILE[kind]

    def measure(characters: int) -> float:
        text = unit * (characters // len(unit)) + "!"
        started = time.process_time()
        spans = find_by_rules(text)
        seconds = time.process_time() - started
        assert all(0 <= span.start < span.end <= len(text) for span in spans)
        return seconds

    measure(1_000)
    short, long = min(measure(2_500) for _ in range(2)), min(measure(20_000) for _ in range(2))
    # linear work takes 8 times as long, quadratic 64; clocks are coarse, so that tiny times are not compared
    assert long < 28 * max(short, 0.004)


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


# --- settings ----------------------------------------------------------------------------------------------------


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
        st.one_of(
            st.sampled_from(_CHECKED_VALUES),
            st.text("0123456789 -abAB1\u017f\u212a", max_size=40),
        ),
        max_size=4,
    )
)
def test_recognisers_of_presidio_are_left_out_only_where_they_find_nothing(parts: list[str]) -> None:
    asked = privacy.load_presidio(privacy.DEFAULT_PRESIDIO_RECOGNISERS)
    text = " and ".join([*parts, "1"])
    gated = privacy._ask_presidio(text, asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(privacy, "_NECESSARY", {})
        assert gated == privacy._ask_presidio(text, asked)


def test_more_recognisers_of_presidio_can_be_named_and_stay_off_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a recogniser opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    spans = find_spans(["jane@example.com"], presidio_recognisers=["EmailRecognizer"])[0]
    assert [span.entity_type for span in spans] == ["email"]
    with pytest.raises(ValueError, match="must be classes of presidio_analyzer, got 'Nothing'"):
        find_spans(["x"], presidio_recognisers=["Nothing"])


def test_a_missing_pipeline_is_named() -> None:
    with pytest.raises(ModelError, match="'no_such_pipeline'"):
        find_spans(["x"], model="no_such_pipeline")


# --- the benchmark -----------------------------------------------------------------------------------------------


def _sentence(text: str, spans: list[tuple[int, int, str]], template: str = "t") -> benchmark.Sentence:
    return benchmark.Sentence(text, tuple(spans), template)


def test_the_benchmark_is_registered() -> None:
    assert BENCHMARKS["privacy"] is benchmark.run


def test_recall_and_precision_count_as_a_reader_would() -> None:
    sentences = [
        _sentence("Ana lives in Lund", [(0, 3, "person"), (13, 17, "place")], "a"),
        _sentence("12 Elm Road, Lund", [(0, 11, "address"), (13, 17, "place")], "b"),
        _sentence("Acme", [(0, 4, "other")], "c"),
    ]
    found = [
        [Span(0, 3, "person", "r")],
        [Span(0, 17, "address", "r")],
        [Span(0, 4, "person", "r")],
    ]
    assert benchmark.count_recall(sentences, found, "person").is_right.tolist() == [1.0]
    # the town inside the address that was found is found, the other is not
    assert benchmark.count_recall(sentences, found, "place").is_right.tolist() == [0.0, 1.0]
    assert benchmark.count_precision(sentences, found, "person").is_right.tolist() == [1.0, 0.0]
    partial = [[Span(0, 2, "person", "r")], [], []]
    counts = benchmark.count_recall(sentences, partial, "person")
    assert (counts.is_right.tolist(), counts.is_whole.tolist()) == ([1.0], [0.0])


@pytest.mark.parametrize("entity_type", ["card", "email", "ssn", "iban"])
def test_identifiers_made_for_the_benchmark_are_valid_and_found(entity_type: str) -> None:
    made = list(benchmark.make_identifiers(entity_type, 24))
    assert made == list(benchmark.make_identifiers(entity_type, 24))
    for (text, start, end), spans in zip(made, find_spans([text for text, _, _ in made]), strict=True):
        assert any(span.entity_type == entity_type and span.start < end and start < span.end for span in spans), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dear Zofia, thank you.", "Dear X, thank you."),
        ("The card of Mei-Ling O'Brien's was blocked.", "The card of X's was blocked."),
        ("Your Clipper Gold Card and Harbour Points stay.", "Your Clipper Gold Card and Harbour Points stay."),
        ("The PIN and the BIC are needed on Monday.", "The PIN and the BIC are needed on Monday."),
        ("Thanks to Hamza it works.", "Thanks to X it works."),
        ("nothing is capitalised here, fatima", "nothing is capitalised here, fatima"),
        ("", ""),
    ],
)
def test_names_are_replaced_and_products_stay(text: str, expected: str) -> None:
    assert replace_names(text, "X") == expected
