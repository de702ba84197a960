"""The semantic model: valid for MetricFlow, documented, and its metrics mean what the marts say. Recipes run."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from builds import DEMO, REPOSITORY, dbt_environment, link_folders, run_dbt

#: SQL of the aggregations of MetricFlow.
AGGREGATIONS = {
    "count": "count({})",
    "count_distinct": "count(distinct {})",
    "sum": "sum({})",
    "sum_boolean": "sum(case when {} then 1 else 0 end)",
    "average": "avg({})",
}

#: A dimension in a filter of the manifest.
FILTER = re.compile(r"\{\{ (?:Time)?Dimension\('(?P<entity>\w+)__(?P<dimension>\w+)'\) \}\}")


@pytest.fixture(scope="module")
def semantic(manifest: dict[str, Any], target: Path) -> dict[str, Any]:
    """Return the semantic manifest that dbt writes for semantic layers."""
    assert manifest["semantic_models"]
    return json.loads((target / "semantic_manifest.json").read_text(encoding="utf-8"))


#: What the marts of weaknesses read.
RELEASED = ("interactions.is_in_release_population",)


class Reader:
    """A semantic layer of forty lines: it turns a metric of the manifest into SQL over the relations of its models."""

    def __init__(self, semantic: dict[str, Any]) -> None:
        self.metrics = {metric["name"]: metric for metric in semantic["metrics"]}
        self.models = {model["name"]: model for model in semantic["semantic_models"]}
        self.owners = {
            measure["name"]: (model, measure) for model in self.models.values() for measure in model["measures"]
        }

    def relation(self, model: dict[str, Any]) -> str:
        """Return the relation of a semantic model with its foreign entities joined."""
        sql = f"{model['node_relation']['relation_name']} as {model['name']}"
        for entity in model["entities"]:
            for other in self.models.values():
                keys = [
                    one["expr"]
                    for one in other["entities"]
                    if (one["name"], one["type"]) == (entity["name"], "primary")
                ]
                if keys and other is not model:
                    relation = other["node_relation"]["relation_name"]
                    sql += (
                        f" left join {relation} as {other['name']}"
                        f" on {model['name']}.{entity['expr']} = {other['name']}.{keys[0]}"
                    )
        return sql

    def column(self, entity: str, dimension: str) -> str:
        """Return the column of a dimension, qualified by the model whose primary entity it belongs to."""
        for model in self.models.values():
            if any((one["name"], one["type"]) == (entity, "primary") for one in model["entities"]):
                (found,) = [one for one in model["dimensions"] if one["name"] == dimension]
                return f"{model['name']}.{found['expr'] or dimension}"
        raise AssertionError(f"no semantic model has the primary entity {entity}")

    def where(self, metric: dict[str, Any]) -> list[str]:
        filters = (metric["filter"] or {}).get("where_filters", [])
        return [
            FILTER.sub(lambda found: self.column(found["entity"], found["dimension"]), one["where_sql_template"])
            for one in filters
        ]

    def query(
        self, connection: duckdb.DuckDBPyConnection, name: str, by: str | None = None, filters: tuple[str, ...] = ()
    ) -> dict[Any, Any]:
        """Return the value of a metric by the values of one dimension, named ``entity__dimension``."""
        metric = self.metrics[name]
        parameters = metric["type_params"]
        own = (*filters, *self.where(metric))
        if metric["type"] == "ratio":
            top = self.query(connection, parameters["numerator"]["name"], by, own)
            bottom = self.query(connection, parameters["denominator"]["name"], by, own)
            return {key: (top.get(key) or 0) / below if below else None for key, below in bottom.items()}
        if metric["type"] == "derived":
            (inner,) = parameters["metrics"]
            values = self.query(connection, inner["name"], by, own)
            formula = parameters["expr"].replace(inner["name"], "?")
            return {
                key: connection.execute(f"select {formula}", [value]).fetchone()[0] for key, value in values.items()
            }
        assert metric["type"] == "simple"
        model, measure = self.owners[parameters["measure"]["name"]]
        value = AGGREGATIONS[measure["agg"]].format(f"({model['name']}.{measure['expr']})")
        key = self.column(*by.split("__")) if by else "'all'"
        where = f" where {' and '.join(own)}" if own else ""
        return dict(
            connection.execute(f"select {key}, {value} from {self.relation(model)}{where} group by 1").fetchall()
        )


@pytest.fixture(scope="module")
def reader(semantic: dict[str, Any]) -> Reader:
    """Return the reader of the semantic manifest."""
    return Reader(semantic)


def agree(one: dict[Any, Any], other: dict[Any, Any]) -> None:
    """Assert that two metrics have the same keys and, to rounding, the same values."""
    assert one.keys() == other.keys()
    assert other
    for key, value in other.items():
        if value is None:
            assert one[key] is None, key
        else:
            assert math.isclose(one[key], value, rel_tol=1e-9, abs_tol=1e-9), f"{key}: {one[key]} against {value}"


# ---------------------------------------------------------------------------------------------------------------------
# Form


def test_the_semantic_manifest_is_valid(semantic: dict[str, Any]) -> None:
    from dbt_semantic_interfaces.implementations.semantic_manifest import PydanticSemanticManifest
    from dbt_semantic_interfaces.validations.semantic_manifest_validator import SemanticManifestValidator

    parsed = PydanticSemanticManifest.parse_obj(semantic)
    issues = SemanticManifestValidator[PydanticSemanticManifest]().validate_semantic_manifest(parsed).all_issues
    assert [issue.as_readable_str() for issue in issues] == []
    assert {model.name for model in parsed.semantic_models} == {"interactions", "evaluations", "metrics", "gates"}
    assert len(parsed.metrics) > 20
    (spine,) = parsed.project_configuration.time_spines
    assert (spine.primary_column.name, spine.primary_column.time_granularity.value) == ("day", "day")


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


def test_every_column_of_the_published_copy_is_described(manifest: dict[str, Any], warehouse: Path) -> None:
    documented = {
        node["name"]: {column["name"] for column in node["columns"].values() if column["description"]}
        for node in manifest["nodes"].values()
        if node["resource_type"] in {"model", "seed"}
    }
    published = warehouse.parent / "published" / "hcat.duckdb"
    with duckdb.connect(str(published), read_only=True) as connection:
        columns = connection.execute(
            "select table_name, column_name from information_schema.columns order by all"
        ).fetchall()
    assert len({table for table, _ in columns}) > 20
    assert [f"{table}.{column}" for table, column in columns if column not in documented.get(table, set())] == []


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


# ---------------------------------------------------------------------------------------------------------------------
# Meaning


def marginal(connection: duckdb.DuckDBPyConnection, column: str, dimension: str, **equal: str) -> dict[Any, Any]:
    conditions = "".join(f" and {name} = '{value}'" for name, value in equal.items())
    key = "metric_name" if dimension == "all" else "segment"
    return dict(
        connection.execute(
            f"select {key}, {column} from fct_marginal_weaknesses where dimension = '{dimension}'{conditions}"
        ).fetchall()
    )


def test_metrics_by_name_are_those_of_the_weakness_mart(reader: Reader, warehouse: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        primary = {
            name
            for (name,) in connection.execute(
                "select metric_name from dim_metrics where is_primary and family <> 'verdict'"
            ).fetchall()
        }
        for metric, column in (
            ("share_failing", "share_failing"),
            ("mean_score", "mean_score"),
            ("count_scored", "count_scored"),
        ):
            values = reader.query(connection, metric, by="evaluation__metric_name", filters=RELEASED)
            expected = marginal(connection, column, "all")
            # the verdict is no row of evaluations
            expected.pop("verdict")
            # a metric that applies to no interaction has no cell
            agree({name: value for name, value in values.items() if name in expected}, expected)
            assert primary <= values.keys()
        decided = marginal(connection, "share_failing", "all")
        assert sum(value is not None for value in decided.values()) > 3
        failing = reader.query(connection, "share_failing", by="evaluation__metric_name")
        passing = reader.query(connection, "share_passing", by="evaluation__metric_name")
        agree(passing, {name: None if value is None else 1 - value for name, value in failing.items()})


def test_a_metric_by_a_dimension_of_another_model_is_the_cell_of_the_mart(reader: Reader, warehouse: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        for dimension in ("topic", "difficulty", "query_type"):
            # words are decided whatever the encoder; a metric with its name in the manifest is filtered by the manifest
            only_words = ("evaluations.metric_name = 'support_words'", *RELEASED)
            words = reader.query(connection, "share_failing", by=f"interaction__{dimension}", filters=only_words)
            grounded = reader.query(
                connection, "share_failing_groundedness", by=f"interaction__{dimension}", filters=RELEASED
            )
            for values, metric in ((words, "support_words"), (grounded, "groundedness")):
                expected = marginal(connection, "share_failing", dimension, metric_name=metric)
                agree({key: value for key, value in values.items() if key in expected}, expected)
                assert len(expected) > 1
            assert any(value for value in words.values())


def test_shares_of_interactions_are_the_means_of_their_indicators(reader: Reader, warehouse: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        means = marginal(connection, "mean_score", "all")
        assert math.isclose(
            reader.query(connection, "share_answered", filters=RELEASED)["all"], means["answered"], abs_tol=1e-9
        )
        # the metric `refusal` is missing_input where there is no answer
        refused, answered = (
            reader.query(connection, name, filters=RELEASED)["all"] for name in ("share_refused", "share_answered")
        )
        assert math.isclose(refused / answered, means["refusal"], abs_tol=1e-9)
        counts = connection.execute("select count(*), count(distinct cluster_id) from fct_interactions").fetchone()
        assert reader.query(connection, "count_interactions")["all"] == counts[0]
        assert reader.query(connection, "count_clusters")["all"] == counts[1]
        unduly = connection.execute(
            "select avg(is_refusal::integer) from fct_interactions where expected_behaviour = 'answer'"
        ).fetchone()
        assert unduly[0] > 0
        assert math.isclose(reader.query(connection, "share_refused_unduly")["all"], unduly[0])


def test_gates_are_those_of_the_ledger(reader: Reader, warehouse: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        ((gates, failing),) = connection.execute("select count_gates, count_gates_not_passing from dim_runs").fetchall()
        assert reader.query(connection, "count_gate_results")["all"] == gates > 0
        assert math.isclose(reader.query(connection, "share_gates_passing")["all"], 1 - failing / gates)


def test_labels_of_people_are_counted_once(reader: Reader, warehouse: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        expected = connection.execute(
            "select metric_name, avg(human_label) from fct_evaluations group by metric_name order by metric_name"
        ).fetchall()
        assert any(value is not None for _, value in expected)
        agree(reader.query(connection, "share_accepted", by="evaluation__metric_name"), dict(expected))


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
    """Return the folder of compiled recipes."""
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


#: Lists what selections select in one process, which parses the project once: (was it a success, count) of each.
LISTING = """
import json, sys
from dbt.cli.main import dbtRunner
folders = sys.argv[1:]
manifest = dbtRunner().invoke(["--quiet", "parse", *folders]).result
found = []
for selection in json.load(sys.stdin):
    arguments = ["--quiet", "ls", "--resource-type", "all", *selection.split(), *folders]
    listed = dbtRunner(manifest=manifest).invoke(arguments)
    found.append([listed.success, len(listed.result or [])])
print(json.dumps(found))
"""


def test_documented_selectors_select_something(plain_target: Path, tmp_path: Path) -> None:
    text = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
    commands = re.findall(
        r"^dbt (?:build|test|run|compile|ls) .*?(--select [^#\n]+|--exclude [^#\n]+)", text, re.MULTILINE
    )
    selections = sorted({" ".join(words.split()) for words in commands})
    assert len(selections) >= 5
    listed = subprocess.run(
        [sys.executable, "-c", LISTING, "--target-path", str(plain_target), "--log-path", str(plain_target)],
        cwd=REPOSITORY,
        env=dbt_environment(*link_folders(DEMO, tmp_path, plain_target)),
        input=json.dumps(selections),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert listed.returncode == 0, listed.stdout + listed.stderr
    found = json.loads(listed.stdout.splitlines()[-1])
    assert len(found) == len(selections)
    for selection, (is_success, count) in zip(selections, found, strict=True):
        assert is_success, f"`{selection}`: {listed.stdout}"
        assert count, f"`{selection}` selects nothing"


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
