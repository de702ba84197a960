"""The report says what was deleted on request, and nothing where nothing was."""

from __future__ import annotations

import duckdb

from hcat.engine.warehouse import Warehouse
from hcat.report.deletions import describe_deletions

COLUMNS = """
create table fct_deletions (
    deletion_number bigint, command varchar, reason varchar, ids_sha256 varchar, count_interactions bigint,
    count_evaluations bigint, count_texts bigint, weeks_before date, deleted_at timestamp
)
"""


def test_deletions_are_said_with_their_reasons_and_the_first_week_that_is_left() -> None:
    connection = duckdb.connect()
    connection.execute(COLUMNS)
    source = Warehouse(connection, {"fct_deletions": frozenset(("deletion_number",))})
    assert describe_deletions(source) is None
    connection.execute(
        "insert into fct_deletions values"
        " (1, 'forget', 'ticket\n7', 'a', 3, 30, 4, null, '2026-07-01 10:00'),"
        " (2, 'prune', null, 'b', 1200, 9000, 800, '2026-06-15', '2026-07-02 10:00'),"
        " (3, 'prune', null, 'c', 100, 900, 80, '2026-06-22', '2026-07-03 10:00')"
    )
    found = describe_deletions(source)
    assert found is not None
    assert found["sentence"] == (
        "Weeks before 2026-06-22: sums only, 1,300 interactions deleted. 3 single interactions deleted."
    )
    assert str(found["weeks_before"]) == "2026-06-22"
    assert [(row["deletion_number"], row["reason"]) for row in found["rows"]] == [(3, None), (2, None), (1, "ticket 7")]


def test_a_warehouse_without_the_mart_says_nothing() -> None:
    assert describe_deletions(Warehouse(duckdb.connect(), {})) is None
