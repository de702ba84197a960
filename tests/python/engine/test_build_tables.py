"""Tables that Apache Spark keeps as folders of Parquet files: ``hcat build`` reads them and adds to them."""

import subprocess
from pathlib import Path

import duckdb
import pytest
from test_building import MADE

from hcat.engine import building, inputs
from hcat.engine.build_tables import open_build
from hcat.engine.project import find_place


def write(project: Path, name: str, sql: str, file: str) -> None:
    """Write the rows of a SELECT as a file of a table."""
    folder = project / "warehouse" / "spark" / "hcat.db" / name
    folder.mkdir(parents=True, exist_ok=True)
    duckdb.sql(sql).write_parquet(str(folder / file))


def read(project: Path, name: str) -> list[tuple[object, ...]]:
    """Return the rows of a table, as Spark would read its files."""
    return duckdb.read_parquet(f"{project}/warehouse/spark/hcat.db/{name}/*.parquet").fetchall()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose tables are as a first build on Spark left them."""
    for name in ("DBT_PROFILES_DIR", "HCAT_WAREHOUSE", "HCAT_SPARK_WAREHOUSE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "dbt_project.yml").write_text("name: own\nprofile: own\nvars: {hcat: {hcat_raw_logs: logs}}\n")
    place = "\"{{ env_var('HCAT_SPARK_WAREHOUSE', 'warehouse/spark') }}\""
    (tmp_path / "profiles.yml").write_text(
        "own: {target: lake, outputs: {lake: {type: sparksession, schema: hcat, threads: 1, server_side_parameters: "
        f"{{spark.sql.warehouse.dir: {place}}}}}}}}}"
    )
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "calls.jsonl").write_text("{}\n")
    with duckdb.connect() as connection:
        connection.execute(MADE)
        for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall():
            folder = tmp_path / "warehouse" / "spark" / "hcat.db" / name
            folder.mkdir(parents=True)
            connection.table(name).write_parquet(str(folder / "part-0.parquet"))
    candidate = tmp_path / "warehouse" / "published" / "candidate"
    candidate.mkdir(parents=True)
    for folder in (candidate, candidate.parent):
        with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
            connection.execute("create table fct_interactions as select 'i1' as interaction_id")
    building._remember(find_place(tmp_path), inputs.read_inputs(tmp_path, [], None, {}).digests)
    return tmp_path


def build(
    project: Path, monkeypatch: pytest.MonkeyPatch, **options: object
) -> tuple[str, list[str] | None, dict[str, str]]:
    """Return what `hcat build` says, and the command and environment of dbt where it starts it."""
    said: list[str] = []
    started: dict[str, tuple[list[str], dict[str, str]]] = {}

    def run(command: list[str], env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        started["dbt"] = (command, env)
        return subprocess.CompletedProcess(command, 2)

    monkeypatch.setattr(building.subprocess, "run", run)
    monkeypatch.setattr(building, "is_own_project", lambda _: True)
    building.build(project, environment={}, say=said.append, **options)  # type: ignore[arg-type]
    command, environment = started.get("dbt", (None, {}))
    return said[0].removeprefix("hcat build: "), command, environment


def test_nothing_new_adds_the_verdict_to_the_files_of_spark(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = build(project, monkeypatch)
    second, command, _ = build(project, monkeypatch)
    assert first.startswith("nothing new since the build of 2026-05-01 10:00 UTC; its verdict stands")
    assert first.endswith("repeats first)")
    assert second.endswith("repeats first)")
    assert command is None
    assert [run[1] for run in read(project, "dim_runs")].count("first") == 2
    for name in ("dim_runs", "fct_run_metrics", "fct_threshold_gates"):
        assert len(read(project, name)) == 3
    assert [event[1] for event in read(project, "hcat_builds")].count("repeated") == 2
    assert sorted(event[3] for event in read(project, "hcat_builds")) == [1, 1, 2, 3]
    for copy in ("published", "published/candidate"):
        with duckdb.connect(str(project / "warehouse" / copy / "hcat.duckdb"), read_only=True) as connection:
            assert connection.sql("select count(*) from dim_runs").fetchall() == [(3,)]
            assert connection.sql("select count(*) from fct_interactions").fetchall() == [(1,)]


def test_new_logs_start_where_they_are_read_and_leave_views_and_seeds(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "logs" / "ratings.csv").write_text("a,b\n")
    said, command, environment = build(project, monkeypatch, entities_of=lambda path: (path.stem,))
    assert said == "new: raw logs (ratings.csv); from base_ratings on"
    assert command is not None
    assert {"landed_records", "base_ratings+", "fqn:hcat.gates+", "package:hcat,config.materialized:view"} <= set(
        command
    )
    # a model that is built writes all its rows: Parquet knows no delete
    assert environment["HCAT_ONLY_CHANGED"] == ""


@pytest.mark.parametrize(
    ("name", "sql", "reason"),
    [
        (
            "hcat_builds",
            "select 'b' as run_id, 'started' as event, 2::bigint as build_number, timestamp '2026-05-02'",
            "the last build was killed",
        ),
        ("fct_calibration_validity", "select timestamp '2026-05-01 10:01' as valid_until", "a row of fct_calibration_"),
        # files beside those of a table say which of them count
        ("hcat_builds/_delta_log", "select 1 as version", "no earlier build says what it read"),
    ],
)
def test_what_the_tables_know_makes_a_build_due(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, sql: str, reason: str
) -> None:
    write(project, name, f"{sql} as logged_at" if "started" in sql else sql, "part-1.parquet")
    said, command, _ = build(project, monkeypatch)
    assert said.startswith(reason)
    assert command is not None
    assert "--select" not in command


def test_tables_in_another_place_are_not_known(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HCAT_SPARK_WAREHOUSE", "s3a://bucket/hcat")
    said, command, _ = build(project, monkeypatch)
    assert said == "no earlier build says what it read"
    assert command is not None


def test_a_file_that_is_not_finished_is_no_part_of_a_table(project: Path) -> None:
    write(project, "dim_runs", "select 'unfinished' as run_id", ".added.parquet")
    with open_build(find_place(project)) as source:
        assert len(source.rows("select * from dim_runs", ("dim_runs",))) == 1
