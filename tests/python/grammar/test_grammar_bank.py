"""A made-up bank of four tables for the tests of templates and fillings: its schema, its rows and a database."""

from __future__ import annotations

import functools
import os
import sqlite3
import tarfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hcat.grammar.schema import Schema, read_schema

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

_COLUMNS = """
branches branch_id INTEGER, branches branch_name VARCHAR, branches city VARCHAR, branches opened_on DATE,
customers customer_id INTEGER, customers full_name VARCHAR, customers city VARCHAR, customers birth_date DATE,
customers branch_id INTEGER, accounts account_id INTEGER, accounts iban VARCHAR, accounts account_type VARCHAR,
accounts balance DECIMAL(12_2), accounts created_at TIMESTAMP, accounts customer_id INTEGER, loans loan_id INTEGER,
loans loan_number INTEGER, loans purpose VARCHAR, loans interest_rate DOUBLE, loans account_id INTEGER,
loans col1 VARCHAR
"""
_KEYS = (
    ("branches", "branch_id", "PRIMARY KEY"),
    ("branches", "branch_name", "UNIQUE"),
    ("customers", "customer_id", "PRIMARY KEY"),
    ("accounts", "account_id", "PRIMARY KEY"),
    ("accounts", "iban", "UNIQUE"),
    ("loans", "loan_id", "PRIMARY KEY"),
    ("loans", "loan_number", "UNIQUE"),
)
_REFERENCES = (
    ("customers", "branch_id", "branches"),
    ("accounts", "customer_id", "customers"),
    ("loans", "account_id", "accounts"),
)
COUNTS = {"branches": 2, "customers": 5, "accounts": 3, "loans": 2}


def column_rows() -> list[dict[str, Any]]:
    """Return the columns as information_schema gives them, with the counts of distinct values."""
    rows = []
    for position, entry in enumerate(_COLUMNS.split(",")):
        table, column, data_type = entry.split()
        rows.append(
            {
                "table_name": table,
                "column_name": column,
                "data_type": data_type.replace("_", ","),
                "ordinal_position": position,
                "is_nullable": "YES",
                "count_distinct": _count_distinct()[table, column],
            }
        )
    return rows


@functools.cache
def _count_distinct() -> dict[tuple[str, str], int]:
    counts = {}
    with database() as connection:
        for entry in _COLUMNS.split(","):
            table, column, _ = entry.split()
            counted = connection.execute(f'select count(distinct "{column}") from "{table}"').fetchone()
            assert counted is not None
            counts[table, column] = int(counted[0])
    return counts


def constraint_rows() -> list[dict[str, Any]]:
    """Return one row per column of a key or a foreign key."""
    keys = [
        {
            "constraint_name": f"{table}_{column}",
            "constraint_type": kind,
            "table_name": table,
            "column_name": column,
            "ordinal_position": 1,
            "referenced_table_name": None,
            "referenced_column_name": None,
        }
        for table, column, kind in _KEYS
    ]
    references = [
        {
            "constraint_name": f"{table}_{target}",
            "constraint_type": "FOREIGN KEY",
            "table_name": table,
            "column_name": column,
            "ordinal_position": 1,
            "referenced_table_name": target,
            "referenced_column_name": column,
        }
        for table, column, target in _REFERENCES
    ]
    return keys + references


def bank_schema() -> Schema:
    """Return the schema of the bank with its counts."""
    tables = [{"table_name": name, "count_rows": count} for name, count in COUNTS.items()]
    return read_schema(column_rows(), constraint_rows(), tables)


def database() -> duckdb.DuckDBPyConnection:
    """Return a fresh database in memory that holds the bank."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(TABLES)
    return connection


def sqlite_schema(connection: sqlite3.Connection) -> Schema:
    """Return the schema of an SQLite database, which has no information_schema."""
    columns, constraints = [], []
    names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table' order by 1")]
    counts = {name: connection.execute(f'select count(*) from "{name}"').fetchone()[0] for name in names}
    for name in names:
        for position, column, kind, _, _, key in connection.execute(f'pragma table_info("{name}")'):
            distinct = connection.execute(f'select count(distinct "{column}") from "{name}"').fetchone()[0]
            row = {"table_name": name, "column_name": column, "ordinal_position": position}
            columns.append(row | {"data_type": kind, "count_distinct": distinct})
            if key:
                constraints.append(row | {"constraint_name": "primary", "constraint_type": "PRIMARY KEY"})
        for number, position, target, column, referenced, *_ in connection.execute(
            f'pragma foreign_key_list("{name}")'
        ):
            constraints.append(
                {
                    "constraint_name": str(number),
                    "constraint_type": "FOREIGN KEY",
                    "table_name": name,
                    "column_name": column,
                    "ordinal_position": position,
                    "referenced_table_name": target,
                    "referenced_column_name": referenced,
                }
            )
    return read_schema(columns, constraints, [{"table_name": name, "count_rows": n} for name, n in counts.items()])


def paper_files(part: str) -> dict[str, bytes]:
    """Return the files of the GRAMMAR benchmark whose path holds ``part``, by their path; skip where there are none."""
    folder = os.environ.get("HCAT_BENCHMARK_DATA")
    if not folder:
        pytest.skip("HCAT_BENCHMARK_DATA is not set: the benchmark of GRAMMAR lies there")
    found = {}
    with tarfile.open(Path(folder) / "grammar" / "grammar_benchmarks.tar.xz") as archive:
        for member in archive:
            if member.isfile() and part in member.name:
                stream = archive.extractfile(member)
                assert stream is not None
                found[member.name.split("benchmarks/", 1)[1]] = stream.read()
    return found


def paper_database(folder: Path) -> sqlite3.Connection:
    """Return a connection to a copy of the benchmark's database that lies in ``folder``."""
    path = folder / "benchmark.sqlite"
    path.write_bytes(paper_files("spider/rel_database/")["spider/rel_database/company_employee.sqlite"])
    return sqlite3.connect(path)


def test_the_schema_is_the_one_that_the_database_tells() -> None:
    with database() as connection:
        columns = connection.execute(
            "select table_name, column_name, data_type, ordinal_position, is_nullable from information_schema.columns"
        ).to_arrow_table()
        constraints = connection.execute(
            """
            select
                constraint_name, constraint_type, table_name, column_name, ordinal_position,
                referenced_table as referenced_table_name,
                referenced_column_names[ordinal_position] as referenced_column_name
            from (
                select *, unnest(constraint_column_names) as column_name,
                    unnest(range(1, len(constraint_column_names) + 1)) as ordinal_position
                from duckdb_constraints()
            )
            """
        ).to_arrow_table()
    told, expected = read_schema(columns, constraints), bank_schema()
    assert told.foreign_keys == expected.foreign_keys
    for table, other in zip(told.tables, expected.tables, strict=True):
        assert (table.name, table.keys) == (other.name, other.keys)
        assert [(column.name, column.kind) for column in table.columns] == [
            (column.name, column.kind) for column in other.columns
        ]
