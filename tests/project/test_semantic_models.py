"""The semantic model: valid for MetricFlow and documented. Recipes of analysis run, and pages say what commands do."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest
from builds import DEMO, REPOSITORY, run_dbt


@pytest.fixture(scope="module")
def semantic(manifest: dict[str, Any], target: Path) -> dict[str, Any]:
    assert manifest["semantic_models"]
    return json.loads((target / "semantic_manifest.json").read_text(encoding="utf-8"))


# ---------------------------------------------------------------------------------------------------------------------
# Form


def test_the_semantic_manifest_holds_what_bi_tools_ask_for(semantic: dict[str, Any]) -> None:
    # dbt itself refuses one that is not valid
    assert {model["name"] for model in semantic["semantic_models"]} == {
        "interactions",
        "evaluations",
        "metrics",
        "gates",
    }
    assert len(semantic["metrics"]) > 20
    (spine,) = semantic["project_configuration"]["time_spines"]
    assert spine["primary_column"] == {"name": "day", "time_granularity": "day"}


def test_everything_that_a_bi_tool_shows_is_described(semantic: dict[str, Any], manifest: dict[str, Any]) -> None:
    silent = [
        f"{model['name']}.{part['name']}"
        for model in semantic["semantic_models"]
        for part in (model, *model["entities"], *model["dimensions"], *model["measures"])
        if not part["description"]
    ]
    silent += [metric["name"] for metric in semantic["metrics"] if not (metric["description"] and metric["label"])]
    silent += [one["name"] for one in manifest["exposures"].values() if not one["description"]]
    assert silent == []


def test_views_of_the_semantic_layer_are_documented_column_by_column(manifest: dict[str, Any], warehouse: Path) -> None:
    views = [
        node
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["original_file_path"].startswith("models/semantic/")
    ]
    assert {view["name"] for view in views} == {"semantic_evaluations", "time_spine_days"}
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        for view in views:
            columns = [row[0] for row in connection.execute(f"describe {view['name']}").fetchall()]
            assert columns == list(view["columns"]), view["name"]
            assert all(column["description"] for column in view["columns"].values())


def test_every_column_of_the_published_copy_is_described(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse.parent / "published" / "hcat.duckdb"), read_only=True) as copy:
        silent = copy.sql("""
            select table_name, null as column_name from duckdb_tables() where comment is null
            union all
            select table_name, column_name from duckdb_columns() where comment is null and not internal
        """).fetchall()
        assert len(copy.sql("show tables").fetchall()) > 20
    assert silent == []


def test_the_docs_site_shows_public_models_alone_and_one_tag_names_all_of_hcat(manifest: dict[str, Any]) -> None:
    nodes = [node for node in manifest["nodes"].values() if node["resource_type"] in ("model", "seed", "test")]
    assert [node["name"] for node in nodes if "hcat" not in node["tags"]] == []
    shown = {node["name"] for node in nodes if node["resource_type"] != "test" and node["docs"]["show"]}
    public = {node["name"] for node in nodes if node["resource_type"] == "model" and node["access"] == "public"}
    assert shown == public


def test_exposures_read_marts_and_what_is_published(manifest: dict[str, Any]) -> None:
    lists = [node for node in manifest["nodes"].values() if node["name"].startswith("published_")]
    published = {parent for node in lists for parent in node["depends_on"]["nodes"]}
    assert len(manifest["exposures"]) >= 5
    for exposure in manifest["exposures"].values():
        assert exposure["owner"]["name"]
        for parent in exposure["depends_on"]["nodes"]:
            is_view = manifest["nodes"][parent]["original_file_path"].startswith("models/semantic/")
            assert parent in published or is_view, f"{exposure['name']} reads {parent}, which is not published"


def test_every_mart_has_a_reader_and_the_report_names_all_that_it_reads(manifest: dict[str, Any]) -> None:
    readers = {
        exposure["name"]: {manifest["nodes"][parent]["name"] for parent in exposure["depends_on"]["nodes"]}
        for exposure in manifest["exposures"].values()
    }
    nodes = manifest["nodes"].values()
    marts = {node["name"] for node in nodes if node["resource_type"] == "model" and node["access"] == "public"}
    assert sorted(marts - set().union(*readers.values())) == []
    room = REPOSITORY / "python_udfs" / "hcat" / "report"
    report = "\n".join(path.read_text(encoding="utf-8") for kind in ("*.py", "*.sql") for path in room.rglob(kind))
    read = {mart for mart in marts if re.search(rf"\b{mart}\b", report)}
    of_jobs = {"test_set", "grammar_queries", "judges"}
    named = set().union(*(readers[name] for name in {"validation_report", *of_jobs}))
    assert sorted(read - named) == []


def test_the_time_spine_has_every_day_once(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        days = [day for (day,) in connection.execute("select day from time_spine_days order by day").fetchall()]
        (first,) = connection.execute("select min(asked_at)::date from fct_interactions").fetchone()
        (last,) = connection.execute("select max(evaluated_at)::date from fct_threshold_gates").fetchone()
    assert (days[0], days[-1]) == (first, last)
    assert len(days) == len(set(days)) == (last - first).days + 1


# ---------------------------------------------------------------------------------------------------------------------
# Recipes

RECIPES = sorted(path.stem for path in (REPOSITORY / "analyses").glob("*.sql"))

#: Recipes that have rows on every build of the demo.
WITH_ROWS = {
    "compare_two_builds",
    "compare_two_versions",
    "drift",
    "drill_into_a_weak_cell",
    "score_violins",
    "weakness_heatmap",
}

#: Recipes that read two warehouses, and more than is published.
OF_TWO_WAREHOUSES = {"compare_findings_of_two_builds"}


@pytest.fixture(scope="module")
def compiled(plain_target: Path, warehouse: Path) -> Path:
    exit_code, output = run_dbt(["compile", "--select", "path:analyses"], DEMO, warehouse.parent, plain_target)
    assert exit_code == 0, output
    return plain_target / "compiled" / "hcat" / "analyses"


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_run(recipe: str, compiled: Path, warehouse: Path, tmp_path: Path) -> None:
    sql = (compiled / f"{recipe}.sql").read_text(encoding="utf-8")
    is_published = recipe not in OF_TWO_WAREHOUSES
    database = warehouse.parent / "published" / "hcat.duckdb" if is_published else warehouse
    with duckdb.connect(str(database), read_only=True) as connection:
        if not is_published:
            # the same build twice: one file cannot be attached under two names
            shutil.copyfile(warehouse, tmp_path / "other.duckdb")
            connection.execute(f"attach '{tmp_path / 'other.duckdb'}' as other (read_only)")
        result = connection.sql(sql)
        names, rows = result.columns, result.fetchall()
    assert len(set(names)) == len(names) > 1
    if recipe in WITH_ROWS:
        assert rows


# ---------------------------------------------------------------------------------------------------------------------
# Documentation


def test_documented_selectors_select_something(plain_target: Path, tmp_path: Path) -> None:
    text = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
    commands = re.findall(
        r"^dbt (?:build|test|run|compile|ls) .*?(--select [^#\n]+|--exclude [^#\n]+)", text, re.MULTILINE
    )
    selections = sorted({" ".join(words.split()) for words in commands})
    assert len(selections) >= 5
    for selection in selections:
        words = ["ls", "--resource-type", "all", *selection.split()]
        exit_code, output = run_dbt(words, DEMO, tmp_path, plain_target)
        assert exit_code == 0, f"`{selection}`: {output}"
        assert "No nodes selected" not in output, f"`{selection}` selects nothing"


def test_documented_exit_codes_name_every_command() -> None:
    from hcat.cli import app

    text = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
    commands = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        commands += [f"{group.name} {command.name}" for command in group.typer_instance.registered_commands]
    assert {"alert", "report", "summary", "labels export"} <= set(commands)
    assert [command for command in commands if f"| `hcat {command}" not in text] == []


def test_the_documented_nightly_script_alerts_whatever_the_build_says(tmp_path: Path) -> None:
    text = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```bash\n(#!/usr/bin/env bash\n.*?)```", text, re.DOTALL)
    home, data, secrets = tmp_path / "srv", tmp_path / "data", tmp_path / "etc"
    for folder in (home / ".venv" / "bin", data / "logs", secrets):
        folder.mkdir(parents=True)
    (secrets / "webhook").write_text("https://hooks.example.com/secret\n")
    script = script.replace("/srv/hcat", str(home)).replace("/data", str(data)).replace("/etc/hcat", str(secrets))
    program = home / ".venv" / "bin" / "hcat"
    program.write_text(
        '#!/bin/sh\necho "hcat $1 ${HCAT_ALERT_WEBHOOK-no secret}"\n'
        'case "$1" in alert) exit "$ALERT";; build) exit "$BUILD";; explore) exit "$EXPLORE";; esac\n'
    )
    program.chmod(0o755)
    (data / "warehouse").mkdir()
    for build, alert, explore in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 2, 0), (0, 0, 2)):
        page = data / "warehouse" / "explorer.html"
        page.touch()
        environment = {**os.environ, "BUILD": str(build), "ALERT": str(alert), "EXPLORE": str(explore)}
        ran = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, check=False, timeout=60)
        assert ran.returncode == max(build, alert, explore), ran.stderr
        assert page.is_file() == (explore == 0), "yesterday's page beside today's report"
        assert ran.stdout + ran.stderr == b""
        (log,) = (data / "logs").glob("build_*.log")
        assert log.read_text().splitlines() == [
            "hcat build no secret",
            "hcat explore no secret",
            "hcat report no secret",
            "hcat summary no secret",
            "hcat alert https://hooks.example.com/secret",
        ]
        log.unlink()
