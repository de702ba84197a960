"""What templates are made of: the described schema, the one statement that is run, and settings."""

import duckdb
import pyarrow as pa
import pytest
from grammar_materials import NAMES, gather

from hcat.engine.catalogue import describe_columns, describe_constraints
from hcat.engine.relations import select_runner
from hcat.grammar.materials import add_declared, add_descriptions
from hcat.grammar.schema import column_kind

KEYS = [("branches", "branch_id"), ("customers", "customer_id"), ("accounts", "account_id"), ("loans", "loan_id")]
UNIQUE = [("branches", "branch_name"), ("accounts", "iban"), ("loans", "loan_number")]
REFERENCES = [
    ("customers", "branch_id", "branches"),
    ("accounts", "customer_id", "customers"),
    ("loans", "account_id", "accounts"),
]


def test_the_schema_holds_names_and_counts_alone(bank: duckdb.DuckDBPyConnection) -> None:
    columns = {(row["table_name"], row["column_name"]): row for row in describe_columns(bank, NAMES).to_pylist()}
    assert len(columns) == 21
    assert columns["branches", "city"]["count_distinct"] == 2
    assert columns["customers", "birth_date"]["count_distinct"] == 3
    assert {row["count_rows"] for key, row in columns.items() if key[0] == "customers"} == {5}
    assert column_kind(columns["accounts", "balance"]["data_type"]) == "number"
    found = describe_constraints(bank, NAMES).to_pylist()
    names = ("table_name", "column_name", "constraint_type", "referenced_table_name")
    assert {" ".join(row[name] or "-" for name in names) for row in found} == {
        *(f"{table} {column} PRIMARY KEY -" for table, column in KEYS),
        *(f"{table} {column} UNIQUE -" for table, column in UNIQUE),
        *(f"{table} {column} FOREIGN KEY {other}" for table, column, other in REFERENCES),
    }


def test_people_declare_constraints_and_descriptions_of_tables_that_are_read(bank: duckdb.DuckDBPyConnection) -> None:
    names = [("main", "loans")]
    known = describe_constraints(bank, names)
    declared = [
        {"constraint_name": name, "table_name": table, "column_name": "loan_id", "referenced_table_name": other}
        for name, table, other in [
            ("key", "Loans", None),
            ("self", "loans", "LOANS"),
            ("away", "loans", "accounts"),
            ("other", "accounts", None),
        ]
    ]
    found = add_declared(known, pa.Table.from_pylist(declared), pa.table({"table_name": ["loans"]}))
    assert found.slice(known.num_rows)["constraint_name"].to_pylist() == ["declared key", "declared self"]
    described = pa.table({"table_name": ["LOANS"], "column_name": ["Loan_id"], "is_descriptive": [True]})
    columns = add_descriptions(describe_columns(bank, names), described).to_pylist()
    said = {row["column_name"]: row["is_descriptive"] for row in columns}
    assert said.pop("loan_id") is True
    assert set(said.values()) == {None}


def test_an_unknown_table_is_named(bank: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(LookupError, match=r"'main\.nothing' is no table of the warehouse"):
        describe_columns(bank, [("main", "nothing")])


def test_only_one_select_is_run(bank: duckdb.DuckDBPyConnection) -> None:
    run = select_runner(bank, 2)
    hostile = "x'; drop table branches; --"
    assert run("select ? as said, count(*) from branches where city <> ?", [hostile, hostile]) == [(hostile, 2)]
    assert len(run("select full_name from customers", ())) == 2
    for sql in (
        "drop table branches",
        "select 1; drop table branches",
        "",
        "insert into branches select * from branches",
    ):
        with pytest.raises(ValueError, match="only one SELECT statement is run"):
            run(sql, ())
    assert run("select count(*) from branches", ()) == [(2,)]
    with pytest.raises(ValueError, match="maximum_rows must be at least 1, got 0"):
        select_runner(bank, 0)


def test_an_unknown_generator_is_refused(bank: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(ValueError, match="hcat_generator must be one of offline, language_model, got 'oracle'"):
        gather(bank, settings={"generator": "oracle"})
