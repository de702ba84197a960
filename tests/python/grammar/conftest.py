"""The database of the bank for the tests of grammar."""

import duckdb
import pytest
from grammar_materials import database


@pytest.fixture
def bank() -> duckdb.DuckDBPyConnection:
    return database()
