"""The database of the bank for the tests of grammar."""

from __future__ import annotations

import duckdb
import pytest
from test_grammar_bank import database


@pytest.fixture
def bank() -> duckdb.DuckDBPyConnection:
    """Return the bank's database."""
    return database()
