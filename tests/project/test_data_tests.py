"""The project's own data tests find what they are for: run here on rows that break them."""

from __future__ import annotations

import re

import duckdb
import jinja2
import pytest
from builds import REPOSITORY


def render(name: str, **arguments: str) -> str:
    """Return the statement of a generic test; tables have their own names."""
    text = (REPOSITORY / "tests" / "generic" / f"{name}.sql").read_text(encoding="utf-8")
    found = re.search(rf"\{{% test {name}\(.*?\) %\}}(.*)\{{% endtest %\}}", text, re.DOTALL)
    assert found
    functions = {"ref": lambda model: model, "hash_row": lambda columns: f"hash({', '.join(columns)})"}
    return jinja2.Template(found[1]).render(**functions, **arguments)


@pytest.mark.parametrize(
    ("expected", "actual", "differing"),
    [
        ((1, 2), (2, 1), []),
        ((1, 2, 3), (1, 2), [(3, 1, 0)]),
        ((1,), (1, 2), [(2, 0, 1)]),
        ((1, 2), (1, 2, 2), [(2, 1, 2)]),
        ((1,), (1, None), [(None, 0, 1)]),
        ((1, None), (1, None), [(None, 1, 1)]),
        ((1, 2, 3), (1, 2, 4), [(3, 1, 0), (4, 0, 1)]),
    ],
)
def test_a_key_that_is_missing_or_too_many_is_named_with_its_counts(
    expected: tuple[int | None, ...], actual: tuple[int | None, ...], differing: list[tuple[int | None, int, int]]
) -> None:
    with duckdb.connect() as connection:
        for table, keys in (("expected", expected), ("actual", actual)):
            connection.execute(f"create table {table} as select unnest($1::integer[]) as key", [list(keys)])
        statement = render("completes_index", model="actual", index_model="expected", key="key")
        assert sorted(connection.execute(statement).fetchall(), key=str) == differing


@pytest.mark.parametrize(
    ("retrieved", "contexts", "passages", "ranks_named"),
    [
        ([1, 2], [(1, "Fees"), (2, None)], [(1, "Fees")], []),
        ([1, 2], [(1, "Fees")], [(1, "Fees")], [2]),
        ([1], [(1, "Fees"), (2, "Rates")], [], [2]),
        ([1, 2], [(1, None), (2, None)], [(1, None), (2, "Rates")], [2]),
        ([1], [(1, "Fees"), (1, None)], [(1, "Fees")], [1]),
        ([1, None], [(1, "Fees"), (None, "Rates")], [], [None]),
        # what a metric read beside the retrievals is no row of theirs
        ([1], [(1, "Fees")], [(1, "Fees"), (3, "Rates")], []),
    ],
)
def test_a_retrieved_passage_without_its_row_or_text_is_named(
    retrieved: list[int | None],
    contexts: list[tuple[int | None, str | None]],
    passages: list[tuple[int, str | None]],
    ranks_named: list[int | None],
) -> None:
    path = REPOSITORY / "tests" / "singular" / "core" / "retrieved_contexts_are_complete.sql"
    statement = jinja2.Template(path.read_text(encoding="utf-8")).render(ref=lambda package, model: model)
    with duckdb.connect() as connection:
        connection.execute("create table stg_retrievals (interaction_id text, rank integer)")
        connection.execute("create table fct_retrieved_contexts (interaction_id text, rank integer, context_text text)")
        columns = "interaction_id text, position integer, role text, passage_text text"
        connection.execute(f"create table int_interaction_passages ({columns})")
        connection.executemany("insert into stg_retrievals values ('a', $1)", [[rank] for rank in retrieved])
        connection.executemany("insert into fct_retrieved_contexts values ('a', $1, $2)", contexts)
        connection.execute("insert into int_interaction_passages values ('a', 0, 'query', 'What does it cost?')")
        for rank, text in passages:
            connection.execute("insert into int_interaction_passages values ('a', $1, 'context', $2)", [rank, text])
        found = connection.sql(statement)
        assert sorted(row[found.columns.index("rank")] for row in found.fetchall()) == ranks_named
