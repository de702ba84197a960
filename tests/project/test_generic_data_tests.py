"""The project's own generic data tests find what they are for: run here on rows that break them."""

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
    return jinja2.Template(found[1]).render(ref=lambda model: model, **arguments)


@pytest.mark.parametrize(
    ("expected", "actual", "differing"),
    [
        ((1, 2), (2, 1), []),
        ((1, 2, 3), (1, 2), [(3, 1, 0)]),
        ((1,), (1, 2), [(2, 0, 1)]),
        ((1, 2), (1, 2, 2), [(2, 1, 2)]),
        ((1,), (1, None), [(None, 0, 1)]),
        ((1, None), (1, None), [(None, 1, 1)]),
    ],
)
def test_a_key_that_is_missing_or_too_many_is_named_with_its_counts(
    expected: tuple[int | None, ...], actual: tuple[int | None, ...], differing: list[tuple[int | None, int, int]]
) -> None:
    with duckdb.connect() as connection:
        for table, keys in (("expected", expected), ("actual", actual)):
            connection.execute(f"create table {table} as select unnest($1::integer[]) as key", [list(keys)])
        statement = render("completes_index", model="actual", index_model="expected", key="key")
        assert connection.execute(statement).fetchall() == differing
