"""hcat as a package of somebody's own dbt project: what `hcat init` makes, with the models of the example."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from builds import environment_without_settings, run_dbt_in

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "own_project"
HCAT = str(Path(sys.executable).parent / "hcat")


def connect(project: Path) -> duckdb.DuckDBPyConnection:
    """Open the warehouse of the project in the schema of hcat."""
    warehouse = duckdb.connect(str(project / "warehouse" / "hcat.duckdb"), read_only=True)
    warehouse.execute("set schema = 'main_hcat'")
    return warehouse


def run(arguments: list[str], folder: Path, *, expected: int = 0, **variables: str) -> str:
    environment = environment_without_settings()
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    result = subprocess.run(
        arguments, cwd=folder, env=environment | variables, capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == expected, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own") / "evaluation"
    run([HCAT, "init", str(folder), "--logs", str(EXAMPLE / "raw_logs")], ROOT)
    for name in ("models", "seeds"):
        shutil.copytree(EXAMPLE / name, folder / name, dirs_exist_ok=True)
    settings = (folder / "dbt_project.yml").read_text()
    for line in (EXAMPLE / "README.md").read_text().split("```yaml\n")[1].split("```")[0].splitlines():
        empty = re.sub(r": (\[|\{).*", lambda found: ": []" if found[1] == "[" else ": {}", line)
        assert empty in settings
        settings = settings.replace(empty, line)
    (folder / "dbt_project.yml").write_text(settings)
    run_dbt_in(folder, "deps")
    # the release gate of a project stops the build: a quarter of four answers is wrong, and four show nothing
    said = run([HCAT, "build"], folder, expected=1)
    assert "(error) answers_release: " in said
    # what reads the marts is the project's own
    run_dbt_in(folder, "build", "--selector", "without_hcat")
    return folder


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
    demo = ROOT / "demo" / "seeds"
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


def test_report_and_summary_run_in_the_own_project(project):
    run([HCAT, "report"], project)
    assert (project / "warehouse" / "report.html").stat().st_size > 10_000
    summary = run([HCAT, "summary"], project)
    assert "assistant, candidate 2.3" in summary
