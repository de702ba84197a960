"""Tests of hcat.language.verbalisation: JSON and tables in words, prose as it is."""

import json
import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hcat.language.markup import blank_markup
from hcat.language.text import MAXIMUM_SENTENCE_CHARACTERS, clean_text, split_sentences
from hcat.language.verbalisation import GROUP_CHARACTERS, Unit, verbalise_sentences

BRANCH = {
    "name": "Mill Lane",
    "address": "",
    "categories": "Banks, Insurance (Home), Advice",
    "hours": {"Monday": "9:0-17:0", "Tuesday": "9:0-12:30", "Sunday": None},
    "attributes": {
        "CustomerParking": {"garage": False, "lot": True, "street": None},
        "WheelchairAccess": True,
        "WiFi": "u'free'",
        "Counters": "{'cash': True, 'foreign_currency': False}",
        "Queue": "{tickets: False, appointments: None}",
    },
    "branch_stars": 4.0,
    "review_info": [
        {
            "review_stars": 5.0,
            "review_date": "2031-01-09 19:18:59",
            "review_text": 'They were "quick". \n\nThe café next door is good \\ cheap! I\'ll be back',
        },
        {"review_stars": 1.0, "review_date": "2031-02-10", "review_text": "Slow."},
    ],
}
BRANCH_SENTENCES = [
    "Name: Mill Lane.",
    "Address: unknown.",
    "Categories: Banks, Insurance (Home), Advice.",
    "Hours: Monday 9:00-17:00, Tuesday 9:00-12:30, Sunday unknown.",
    "Customer parking: garage no, lot yes, street unknown.",
    "Wheelchair access: yes.",
    "WiFi: free.",
    "Counters: cash yes, foreign currency no.",
    "Queue: tickets no, appointments unknown.",
    "Branch stars: 4.0.",
    "Review stars: 5.0; review date: 2031-01-09 19:18:59.",
    'They were "quick".',
    "The café next door is good \\ cheap!",
    "I'll be back",
    "Review stars: 1.0; review date: 2031-02-10.",
    "Slow.",
]

PROSE_PIECES = st.sampled_from(
    [
        "Mr. Smith paid. ", "1,000.50", "\n", "\r\n", "- ", "\u2022 ", "1. ", "(a) ", "```", "```python\n", "# ", "[1]",
        "https://a.example/b?c=1. ", "\u3002", "\u061f", "Ça va. ", "\U0001f600", "\u202e", "\x00", "\u2028", "\x85",
        "<td>5</td>", "<p>Hi.</p>", "$x_{1}$ ", "\\frac{a}{b} ", "{x}", "f(x) = [0, 1]. ", "5\n", "word " * 30,
        "---\n", '"', "'", ")", ". ", "! ", "e\u0301", "{{name}}",
    ]
)  # fmt: skip
STRUCTURE_PIECES = st.sampled_from(
    [
        "|", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "| 1 | 2 | 3 |\n", "\t", "Fee\tCost\n", "x\t5\n", '{"a": ',
        '"b", ', "}", "[", "]", '{"a": [1, {"b": "c. D e f."}]}\n', "{'a': None}", "u'x'", '"\\ud800"', '"\\u0000"',
        "True", "null", ":", ",", "(", "\\|", "| \x00 | \x00 |\n", '{"a": "\\n"}',
    ]
)  # fmt: skip
PROSE_TEXTS = st.one_of(
    st.text(alphabet=st.characters(exclude_characters="\t|{["), max_size=200),
    st.lists(PROSE_PIECES, max_size=30).map("".join),
)
HOSTILE_TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(PROSE_PIECES, STRUCTURE_PIECES), max_size=30).map("".join),
    st.lists(STRUCTURE_PIECES, max_size=30).map("".join),
)

WORDS = st.sampled_from(
    ["fee", "Bank", "card", "5kg", "no", "übrig", "银行", "a\u0301", "is", "the", "\u0432\u0430\u0448"]
)
SIGNS = st.sampled_from([" ", ", ", ". ", "! ", "\n", " \u201cx\u201d ", "\\ ", '" '])
TEXTS = st.lists(st.tuples(WORDS, SIGNS), min_size=1, max_size=40).map(lambda pairs: "".join(map("".join, pairs)))
KEYS = st.one_of(
    st.sampled_from(["name", "review_text", "openHours", "", "attributes", "ID"]), st.text(max_size=12), TEXTS
)
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda values: st.one_of(st.lists(values, max_size=6), st.dictionaries(KEYS, values, max_size=6)),
    max_leaves=40,
)
JSON_OBJECTS = st.dictionaries(KEYS, JSON_VALUES, min_size=1, max_size=6)
JSON_LAYOUTS = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 1, "\t"])})


def sentences(text: str) -> list[str]:
    return [unit.text for unit in verbalise_sentences(text)]


def words_of(text: str) -> str:
    return "".join(re.findall(r"\w", clean_text(text)))


def check_units(text: str, units: list[Unit]) -> None:
    position = 0
    for unit in units:
        assert position <= unit.start < unit.end <= len(text)
        assert unit.text
        assert unit.text == " ".join(unit.text.split())
        assert len(unit.text) <= MAXIMUM_SENTENCE_CHARACTERS
        position = unit.end
    assert bool(units) == bool(text.strip())


@settings(max_examples=400, deadline=None)
@given(HOSTILE_TEXTS)
def test_units_are_ordered_inside_the_text_and_never_blank(text):
    check_units(text, verbalise_sentences(text))


@settings(max_examples=200, deadline=None)
@given(PROSE_TEXTS)
def test_prose_is_unchanged(text):
    assume(blank_markup(text) == text)
    expected = [Unit(start, end, " ".join(text[start:end].split())) for start, end in split_sentences(text)]
    assert verbalise_sentences(text) == expected


@settings(max_examples=50, deadline=None)
@given(JSON_OBJECTS, JSON_LAYOUTS)
def test_every_value_of_json_is_in_a_unit_over_its_span(record, layout):
    text = json.dumps(record, **layout)
    units = verbalise_sentences(text)
    check_units(text, units)
    written = words_of(" ".join(unit.text for unit in units))
    values = [record]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, list):
            values.extend(value)
        elif isinstance(value, str):
            assert words_of(value) in written
        elif value is not None and not isinstance(value, bool):
            assert words_of(json.dumps(value)) in written


@settings(max_examples=40, deadline=None)
@given(JSON_OBJECTS, st.data())
def test_damaged_json_never_raises(record, data):
    text = json.dumps(record)
    position = data.draw(st.integers(0, len(text) - 1))
    for damaged in (
        text[:position] + text[position + 1 :],
        text[:position] + data.draw(st.sampled_from('{}[]:,"\\|\t\n')) + text[position:],
        "{" + text[:position] + "}",
    ):
        check_units(damaged, verbalise_sentences(damaged))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(TEXTS, min_size=2, max_size=5), min_size=2, max_size=6))
def test_every_cell_of_a_table_is_in_a_unit(rows):
    rows = [[" ".join(clean_text(cell).split()) for cell in row] for row in rows]
    header = "| " + " | ".join(f"Column {number}" for number in range(5)) + " |\n" + "|---" * 5 + "|\n"
    text = header + "\n".join("| " + " | ".join(row) + " |" for row in rows)
    units = verbalise_sentences(text)
    check_units(text, units)
    assert units[0].text == "Column 0, Column 1, Column 2, Column 3, Column 4."
    for row in rows:
        for number, cell in enumerate(row):
            assert any(f"Column {number}: {cell}" in unit.text for unit in units)


@pytest.mark.parametrize(
    "text",
    [json.dumps(BRANCH), json.dumps(BRANCH, indent=2, ensure_ascii=False), str(BRANCH), f" {json.dumps(BRANCH)}\n"],
)
def test_a_record_in_words(text):
    assert sentences(text) == BRANCH_SENTENCES


def test_spans_show_where_a_sentence_stands():
    text = json.dumps(BRANCH)
    shown = {unit.text: text[unit.start : unit.end] for unit in verbalise_sentences(text)}
    assert shown["Wheelchair access: yes."] == '"WheelchairAccess": true'
    assert shown["Counters: cash yes, foreign currency no."] == (
        "\"Counters\": \"{'cash': True, 'foreign_currency': False}\""
    )
    assert shown['They were "quick".'] == 'They were \\"quick\\".'
    assert shown["The café next door is good \\ cheap!"] == "The caf\\u00e9 next door is good \\\\ cheap!"
    assert shown["I'll be back"] == "I'll be back"
    assert shown["Review stars: 1.0; review date: 2031-02-10."] == '"review_stars": 1.0, "review_date": "2031-02-10"'


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"ATMFee": 5, "customerID": "x", "take-out": True, "annual_rate": 1.5, "TOTAL_FEE": 1, "E-mail": "a@b.co"},
         ["ATM fee: 5; customer ID: x; take out: yes; annual rate: 1.5; total fee: 1; E-mail: a@b.co."]),
        ({"account": {"fee": 5, "rates": {"first_year": 1.2, "later": 0.5}, "terms": [1, 2]}},
         ["Account, fee: 5.", "Account, rates: first year 1.2, later 0.5.", "Account, terms: 1, 2."]),
        ({"data": {"items": {"fee": 5, "note": "None taken at the counter."}}},
         ["Fee: 5.", "Note: None taken at the counter."]),
        ({"revenue": {"2030": 5363, "2031": 4869}}, ["Revenue, 2030: 5363; 2031: 4869."]),
        ({"office": {"street": "4 Mill Lane, rear", "phone": "555 0100"}},
         ["Office, street: 4 Mill Lane, rear; phone: 555 0100."]),
        ({"services": ["cash", "loans, mortgages"]}, ["Services: cash; loans, mortgages."]),
        ({"reviews": ["Good and quick. Not cheap though.", "A bit slow."]},
         ["Good and quick.", "Not cheap though.", "A bit slow."]),
        ({"overdraft": "It costs 5 euros a month. Students pay nothing."},
         ["Overdraft: It costs 5 euros a month.", "Students pay nothing."]),
        ({"reviews": [], "terms": {}, "phone": ""}, ["Reviews: none; terms: none; phone: unknown."]),
        ({"accounts": [{"name": "Basic", "fee": 5, "rates": {"first": 1.2, "later": 0.5}, "cards": 2},
                       {"fee": 9, "name": "Gold"}]},
         ["Accounts, name: Basic; fee: 5.", "Basic, rates: first 1.2, later 0.5.", "Basic, cards: 2.",
          "Accounts, fee: 9; name: Gold."]),
        ({"page_content": "| Fee | Cost |\n|---|---|\n| Card | 5 |\nThat is all we take.", "metadata": {"page": 3}},
         ["Fee, Cost.", "Fee: Card; Cost: 5.", "That is all we take.", "Page: 3."]),
        ({"raw": json.dumps({"fee": 5, "open": True})}, ["Raw: fee 5, open yes."]),
        ({"raw": "(call first)", "note": "[sic]", "code": "{x}", "quote": "'tis", "list": "('a', 2)"},
         ["Raw: (call first).", "Note: [sic].", "Code: {x}.", "Quote: 'tis.", "List: a, 2."]),
        ({"a": {"b": {"c": {"d": {"e": 1}}}}}, ["C, d: e 1."]),
        ({"opens": "7:5", "score": "3:2", "span": "9:0-17:0"}, ["Opens: 7:05; score: 3:2; span: 9:0-17:0."]),
        ({"link": "https://bank.example", "files": ["https://bank.example"]},
         ["Link: https://bank.example.", "Files: https://bank.example."]),
    ],
)  # fmt: skip
def test_json_rules(record, expected):
    assert sentences(json.dumps(record)) == expected


def test_long_groups_are_cut_and_keep_their_name():
    units = sentences(
        json.dumps({"opening hours": {f"Counter {'x' * 9} no{number}": "9:0-17:0" for number in range(40)}})
    )
    assert 5 < len(units) < 12
    assert all(unit.startswith("Opening hours") and len(unit) <= GROUP_CHARACTERS + 1 for unit in units)
    assert sum(unit.count("9:00-17:00") for unit in units) == 40


def test_long_values_and_keys_are_cut_but_not_lost():
    text = json.dumps({"code": "x" * 5000, "y" * 3000: 1, "digits": int("7" * 3000)})
    units = verbalise_sentences(text)
    check_units(text, units)
    written = "".join(unit.text for unit in units)
    assert [written.count(sign) for sign in "xy7"] == [5000, 3000, 3000]


def test_lines_of_json():
    lines = '{"account": "Basic", "fee": 5}\n{"account": "Gold", "fee": 9}'
    expected = ["Account: Basic; fee: 5.", "Account: Gold; fee: 9."]
    assert sentences(lines) == expected
    assert sentences(f"Our accounts are:\n{lines}\nAsk us. We help.") == [
        "Our accounts are:",
        *expected,
        "Ask us.",
        "We help.",
    ]
    assert sentences(f"```json\n{lines}\n```") == lines.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1', '{"a": }', '{"a" 1}', '{"a": 1]', '{"a": 1} {', '{"a": "b}', '{"a": 01x}', '[{"a": 1} {"b": 2}]',
        "[1]", "[1, 2]", '["a", "b"]', "{x: 5}", "{{name}} pays {fee: 5}", '{"fee": 5} is the fee.',
        "The fee is {5}. [Note: see 'fees': below]",
        "$$\\frac{a}{b} = [0, 1]$$",
    ],
)  # fmt: skip
def test_what_is_no_json_stays_as_it_is(text):
    expected = [Unit(start, end, " ".join(text[start:end].split())) for start, end in split_sentences(text)]
    assert verbalise_sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"fee": 5, "fee": 9}', ["Fee: 5; fee: 9."]),
        # what an escape hides is cleaned
        ('{"note": "a\\u0000b\\ud800c", "empty": "\\u0000", "accent": "e\\u0301"}',
         ["Note: a b c; empty: unknown; accent: é."]),
        ("| Fee | Cost |\n|---|---|\n| Card | 5 |\n| City | Country |\n|---|---|\n| York | England |",
         ["Fee, Cost.", "Fee: Card; Cost: 5.", "City, Country.", "City: York; Country: England."]),
        ("Account\tMonthly fee\tNote\nBasic\t5 euros\tnew\nGold\t9 euros\n\nCity\tSeats\nYork\t5\nDone.",
         ["Account, Monthly fee, Note.", "Account: Basic; Monthly fee: 5 euros; Note: new.",
          "Account: Gold; Monthly fee: 9 euros.", "City, Seats.", "City: York; Seats: 5.", "Done."]),
    ],
)  # fmt: skip
def test_repeated_keys_escapes_and_tables(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize("opening", ['{"a":', '[{"a":', "[", '{"a":[', '{"a":"['])
def test_deep_nesting_is_no_recursion(opening):
    closing = opening.translate(str.maketrans("[{", "]}"))[::-1].replace(":", "").replace('"a"', "")
    text = '[{"b":2},' + opening * 30_000 + "1" + closing * 30_000 + "]"
    check_units(text, verbalise_sentences(text))


def test_rows_below_a_drawn_line():
    text = (
        "Our fees:\n\n| Account | monthly_fee |  |\n|:---|---:|---|\n| Basic | 5 euros | new |\n| Gold | | |\n"
        "| a | b | c | d |\n| A \\| B | 7 |\nThe end."
    )
    units = verbalise_sentences(text)
    assert [unit.text for unit in units] == [
        "Our fees:",
        "Account, monthly fee.",
        "Account: Basic; monthly fee: 5 euros; new.",
        "Account: Gold.",
        "| a | b | c | d |",
        "Account: A | B; monthly fee: 7.",
        "The end.",
    ]
    assert [(unit.start, unit.end) for unit in units] == split_sentences(text)


def test_a_first_column_without_header_names_the_row():
    table = "| | 2030 | 2031 |\n|--|--|--|\n| Net income | 5,363 | (4,869) |"
    assert sentences(table) == ["2030, 2031.", "Net income, 2030: 5,363; 2031: (4,869)."]
    assert sentences("\t2030\t2031\nNet income\t5,363\t(4,869)") == sentences(table)


def test_wide_rows_are_cut_and_keep_their_first_cell():
    header = "| Account | " + " | ".join(f"Condition {number}" for number in range(40)) + " |"
    text = f"{header}\n{'|---' * 41}|\n| Basic | " + " | ".join(f"value {number}" for number in range(40)) + " |"
    units = verbalise_sentences(text)
    check_units(text, units)
    rows = [unit.text for unit in units[1:]]
    assert len(rows) > 2
    assert all(row.startswith("Account: Basic; ") and len(row) <= GROUP_CHARACTERS + 1 for row in rows)
    assert all(any(f"Condition {number}: value {number}" in row for row in rows) for number in range(40))


@pytest.mark.parametrize(
    "text",
    [
        "| Fee | Cost |\n| Card | 5 |",  # no drawn line
        "| Fee | Cost |\n|---|\n| Card | 5 |",  # a line of other width
        "```\n| Fee | Cost |\n|---|---|\n| Card | 5 |\n```",  # code
        "Name\tAge. Years\nThe end.",
        "Monday\tclosed\nTuesday\t9-17",  # the first row is no header
        "Basic\t5 euros\nGold\t9 euros",
        "Fee\tCost\nCard\t5\t6",  # a row wider than the header
    ],
)
def test_rows_without_a_header_stay_as_they_are(text):
    expected = [Unit(start, end, " ".join(text[start:end].split())) for start, end in split_sentences(text)]
    assert verbalise_sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([BRANCH] * 360),
        '{"a":[' + "1," * 100_000 + "1]}",
        '{"a": "b", ' * 36_000 + '"c": 1}' + "}" * 35_999,
        "{" + '"a": "b", ' * 36_000 + "}",
        '{"a":' * 60_000 + "1" + "}" * 60_000,
        '{"a": "' + "\\n\\u00e9" * 50_000 + '"}',
        '{"a": "' + "One is so. " * 36_000 + '"}',
        '{"a": "' + "x" * 400_000 + '"}',
        '{"' + "y" * 400_000 + '": 1}',
        '{"a": ' + "7" * 400_000 + "}",
        '{"a": "' * 56_000 + "}",
        '{"a": 1}\n' * 20_000,
        'Text.\n{"a": 1}\n' * 14_000,
        "| a | b |\n|---|---|\n" * 10_000,
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 20_000,
        "| a | b |\n|---|---|\n" + "| c | d | e |\n" * 28_000,
        "Fee\tCost\n" + "a\t5\n" * 40_000,
        "a\tb\n" * 50_000,
        "a\tb\n\n" * 30_000,
        "|" * 400_000,
        "[" * 400_000,
    ],
    ids=lambda text: f"{text[:12]!r}",
)  # fmt: skip
def test_long_texts_take_seconds(text):
    start = time.process_time()
    assert verbalise_sentences(text)
    # The margin is for a loaded machine. A quadratic rule takes minutes.
    assert time.process_time() - start < 10
