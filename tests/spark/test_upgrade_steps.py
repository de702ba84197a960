"""What `hcat upgrade` does to a table, on both engines: columns are dropped and set, and rows get another schema."""

import os
import shutil

import duckdb
import pytest
from both_engines import ROOT, run_in_session, write_profile
from builds import ask_server

OPERATION = """
{% macro upgrade_one_table() %}
    {% set database = target.database if target.type == 'duckdb' else none %}
    {% set made = api.Relation.create(database=database, schema='left_place', identifier='history', type='table') %}
    {% do adapter.create_schema(made) %}
    {% do run_query('create table ' ~ made ~ ' as select 1 as run_id, 2 as shown, 3 as kept') %}
    {% set found = load_relation(made) %}
    {% do drop_columns(found, ['shown', 'gone']) %}
    {% do set_column(found, 'build_number', 'bigint', 'written.run_id + 6', 'kept = 3') %}
    {% do set_column(found, 'kept', 'integer', '5', 'run_id = 2') %}
    {% do move_table(found, found.incorporate(path={'schema': 'new_place'})) %}
{% endmacro %}
"""


@pytest.fixture(scope="module")
def folder(spark_target, tmp_path_factory):
    """A dbt project of hcat's name that has the macros on tables and what they call alone."""
    folder = tmp_path_factory.mktemp("upgrade")
    write_profile(folder, spark_target, "upgrade")
    (folder / "dbt_project.yml").write_text("name: hcat\nversion: 1.0.0\nprofile: hcat\n")
    (folder / "macros").mkdir()
    for name in ("engine/tables", "engine/changes", "upgrade_warehouse"):
        shutil.copy(ROOT / "macros" / f"{name}.sql", folder / "macros")
    (folder / "macros" / "upgrade_one_table.sql").write_text(OPERATION)
    return folder


def describe(folder, target):
    words = ["--quiet", "run-operation", "upgrade_one_table", "--target", target]
    words += ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    words += ["--target-path", str(folder / target), "--log-path", str(folder / target)]
    return words


def test_spark_drops_and_sets_a_column_and_moves_a_table_with_its_rows(folder, spark):
    run_in_session(describe(folder, "spark"), {})
    assert spark.table("new_place.history").toArrow().to_pylist() == [{"run_id": 1, "kept": 3, "build_number": 7}]
    assert not spark.catalog.tableExists("left_place.history")


def test_duckdb_drops_and_sets_a_column_and_moves_a_table_with_its_rows(folder):
    # a process of its own: dbt does not close the file while it lives
    exit_code, output = ask_server("dbt", describe(folder, "duckdb"), os.environ)
    assert exit_code == 0, output
    with duckdb.connect(str(folder / "duckdb" / "hcat.duckdb"), read_only=True) as connection:
        assert connection.sql("select * from new_place.history").fetchall() == [(1, 3, 7)]
        assert connection.sql("select count(*) from duckdb_tables()").fetchall() == [(1,)]
