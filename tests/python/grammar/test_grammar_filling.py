"""Fillings, query ids, groups, counts and the single answer."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_grammar_bank import bank_schema, database, paper_database, paper_files, sqlite_schema

from hcat.grammar import filling
from hcat.grammar.enumeration import enumerate_sql_templates
from hcat.grammar.filling import (
    ANSWER_STATUSES,
    COUNT_SCHEMA,
    GROUP_SCHEMA,
    QUERY_SCHEMA,
    Combinations,
    cap_combinations,
    check_answer,
    count_variations,
    fill_templates,
    group_queries,
    queries_table,
    query_group_id,
    select_combinations,
    write_value,
)
from hcat.grammar.importers import read_queries, read_sql_templates
from hcat.grammar.sql_rendering import render_fillings, render_query, render_values
from hcat.grammar.sql_templates import Placeholder, read_sql_template
from hcat.grammar.text_templates import STYLES, TextTemplate, write_text_templates

BANK = bank_schema()
IBAN, NUMBER = Placeholder("accounts", "iban"), Placeholder("loans", "loan_number")
BALANCE = read_sql_template("SELECT balance FROM accounts WHERE iban = [accounts.iban]", BANK)
PAIR = read_sql_template(
    "SELECT l.purpose FROM loans l JOIN accounts a ON l.account_id = a.account_id "
    "WHERE l.loan_number = [loans.loan_number] AND a.iban = [accounts.iban]",
    BANK,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ZZ11", "ZZ11"),
        (7, "7"),
        (2.0, "2"),
        (2.5, "2.5"),
        (Decimal("1250.50"), "1250.5"),
        (Decimal("100"), "100"),
        (1e-7, "0.0000001"),
        (-0.0, "0"),
        (True, "yes"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 8, 30), "2024-02-29 08:30:00"),
        (datetime.time(8, 30), "08:30:00"),
    ],
)
def test_values_as_people_write_them(value: Any, text: str) -> None:
    assert write_value(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", [1], None])
def test_values_that_cannot_be_said_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="a value must be"):
        write_value(value)


def test_the_whole_product_is_taken_when_the_cap_allows_it() -> None:
    found = select_combinations(PAIR, {IBAN: ["a", "b", None, "a"], NUMBER: [1, 2, 3, 1.0]}, 100, 1)
    assert found.placeholders == (IBAN, NUMBER)
    assert found.count_possible == 6
    assert set(found.rows) == {(iban, number) for iban in "ab" for number in (1, 2, 3)}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=5), min_size=1, max_size=12),
    st.lists(st.integers(-50, 50), min_size=1, max_size=12),
    st.integers(1, 30),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_the_choice_depends_on_values_seed_and_cap_alone(
    ibans: list[str], numbers: list[int], cap: int, seed: int, shuffler: Any
) -> None:
    found = select_combinations(PAIR, {IBAN: ibans, NUMBER: numbers}, cap, seed)
    shuffled: dict[Placeholder, list[Any]] = {
        IBAN: shuffler.sample(ibans, len(ibans)),
        NUMBER: shuffler.sample(numbers, len(numbers)),
    }
    assert select_combinations(PAIR, shuffled, cap, seed) == found
    assert found.count_possible == len(set(ibans)) * len(set(numbers))
    assert len(found.rows) == len(set(found.rows)) == min(cap, found.count_possible)
    # a smaller cap is the beginning of a larger one
    assert select_combinations(PAIR, shuffled, cap + 5, seed).rows[: len(found.rows)] == found.rows


def test_every_combination_is_equally_likely_over_seeds() -> None:
    values: dict[Placeholder, list[Any]] = {IBAN: ["a", "b", "c"], NUMBER: [1, 2]}
    drawn = Counter(row for seed in range(600) for row in select_combinations(PAIR, values, 2, seed).rows)
    # 600 draws of 2 out of 6: 200 each, standard deviation 11.5
    assert sum(drawn.values()) == 1_200
    assert all(abs(count - 200) < 50 for count in drawn.values())
    assert len(drawn) == 6


def test_a_new_value_leaves_the_others_in_their_order() -> None:
    old = select_combinations(BALANCE, {IBAN: list("abcdefgh")}, 8, 5).rows
    new = select_combinations(BALANCE, {IBAN: list("abcdefghi")}, 9, 5).rows
    assert [row for row in new if row != ("i",)] == list(old)


def test_a_huge_product_is_not_counted_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "MAXIMUM_PRODUCT", 100)
    values: dict[Placeholder, list[Any]] = {IBAN: [f"Z{number}" for number in range(3_000)], NUMBER: list(range(5))}
    found = select_combinations(PAIR, values, 20, 1)
    assert found.count_possible == 15_000
    assert len(set(found.rows)) == 20
    assert found == select_combinations(PAIR, {key: value[::-1] for key, value in values.items()}, 20, 1)
    whole = select_combinations(PAIR, values, 1_000, 1).rows
    # the short list stays whole, the long one fills the room: 5 x 20
    assert len(whole) == 100
    assert len({number for _, number in whole}) == 5


def test_settings_of_the_choice_are_checked() -> None:
    with pytest.raises(ValueError, match=r"missing are \[loans.loan_number\]"):
        select_combinations(PAIR, {IBAN: ["a"]}, 1, 1)
    with pytest.raises(ValueError, match="cap must be at least 1, got 0"):
        select_combinations(BALANCE, {IBAN: ["a"]}, 0, 1)
    with pytest.raises(ValueError, match="must have 2 values, one per placeholder, got 1"):
        cap_combinations(PAIR, [("a",)], 1, 1)


def test_given_combinations_are_capped_as_the_product_is() -> None:
    rows = [("a", 1), ("b", 2), ("a", 1), ("b", None)]
    found = cap_combinations(PAIR, rows, 5, 3)
    assert found.count_possible == 2
    assert set(found.rows) == {("a", 1), ("b", 2)}
    assert cap_combinations(PAIR, rows[::-1], 5, 3) == found


def test_texts_and_parameters_are_filled_with_the_same_values() -> None:
    texts = [
        TextTemplate(PAIR.sql_template_id, "length", "short", "loan [loans.loan_number] on [accounts.iban]: purpose?"),
        TextTemplate(PAIR.sql_template_id, "length", "long", "Why was, on [accounts.iban], [loans.loan_number] taken?"),
    ]
    combinations = Combinations((IBAN, NUMBER), (("ZZ11", 5001), ("O'X]", 5002)), 9)
    queries = fill_templates(PAIR, texts, combinations, BANK)
    assert [query.query for query in queries] == [
        "loan 5001 on ZZ11: purpose?",
        "Why was, on ZZ11, 5001 taken?",
        "loan 5002 on O'X]: purpose?",
        "Why was, on O'X], 5002 taken?",
    ]
    # accounts come before loans in the canonical order
    assert [query.parameters for query in queries[::2]] == [("ZZ11", 5001), ("O'X]", 5002)]
    assert all("ZZ11" not in query.sql and "O'X" not in query.sql for query in queries)
    with database() as connection:
        assert check_answer(connection.execute(queries[0].sql, list(queries[0].parameters)).fetchall()) == (
            "single_answer",
            "house",
        )
        assert check_answer(connection.execute(queries[2].sql, list(queries[2].parameters)).fetchall()) == (
            "no_answer",
            None,
        )
    table, groups = queries_table(queries), group_queries(queries)
    assert table.schema.equals(QUERY_SCHEMA)
    assert groups.schema.equals(GROUP_SCHEMA)
    assert table["parameters"].to_pylist()[0] == ["ZZ11", "5001"]
    assert len(set(table["query_id"].to_pylist())) == 4
    assert groups["count_queries"].to_pylist() == [2, 2]
    assert groups["is_balanced"].to_pylist() == [True, True]
    assert group_queries(queries[:-1] + queries[:1])["is_balanced"].to_pylist().count(False) == 1


def test_the_same_sql_query_is_the_same_group() -> None:
    assert query_group_id(BALANCE, ["7"]) != query_group_id(BALANCE, [7])
    assert query_group_id(BALANCE, [7]) == query_group_id(BALANCE, [Decimal("7.00")]) == query_group_id(BALANCE, [7.0])
    other = read_sql_template('SELECT x."balance" FROM accounts x WHERE x.iban = [Accounts.IBAN];', BANK)
    assert query_group_id(BALANCE, ["a"]) == query_group_id(other, ["a"])
    assert query_group_id(BALANCE, ["a"]) != query_group_id(BALANCE, ["b"])
    assert query_group_id(PAIR, ["a", "b"]) != query_group_id(PAIR, ["b", "a"])


def test_texts_that_do_not_fit_are_refused() -> None:
    combinations = select_combinations(BALANCE, {IBAN: ["a"]}, 1, 1)
    faulty = TextTemplate(BALANCE.sql_template_id, "length", "short", "balance?")
    with pytest.raises(ValueError, match="missing_placeholder"):
        fill_templates(BALANCE, [faulty], combinations, BANK)
    foreign = TextTemplate(PAIR.sql_template_id, "length", "short", "balance [accounts.iban]")
    with pytest.raises(ValueError, match="must be of the SQL template"):
        fill_templates(BALANCE, [foreign], combinations, BANK)
    with pytest.raises(ValueError, match="combinations must be of"):
        fill_templates(PAIR, [], combinations, BANK)


@pytest.mark.parametrize(
    ("rows", "status", "answer"),
    [
        ([("Oslo",)], "single_answer", "Oslo"),
        ([("Oslo",), ("Oslo",)], "single_answer", "Oslo"),
        ([(Decimal("2.50"),), (2.5,)], "single_answer", "2.5"),
        ([("Oslo", datetime.date(2024, 1, 2))], "single_answer", "Oslo, 2024-01-02"),
        ([("Oslo",), ("Rome",)], "several_answers", None),
        ([("Oslo",), (None,)], "several_answers", None),
        ([], "no_answer", None),
        ([(None,)], "null_answer", None),
        ([("Oslo", None)], "null_answer", None),
        ([(float("nan"),)], "null_answer", None),
        ([("  ",)], "null_answer", None),
        ([(0,)], "single_answer", "0"),
    ],
)
def test_the_single_answer(rows: list[tuple[Any, ...]], status: str, answer: str | None) -> None:
    assert status in ANSWER_STATUSES
    assert check_answer(rows) == (status, answer)


def test_the_bank_from_schema_to_answers() -> None:
    # M templates x N texts x Q fillings (equation 3), every group with one true answer, twice the same
    templates, per_style, seed = enumerate_sql_templates(BANK, 1_000).templates, 2, 11

    def build() -> tuple[list[Any], list[Any]]:
        entries: list[Any] = []
        queries: list[Any] = []
        with database() as connection:
            for template in templates:
                rows = connection.execute(render_fillings(template, BANK).sql).fetchall()
                width = len(template.placeholders)
                combinations = cap_combinations(template, [row[:width] for row in rows], 3, seed)
                texts = write_text_templates(template, per_style)
                entries.append((template, texts, combinations))
                queries += fill_templates(template, texts, combinations, BANK)
            # a group is one SQL query: it is run once, and its rows are the answer of all its texts
            one_of = {query.query_group_id: query for query in queries}
            answers = {
                group: check_answer(connection.execute(query.sql, list(query.parameters)).fetchall())
                for group, query in one_of.items()
            }
        return entries, [(query, answers[query.query_group_id]) for query in queries]

    entries, answered = build()
    assert build() == (entries, answered)
    queries = [query for query, _ in answered]
    counts = count_variations(entries)
    assert counts.schema.equals(COUNT_SCHEMA)
    assert counts.num_rows == len(templates) == 23
    assert set(counts["count_text_templates"].to_pylist()) == {per_style * len(STYLES)}
    assert sum(counts["count_queries"].to_pylist()) == len(queries)
    assert len({query.query_id for query in queries}) == len(queries)
    by_customer = counts.to_pylist()[[template.tables for template in templates].index(("customers",))]
    assert (by_customer["count_fillings_possible"], by_customer["count_fillings"]) == (5, 3)
    assert by_customer["selection_probability"] == pytest.approx(0.6)
    groups = group_queries(queries)
    assert set(groups["is_balanced"].to_pylist()) == {True}
    assert groups.num_rows == sum(counts["count_fillings"].to_pylist())
    # one customer has no date of birth: that is no answer to test against, and nothing else goes wrong
    statuses = Counter(check.status for _, check in answered)
    assert set(statuses) <= {"single_answer", "null_answer"}
    assert statuses["single_answer"] > 0.9 * len(queries)
    # what makes a group is what makes its SQL query
    made = {(query.query_group_id, query.sql, query.parameters) for query in queries}
    assert len(made) == groups.num_rows == len({(sql, parameters) for _, sql, parameters in made})


def test_a_template_without_fillings_is_counted_with_no_probability() -> None:
    empty = select_combinations(BALANCE, {IBAN: [None]}, 5, 1)
    row = count_variations([(BALANCE, write_text_templates(BALANCE, 1), empty)]).to_pylist()[0]
    assert (row["count_fillings_possible"], row["count_queries"], row["selection_probability"]) == (0, 0, None)


def test_distinct_values_of_the_warehouse_fill_a_placeholder() -> None:
    with database() as connection:
        rows = connection.execute(render_values(IBAN, BANK)).fetchall()
    found = select_combinations(BALANCE, {IBAN: [value for (value,) in rows]}, 10, 1)
    assert sorted(found.rows) == [("ZZ11",), ("ZZ12",), ("ZZ13",)]


# ---- the database of the paper ------------------------------------------------------------------------------------


def test_the_answers_of_the_paper_are_found_again(tmp_path: Path) -> None:
    contents = paper_files("benchmarks/spider/")
    imported = read_sql_templates(contents["spider/SQLTemplateGenerator/sql_templates.json"].decode())
    published = read_queries(contents["spider/QADataGenerator/short.json"].decode())
    connection = paper_database(tmp_path)
    try:
        schema = sqlite_schema(connection)
        for number, entry in enumerate(imported):
            template = read_sql_template(entry.text, schema)
            rendered = render_query(template, schema)
            values = [
                [value for (value,) in connection.execute(render_values(placeholder, schema))]
                for placeholder in template.placeholders
            ]
            # of the whole product, what has an answer: the same as the fillings that one query finds
            found = []
            for row in itertools.product(*values):
                by_placeholder = dict(zip(template.placeholders, row, strict=True))
                bound = [by_placeholder[placeholder] for placeholder in rendered.parameters]
                answers = connection.execute(rendered.sql, bound).fetchall()
                assert check_answer(answers).status in ("single_answer", "no_answer")
                found += [(row, answer) for answer in answers]
            width = len(template.placeholders)
            fillings = connection.execute(render_fillings(template, schema).sql).fetchall()
            assert sorted((row[:width], row[width:]) for row in fillings) == sorted(found)
            expected = [query.rows for query in published if query.template_number == number]
            assert Counter(expected) == Counter((answer,) for _, answer in found)
    finally:
        connection.close()
