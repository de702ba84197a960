"""A made-up bank of four tables for the tests of grammar: its database, its schema, seeds, and what became of them."""

import functools
from typing import Any

import duckdb
import pyarrow as pa

from hcat.engine.catalogue import describe_columns, describe_constraints
from hcat.grammar.materials import Materials
from hcat.grammar.materials import gather as gather_materials
from hcat.grammar.schema import Schema, read_schema
from hcat.grammar.sql_templates import read_sql_template
from hcat.grammar.templates import make_templates

NAMES = [("main", name) for name in ("accounts", "branches", "customers", "loans")]
SETTINGS: dict[str, Any] = {"random_seed": 7, "maximum_templates": 12, "texts_per_style": 2, "maximum_fillings": 5}
CITY = "SELECT city FROM branches WHERE branch_name = '[branches.branch_name]';"
TABLES = """
create table branches (branch_id integer primary key, branch_name varchar unique, city varchar, opened_on date);
create table customers (customer_id integer primary key, full_name varchar, city varchar, birth_date date,
    branch_id integer references branches (branch_id));
create table accounts (account_id integer primary key, iban varchar unique, account_type varchar,
    balance decimal(12, 2), created_at timestamp, customer_id integer references customers (customer_id));
create table loans (loan_id integer primary key, loan_number integer unique, purpose varchar, interest_rate double,
    account_id integer references accounts (account_id), col1 varchar);
insert into branches values (1, 'Harbour', 'Northport', '1987-05-04'), (2, 'Old Mill', 'Eastfield', '2003-01-31');
insert into customers values (10, 'Ines Vale', 'Northport', '1970-02-01', 1),
    (11, 'Tomas O''Reed', 'Eastfield', '1981-11-30', 1), (12, 'Ada Quill', 'Eastfield', null, 2),
    (13, 'Bo Lind', 'Southbay', '1990-06-06', 2), (14, 'Cy Marr', 'Northport', '1990-06-06', 2);
insert into accounts values (100, 'ZZ11', 'current', 1250.50, '2024-01-01', 10),
    (101, 'ZZ12', 'savings', 99.00, '2024-01-01', 10), (102, 'ZZ13', 'current', 0.00, '2024-01-01', 12);
insert into loans values (7, 5001, 'house', 3.25, 100, 'a'), (8, 5002, 'car', 4.1, 102, 'b');
"""


def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(TABLES)
    return connection


@functools.cache
def describe(statements: str = TABLES) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return columns with counts and constraints of the tables that statements make, as a build describes them."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute(statements)
        names = connection.execute("select schema_name, table_name from duckdb_tables() order by all").fetchall()
        return describe_columns(connection, names).to_pylist(), describe_constraints(connection, names).to_pylist()


def column_rows() -> list[dict[str, Any]]:
    return describe()[0]


def constraint_rows() -> list[dict[str, Any]]:
    return describe()[1]


def schema_of(statements: str = TABLES) -> Schema:
    """Return the schema of the tables that statements make, with their counts."""
    return read_schema(*describe(statements))


BANK = schema_of()
PAIR = read_sql_template(
    "SELECT l.purpose FROM loans l JOIN accounts a ON l.account_id = a.account_id "
    "WHERE l.loan_number = [loans.loan_number] AND a.iban = [accounts.iban]",
    BANK,
)


def edits(*rows: tuple[str, str | None, bool]) -> pa.Table:
    return make_seed(["template_id", "sql_template", "is_enabled"], rows)


def text_edits(*rows: tuple[str, str, str, bool]) -> pa.Table:
    return make_seed(["sql_template_id", "style", "text_template", "is_enabled"], rows)


def make_seed(names: list[str], rows: tuple[Any, ...]) -> pa.Table:
    names = [*names, "reason"]
    schema = pa.schema([(name, pa.bool_() if name == "is_enabled" else pa.string()) for name in names])
    return pa.Table.from_pylist([dict(zip(names, (*row, "because"), strict=True)) for row in rows], schema=schema)


def gather(
    connection: duckdb.DuckDBPyConnection,
    own: pa.Table | None = None,
    texts: pa.Table | None = None,
    *,
    calls: pa.Table | None = None,
    settings: dict[str, Any] | None = None,
) -> Materials:
    return gather_materials(
        SETTINGS | (settings or {}),
        describe_columns(connection, NAMES),
        describe_constraints(connection, NAMES),
        edits() if own is None else own,
        text_edits() if texts is None else texts,
        calls,
    )


def statuses(materials: Materials, **wanted: str) -> list[tuple[str, str]]:
    """Return (id, status) of the templates that have these values."""
    return [
        (row["sql_template_id"], row["template_status"])
        for row in make_templates(materials).to_pylist()
        if all(row[name] == value for name, value in wanted.items())
    ]


def texts_of(materials: Materials) -> list[dict[str, Any]]:
    return [
        text | {"sql_template_id": row["sql_template_id"]}
        for row in make_templates(materials).to_pylist()
        for text in row["texts"]
    ]


def used(materials: Materials, **wanted: str) -> list[tuple[str, str]]:
    """Return (origin, text) of the texts in use that have these values."""
    return [
        (row["origin"], row["text_template"])
        for row in texts_of(materials)
        if row["text_status"] == "used" and all(row[name] == value for name, value in wanted.items())
    ]
