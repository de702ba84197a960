"""Text templates, prompts and the readers of the paper's files."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_grammar_bank import (
    TABLES,
    bank_schema,
    column_rows,
    constraint_rows,
    paper_database,
    paper_files,
    sqlite_schema,
)

from hcat.grammar.criteria import Requirements
from hcat.grammar.enumeration import enumerate_sql_templates
from hcat.grammar.importers import (
    ImportedSqlTemplate,
    ImportFormatError,
    read_queries,
    read_sql_templates,
    read_text_templates,
)
from hcat.grammar.prompts import (
    MAXIMUM_TEMPLATES,
    read_reply,
    sql_templates_prompt,
    templates_response,
    text_templates_prompt,
)
from hcat.grammar.schema import Schema, read_schema
from hcat.grammar.sql_templates import Placeholder, Reference, SqlTemplate, TemplateError, read_sql_template
from hcat.grammar.text_templates import (
    HYPOTHESES,
    MAXIMUM_PER_STYLE,
    MINIMUM_LONG_WORDS,
    STYLES,
    TextTemplate,
    check_text_template,
    describe_template,
    fill_text,
    hypothesis_of,
    write_text_templates,
)

BANK = bank_schema()
TEMPLATES = enumerate_sql_templates(BANK, 1_000).templates
BALANCE = read_sql_template("SELECT balance FROM accounts WHERE iban = '[accounts.iban]'", BANK)
PAIR = read_sql_template(
    "SELECT l.purpose FROM loans l JOIN accounts a ON l.account_id = a.account_id "
    "WHERE l.loan_number = [loans.loan_number] AND a.iban = [accounts.iban]",
    BANK,
)


@pytest.mark.parametrize(
    ("sql", "what", "which"),
    [
        ("SELECT city FROM branches WHERE branch_name = [branches.branch_name]", "city", "branch named '{}'"),
        ("SELECT balance FROM accounts WHERE iban = [accounts.iban]", "balance", "account with IBAN '{}'"),
        ("SELECT opened_on FROM branches WHERE city = [branches.city]", "opened date", "branch with city '{}'"),
        (
            "SELECT a.balance, a.account_type FROM accounts a JOIN customers c ON a.customer_id = c.customer_id "
            "WHERE c.full_name = [customers.full_name]",
            "type and balance",
            "account of the customer named '{}'",
        ),
        (
            "SELECT b.city FROM branches b JOIN customers c ON b.branch_id = c.branch_id "
            "WHERE c.full_name = [customers.full_name]",
            "city",
            "branch with the customer named '{}'",
        ),
        (
            "SELECT a.balance, c.city FROM accounts a JOIN customers c ON a.customer_id = c.customer_id "
            "WHERE a.iban = [accounts.iban]",
            "balance",
            "account with IBAN '{}' of the customer and the city of that customer",
        ),
    ],
)
def test_a_logic_is_said_in_words(sql: str, what: str, which: str) -> None:
    template = read_sql_template(sql, BANK)
    assert describe_template(template) == (what, which.format(template.placeholders[0]))


def test_two_rows_of_one_table_are_told_apart_by_the_column_that_refers() -> None:
    rows = [
        {"table_name": "employees", "column_name": column, "data_type": "VARCHAR"}
        for column in ("employee_id", "name", "manager_id")
    ]
    reference = {
        "constraint_name": "f",
        "constraint_type": "FOREIGN KEY",
        "table_name": "employees",
        "column_name": "manager_id",
        "referenced_table_name": "employees",
        "referenced_column_name": "employee_id",
    }
    template = read_sql_template(
        "SELECT m.name FROM employees e JOIN employees m ON e.manager_id = m.employee_id WHERE e.name = "
        "[employees.name]",
        read_schema(rows, [reference]),
    )
    assert describe_template(template) == ("name", "manager with the employee named '[employees.name]'")


@pytest.mark.parametrize("count", range(1, MAXIMUM_PER_STYLE + 1))
def test_every_template_gets_equally_many_texts_of_each_style_without_faults(count: int) -> None:
    texts = [text for template in TEMPLATES for text in write_text_templates(template, count)]
    assert len(texts) == len(TEMPLATES) * len(STYLES) * count
    assert set(Counter((text.sql_template_id, text.style) for text in texts).values()) == {count}
    assert len({text.text_template_id for text in texts}) == len(texts)
    for template in TEMPLATES:
        for hypothesis in HYPOTHESES:
            own = [
                text.text
                for text in texts
                if (text.sql_template_id, text.hypothesis) == (template.sql_template_id, hypothesis)
            ]
            for number, text in enumerate(own):
                assert check_text_template(text, template, own[:number]) == ()


def test_long_texts_are_long_and_short_ones_shorter() -> None:
    for template in TEMPLATES:
        words: dict[str, list[int]] = {style: [] for style in STYLES}
        for text in write_text_templates(template, MAXIMUM_PER_STYLE):
            words[text.style].append(len(text.text.split()))
        assert min(words["long"]) >= MINIMUM_LONG_WORDS
        assert 2 * max(words["short"]) <= min(words["long"])


def test_settings_of_the_writer_are_checked() -> None:
    with pytest.raises(ValueError, match=r"must lie in \[1, 4\], got 5"):
        write_text_templates(BALANCE, 5)
    with pytest.raises(ValueError, match="hypothesis must be one of length"):
        write_text_templates(BALANCE, 1, ("size",))
    with pytest.raises(ValueError, match="style must be one of its hypothesis"):
        TextTemplate("x", "length", "formal", "text")
    with pytest.raises(ValueError, match="origin must be one of"):
        TextTemplate("x", "length", "short", "text", "nobody")
    assert {hypothesis_of(style) for style in STYLES} == set(HYPOTHESES)
    with pytest.raises(ValueError, match="style must be one of"):
        hypothesis_of("loud")


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("Balance of '[accounts.iban]'", ()),
        ("Balance of [ACCOUNTS.Iban]", ()),
        ("Balance?", ("missing_placeholder",)),
        ("Owner '[customers.full_name]' of '[accounts.iban]'", ("foreign_placeholder",)),
        ("'[accounts.iban]' or '[accounts.iban]'", ("repeated_placeholder",)),
        ("Balance of [accounts.iban", ("malformed_placeholder", "missing_placeholder")),
        ("Balance of [iban]", ("malformed_placeholder", "missing_placeholder")),
        ("'[accounts.iban]'?", ("empty",)),
        ("Balance\nof [accounts.iban]", ("not_one_line",)),
        ("Balance \u202e of [accounts.iban]", ("not_one_line",)),
        ("x" * 2_000 + "[accounts.iban]", ("too_long",)),
        ("which BALANCE has '[accounts.iban]'!", ("duplicate",)),
    ],
)
def test_faults_of_texts(text: str, faults: tuple[str, ...]) -> None:
    assert check_text_template(text, BALANCE, ["Which balance has [accounts.iban]?"]) == faults


def test_values_that_look_like_placeholders_stay_values() -> None:
    number, iban = Placeholder("loans", "loan_number"), Placeholder("accounts", "iban")
    text = "loan [loans.loan_number] of [accounts.iban]"
    assert check_text_template(text, PAIR) == ()
    assert fill_text(text, {number: "[accounts.iban]", iban: "\\1 {x} %s"}) == "loan [accounts.iban] of \\1 {x} %s"
    with pytest.raises(ValueError, match="has no value"):
        fill_text(text, {number: "1"})


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_a_text_without_faults_can_be_filled(text: str) -> None:
    for whole in (text, f"{text} [accounts.iban]"):
        if not check_text_template(whole, BALANCE):
            filled = fill_text(whole, {Placeholder("accounts", "iban"): "ZZ11"})
            assert "ZZ11" in filled
            assert "[" not in filled


# ---- prompts ----------------------------------------------------------------------------------------------------


def _values() -> list[str]:
    """Return the texts and numbers of all rows of the bank that are long enough to be recognised."""
    found = re.findall(r"'((?:[^']|'')+)'|\b(\d{3,}(?:\.\d+)?)\b", TABLES[TABLES.index("insert") :])
    return [value for pair in found for value in pair if len(value) > 2]


def test_no_value_of_a_row_is_in_any_prompt() -> None:
    # rows of the catalogue that carry values: as a member that nobody asked for, in a type, as a default, a comment
    rows = [
        row
        | {"column_default": "'Northport'", "column_comment": "such as Ines Vale", "sample": "ZZ11", "min": 1250.5}
        | ({"data_type": "ENUM('current', 'savings')"} if row["column_name"] == "account_type" else {})
        for row in column_rows()
    ]
    schema = read_schema(rows, constraint_rows(), [{"table_name": "loans", "count_rows": 1250, "first": "house"}])
    prompts = [sql_templates_prompt(schema, 5)]
    for template in enumerate_sql_templates(schema, 1_000, accepts_undecided=True).templates:
        prompts += [text_templates_prompt(template, schema, style, 3) for style in STYLES]
    said = json.dumps(prompts)
    assert len(_values()) > 30
    # "car" is in many words, the rest in none
    for value in _values():
        assert not re.search(rf"\b{re.escape(value)}\b", said), value
    assert "account_type" in said


def test_a_prompt_takes_nothing_but_schemas_and_templates_of_them() -> None:
    with pytest.raises(TypeError, match="sees a Schema and nothing else, got list"):
        sql_templates_prompt([{"full_name": "Ines Vale"}], 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sees an SqlTemplate and nothing else, got str"):
        text_templates_prompt("SELECT 'Ines Vale'", BANK, "short", 1)  # type: ignore[arg-type]
    # a template put together by hand with a value where a name stands is read against the schema
    forged = SqlTemplate(("accounts",), (), (Reference(0, "balance' Ines Vale"),), (Reference(0, "iban"),))
    with pytest.raises(TemplateError):
        text_templates_prompt(forged, BANK, "short", 1)
    with pytest.raises(TemplateError):
        text_templates_prompt(BALANCE, Schema(()), "short", 1)


def test_the_prompt_says_the_schema_the_limits_and_the_shape_of_the_reply() -> None:
    wanted = Requirements(tables=frozenset({"loans"}), minimum_joins=1, maximum_joins=2)
    system, user = sql_templates_prompt(BANK, 7, wanted)
    assert (system["role"], user["role"]) == ("system", "user")
    body = json.loads(user["content"])
    assert [table["table"] for table in body["tables"]] == ["accounts", "branches", "customers", "loans"]
    assert {"column": "balance", "kind": "number"} in body["tables"][0]["columns"]
    assert len(body["foreign_keys"]) == 3
    assert body["reply_schema"] == templates_response(7)
    assert "Between 1 and 2 joins." in body["rules"]
    assert 'Read all of these tables: ["loans"].' in body["rules"]


def test_limits_of_prompts() -> None:
    with pytest.raises(ValueError, match=f"count must lie in .1, {MAXIMUM_TEMPLATES}., got 0"):
        sql_templates_prompt(BANK, 0)
    with pytest.raises(ValueError, match="not there are vault"):
        sql_templates_prompt(BANK, 1, Requirements(tables=frozenset({"vault"})))
    with pytest.raises(ValueError, match="style must be one of"):
        text_templates_prompt(BALANCE, BANK, "loud", 1)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"templates": [" a ", "b", "c"]}', ("read", ["a", "b"])),
        ('{"templates": []}', ("read", [])),
        ('{"templates": [1]}', ("wrong_shape", [])),
        ("[]", ("wrong_shape", [])),
        ("SELECT 1", ("not_json", [])),
        ("[" * 100_000, ("not_json", [])),
    ],
)
def test_replies(content: str, expected: tuple[str, list[str]]) -> None:
    assert read_reply(content, 2) == expected


# ---- files of the paper's shapes -----------------------------------------------------------------------------------


def test_files_of_sql_templates() -> None:
    content = json.dumps({"('customer', )": ["SELECT a;"], "('x', 'y')": ["SELECT b; ", "SELECT c;"]})
    assert read_sql_templates(content) == (
        ImportedSqlTemplate(("customer",), "SELECT a;"),
        ImportedSqlTemplate(("x", "y"), "SELECT b;"),
        ImportedSqlTemplate(("x", "y"), "SELECT c;"),
    )
    assert read_sql_templates("SELECT a;\n\n SELECT b;\n") == (
        ImportedSqlTemplate((), "SELECT a;"),
        ImportedSqlTemplate((), "SELECT b;"),
    )


def test_files_of_text_templates_of_one_and_two_levels() -> None:
    flat = {"SELECT a;": ['"Say [t.c]"', "Tell me [t.c] "]}
    expected = {"SELECT a;": ("Say [t.c]", "Tell me [t.c]")}
    assert read_text_templates(json.dumps(flat)) == expected
    assert read_text_templates(json.dumps({"Customer": flat})) == expected


def test_files_of_queries_read_rows_without_running_them() -> None:
    content = json.dumps([[["[('Oslo', 2.0)]", ["q1", "q2"]]], [["[(None,)]", ["q3"]], ["__import__('os')", []]]])
    first, second, third = read_queries(content)
    assert (first.template_number, first.rows, first.texts) == (0, (("Oslo", 2.0),), ("q1", "q2"))
    assert (second.template_number, second.rows) == (1, ((None,),))
    assert third.rows is None


@pytest.mark.parametrize("content", ["{", "[]", '{"customer": []}', '{"(\'a\',)": "x"}', "{\"('a',)\": [1]}"])
def test_files_of_sql_templates_of_another_shape_are_refused(content: str) -> None:
    if content == "[]":
        # one template a line: it is read, and the criteria refuse it
        assert read_sql_templates(content) == (ImportedSqlTemplate((), "[]"),)
        return
    with pytest.raises(ImportFormatError):
        read_sql_templates(content)


@pytest.mark.parametrize("content", ["nothing", "[]", '{"a": 1}', '{"a": {"s": ["x"]}, "b": {"s": ["y"]}}'])
def test_files_of_text_templates_of_another_shape_are_refused(content: str) -> None:
    with pytest.raises(ImportFormatError):
        read_text_templates(content)


@pytest.mark.parametrize("content", ["{}", "[1]", "[[1]]", '[[["[]", 1]]]', "[[[1, []]]]"])
def test_files_of_queries_of_another_shape_are_refused(content: str) -> None:
    with pytest.raises(ImportFormatError):
        read_queries(content)


def _paper_texts() -> dict[str, str]:
    parts = ("SQLTemplateGenerator", "TextTemplateGenerator", "QADataGenerator")
    files = paper_files("benchmarks/")
    return {name: content.decode() for name, content in files.items() if any(part in name for part in parts)}


def test_the_files_of_the_paper_are_read_and_counted_as_its_appendix_does() -> None:
    files = _paper_texts()
    # appendix F, table 5b: 5 + 3 or 4 + 2 templates, 50 + 87 + 20 = 157 SQL queries
    assert len(read_sql_templates(files["aurp/SQLTemplateGenerator/sql_templates.json"])) == 10
    for style in ("short", "long"):
        texts = read_text_templates(files[f"aurp/TextTemplateGenerator/{style}.json"])
        assert {len(group) for group in texts.values()} == {3}
        queries = read_queries(files[f"aurp/QADataGenerator/{style}.json"])
        assert len(queries) == 157
        assert sum(len(query.texts) for query in queries) == 471
        assert all(query.rows is not None for query in queries)
        assert len(read_queries(files[f"spider/QADataGenerator/{style}.json"])) == 57
    nested = read_text_templates(files["aurp/TextTemplateGenerator/medium.json"])
    assert len(nested) == 10
    assert not any(text.startswith('"') for group in nested.values() for text in group)


def test_the_texts_of_the_paper_pass_the_check_of_placeholders(tmp_path: Path) -> None:
    files = _paper_texts()
    by_template: dict[str, list[str]] = {}
    for name, content in files.items():
        if "TextTemplateGenerator" in name:
            for sql, texts in read_text_templates(content).items():
                by_template.setdefault(sql, []).extend(texts)
    # one database is there with its keys; of the other, the templates of one table each tell the columns
    with contextlib.closing(paper_database(tmp_path)) as connection:
        schema = sqlite_schema(connection)
    plain = [re.match(r"SELECT (\w+) FROM (\w+) WHERE (\w+) =", sql) for sql in by_template]
    told = {(match[2], column) for match in plain if match for column in (match[1], match[3])}
    rows = [{"table_name": table, "column_name": column, "data_type": "VARCHAR"} for table, column in sorted(told)]
    other = read_schema([row for row in rows if schema.table(row["table_name"]) is None])
    both = Schema((*schema.tables, *other.tables), schema.foreign_keys)
    for sql, written in by_template.items():
        template = read_sql_template(sql, both)
        assert [fault for text in written for fault in check_text_template(text, template)] == []
    assert sum(map(len, by_template.values())) == 190
