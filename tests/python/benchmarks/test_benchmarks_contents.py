"""The comparison of two warehouses: what differs is named, and what differs by design is left out."""

from pathlib import Path

import duckdb
import pytest

from benchmarks.contents import find_stale_copies, main

#: Statements that make a small warehouse; each test changes one of them.
TABLES = {
    "fct_scores": "select n as id, n + 5e-1 as raw_score, 'run 1' as run_id from range(1, 4) as numbers(n)",
    "semantic_scores": "select 1 as id",
    "int_texts": """select 'a' as "say ""it"", please", 'b' as "order" """,
}


def make(path: Path, **changed: str | None) -> Path:
    with duckdb.connect(str(path)) as connection:
        for table, query in (TABLES | changed).items():
            if query is not None:
                connection.execute(f'create table "{table}" as {query}')
    return path


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return make(tmp_path / "first.duckdb")


def compare(first: Path, second: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Return the exit code and the printed lines, with the folder of the files left out."""
    code = main([str(first), str(second)])
    return code, capsys.readouterr().out.replace(f"{first.parent}/", "").splitlines()


def test_equal_rows_of_another_run_and_order_are_equal(first, tmp_path, capsys) -> None:
    other = TABLES["fct_scores"].replace("run 1", "run 2") + " order by n desc"
    assert compare(first, make(tmp_path / "second.duckdb", fct_scores=other), capsys) == (0, ["equal tables: 3"])


def test_tables_of_one_side_are_named(first, tmp_path, capsys) -> None:
    second = make(tmp_path / "second.duckdb", semantic_scores=None, fct_other="select 1 as id")
    lines = ["semantic_scores: only in first.duckdb", "fct_other: only in second.duckdb", "equal tables: 2"]
    assert compare(first, second, capsys) == (1, lines)


@pytest.mark.parametrize(
    ("table", "query", "lines"),
    [
        (
            "fct_scores",
            TABLES["fct_scores"].replace("5e-1", "25e-2"),
            ["rows differ (3 and 3), by column: raw_score"],
        ),
        # the same values of each column, in other rows
        (
            "fct_scores",
            TABLES["fct_scores"].replace("n + 5e-1", "4 - n + 5e-1"),
            ["rows differ (3 and 3), by column: none by itself"],
        ),
        (
            "fct_scores",
            "select n + 1 as id, 1 as score, 'run 1' as run_id from range(1, 4) as numbers(n)",
            [
                "columns differ: only in first.duckdb: raw_score; only in second.duckdb: score",
                "rows differ (3 and 3), by column: id",
            ],
        ),
        ("semantic_scores", "select 1::bigint as id", ["columns differ: id is INTEGER and BIGINT"]),
        ("semantic_scores", "select 1 as id where false", ["rows differ (1 and 0), by column: id"]),
        (
            "int_texts",
            TABLES["int_texts"].replace("'a'", "'c'"),
            ['rows differ (1 and 1), by column: say "it", please'],
        ),
    ],
)
def test_what_differs_in_a_table_is_named(first, tmp_path, capsys, table: str, query: str, lines: list[str]) -> None:
    second = make(tmp_path / "second.duckdb", **{table: query})
    expected = [*(f"{table}: {line}" for line in lines), "equal tables: 2"]
    assert compare(first, second, capsys) == (1, expected)


def test_files_of_tables_with_run_columns_may_differ(tmp_path, capsys) -> None:
    lists = ["select * from (values ('fct_scores', '{0}'), ('semantic_scores', '{1}')) as files(mart, sha256)"] * 3
    made = [
        make(tmp_path / f"{number}.duckdb", published_passing=query.format(*sums))
        for number, (query, sums) in enumerate(zip(lists, ("ax", "bx", "by"), strict=True))
    ]
    assert compare(made[0], made[1], capsys) == (0, ["equal tables: 4"])
    lines = ["published_passing: rows differ (2 and 2), by column: sha256", "equal tables: 3"]
    assert compare(made[0], made[2], capsys) == (1, lines)


def test_a_copy_that_does_not_hold_its_mart_is_named(tmp_path: Path) -> None:
    candidate = tmp_path / "published" / "candidate"
    candidate.mkdir(parents=True)
    make(tmp_path / "hcat.duckdb", published_candidate="select unnest(['fct_scores', 'int_texts']) as mart")
    make(candidate / "hcat.duckdb", int_texts="select 'a' as other")
    with duckdb.connect(str(tmp_path / "hcat.duckdb"), read_only=True) as connection:
        for name in ("fct_scores", "int_texts"):
            rows = f"select * from {name} limit {2 if name == 'fct_scores' else 1}"
            connection.sql(rows).write_parquet(str(candidate / f"{name}.parquet"))
    assert find_stale_copies(tmp_path) == ["fct_scores.parquet", "hcat.duckdb:int_texts"]
