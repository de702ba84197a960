"""Schemas from rows of information_schema."""

from typing import Any

import pytest
from grammar_materials import column_rows, constraint_rows

from hcat.grammar.schema import column_kind, read_schema


@pytest.mark.parametrize(
    ("data_type", "kind"),
    [
        ("VARCHAR", "text"),
        ("ENUM('open', 'closed')", "text"),
        ("DECIMAL(18,2)", "number"),
        ("TIMESTAMP WITH TIME ZONE", "date"),
        ("BOOLEAN", "boolean"),
        ("VARCHAR[]", "other"),
        ("UUID", "other"),
        ("", "other"),
    ],
)
def test_kinds_of_data_types(data_type: str, kind: str) -> None:
    assert column_kind(data_type) == kind


def test_a_table_that_is_referred_to_has_that_key_without_being_told() -> None:
    references = [row for row in constraint_rows() if row["constraint_type"] == "FOREIGN KEY"]
    accounts = read_schema(column_rows(), references).table("accounts")
    assert accounts is not None
    assert accounts.keys == (frozenset({"account_id"}),)


@pytest.mark.parametrize(
    ("kind", "count_distinct", "count_rows", "expected"),
    [
        ("VARCHAR", 5, 5, True),
        ("VARCHAR", 4, 5, False),
        ("VARCHAR", 4, 4, None),  # too few rows to believe it
        ("DATE", 50, 50, None),  # may be chance
        ("VARCHAR", 5, None, None),
    ],
)
def test_counts_tell_whether_a_column_names_one_row(
    kind: str, count_distinct: int | None, count_rows: int | None, expected: bool | None
) -> None:
    row = {"table_name": "t", "column_name": "label", "data_type": kind, "count_distinct": count_distinct}
    table = read_schema([row | {"count_rows": count_rows}]).table("t")
    assert table is not None
    assert table.identifies("label") is expected


def _column(**changes: Any) -> dict[str, Any]:
    return {"table_name": "t", "column_name": "label", "data_type": "VARCHAR"} | changes


@pytest.mark.parametrize(
    ("columns", "constraints", "message"),
    [
        ([_column(column_name="a.b")], [], "column_name must be"),
        ([_column(column_name='a" from x --')], [], "column_name must be"),
        ([_column(table_name="x" * 64)], [], "table_name must be"),
        ([_column(), _column(column_name="LABEL")], [], "twice"),
        ([_column(), _column(table_name="T", column_name="b")], [], "cannot be told apart"),
        ([_column(table_schema="a"), _column(table_schema="b", column_name="c")], [], "cannot be told apart"),
        (
            [_column()],
            [{"constraint_type": "UNIQUE", "constraint_name": "u", "table_name": "t", "column_name": "z"}],
            "does not have",
        ),
        (
            [_column()],
            [{"constraint_type": "PRIMARY KEY", "constraint_name": "u", "table_name": "s", "column_name": "z"}],
            "no columns",
        ),
    ],
)
def test_rows_that_are_no_schema_say_why(
    columns: list[dict[str, Any]], constraints: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read_schema(columns, constraints)
