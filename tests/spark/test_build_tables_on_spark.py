"""What ``hcat build`` adds to the tables of Spark without a session is what Spark reads next."""

from datetime import datetime

from hcat.engine.build_tables import open_build, open_build_for_additions
from hcat.engine.warehouse import Place

ROWS = """
select
    cast(null as string) as repeats_run_id, 'first' as run_id, timestamp_ntz '2026-05-01 10:00:00' as started_at,
    true as passed, cast(3 as bigint) as count_rows, cast(.5 as double) as mean_score, array('a', 'ü') as words
"""


def test_spark_reads_the_rows_that_were_added_without_it(spark, spark_folder):
    spark.sql("create schema if not exists nights")
    spark.sql("create table nights.hcat_builds (run_id string, event string, logged_at timestamp_ntz)")
    spark.sql(f"create table nights.dim_runs as {ROWS}")
    folder = spark_folder / "nights.db"
    place = Place(folder / "hcat.duckdb", folder, is_local=False, tables=folder)
    with open_build_for_additions(place) as tables:
        repeated = "select * replace ($new::varchar as run_id, run_id as repeats_run_id) from dim_runs"
        tables.add("dim_runs", repeated, {"new": "second"})
        # in another order: columns go by their names
        tables.add("hcat_builds", "select now()::timestamp as logged_at, 'second' as run_id, 'repeated' as event", {})
    spark.catalog.refreshTable("nights.dim_runs")
    spark.catalog.refreshTable("nights.hcat_builds")
    kept = (datetime(2026, 5, 1, 10), True, 3, 0.5, ["a", "ü"])
    columns = "run_id, repeats_run_id, started_at, passed, count_rows, mean_score, words"
    rows = spark.sql(f"select {columns} from nights.dim_runs order by run_id").collect()
    assert [tuple(row) for row in rows] == [("first", None, *kept), ("second", "first", *kept)]
    assert [tuple(row) for row in spark.sql("select run_id, event from nights.hcat_builds").collect()] == [
        ("second", "repeated")
    ]
    with open_build(place) as source:
        assert len(source.rows("select * from dim_runs", ("dim_runs",))) == 2
        assert source.rows("select event from hcat_builds", ("hcat_builds",)) == [{"event": "repeated"}]
