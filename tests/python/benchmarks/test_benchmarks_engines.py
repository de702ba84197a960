"""The comparison of two engines' marts: what counts as equal, and what does not."""

import duckdb
import pytest

from benchmarks.engines import compare_databases, compare_embeddings
from benchmarks.harness import BenchmarkError


def write(path, *rows, columns="id, run_id, score, word"):
    with duckdb.connect(str(path)) as connection:
        values = ", ".join(f"({row})" for row in rows)
        connection.execute(f"create table fct_scores as select * from (values {values}) as t({columns})")
    return path


def test_numbers_within_the_tolerance_and_other_builds_are_equal(tmp_path):
    first = write(tmp_path / "a.duckdb", "'x', 'run 1', 0.5::double, 'w'")
    second = write(tmp_path / "b.duckdb", "'x', 'run 2', 0.5000001::double, 'w'")
    (difference,) = compare_databases(first, second)
    assert difference.is_equal
    assert difference.largest == pytest.approx(1e-7)


def test_rows_numbers_and_words_that_differ_are_counted(tmp_path):
    first = write(
        tmp_path / "a.duckdb", "'x', 'r', 0.5::double, 'w'", "'y', 'r', null, 'w'", "'z', 'r', 1.0::double, 'w'"
    )
    second = write(tmp_path / "b.duckdb", "'x', 'r', 0.6::double, 'v'", "'y', 'r', 0.0::double, 'w'")
    (difference,) = compare_databases(first, second)
    assert (difference.count_rows, difference.count_unmatched, difference.count_cells) == (3, 1, 3)
    assert list(difference.columns) == ["score", "word"]
    assert difference.largest == pytest.approx(0.1)


def test_tables_with_other_columns_are_an_error(tmp_path):
    first = write(tmp_path / "a.duckdb", "1, 2", columns="id, score")
    second = write(tmp_path / "b.duckdb", "1, 2", columns="id, grade")
    with pytest.raises(BenchmarkError, match="fct_scores"):
        compare_databases(first, second)


def test_vectors_are_compared_by_text_and_encoder(tmp_path):
    rows = "(values ('a', 'k', [0.5::float, 1.0]), ('b', 'k', [0.0::float, 1.0]), ('c', 'k', [1.0::float, 0.0]))"
    database, folder = tmp_path / "a.duckdb", tmp_path / "spark" / "hcat.db" / "int_texts_embedded"
    folder.mkdir(parents=True)
    with duckdb.connect(str(database)) as connection:
        table = f"select * from {rows} as t(text_id, encoder_key, embedding)"
        connection.execute(f"create table int_texts_embedded as {table}")
        other = "case when text_id = 'b' then [0.0::float, 0.75] else embedding end"
        changed = f"select * replace ({other} as embedding) from ({table}) where text_id <> 'c'"
        connection.execute(f"copy ({changed}) to '{folder}/part.parquet' (format parquet)")
    difference = compare_embeddings(database, tmp_path / "spark")
    assert (difference.count_rows, difference.count_unmatched, difference.count_cells) == (3, 1, 1)
    assert difference.largest == 0.25
