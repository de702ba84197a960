"""Text templates, prompts and the readers of the paper's files."""

import json

import pytest
from grammar_materials import BANK, PAIR, schema_of

from hcat.grammar.criteria import ENUMERATED
from hcat.grammar.enumeration import enumerate_sql_templates
from hcat.grammar.prompts import sql_templates_prompt, templates_response, text_templates_prompt
from hcat.grammar.schema import Schema
from hcat.grammar.sql_templates import Placeholder, Reference, SqlTemplate, TemplateError, read_sql_template
from hcat.grammar.text_templates import (
    HYPOTHESES,
    MAXIMUM_PER_STYLE,
    STYLES,
    check_text_template,
    describe_template,
    fill_text,
    write_text_templates,
)

TEMPLATES = enumerate_sql_templates(BANK, 1_000, ENUMERATED)
BALANCE = read_sql_template("SELECT balance FROM accounts WHERE iban = '[accounts.iban]'", BANK)


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
    template = read_sql_template(
        "SELECT m.name FROM employees e JOIN employees m ON e.manager_id = m.employee_id WHERE e.name = "
        "[employees.name]",
        schema_of(
            "create table employees (employee_id varchar primary key, name varchar,"
            " manager_id varchar references employees (employee_id))"
        ),
    )
    assert describe_template(template) == ("name", "manager with the employee named '[employees.name]'")


@pytest.mark.parametrize("count", [1, MAXIMUM_PER_STYLE])
def test_every_template_gets_equally_many_texts_of_each_style_without_faults(count: int) -> None:
    for template in TEMPLATES:
        texts = write_text_templates(template, count)
        assert {style: len(found) for style, found in texts.items()} == dict.fromkeys(STYLES, count)
        for styles in HYPOTHESES.values():
            own = [text for style in styles for text in texts[style]]
            for number, text in enumerate(own):
                assert check_text_template(text, template, own[:number]) == ()


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("Balance of '[accounts.iban]'", ()),
        ("Balance?", ("missing_placeholder",)),
        ("Owner '[customers.full_name]' of '[accounts.iban]'", ("foreign_placeholder",)),
        ("'[accounts.iban]' or '[accounts.iban]'", ("repeated_placeholder",)),
        ("Balance of [accounts.iban", ("malformed_placeholder", "missing_placeholder")),
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


def test_a_prompt_takes_nothing_but_templates_of_the_schema() -> None:
    # a template put together by hand with a value where a name stands is read against the schema
    forged = SqlTemplate(("accounts",), (), (Reference(0, "balance' Ines Vale"),), (Reference(0, "iban"),))
    with pytest.raises(TemplateError):
        text_templates_prompt(forged, BANK, "short", 1)
    with pytest.raises(TemplateError):
        text_templates_prompt(BALANCE, Schema(()), "short", 1)


def test_the_prompt_says_the_schema_the_limits_and_the_shape_of_the_reply() -> None:
    system, user = sql_templates_prompt(BANK, 7)
    assert (system["role"], user["role"]) == ("system", "user")
    body = json.loads(user["content"])
    assert [table["table"] for table in body["tables"]] == ["accounts", "branches", "customers", "loans"]
    assert {"column": "balance", "kind": "number"} in body["tables"][0]["columns"]
    assert len(body["foreign_keys"]) == 3
    assert body["reply_schema"] == templates_response(7)
    assert "Between 0 and 3 joins." in body["rules"]
