"""The relational demo: its tables, what its documents leave out, and the faults of the application over it."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import yaml
from builds import REPOSITORY, load_script
from grammar_materials import texts_of

from hcat.engine.catalogue import describe_columns, describe_constraints
from hcat.engine.relations import select_runner
from hcat.grammar.materials import MAXIMUM_ROWS
from hcat.grammar.materials import gather as gather_materials
from hcat.grammar.queries import answer_fillings, fill_queries
from hcat.grammar.templates import make_templates
from hcat.robustness.groups import name_faulty_modules

FOLDER = REPOSITORY / "demo" / "relational"
NAMES = ("advice_desks", "branches", "channels", "fees", "products")


def read_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def read_seed(name: str, **kinds: Any) -> pa.Table:
    """Return a seed with its empty cells as nulls; ``kinds`` are the columns that are no text."""
    with (REPOSITORY / "demo" / "seeds" / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        rows = [
            {column: kinds.get(column, str)(value) if value else None for column, value in row.items()}
            for row in csv.DictReader(lines)
        ]
    return pa.Table.from_pylist(rows)


@pytest.fixture(scope="module")
def queries() -> list[dict[str, Any]]:
    """Return the queries of the demo with its own settings, made without dbt."""
    project = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text(encoding="utf-8"))["vars"]["hcat"]
    settings = {"random_seed": project["hcat_random_seed"], "generator": project["hcat_generator"]}
    with duckdb.connect(":memory:") as connection:
        for name in NAMES:
            connection.execute(f"create table {name} as from read_csv('{FOLDER / f'{name}.csv'}')")
        relations = [("main", name) for name in NAMES]
        described = describe_columns(connection, relations).to_pylist()
        known = {
            row["column_name"]: row["is_descriptive"] == "true" for row in read_seed("grammar_columns").to_pylist()
        }
        columns = pa.Table.from_pylist([row | {"is_descriptive": known.get(row["column_name"])} for row in described])
        assert describe_constraints(connection, relations).num_rows == 0
        materials = gather_materials(
            settings,
            columns,
            read_seed("grammar_constraints", ordinal_position=int),
            read_seed("grammar_templates", is_enabled="true".__eq__),
            read_seed("grammar_text_templates", is_enabled="true".__eq__),
        )
        templates = make_templates(materials)
        texts = pa.Table.from_pylist(texts_of(materials))
        run = select_runner(connection, MAXIMUM_ROWS)
        fillings = pa.Table.from_batches(list(answer_fillings(run, templates, materials.schema, settings)))
    filled = pa.Table.from_batches(list(fill_queries(fillings, texts))).to_pylist()
    answers = {row["query_group"]: row["reference_answer"] for row in fillings.to_pylist()}
    assert len({row["sql_template_id"] for row in filled}) >= 12
    assert len(filled) >= 1_000
    return [
        {
            "query_id": row["query_id"],
            "query_group": row["query_group"],
            "text": row["query_text"],
            "reference_answer": answers[row["query_group"]],
            "tags": json.loads(row["tags"]),
        }
        for row in filled
    ]


@pytest.fixture(scope="module")
def simulator() -> Any:
    return load_script(REPOSITORY / "examples" / "relational_application" / "simulate.py")


@pytest.fixture(scope="module")
def application(simulator: Any) -> Any:
    document_of = {chunk["chunk_id"]: chunk["document_id"] for chunk in read_lines("chunks.jsonl")}
    return simulator.Application(simulator.read_chunks(FOLDER / "chunks.jsonl"), document_of)


@pytest.fixture(scope="module")
def simulated(queries: list[dict[str, Any]], simulator: Any, application: Any) -> Any:
    return simulator.simulate(queries, application)


def test_the_demo_is_what_its_script_makes(tmp_path: Path) -> None:
    load_script(REPOSITORY / "demo" / "make_relational_demo.py").make(tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".yml")
    assert [name for name in made if (tmp_path / name).read_bytes() != (FOLDER / name).read_bytes()] == []


def test_the_faulty_module_is_the_one_that_was_planted(simulated: Any) -> None:
    _, retrievals, faults = simulated
    contexts: dict[str, set[str]] = defaultdict(set)
    for row in retrievals:
        contexts[row["interaction_id"].removeprefix("relational_")].add(row["chunk_id"])
    groups = defaultdict(list)
    for fault in faults:
        groups[fault["query_group"]].append(fault)
    planted, named_right = Counter(), 0
    for found in groups.values():
        rights = [fault["is_right"] for fault in found]
        if len(set(rights)) == 1:
            continue
        truth = {fault["planted_fault"] for fault in found if not fault["is_right"]}
        assert truth == {found[0]["module_of_group"]}
        planted.update(truth)
        named = name_faulty_modules(rights, [frozenset(contexts[fault["query_id"]]) for fault in found])
        named_right += {module for _, module in named} - {None} == truth
    assert min(planted["retrieval"], planted["language_model"]) > 25
    assert named_right >= 0.9 * planted.total()
