"""The published copy on real files: complete, atomic, and honest about a failed build."""

import os
import shutil
import subprocess
import sys

import duckdb
import pytest

from hcat.engine import publication
from hcat.engine.publication import publish_candidate, publish_passing

#: Two builds: the first one was published, and the newest one passes its gates.
LEDGER = """
select 'before' as run_id, 1 as build_number, 3 as count_gates, 0 as count_error_gates_not_passing, true as is_passing
union all
select '{run}', 2, 3, 0, false
"""


@pytest.fixture
def session():
    connection = duckdb.connect()
    yield connection
    connection.close()


def marts_to_publish(session, run: str, value: int, is_drifting: str | None = None):
    """Return what published_tables is: three or four tables and one of a module that is switched off."""
    selects = {
        "dim_runs": LEDGER.format(run=run),
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


def test_a_table_whose_module_is_switched_off_leaves_the_copies(session, tmp_path):
    build_passing(session, "first", 1, tmp_path, "true")
    build_passing(session, "second", 2, tmp_path)
    for folder in (tmp_path / "published", tmp_path / "published" / "candidate"):
        assert not (folder / "fct_metric_drift.parquet").exists()
        names = read(folder / "hcat.duckdb", "select table_name from information_schema.tables order by 1")
        assert names == [("dim_runs",), ("fct_evaluations",), ("fct_threshold_gates",)]


def build_passing(session, run, value, folder, is_drifting=None):
    marts = marts_to_publish(session, run, value, is_drifting)
    return publish_passing(publish_candidate(session, marts, str(folder)), str(folder))


def test_a_build_passes_in_the_ledger_of_a_copy_only_once_its_tables_are_there(session, tmp_path):
    published, said = tmp_path / "published", "select is_passing from dim_runs order by build_number"
    copied = publish_candidate(session, marts_to_publish(session, "first", 1), str(tmp_path))
    # killed here, it is no passing build
    for folder in (published, published / "candidate"):
        assert read(folder / "hcat.duckdb", said) == [(True,), (False,)]
    publish_passing(copied, str(tmp_path))
    for folder in (published, published / "candidate"):
        assert read(folder / "hcat.duckdb", said) == [(True,), (True,)]
        assert duckdb.sql(said.replace("dim_runs", f"'{folder}/dim_runs.parquet'")).fetchall() == [(True,), (True,)]


def test_gates_that_fail_are_no_passing_build_also_where_dbt_runs_no_test(session, tmp_path):
    marts = marts_to_publish(session, "first", 1)
    session.execute("update dim_runs set count_error_gates_not_passing = 1, is_passing = false where build_number = 2")
    publish_passing(publish_candidate(session, marts, str(tmp_path)), str(tmp_path))
    said = "select is_passing from dim_runs order by build_number"
    assert read(tmp_path / "published" / "hcat.duckdb", said) == [(True,), (False,)]


@pytest.mark.parametrize("step", ["candidate", "passing"])
def test_a_full_disk_leaves_both_copies_as_they_were_and_names_the_file(session, tmp_path, monkeypatch, step):
    build_passing(session, "first", 1, tmp_path)
    published = tmp_path / "published"
    marts = marts_to_publish(session, "second", 2)
    if step == "passing":
        copied = publish_candidate(session, marts, str(tmp_path))
    before = {path: path.read_bytes() for path in published.rglob("*") if path.is_file()}

    def fill(*_, **__):
        raise OSError(28, "No space left on device")

    if step == "candidate":
        # the database is the last file of a copy
        monkeypatch.setattr(publication, "write_database", fill)
        with pytest.raises(OSError, match=r"No space left on device: '.*candidate/hcat\.duckdb'"):
            publish_candidate(session, marts, str(tmp_path))
    else:
        monkeypatch.setattr(publication.os, "link", fill)
        monkeypatch.setattr(publication.shutil, "copyfile", fill)
        with pytest.raises(OSError, match=r"No space left on device: '.*candidate/hcat\.duckdb'"):
            publish_passing(copied, str(tmp_path))
    assert {path: path.read_bytes() for path in published.rglob("*") if path.is_file()} == before


def publish_rows(session, folder, rows):
    session.execute("create or replace table fct_evaluations (evaluation_id varchar, raw_score double)")
    session.executemany("insert into fct_evaluations values (?, ?)", rows)
    listed = session.sql("select 'fct_evaluations' as mart, 'fct_evaluations' as relation")
    publish_candidate(session, listed, str(folder))


def read_copy(folder):
    candidate = folder / "published" / "candidate"
    rows = read(candidate / "hcat.duckdb", "select * from fct_evaluations order by all")
    assert duckdb.read_parquet(str(candidate / "fct_evaluations.parquet")).order("all").fetchall() == rows
    return rows


def test_a_link_that_a_killed_build_left_is_not_written_through(session, tmp_path):
    build_passing(session, "first", 1, tmp_path)
    published = tmp_path / "published"
    os.link(published / "hcat.duckdb", published / "candidate" / ".hcat.duckdb.writing")
    publish_candidate(session, marts_to_publish(session, "second", 2), str(tmp_path))
    assert read(published / "hcat.duckdb", "select raw_score from fct_evaluations") == [(1,)]
    assert read(published / "candidate" / "hcat.duckdb", "select raw_score from fct_evaluations") == [(2,)]


def test_the_log_of_a_copy_that_was_killed_is_not_replayed(session, tmp_path):
    rows = [("a", 0.5)]
    publish_rows(session, tmp_path, rows)
    candidate = tmp_path / "published" / "candidate"
    writing = candidate / ".hcat.duckdb.writing"
    shutil.copyfile(candidate / "hcat.duckdb", writing)
    killed = """
import os, sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("update fct_evaluations set raw_score = 0.25")
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", killed, str(writing)], check=False).returncode == 9
    assert writing.with_name(f"{writing.name}.wal").is_file()
    publish_rows(session, tmp_path, rows)
    assert read_copy(tmp_path) == rows


def test_a_copy_that_is_gone_or_damaged_is_written_again(session, tmp_path):
    rows = [("a", 0.5), ("b", 0.25)]
    publish_rows(session, tmp_path, rows)
    database = tmp_path / "published" / "candidate" / "hcat.duckdb"
    database.write_bytes(b"no database")
    publish_rows(session, tmp_path, rows)
    assert read_copy(tmp_path) == rows
    database.unlink()
    publish_rows(session, tmp_path, rows)
    assert read_copy(tmp_path) == rows
