"""The published copy on real files: complete, atomic, and honest about a failed build."""

import duckdb
import pytest

from hcat.engine.publication import publish_candidate, publish_passing


@pytest.fixture
def session():
    connection = duckdb.connect()
    yield connection
    connection.close()


def marts_to_publish(session, run: str, value: int, is_drifting: str | None = None):
    """Return what published_tables is: three or four tables and one of a module that is switched off."""
    selects = {
        "dim_runs": f"select '{run}' as run_id",
        "fct_threshold_gates": f"select '{run}' as run_id, 'gate' as gate_name",
        "fct_evaluations": f"select {value} as raw_score",
        "fct_metric_drift": f"select {is_drifting} as is_drifting" if is_drifting else None,
    }
    for mart, select in selects.items():
        if select:
            session.execute(f"create or replace table {mart} as {select}")
    names = {mart: f"'{mart}'" if select else "null" for mart, select in selects.items()}
    rows = [f"('{mart}', {relation})" for mart, relation in names.items()]
    return session.sql(f"select * from (values {', '.join(rows)}) as listed (mart, relation)")


def read(path, query):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.sql(query).fetchall()


def test_failed_build_renews_gates_and_keeps_the_scores(session, tmp_path):
    build_passing(session, "first", 1, tmp_path)
    # the second build fails its gates: dbt never reaches publish_passing
    publish_candidate(session, marts_to_publish(session, "second", 2), str(tmp_path))
    published = tmp_path / "published" / "hcat.duckdb"
    candidate = tmp_path / "published" / "candidate" / "hcat.duckdb"
    assert read(published, "select raw_score from fct_evaluations") == [(1,)]
    assert read(published, "select run_id from dim_runs") == [("second",)]
    assert read(candidate, "select raw_score from fct_evaluations") == [(2,)]


def test_the_copies_say_what_tables_and_columns_mean(session, tmp_path):
    marts = marts_to_publish(session, "first", 1)
    session.execute("comment on table fct_evaluations is 'One row per interaction''s metric.'")
    session.execute("comment on column dim_runs.run_id is 'Invocation id of the build.'")
    # another schema holds another table of the name
    session.execute("create schema bank")
    session.execute("create table bank.fct_evaluations (raw_score integer, name varchar)")
    session.execute("comment on column bank.fct_evaluations.raw_score is 'Of the bank.'")
    publish_passing(publish_candidate(session, marts, str(tmp_path)), str(tmp_path))
    for folder in ("published", "published/candidate"):
        path = tmp_path / folder / "hcat.duckdb"
        said = "select table_name, comment from duckdb_tables() where comment is not null"
        assert read(path, said) == [("fct_evaluations", "One row per interaction's metric.")]
        said = "select table_name, column_name, comment from duckdb_columns() where comment is not null"
        assert read(path, said) == [("dim_runs", "run_id", "Invocation id of the build.")]
    # a failed build renews the ledger with its comments
    marts = marts_to_publish(session, "second", 2)
    session.execute("comment on column dim_runs.run_id is 'Invocation id.'")
    publish_candidate(session, marts, str(tmp_path))
    assert read(tmp_path / "published" / "hcat.duckdb", said) == [("dim_runs", "run_id", "Invocation id.")]


def test_drift_is_published_whatever_the_gates_say(session, tmp_path):
    publish_passing(
        publish_candidate(session, marts_to_publish(session, "first", 1, "false"), str(tmp_path)), str(tmp_path)
    )
    publish_candidate(session, marts_to_publish(session, "second", 2, "true"), str(tmp_path))
    published = tmp_path / "published" / "hcat.duckdb"
    assert read(published, "select is_drifting, raw_score from fct_metric_drift, fct_evaluations") == [(True, 1)]
    assert duckdb.read_parquet(str(tmp_path / "published" / "fct_metric_drift.parquet")).fetchall() == [(True,)]


def test_a_first_build_that_fails_publishes_no_scores(session, tmp_path):
    publish_candidate(session, marts_to_publish(session, "first", 1), str(tmp_path))
    tables = read(tmp_path / "published" / "hcat.duckdb", "select table_name from information_schema.tables order by 1")
    assert tables == [("dim_runs",), ("fct_threshold_gates",)]


def test_a_table_whose_module_is_switched_off_leaves_the_copies(session, tmp_path):
    publish_passing(
        publish_candidate(session, marts_to_publish(session, "first", 1, "true"), str(tmp_path)), str(tmp_path)
    )
    build_passing(session, "second", 2, tmp_path)
    for folder in (tmp_path / "published", tmp_path / "published" / "candidate"):
        assert not (folder / "fct_metric_drift.parquet").exists()
        names = read(folder / "hcat.duckdb", "select table_name from information_schema.tables order by 1")
        assert names == [("dim_runs",), ("fct_evaluations",), ("fct_threshold_gates",)]


def build_passing(session, run, value, folder):
    return publish_passing(publish_candidate(session, marts_to_publish(session, run, value), str(folder)), str(folder))


def test_a_reader_of_the_old_copy_is_not_disturbed(session, tmp_path):
    build_passing(session, "first", 1, tmp_path)
    with duckdb.connect(str(tmp_path / "published" / "hcat.duckdb"), read_only=True) as reader:
        build_passing(session, "second", 2, tmp_path)
        assert reader.sql("select raw_score from fct_evaluations").fetchall() == [(1,)]
    assert read(tmp_path / "published" / "hcat.duckdb", "select raw_score from fct_evaluations") == [(2,)]
    assert not list((tmp_path / "published").rglob(".*writing"))
    # the published copy is the candidate, byte for byte
    copies = [tmp_path / "published" / "hcat.duckdb", tmp_path / "published" / "candidate" / "hcat.duckdb"]
    assert copies[0].read_bytes() == copies[1].read_bytes()


def test_the_row_per_file_names_its_hash(session, tmp_path):
    rows = build_passing(session, "first", 1, tmp_path).to_pylist()
    assert [row["mart"] for row in rows] == ["dim_runs", "fct_evaluations", "fct_threshold_gates"]
    assert all(len(row["sha256"]) == 64 and row["count_rows"] == 1 for row in rows)
