"""What templates are made of: the described schema, the one statement that is run, settings and imported files."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from grammar_materials import NAMES, gather, statuses
from test_grammar_bank import constraint_rows

from hcat.engine.catalogue import describe_columns, describe_constraints
from hcat.engine.relations import select_runner
from hcat.grammar.importers import ImportFormatError
from hcat.grammar.materials import add_declared, add_descriptions, read_imports
from hcat.grammar.schema import column_kind
from hcat.grammar.templates import texts_table


def test_the_schema_holds_names_and_counts_alone(bank: duckdb.DuckDBPyConnection) -> None:
    columns = {(row["table_name"], row["column_name"]): row for row in describe_columns(bank, NAMES).to_pylist()}
    assert len(columns) == 21
    assert columns["branches", "city"]["count_distinct"] == 2
    assert columns["customers", "birth_date"]["count_distinct"] == 3
    assert {row["count_rows"] for key, row in columns.items() if key[0] == "customers"} == {5}
    assert column_kind(columns["accounts", "balance"]["data_type"]) == "number"
    found = describe_constraints(bank, NAMES).to_pylist()
    wanted = {
        (row["table_name"], row["column_name"], row["constraint_type"], row["referenced_table_name"])
        for row in constraint_rows()
    }
    assert {
        (row["table_name"], row["column_name"], row["constraint_type"], row["referenced_table_name"]) for row in found
    } == wanted


def test_a_foreign_key_to_a_table_that_is_not_read_is_left_out(bank: duckdb.DuckDBPyConnection) -> None:
    found = describe_constraints(bank, [("main", "loans")]).to_pylist()
    assert {row["constraint_type"] for row in found} == {"PRIMARY KEY", "UNIQUE"}


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


def test_settings_that_cannot_be_met_are_refused(bank: duckdb.DuckDBPyConnection) -> None:
    for changed, message in (
        ({"texts_per_style": 9}, "texts_per_style must lie in"),
        ({"fillings": 0}, "maximum_fillings must be at least 1, got 0"),
        ({"hypotheses": ["size"]}, "hypotheses must be of length, register, form, got size"),
        ({"generator": "oracle"}, "hcat_generator must be one of offline, language_model, got 'oracle'"),
        ({"requirements": {"joins": 2}}, "requirements are tables, .* got joins"),
    ):
        with pytest.raises(ValueError, match=message):
            gather(bank, settings=changed)


def test_files_of_the_papers_tool_are_imported(bank: duckdb.DuckDBPyConnection, tmp_path: Any) -> None:
    spelled = "SELECT branches.city FROM branches WHERE branches.branch_name = '[branches.branch_name]'"
    (tmp_path / "sql.json").write_text(json.dumps({"('branches',)": [spelled, "SELECT nonsense"]}))
    (tmp_path / "long.json").write_text(
        json.dumps({spelled: ['"Would somebody be so kind as to say in which town [branches.branch_name] lies?"']})
    )
    imports = read_imports({"long": str(tmp_path / "long.json"), "sql_templates": str(tmp_path / "sql.json")})
    materials = gather(bank, imports=imports)
    assert [status for _, status in statuses(materials, origin="imported")] == ["accepted", "rejected"]
    (row,) = [row for row in texts_table(materials).to_pylist() if row["origin"] == "imported"]
    assert (row["style"], row["text_status"]) == ("long", "used")
    assert row["text_template"].startswith("Would somebody")
    (tmp_path / "short.json").write_text("[]")
    with pytest.raises(ImportFormatError, match=r"short\.json: templates must be a JSON object, got list"):
        read_imports({"short": str(tmp_path / "short.json")})
    with pytest.raises(ImportFormatError, match="must be a readable file"):
        read_imports({"short": str(tmp_path / "none.json")})
    with pytest.raises(ValueError, match="style must be one of"):
        read_imports({"shouted": str(tmp_path / "short.json")})
