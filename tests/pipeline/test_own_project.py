"""hcat as a package of somebody's own dbt project: what `hcat init` makes, with the models of the example.

hcat is an installed wheel, which needs no repository, and the build has the standard profile.
"""

import json
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import duckdb
import pytest
from builds import REPOSITORY, environment_without_settings, run_dbt_in

EXAMPLE = REPOSITORY / "examples" / "own_project"


def connect(project: Path) -> duckdb.DuckDBPyConnection:
    """Open the warehouse of the project in the schema of hcat."""
    warehouse = duckdb.connect(str(project / "warehouse" / "hcat.duckdb"), read_only=True)
    warehouse.execute("set schema = 'main_hcat'")
    return warehouse


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an installed wheel, whose sources are gone."""
    folder = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns(
        ".*", "warehouse", "target", "dbt_packages", "benchmarks", "docs", "build", "logs"
    )
    shutil.copytree(REPOSITORY, folder / "sources", ignore=left_out)
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    wheel += ["--wheel-dir", str(folder)]
    subprocess.run([*wheel, str(folder / "sources")], check=True, timeout=300)
    shutil.rmtree(folder / "sources")
    shutil.unpack_archive(next(folder.glob("hcat_eval-*.whl")), folder / "site", "zip")
    return folder / "site"


@pytest.fixture(scope="module")
def project(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "evaluation"
    environment = environment_without_settings() | {"PYTHONPATH": str(site)}
    run = partial(subprocess.run, env=environment, capture_output=True, text=True, timeout=600, check=False)
    hcat = [sys.executable, "-m", "hcat.cli"]
    done = run([*hcat, "init", str(folder), "--logs", str(EXAMPLE / "raw_logs")], cwd=folder.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(site / "hcat" / "dbt_project") in (folder / "packages.yml").read_text()
    for name in ("models", "seeds"):
        shutil.copytree(EXAMPLE / name, folder / name, dirs_exist_ok=True)
    settings = re.sub(r"hcat_profile: \w+", "hcat_profile: standard", (folder / "dbt_project.yml").read_text())
    settings = re.sub(r"hcat_modules: .*", "hcat_modules: {}", settings)
    for line in (EXAMPLE / "README.md").read_text().split("```yaml\n")[1].split("```")[0].splitlines():
        empty = re.sub(r": (\[|\{).*", lambda found: ": []" if found[1] == "[" else ": {}", line)
        assert empty in settings
        settings = settings.replace(empty, line)
    (folder / "dbt_project.yml").write_text(settings)
    run_dbt_in(folder, "deps")
    # the release gate of a project stops the build: a quarter of four answers is wrong, and four show nothing
    done = run([*hcat, "build"], cwd=folder)
    assert (done.returncode, "(error) answers_release: " in done.stdout) == (1, True), done.stdout + done.stderr
    # what reads the marts is the project's own
    run_dbt_in(folder, "build", "--selector", "without_hcat")
    return folder


def test_an_installed_wheel_builds_the_standard_profile(project):
    with connect(project) as warehouse:
        settings = json.loads(warehouse.sql("select settings from dim_runs").fetchall()[0][0])
    assert settings["modules_off"] == ["bias", "representativeness", "robustness", "selfcheck"]


def test_the_nested_calls_are_evaluated(project):
    with connect(project) as warehouse:
        scores = warehouse.sql(
            "select interaction_id, raw_score from fct_evaluations where metric_name = 'support_numbers' order by 1"
        ).fetchall()
        # call-2 says 9 euros where its context says 12; call-3 declines without context
        assert scores == [("call-1", 1.0), ("call-2", 0.0), ("call-3", None), ("call-4", 1.0)]
        topics = warehouse.sql("select distinct topic, topic_source from fct_interactions order by 1").fetchall()
        assert ("fees", "logged_tag") in topics


def test_own_gates_replace_the_package_seed_and_own_models_read_the_marts(project):
    with duckdb.connect(str(project / "warehouse" / "published" / "hcat.duckdb"), read_only=True) as published:
        gates = published.sql("select gate_name, verdict from fct_threshold_gates order by 1").fetchall()
    # those for which four calls hold enough: none of them is left without a verdict
    names = ["answers_present", "evaluations_complete", "no_leaked_identifiers", "no_leaked_personal_data"]
    passed = [(name, "passed") for name in [*names, "records_accepted"]]
    assert [gate for gate in gates if gate[1] == "passed"] == passed
    assert {name for name, _ in gates} == {*(name for name, _ in passed), "answers_release", "no_segment_fails"}
    with connect(project) as warehouse:
        assert warehouse.sql("select count(*) from main.weakest_segments").fetchall()[0][0] >= 1


def test_own_metrics_and_dimensions_stand_beside_the_shipped_ones(project):
    with connect(project) as warehouse:
        scores = warehouse.sql(
            "select metric_name, interaction_id, raw_score, score_status from fct_evaluations"
            " where metric_name in ('answer_words', 'complete_ending') order by 1, 2"
        ).fetchall()
        words = [("call-1", 7.0), ("call-2", 6.0), ("call-3", 10.0), ("call-4", 7.0)]
        assert scores == [
            *[("answer_words", call, count, "scored") for call, count in words],
            *[("complete_ending", call, 1.0, "scored") for call, _ in words],
        ]
        assert warehouse.sql("select unit from dim_metrics where metric_name = 'answer_words'").fetchall() == [
            ("words",)
        ]
        segments = warehouse.sql(
            "select segment, count_interactions, mean_score from fct_marginal_weaknesses"
            " where metric_name = 'answer_words' and dimension = 'question_length' order by 1"
        ).fetchall()
        assert segments == [("long", 2, 7.0), ("short", 2, 8.0)]


def test_nothing_of_the_demo_is_in_the_results(project):
    demo = REPOSITORY / "demo" / "seeds"
    with connect(project) as warehouse:
        tables = {
            name
            for (name,) in warehouse.sql(
                "select table_name from duckdb_tables() where schema_name = current_schema()"
            ).fetchall()
        }
        for table in sorted(tables):
            found = warehouse.sql(f"select count(*) from \"{table}\" as found where found::text ilike '%harbourlight%'")
            assert found.fetchall() == [(0,)], table
        # the gates are the project's own; those of the demo and of a user may be equal
        for seed in {path.stem for path in demo.glob("*.csv")} & tables - {"threshold_gates", "threshold_decisions"}:
            assert warehouse.sql(f"select count(*) from {seed}").fetchall() == [(0,)], seed
        assert {"applications", "risks", "safety_texts"} <= tables
        assert warehouse.sql("select count(*) from landed_records where entity = 'documents'").fetchall() == [(0,)]
