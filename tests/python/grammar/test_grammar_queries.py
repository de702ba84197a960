"""Fillings, their answers and the queries that ask for them."""

from typing import Any

import duckdb
import pyarrow as pa
import pytest
from grammar_materials import SETTINGS, edits, gather

from hcat.engine.relations import select_runner
from hcat.grammar.materials import Materials
from hcat.grammar.queries import (
    FILLING_SCHEMA,
    QUERY_SCHEMA,
    answer_fillings,
    fill_queries,
    rerun_answers,
    write_literal,
    write_statement,
)
from hcat.grammar.templates import make_templates


def answer(bank: duckdb.DuckDBPyConnection, materials: Materials, **settings: Any) -> pa.Table:
    batches = answer_fillings(
        select_runner(bank, 1000), make_templates(materials), materials.schema, SETTINGS | settings
    )
    return pa.Table.from_batches(list(batches), schema=FILLING_SCHEMA)


def test_stored_sql_gives_the_stored_answer(bank: duckdb.DuckDBPyConnection) -> None:
    # a quote, a date and a number that is a key stand in the literals
    own = edits(
        ("born", "SELECT birth_date FROM customers WHERE full_name = '[customers.full_name]'", True),
        ("purpose", "SELECT purpose FROM loans WHERE loan_number = '[loans.loan_number]'", True),
        ("several", "SELECT full_name FROM customers WHERE birth_date = '[customers.birth_date]'", True),
    )
    fillings = answer(bank, gather(bank, own))
    single = fillings.filter(pa.compute.equal(fillings["answer_status"], "single_answer"))
    assert single.num_rows > 20
    rerun = rerun_answers(select_runner(bank, 1000), fillings)
    stored = {row["query_group"]: (row["answer_status"], row["reference_answer"]) for row in fillings.to_pylist()}
    assert {row["query_group"]: (row["answer_status"], row["reference_answer"]) for row in rerun.to_pylist()} == stored
    by_value = {
        (row["sql_template_id"], row["filled_values"][0]): (row["answer_status"], row["reference_answer"])
        for row in fillings.to_pylist()
    }
    assert by_value["born", "Tomas O'Reed"] == ("single_answer", "1981-11-30")
    assert by_value["born", "Ada Quill"] == ("null_answer", None)
    assert by_value["purpose", "5001"] == ("single_answer", "house")
    assert any("O''Reed" in row["sql_text"] for row in fillings.to_pylist())


def test_texts_and_statements_are_filled_with_the_same_values(bank: duckdb.DuckDBPyConnection) -> None:
    # accounts come before loans in the canonical order, after them in the SQL and in one of the texts
    sql = (
        "SELECT l.purpose FROM loans l JOIN accounts a ON l.account_id = a.account_id "
        "WHERE l.loan_number = [loans.loan_number] AND a.iban = [accounts.iban]"
    )
    columns = {"sql_template_id": ["pair"], "sql_template": [sql]}
    templates = pa.table(columns | {"template_number": [0], "template_status": ["accepted"]})
    batches = answer_fillings(
        select_runner(bank, 1000), templates, gather(bank).schema, SETTINGS | {"maximum_fillings": 10}
    )
    fillings = pa.Table.from_batches(list(batches), schema=FILLING_SCHEMA)
    found = {
        tuple(row["filled_values"]): (row["answer_status"], row["reference_answer"]) for row in fillings.to_pylist()
    }
    assert fillings["placeholders"].to_pylist() == [["[accounts.iban]", "[loans.loan_number]"]] * 6
    assert found.pop(("ZZ11", "5001")) == ("single_answer", "house")
    assert found.pop(("ZZ13", "5002")) == ("single_answer", "car")
    assert set(found.values()) == {("no_answer", None)}
    texts = [
        ("length", "short", "loan [loans.loan_number] on [accounts.iban]: purpose?"),
        ("length", "long", "Why was, on [accounts.iban], loan [loans.loan_number] taken?"),
    ]
    rows = [dict(zip(("hypothesis", "style", "text_template"), text, strict=True)) for text in texts]
    of_pair = {"sql_template_id": "pair", "text_status": "used"}
    table = pa.Table.from_pylist(
        [row | of_pair | {"text_template_id": row["style"], "text_number": number} for number, row in enumerate(rows)]
    )
    queries = pa.Table.from_batches(list(fill_queries(fillings, table)), schema=QUERY_SCHEMA)
    assert set(queries["query_text"].to_pylist()) == {
        "loan 5001 on ZZ11: purpose?",
        "Why was, on ZZ11, loan 5001 taken?",
        "loan 5002 on ZZ13: purpose?",
        "Why was, on ZZ13, loan 5002 taken?",
    }


def test_literals_and_statements() -> None:
    assert write_statement("select ? , ?", ["a'b?", 2]) == "select 'a''b?' , 2"
    with pytest.raises(ValueError, match="zip"):
        write_statement("select ?, ?", [1])
    with pytest.raises(ValueError, match="a value must be finite"):
        write_literal(float("nan"))
    assert write_literal(value=True) == "true"
