"""SQL templates: strict reading, the criteria, enumeration, rendering."""

import pytest
from grammar_materials import column_rows, constraint_rows, database, schema_of
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.grammar.column_names import split_words
from hcat.grammar.criteria import CRITERIA, ENUMERATED, TemplateReport, check_sql_template
from hcat.grammar.enumeration import enumerate_sql_templates
from hcat.grammar.schema import Schema, read_schema
from hcat.grammar.sql_rendering import render_query, write_sql_template
from hcat.grammar.sql_templates import Placeholder, TemplateError, read_sql_template

BANK = schema_of()
GOOD = "SELECT balance FROM accounts WHERE iban = '[accounts.iban]';"
JOINED = (
    "SELECT c.full_name FROM accounts a JOIN customers c ON a.customer_id = c.customer_id "
    "WHERE a.iban = '[accounts.iban]'"
)


def broken(report: TemplateReport) -> dict[str, str]:
    return {check.criterion: check.reason for check in report.checks if check.outcome == "broken"}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        JOINED,
        "select balance from accounts where iban = [accounts.iban]",
        'SELECT "balance" FROM "accounts" AS "x" WHERE "x"."iban" = \'[Accounts.IBAN]\';',
        "SELECT DISTINCT l.purpose FROM loans l INNER JOIN accounts a ON a.account_id = l.account_id "
        "WHERE l.loan_number = [loans.loan_number] AND a.iban = '[accounts.iban]'",
    ],
)
def test_templates_that_meet_every_criterion(text: str) -> None:
    report = check_sql_template(text, BANK)
    assert [check.criterion for check in report.checks] == list(CRITERIA)
    assert {(check.outcome, check.reason) for check in report.checks} == {("met", "")}
    assert not broken(report)


@pytest.mark.parametrize(
    ("text", "criterion", "reason"),
    [
        ("DROP TABLE accounts", "select_only", "DROP"),
        (GOOD + " DELETE FROM accounts", "select_only", "one statement"),
        ("SELECT * FROM accounts WHERE iban = '[accounts.iban]'", "columns_named", r"\*"),
        ("SELECT balance FROM accounts WHERE iban = 'ZZ11'", "placeholder_format", "not written but bound"),
        ("SELECT balance FROM accounts WHERE iban = '[iban]'", "placeholder_format", r"\[iban\]"),
        ("SELECT balance FROM accounts WHERE iban = '[customers.full_name]'", "placeholder_format", "accounts.iban"),
        ("SELECT balance FROM accounts WHERE iban = account_type", "placeholder_format", "account_type"),
        ("SELECT balance FROM accounts", "has_placeholder", "none"),
        ("SELECT balance FROM vault WHERE iban = '[vault.iban]'", "follows_schema", "vault"),
        ("SELECT secret FROM accounts WHERE iban = '[accounts.iban]'", "follows_schema", "secret"),
        (
            "SELECT c.city FROM customers c JOIN branches b ON c.city = b.city WHERE c.full_name = "
            "'[customers.full_name]'",
            "follows_schema",
            "foreign key",
        ),
        (JOINED.replace("SELECT c.full_name", "SELECT customer_id"), "follows_schema", "2 have it"),
        (JOINED.replace("customers c", "customers a"), "follows_schema", "stands for two tables"),
        ("SELECT balance FROM accounts WHERE balance > [accounts.balance]", "well_formed", "compare by ="),
        ("SELECT balance FROM accounts WHERE iban = '[accounts.iban]' OR 1 = 1", "well_formed", "OR"),
        ("SELECT balance FROM accounts WHERE iban = '[accounts.iban]' LIMIT 1", "well_formed", "LIMIT"),
        ("SELECT max(balance) FROM accounts WHERE iban = '[accounts.iban]'", "well_formed", "expected a column"),
        ("SELECT balance FROM accounts LEFT JOIN loans ON a = b WHERE iban = [accounts.iban]", "well_formed", "LEFT"),
        ("WITH x AS (SELECT 1) SELECT y FROM x WHERE z = [x.z]", "well_formed", "WITH"),
        (GOOD + " -- note", "well_formed", "comments"),
        (GOOD.replace(";", " UNION SELECT 1"), "well_formed", "SET_OPERATION"),
        (GOOD.replace("accounts", "core.accounts", 1), "well_formed", "SCHEMA_NAME"),
        (GOOD.replace("accounts", "accounts, loans", 1), "well_formed", "CROSS"),
        (JOINED.replace("ON a.customer_id = c.customer_id", "USING (customer_id)"), "well_formed", "USING"),
        ("SELECT balance FROM accounts WHERE iban = \x00", "well_formed", "cannot read"),
        ("", "well_formed", "SELECT"),
        ("SELECT " + "a, " * 2_000, "well_formed", "characters"),
    ],
)
def test_what_cannot_be_read_breaks_the_criterion_it_is_about(text: str, criterion: str, reason: str) -> None:
    report = check_sql_template(text, BANK)
    assert report.template is None
    assert broken(report)
    assert set(broken(report)) == {criterion}
    with pytest.raises(TemplateError, match=reason):
        read_sql_template(text, BANK)


@pytest.mark.parametrize(
    ("text", "criterion", "reason"),
    [
        ("SELECT account_id FROM accounts WHERE iban = '[accounts.iban]'", "columns_not_technical", "identifier"),
        ("SELECT created_at FROM accounts WHERE iban = '[accounts.iban]'", "columns_not_technical", "stored"),
        ("SELECT purpose FROM loans WHERE loan_id = [loans.loan_id]", "columns_not_technical", "loans.loan_id"),
        ("SELECT col1 FROM loans WHERE loan_number = [loans.loan_number]", "columns_meaningful", "says nothing"),
        ("SELECT iban, balance FROM accounts WHERE iban = '[accounts.iban]'", "projection_not_in_predicate", "iban"),
        ("SELECT balance, balance FROM accounts WHERE iban = '[accounts.iban]'", "not_redundant", "SELECT names"),
        (JOINED.replace("c.full_name", "a.balance"), "not_redundant", "customers is joined"),
        ("SELECT full_name FROM customers WHERE city = '[customers.city]'", "single_answer", "several rows"),
        (
            "SELECT a.balance FROM accounts a JOIN customers c ON a.customer_id = c.customer_id "
            "WHERE c.full_name = '[customers.full_name]'",
            "single_answer",
            "several rows",
        ),
        (GOOD.replace("FROM", "\nFROM"), "one_line", "several"),
        (
            "SELECT balance, account_type, customer_id, created_at FROM accounts WHERE iban = '[accounts.iban]'",
            "specific_requirements",
            "columns must lie",
        ),
    ],
)
def test_criteria_on_the_meaning(text: str, criterion: str, reason: str) -> None:
    reasons = broken(check_sql_template(text, BANK))
    assert reason in reasons[criterion]


def test_a_joined_column_that_equals_the_given_one_is_given_too() -> None:
    schema = schema_of(
        "create table currencies (code varchar unique, country varchar);"
        "create table rates (code varchar references currencies (code), rate double)"
    )
    text = "SELECT c.code FROM rates r JOIN currencies c ON r.code = c.code WHERE r.code = '[rates.code]'"
    assert "currencies.code is asked for" in broken(check_sql_template(text, schema))["projection_not_in_predicate"]


def test_the_second_spelling_of_a_logic_is_redundant() -> None:
    other = (
        "select x.full_name from customers x inner join accounts y on x.customer_id = y.customer_id "
        "where y.iban = [accounts.iban];"
    )
    first = check_sql_template(JOINED, BANK)
    assert not broken(first)
    assert first.template is not None
    second = check_sql_template(other, BANK, earlier=[first.template])
    assert broken(second) == {"not_redundant": "an earlier template asks the same"}
    assert not broken(check_sql_template(GOOD, BANK, earlier=[first.template]))
    assert first.template == second.template
    assert second.template is not None
    assert first.template.sql_template_id == second.template.sql_template_id


def test_without_keys_and_counts_the_single_answer_is_undecided() -> None:
    rows = [row | {"count_distinct": None} for row in column_rows()]
    report = check_sql_template(GOOD, read_schema(rows))
    outcomes = {check.criterion: check.outcome for check in report.checks}
    assert outcomes["single_answer"] == "undecided"
    assert not broken(report)


def test_a_person_decides_what_is_descriptive() -> None:
    def declared(column: str, value: bool) -> Schema:
        rows = [row | ({"is_descriptive": value} if row["column_name"] == column else {}) for row in column_rows()]
        return read_schema(rows, constraint_rows())

    technical = "SELECT created_at FROM accounts WHERE iban = '[accounts.iban]'"
    assert not broken(check_sql_template(technical, declared("created_at", True)))
    assert (
        "declared not descriptive" in broken(check_sql_template(GOOD, declared("balance", False)))["columns_meaningful"]
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Total_Loans_in_Million", ["total", "loans", "in", "million"]),
        ("IBANCode", ["iban", "code"]),
        ("col1", ["col", "1"]),
        ("ÄnderungsDatum", ["änderungs", "datum"]),
    ],
)
def test_words_of_names(name: str, words: list[str]) -> None:
    assert split_words(name) == words


def test_the_enumerator_finds_the_templates_counted_by_hand() -> None:
    # no join: 2 columns of each of 4 tables by its name, IBAN or number; one join: 3 columns of the table referred to
    # by each of the 3 foreign keys; two joins: 3 columns by each of the 2 chains
    found = enumerate_sql_templates(BANK, 1_000, ENUMERATED)
    assert len(found) == 8 + 9 + 6
    by_joins = [len(template.joins) for template in found]
    assert [by_joins.count(count) for count in range(3)] == [8, 9, 6]
    # a cap keeps every number of joins
    assert {len(template.joins) for template in enumerate_sql_templates(BANK, 3, ENUMERATED)} == {0, 1, 2}


def test_two_conditions_that_together_name_a_row_are_found() -> None:
    # who owns how much of which company: the key of the holding is the pair
    schema = schema_of(
        "create table company (company_id integer primary key, name varchar unique);"
        "create table person (person_id integer primary key, name varchar unique);"
        "create table holding (company_id integer references company (company_id), person_id integer"
        " references person (person_id), share double, primary key (company_id, person_id))"
    )
    found = enumerate_sql_templates(schema, 100, ENUMERATED)
    assert [write_sql_template(template) for template in found] == [
        "SELECT t2.share FROM company t1 JOIN holding t2 ON t2.company_id = t1.company_id JOIN person t3 ON "
        "t2.person_id = t3.person_id WHERE t1.name = '[company.name]' AND t3.name = '[person.name]';"
    ]
    assert found[0].placeholders == (Placeholder("company", "name"), Placeholder("person", "name"))


def test_a_rendered_query_binds_values_and_gives_the_true_answer() -> None:
    sql, parameters = render_query(read_sql_template(JOINED, BANK), BANK)
    assert sql == (
        'select distinct t2."full_name" from "main"."accounts" as t1 inner join "main"."customers" as t2 on '
        't1."customer_id" = t2."customer_id" where t1."iban" = ? order by 1'
    )
    assert parameters == [Placeholder("accounts", "iban")]
    with database() as connection:
        assert connection.execute(sql, ["ZZ13"]).fetchall() == [("Ada Quill",)]
        assert connection.execute(sql, ["' or 1 = 1 --"]).fetchall() == []


@pytest.mark.parametrize(("namespace", "relation"), [("core-1", '"core-1"."accounts"'), (None, '"accounts"')])
def test_a_namespace_is_part_of_the_relation(namespace: str | None, relation: str) -> None:
    schema = read_schema([row | {"table_schema": namespace} for row in column_rows()], constraint_rows())
    assert f"from {relation} as t1" in render_query(read_sql_template(GOOD, schema), schema)[0]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_any_text_gets_one_outcome_per_criterion(text: str) -> None:
    for sql in (text, f"SELECT {text} FROM accounts", f"{GOOD}{text}", f"SELECT balance FROM accounts WHERE {text}"):
        report = check_sql_template(sql, BANK)
        assert [check.criterion for check in report.checks] == list(CRITERIA)
        assert {check.outcome for check in report.checks} <= {"met", "broken", "undecided"}
        assert all(bool(check.reason) == (check.outcome != "met") for check in report.checks)
        if report.template is not None:
            # what is run holds nothing of the text but names of the schema
            sql_run, _ = render_query(report.template, BANK)
            assert read_sql_template(write_sql_template(report.template), BANK) == report.template
            assert sql_run.count("?") == len(report.template.conditions)
            assert "'" not in sql_run
            assert ";" not in sql_run


def test_a_table_that_refers_to_itself_has_one_logic_for_all_its_spellings() -> None:
    schema = schema_of(
        "create table employee (employee_id integer primary key, name varchar unique,"
        " manager_id integer references employee (employee_id));"
        "insert into employee select id, 'e' || id, null from range(8) as numbers (id)"
    )
    head, tail = "SELECT m.name FROM employee", "WHERE e.name = '[employee.name]'"
    one = f"{head} e JOIN employee m ON e.manager_id = m.employee_id {tail}"
    two = f"{head} m JOIN employee e ON m.employee_id = e.manager_id {tail}"
    reverse = f"{head} e JOIN employee m ON m.manager_id = e.employee_id {tail}"
    reports = [check_sql_template(text, schema) for text in (one, two, reverse)]
    assert not broken(reports[0])
    assert reports[0].template == reports[1].template != reports[2].template
    # an employee has one manager, a manager has many employees
    assert set(broken(reports[2])) == {"single_answer"}
