"""hcat as a package of a project that has names, schemas and models of its own (integration_tests)."""

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from builds import copy_bank, query, run_dbt_in, run_hcat
from old_warehouse import restore
from test_upgrade import REMEMBERED, SAID, lost_rows

SHARED = ("dim_documents", "fct_evaluations", "risks")


def read(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(folder / "warehouse" / "warehouse_of_the_bank.duckdb"), read_only=True) as warehouse:
        return warehouse.sql(sql).fetchall()


def log_calls(folder: Path, first: int, last: int) -> None:
    """Add calls with one passage each to the table of the assistant; every tenth has no reply."""
    with duckdb.connect(str(folder / "warehouse" / "warehouse_of_the_bank.duckdb")) as warehouse:
        warehouse.execute("create schema if not exists bank")
        warehouse.execute(
            "create table if not exists bank.retrieved_passages"
            " (interaction_id varchar, question varchar, reply varchar, called_at timestamp, rank int, text varchar)"
        )
        for number in range(first, last):
            reply = None if number % 10 == 9 else f"The fee of plan {number} is {number} euros."
            warehouse.execute(
                "insert into bank.retrieved_passages values (?, ?, ?, timestamp '2026-05-01' + to_hours(?), 1, ?)",
                [f"c{number}", f"What does plan {number} cost?", reply, number, f"Plan {number} costs {number} euros."],
            )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project after one build over 20 calls, 18 of them answered."""
    folder = copy_bank(tmp_path_factory.mktemp("package"))
    (folder / "warehouse").mkdir()
    log_calls(folder, 0, 20)
    run_dbt_in(folder, "deps")
    run_dbt_in(folder, "build")
    return folder


def test_hcat_has_a_schema_of_its_own_and_leaves_the_tables_of_the_project_alone(project: Path) -> None:
    for name in SHARED:
        assert read(project, f"select name from bank.{name}") == [(f"{name} of the bank",)]
    assert read(project, "select count(*) from bank_evaluation.fct_interactions") == [(18,)]
    own = {"answered_calls", "answer_words", "logged_calls", "own_metrics", "retrieved_passages", "threshold_gates"}
    tables = read(project, "select table_name from information_schema.tables where table_schema = 'bank'")
    assert {name for (name,) in tables} == own | set(SHARED)


def test_own_seeds_and_metrics_count(project: Path) -> None:
    gates = read(project, "select gate_name, verdict from bank_evaluation.fct_threshold_gates order by 1")
    assert gates == [("answers_present", "passed"), ("records_accepted", "passed")]
    words = "select count(*), max(raw_score) from bank_evaluation.fct_evaluations where metric_name = 'answer_words'"
    assert read(project, words) == [(18, 8.0)]


def test_commands_find_file_and_schema_by_the_profile(project: Path) -> None:
    said = run_hcat("summary", folder=project)
    assert "target duckdb of profile integration_tests" in said
    assert "18 from 18 clusters" in " ".join(said.split())
    assert "switched off bias, calibration," in " ".join(said.split())
    run_hcat("report", folder=project)
    assert (project / "warehouse" / "report.html").stat().st_size > 10_000
    said = run_hcat("summary", "--schema", "bank", folder=project, expected=2)
    assert "no build of hcat in schema bank (has: bank_evaluation)" in said


def test_a_model_of_the_project_alone_runs_without_hcat(project: Path) -> None:
    before = read(project, "select count(*) from bank_evaluation.hcat_builds")
    run_dbt_in(project, "--quiet", "build", "--select", "package:integration_tests")
    assert read(project, "select count(*) from bank_evaluation.hcat_builds") == before


def test_a_build_reads_what_its_models_make_in_the_same_build(project: Path) -> None:
    log_calls(project, 20, 30)
    run_dbt_in(project, "--quiet", "build", "--select", "+fct_interactions", "--exclude-resource-type", "test")
    assert read(project, "select count(*) from bank.answered_calls") == [(27,)]
    assert read(project, "select count(*) from bank_evaluation.fct_interactions") == [(27,)]


def test_a_seed_whose_columns_have_changed_is_loaded_anew(project: Path) -> None:
    seeds = ("bank.threshold_gates", "bank_evaluation.metric_catalog")
    before = [read(project, f"describe {seed}") for seed in seeds]
    with duckdb.connect(str(project / "warehouse" / "warehouse_of_the_bank.duckdb")) as warehouse:
        # as an earlier version had them: without a column, and with one more
        warehouse.execute("alter table bank.threshold_gates drop column rationale")
        warehouse.execute("alter table bank_evaluation.metric_catalog add column formula varchar")
    run_dbt_in(project, "--quiet", "seed", "--select", "threshold_gates", "metric_catalog")
    assert [read(project, f"describe {seed}") for seed in seeds] == before


def test_a_gate_of_a_module_that_is_switched_off_stops_the_build_in_one_line(project: Path) -> None:
    seed = project / "seeds" / "threshold_gates.csv"
    text = seed.read_text()
    try:
        seed.write_text(f"{text}no_bias,count_bias_gaps,,,,at_most,0,,1,,warn,prove_safe,Groups are treated alike\n")
        said = run_dbt_in(project, "--quiet", "build", "--select", "dim_metrics", expected=2)
    finally:
        seed.write_text(text)
    assert "the gate no_bias asks for count_bias_gaps, and its module bias is switched off" in said


def test_shared_names_without_the_flag_of_dbt_are_one_line(project: Path, tmp_path: Path) -> None:
    settings = project / "dbt_project.yml"
    text = settings.read_text()
    try:
        settings.write_text("\n".join(line for line in text.splitlines() if not line.startswith("flags:")))
        # a folder of its own: the project stays parsed as it was
        words = ["--quiet", "build", "--select", "dim_metrics", "--target-path", str(tmp_path)]
        said = run_dbt_in(project, *words, expected=2)
    finally:
        settings.write_text(text)
    assert "hcat and your project both have fct_evaluations: add flags:" in said


def test_an_upgrade_moves_the_tables_of_hcat_to_its_own_schema_and_leaves_those_of_the_project(
    project: Path, tmp_path: Path
) -> None:
    database, untouched = project / "warehouse" / "warehouse_of_the_bank.duckdb", tmp_path / "hcat.duckdb"
    restore(untouched)
    # what 0.1.0 left in the schema of the project, in the place of all that was built here
    shutil.rmtree(project / "warehouse")
    restore(database, "bank")
    assert SAID in run_dbt_in(project, "build", "--select", "dim_metrics", expected=2)
    said = run_hcat("upgrade", folder=project)
    assert "move bank.dim_runs with 2 rows to bank_evaluation" in said
    # the project has models of these names, and its next build replaces them
    left = read(project, "select table_name from information_schema.tables where table_schema = 'bank' order by 1")
    assert left == [(name,) for name in ("dim_documents", "fct_evaluations", "risks", "threshold_gates")]
    for table in REMEMBERED:
        assert lost_rows(untouched, database, "bank_evaluation", table) == 0, table
    kept = "select count(*) from duckdb_constraints() where table_name = 'dim_runs'"
    assert read(project, kept) == query(untouched, kept)
    run_dbt_in(project, "build", "--select", "+dim_metrics", "--exclude-resource-type", "test")
