"""A build with nothing new repeats the last verdict; anything that a build reads makes a build due."""

import subprocess
from pathlib import Path

import duckdb
import pytest

from hcat.engine import building, inputs
from hcat.engine.project import find_place
from hcat.landing.shapes import entities_of

PROFILE = "own: {target: dev, outputs: {dev: {type: duckdb, path: warehouse/hcat.duckdb, schema: main}}}"
MADE = """
create table hcat_builds (run_id varchar, event varchar, logged_at timestamp, build_number bigint);
insert into hcat_builds
    values ('first', 'started', '2026-05-01 10:00', 1), ('first', 'ended', '2026-05-01 10:05', 1);
create table dim_runs as
    select 'first' as run_id, null::varchar as repeats_run_id, timestamp '2026-05-01 10:00' as started_at,
        true as passed, 1::bigint as build_number;
create table fct_run_metrics as
    select 'm1' as run_metric_id, 'first' as run_id, 'groundedness' as metric_name, .8 as mean_score,
        timestamp '2026-05-01 10:00' as measured_at, 1::bigint as build_number;
create table fct_threshold_gates as
    select 'g1' as gate_result_id, 'first' as run_id, 'release' as gate_name, 'passed' as verdict,
        timestamp '2026-05-01 10:00' as evaluated_at, 1::bigint as build_number;
create table threshold_decisions as select 'groundedness' as decision_name, date '2999-01-01' as valid_until;
create table int_rejections_counted (entity varchar, reason varchar);
create table raw_queries as select 1 as query_id;
create view raw_relations as
    select 'queries' as entity, 'raw_queries' as relation_name, '"hcat"."main"."raw_queries"' as relation;
"""


#: A table that only dbt attaches is no longer the one of the last build, and cannot be read.
FAR = "new: tables (q, raw_queries)"


class BuildIsDueError(Exception):
    """Raised in the place of dbt."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose warehouse is as the first build left it."""
    for name in ("DBT_PROFILES_DIR", "HCAT_WAREHOUSE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "dbt_project.yml").write_text(
        "name: own\nprofile: own\nvars: {hcat: {hcat_raw_logs: logs, hcat_raw_relations: {queries: raw_queries}}}\n"
    )
    (tmp_path / "profiles.yml").write_text(PROFILE)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "calls.jsonl").write_text("{}\n")
    (tmp_path / "warehouse").mkdir()
    change(tmp_path, MADE)
    place = find_place(tmp_path)
    building._remember(place, inputs.read_inputs(tmp_path, [], None, {}).digests | building._digest_tables(place))
    return tmp_path


def change(project: Path, sql: str) -> None:
    with duckdb.connect(str(project / "warehouse" / "hcat.duckdb")) as connection:
        connection.execute(sql)


def read(project: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(project / "warehouse" / "hcat.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def publish(project: Path) -> None:
    """Write what the first build would have published."""
    candidate = project / "warehouse" / "published" / "candidate"
    candidate.mkdir(parents=True)
    for folder in (candidate, candidate.parent):
        with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
            connection.execute("create table fct_interactions as select 'i1' as interaction_id")


def find_reason(project: Path, *arguments: str, environment: dict[str, str] | None = None, **options: object) -> str:
    """Return what `hcat build` says before it starts dbt."""

    def stop(line: str) -> None:
        raise BuildIsDueError(line)

    with pytest.raises(BuildIsDueError) as stopped:
        building.build(project, arguments=arguments, environment=environment or {}, say=stop, **options)  # type: ignore[arg-type]
    return str(stopped.value).removeprefix("hcat build: ")


def test_nothing_new_repeats_ledger_gates_and_figures_and_publishes_them(project: Path) -> None:
    publish(project)
    said: list[str] = []
    for _ in range(2):
        # a file that was only touched is the same file
        (project / "logs" / "calls.jsonl").touch()
        assert building.build(project, environment={}, say=said.append) == 0
    assert said[0].startswith("hcat build: nothing new since the build of 2026-05-01 10:00 UTC; its verdict stands")
    assert all(line.endswith("repeats first)") for line in said)
    runs = read(project, "select repeats_run_id, passed, build_number from dim_runs order by build_number")
    assert runs == [(None, True, 1), ("first", True, 2), ("first", True, 3)]
    for table, key in (("fct_threshold_gates", "gate_result_id"), ("fct_run_metrics", "run_metric_id")):
        rows = read(project, f"select count(*), count(distinct {key}), count(distinct run_id) from {table}")
        assert rows == [(3, 3, 3)]
    for copy in ("published", "published/candidate"):
        with duckdb.connect(str(project / "warehouse" / copy / "hcat.duckdb"), read_only=True) as connection:
            assert connection.sql("select count(*) from dim_runs").fetchall() == [(3,)]
            assert connection.sql("select count(*) from fct_interactions").fetchall() == [(1,)]


def test_a_clock_behind_the_last_build_repeats_no_verdict(project: Path) -> None:
    publish(project)
    change(project, "update hcat_builds set logged_at = now()::timestamp + interval 400 day")
    behind = r"^the clock is behind the last build: it says .* UTC; set the clock right, or, .* build once with --vars"
    with pytest.raises(building.BuildError, match=behind):
        building.build(project, environment={}, say=print)
    assert read(project, "select count(*) from dim_runs") == [(1,)]
    # clocks of two machines differ
    change(project, "update hcat_builds set logged_at = now()::timestamp + interval 30 second")
    assert building.build(project, environment={}, say=print) == 0


def test_a_deletion_after_the_last_build_makes_a_build_due_whatever_the_clock_said(project: Path) -> None:
    change(project, "update hcat_builds set logged_at = now()::timestamp + interval 400 day")
    change(project, "create table hcat_deletion_log as select 1 as deletion_number, 0 as after_build_number")
    with pytest.raises(building.BuildError, match="the clock is behind"):
        building.build(project, environment={}, say=print)
    change(project, "insert into hcat_deletion_log values (2, 1)")
    assert find_reason(project) == "interactions were deleted since the last build"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("logs/more.jsonl", "{}", "new: raw logs (more.jsonl)"),
        ("logs/calls.jsonl", "{} ", "new: raw logs (calls.jsonl)"),
        # a folder of logs may have any name
        ("logs/target/calls.jsonl", "{}", "new: raw logs (target/calls.jsonl)"),
        ("logs/.calls.jsonl", "{}", "new: raw logs (.calls.jsonl)"),
        ("seeds/risks.csv", "risk\n", "new: project (seeds/risks.csv)"),
        ("models/mine.sql", "select 1", "new: project (models/mine.sql)"),
    ],
)
def test_a_file_that_a_build_reads_is_new(project: Path, name: str, text: str, reason: str) -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(text)
    assert find_reason(project) == reason


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("insert into raw_queries values (2)", "new: tables (raw_queries)"),
        ("update raw_queries set query_id = 3", "new: tables (raw_queries)"),
        ("update threshold_decisions set valid_until = '2026-05-02'", "a row of threshold_decisions has expired since"),
        # the day of the build was its last day
        ("update threshold_decisions set valid_until = '2026-05-01'", "a row of threshold_decisions has expired since"),
        (
            "create table fct_calibration_validity as select timestamp '2026-05-01 10:01' as valid_until",
            "a row of fct_calibration_validity has expired since",
        ),
        ("create or replace view raw_relations as select 'q' as relation_name, 'far.away.q' as relation", FAR),
        ("insert into hcat_builds values ('b', 'started', '2026-05-02', 2)", "the last build was killed"),
        (
            "insert into hcat_builds values ('b', 'ended', '2026-05-02', 2)",
            "the last build broke off, or was a part of a build",
        ),
        (
            "insert into int_rejections_counted values ('interactions', 'asked_at lies in the future')",
            "records were rejected because their time lay in the future, and it may have come",
        ),
        ("drop table hcat_inputs", "no earlier build says what it read"),
    ],
)
def test_what_the_warehouse_knows_makes_a_build_due(project: Path, sql: str, reason: str) -> None:
    change(project, sql)
    assert find_reason(project) == reason


def test_settings_make_a_build_due(project: Path) -> None:
    assert find_reason(project, environment={"HCAT_ENCODER": "other"}) == "new: settings (HCAT_ENCODER)"
    assert find_reason(project, variables="{hcat_random_seed: 2}") == "new: settings (--vars)"
    assert find_reason(project, is_full=True) == "asked for"
    assert find_reason(project, "--full-refresh") == "asked for"
    # the number of threads and a secret change no result
    said: list[str] = []
    publish(project)
    quiet = {"HCAT_THREADS": "1", "HCAT_LLM_API_KEY": "secret"}
    assert building.build(project, environment=quiet, say=said.append) == 0
    assert "secret" not in str(read(project, "select * from hcat_inputs"))


@pytest.mark.parametrize(
    ("names", "starts"),
    [
        (["seeds/risks.csv"], "risks"),
        (["logs/ratings_may.csv"], "base_ratings"),
        (["seeds/risks.csv", "logs/ratings_may.csv"], "base_ratings, risks"),
        (["logs/calls.jsonl"], "base_interactions, base_queries, base_relevance_judgements, base_retrievals"),
        # a new seed changes the models that dbt knows, and no model reads a file of this name
        (["seeds/new.csv"], None),
        (["seeds/risks.csv", "logs/notes.jsonl"], None),
    ],
)
def test_a_build_starts_where_something_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], starts: str | None
) -> None:
    (project / "seeds").mkdir()
    (project / "seeds" / "risks.csv").write_text("risk\n")
    given = inputs.read_inputs(project, [], None, {}).digests | building._digest_tables(find_place(project))
    building._remember(find_place(project), given)
    for name in names:
        (project / name).write_text("changed")
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(building.subprocess, "run", run)
    said: list[str] = []
    building.build(project, environment={}, say=said.append, entities_of=entities_of)
    selected = commands[0][commands[0].index("--select") + 1 :]
    if starts is None:
        assert selected == ["+package:hcat"]
        assert "; from" not in said[0]
    else:
        landing = ["landed_records,+package:hcat"] if "base_" in starts else []
        built = [f"{name}+,+package:hcat" for name in [*starts.split(", "), "fqn:hcat.gates"]]
        assert selected == [*landing, *built]
        assert said[0].endswith(f"; from {starts} on")


@pytest.mark.parametrize(
    ("name", "setting", "only_changed", "keeps_copies"),
    [
        ("logs/calls.jsonl", "", "1", "1"),
        ("seeds/risks.csv", "", "", "1"),
        # what is masked now must not stay in a copy
        ("seeds/privacy_entity_types.csv", "", "", ""),
        # scores that the logs do not decide
        ("logs/calls.jsonl", ", hcat_own_metrics: [mine]", "", ""),
        ("logs/calls.jsonl", ", hcat_judge: true", "", ""),
    ],
)
def test_only_changed_interactions_are_written_where_nothing_but_logs_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, setting: str, only_changed: str, keeps_copies: str
) -> None:
    (project / "seeds").mkdir()
    for seed in ("risks", "privacy_entity_types"):
        (project / "seeds" / f"{seed}.csv").write_text("name\n")
    settings = (project / "dbt_project.yml").read_text()
    (project / "dbt_project.yml").write_text(settings.replace("hcat_raw_logs: logs", f"hcat_raw_logs: logs{setting}"))
    environments: list[dict[str, str]] = []
    commands: list[list[str]] = []

    def run(command: list[str], env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        environments.append(env)
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(building.subprocess, "run", run)
    # as in hcat's own project: views and seeds stay, and every data test runs
    monkeypatch.setattr(building, "is_own_project", lambda _: True)
    for text in ("first", "second"):
        building.build(project, environment={"HCAT_ONLY_CHANGED": "1"}, say=print)
        (project / name).write_text(text)
    building.build(project, environment={"HCAT_ONLY_CHANGED": "1"}, say=print)
    # a changed project comes first: whatever an environment says, it writes everything
    assert [environment["HCAT_ONLY_CHANGED"] for environment in environments] == ["", only_changed, only_changed]
    assert ["package:hcat,config.materialized:view" in command for command in commands] == [
        environment["HCAT_ONLY_CHANGED"] == "1" for environment in environments
    ]
    # published tables stay where the code and all settings are those of the last build
    assert [environment["HCAT_KEEPS_COPIES"] for environment in environments] == ["", keeps_copies, keeps_copies]
    building.build(project, environment={}, say=print, is_full=True)
    assert [environments[-1][name] for name in ("HCAT_ONLY_CHANGED", "HCAT_KEEPS_COPIES")] == ["", ""]


@pytest.mark.parametrize(("published", "only_changed"), [(True, "1"), (False, "")])
def test_a_night_after_failing_gates_writes_what_changed_if_all_tables_were_written(
    project: Path, monkeypatch: pytest.MonkeyPatch, published: bool, only_changed: str
) -> None:
    environments: list[dict[str, str]] = []

    def fail(command: list[str], env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        environments.append(env)
        number = len(environments)
        change(
            project,
            f"insert into hcat_builds values ('failed_{number}', 'ended', '2026-05-02 10:00', {number + 1});"
            f"insert into dim_runs values ('failed_{number}', null, '2026-05-02 10:00', false, {number + 1})",
        )
        if published:
            candidate = project / "warehouse" / "published" / "candidate"
            candidate.mkdir(parents=True, exist_ok=True)
            change(project, f"copy dim_runs to '{candidate}/dim_runs.parquet'")
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(building.subprocess, "run", fail)
    said: list[str] = []
    for text in ("one", "two"):
        (project / "logs" / "calls.jsonl").write_text(text)
        assert building.build(project, environment={}, say=said.append) == 1
    reason = "the last build did not pass" if published else "the last build broke off, or was a part of a build"
    assert said == ["hcat build: new: raw logs (calls.jsonl)", f"hcat build: {reason}"]
    assert [environment["HCAT_ONLY_CHANGED"] for environment in environments] == ["1", only_changed]


def test_a_build_that_did_not_start_is_not_taken_for_one_that_wrote_tables(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate = project / "warehouse" / "published" / "candidate"
    candidate.mkdir(parents=True)
    change(project, f"copy dim_runs to '{candidate}/dim_runs.parquet'")
    environments: list[dict[str, str]] = []

    def fail(command: list[str], env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        environments.append(env)
        return subprocess.CompletedProcess(command, 2)

    monkeypatch.setattr(building.subprocess, "run", fail)
    said: list[str] = []
    (project / "models").mkdir()
    (project / "models" / "mine.sql").write_text("select 1")
    for _ in range(2):
        assert building.build(project, environment={}, say=said.append) == 2
    assert said == ["hcat build: new: project (models/mine.sql)"] * 2
    assert [environment["HCAT_ONLY_CHANGED"] for environment in environments] == ["", ""]


def test_a_part_of_a_build_is_refused(project: Path) -> None:
    with pytest.raises(building.BuildError, match=r"^--select builds a part: call `dbt build --select ...` for that$"):
        building.build(project, arguments=["--select", "dim_runs"], environment={}, say=print)


def test_a_model_that_takes_the_place_of_files_is_known_only_by_a_build(project: Path) -> None:
    settings = (project / "dbt_project.yml").read_text()
    (project / "dbt_project.yml").write_text(settings.replace("raw_queries", "{ref: my_queries}"))
    assert find_reason(project) == "what the model my_queries holds is known when it is built"


def test_a_source_that_a_model_reads_is_known_only_by_a_build(project: Path) -> None:
    (project / "models").mkdir()
    (project / "models" / "own_metric.sql").write_text("select * from {{ source('bank', 'answers') }}")
    assert find_reason(project) == "what models/own_metric.sql reads from a source is known when it is built"


def test_settings_that_name_environment_variables_are_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANK", "logs")
    settings = (project / "dbt_project.yml").read_text()
    named = settings.replace("hcat_raw_logs: logs", "hcat_raw_logs: \"{{ env_var('BANK') }}\"")
    (project / "dbt_project.yml").write_text(named + "model-paths: [\"{{ env_var('BANK') }}/models\"]\n")
    (project / "logs" / "models").mkdir()
    (project / "logs" / "models" / "mine.sql").write_text("select 1")
    read = inputs.read_inputs(project, [], None, {}).digests
    assert {("raw logs", "calls.jsonl"), ("project", "logs/models/mine.sql")} <= read.keys()


def test_what_comes_while_a_build_runs_is_new_for_the_next_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        change(project, "insert into raw_queries values (2)")
        (project / "logs" / "late.jsonl").write_text("{}")
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(building.subprocess, "run", run)
    assert building.build(project, is_full=True, environment={}, say=print) == 0
    assert find_reason(project) == "new: raw logs (late.jsonl); tables (raw_queries)"
