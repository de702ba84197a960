"""Fillings, their answers and the queries that ask for them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from grammar_materials import NAMES, SETTINGS, edits, gather, text_edits

from hcat.engine.catalogue import describe_columns, describe_constraints
from hcat.engine.relations import select_runner
from hcat.grammar.materials import IMPORT_SCHEMA, Materials
from hcat.grammar.materials import gather as gather_materials
from hcat.grammar.queries import (
    FILLING_SCHEMA,
    QUERY_SCHEMA,
    answer_fillings,
    fill_queries,
    rerun_answers,
    write_literal,
    write_statement,
)
from hcat.grammar.templates import templates_table, texts_table


def answer(bank: duckdb.DuckDBPyConnection, materials: Materials, **settings: Any) -> pa.Table:
    """Return the fillings of the accepted templates."""
    batches = answer_fillings(
        select_runner(bank, 1000), templates_table(materials), materials.schema, SETTINGS | settings
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


def test_queries_are_texts_times_fillings(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank)
    fillings, texts = answer(bank, materials), texts_table(materials)
    queries = pa.Table.from_batches(list(fill_queries(fillings, texts)), schema=QUERY_SCHEMA).to_pylist()
    groups = [row for row in fillings.to_pylist() if row["answer_status"] == "single_answer"]
    assert len(queries) == 8 * len(groups)
    assert set(Counter(row["query_group"] for row in queries).values()) == {8}
    assert len({row["query_id"] for row in queries}) == len({row["query_text"] for row in queries}) == len(queries)
    tags = [json.loads(row["tags"]) for row in queries]
    assert [each.pop("template") for each in tags] == [row["sql_template_id"] for row in queries]
    assert {tuple(each.items()) for each in tags} == {
        (("length", "short"),),
        (("length", "long"),),
        (("register", "formal"),),
        (("register", "colloquial"),),
    }
    assert not any("[" in row["query_text"] for row in queries)


def test_the_cap_is_seeded_and_rows_come_in_any_order(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank)
    one = answer(bank, materials, fillings=2)
    assert answer(bank, materials, fillings=2, random_seed=8) != one
    assert set(Counter(one["sql_template_id"].to_pylist()).values()) <= {1, 2}
    # the same rows the other way round, in tables without keys of their own
    bank.execute("create schema backwards")
    for _, name in NAMES:
        bank.execute(f"create table backwards.{name} as select * from main.{name} order by 1 desc")
    columns = describe_columns(bank, [("backwards", name) for _, name in reversed(NAMES)])
    backwards = gather_materials(
        SETTINGS,
        columns,
        describe_constraints(bank, NAMES),
        edits(),
        text_edits(),
        IMPORT_SCHEMA.empty_table(),
    )
    assert answer(bank, backwards, fillings=2).drop(["sql_text"]) == one.drop(["sql_text"])


def test_literals_and_statements() -> None:
    assert write_statement("select ? , ?", ["a'b?", 2]) == "select 'a''b?' , 2"
    with pytest.raises(ValueError, match=r"a value is needed for every \?, got 1 for 2"):
        write_statement("select ?, ?", [1])
    with pytest.raises(ValueError, match="a value must be finite"):
        write_literal(float("nan"))
    assert write_literal(value=True) == "true"
