"""An application with planted faults: the marts name the faulty module, believe people before rules, and add up."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from builds import REPOSITORY, Build, Dbt, write_lines

COUNT_BRANCHES = 20
STYLES = {
    ("length", "short"): "{column} of {name}",
    (
        "length",
        "long",
    ): "For our records we would like to know the {column} of the branch that is named {name}, please.",
    ("register", "formal"): "Please state the {column} of the branch {name}.",
    ("register", "colloquial"): "Hey, what's the {column} of {name}?",
}
#: Branch whose answers people rated false, against the rules.
RATED_FALSE = "Old Mill"


def load_application() -> ModuleType:
    path = REPOSITORY / "examples" / "relational_application" / "simulate.py"
    spec = importlib.util.spec_from_file_location("hcat_relational_application", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def make_queries(documents: Path) -> list[dict[str, Any]]:
    """Queries for two facts of each branch, in four styles; the true answers are those of the tables."""
    facts = [json.loads(line) for line in (documents / "facts.jsonl").read_text(encoding="utf-8").splitlines()]
    branches: dict[int, dict[str, str]] = {}
    for fact in facts:
        if fact["table"] == "branches":
            branches.setdefault(fact["row_id"], {})[fact["column"]] = str(fact["value"])
    queries = []
    for number in sorted(branches)[:COUNT_BRANCHES]:
        name = branches[number]["branch_name"]
        for column, words in (("street_address", "street address"), ("city", "city")):
            for (hypothesis, style), text in STYLES.items():
                group = f"{name} {column}"
                queries.append(
                    {
                        "query_id": f"{group} {style}",
                        "query_group": group,
                        "text": text.format(column=words, name=name),
                        "reference_answer": branches[number][column],
                        "query_type": "simple_factual",
                        "expected_behaviour": "answer",
                        "tags": {hypothesis: style, "template": column},
                    }
                )
    return queries


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    application = load_application()
    folder = tmp_path_factory.mktemp("robustness_logs")
    write_lines(folder / "asked.jsonl", make_queries(application.DOCUMENTS))
    output = folder / "logs"
    # with several documents a query, one that two answers share would be taken for the one that suffices
    application.TOP = 1
    application.write_logs(folder / "asked.jsonl", output, application.DOCUMENTS, None, has_faults=True)
    interactions = [json.loads(line) for line in (output / "interactions.jsonl").read_text("utf-8").splitlines()]
    ratings = [
        {
            "interaction_id": row["interaction_id"],
            "rater": rater,
            "criterion": "truthfulness",
            "scale_point": 0,
            "guideline_version": "1.0",
        }
        for row in interactions
        for rater in ("ann", "ben")
        if row["query_id"].startswith(f"{RATED_FALSE} city")
    ]
    write_lines(output / "ratings.jsonl", ratings)
    return output


@pytest.fixture(scope="module")
def built(dbt: Dbt, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    arguments = "build --select +path:models/analysis/robustness --indirect-selection cautious"
    build = dbt(arguments, logs, tmp_path_factory.mktemp("warehouse"))
    assert build.exit_code == 0, build.output[-3000:]
    return build


def read_faults(logs: Path) -> dict[str, dict[str, Any]]:
    lines = (logs / "planted_faults.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["query_id"]: row for row in map(json.loads, lines)}


def test_planted_faults_are_laid_to_their_module(built: Build, logs: Path) -> None:
    faults = read_faults(logs)
    planted: dict[str, str] = {
        row["query_group"]: row["planted_fault"] for row in faults.values() if row["planted_fault"] != "none"
    }
    named = built.query(
        "select query_group, faulty_module from fct_robustness_groups"
        " where hypothesis = 'all' and group_type = 'non_robust' and query_group <> ?",
        f"{RATED_FALSE} city",
    )
    # a few groups are not robust by themselves: nothing is planted there, and no name is right
    with_plan = [(group, module) for group, module in named if group in planted]
    right = sum(planted[group] == module for group, module in with_plan)
    assert len(with_plan) >= 5, Counter(planted.values())
    assert {planted[group] for group, _ in with_plan} == {"retrieval", "language_model"}
    assert right >= 0.9 * len(with_plan), [(group, module, planted[group]) for group, module in with_plan]


def test_rules_judge_as_the_application_was_made(built: Build, logs: Path) -> None:
    faults = read_faults(logs)
    judged = built.query(
        "select query_id, correctness_status from fct_answer_correctness where correctness_source = 'rule'"
    )
    agreeing = [faults[query_id]["is_right"] == (status == "correct") for query_id, status in judged]
    assert len(agreeing) > 80
    assert sum(agreeing) >= 0.97 * len(agreeing)


def test_people_outrank_rules(built: Build) -> None:
    rows = built.query(
        "select correctness_source, is_correct, count(*), bool_or(is_disputed) from fct_answer_correctness"
        " where query_group = ? group by all",
        f"{RATED_FALSE} city",
    )
    assert [row[:3] for row in rows] == [("label", False, len(STYLES))]
    types = built.query(
        "select group_type from fct_robustness_groups where hypothesis = 'all' and query_group = ?",
        f"{RATED_FALSE} city",
    )
    assert types == [("gap",)]


def test_hypotheses_come_from_tags_and_groups_of_one_have_no_robustness_of_their_own(built: Build) -> None:
    rows = built.query(
        "select distinct hypothesis, side, gap_rule, status, robustness is null from fct_robustness_rates"
        " where scope = 'all' and hypothesis = 'query length' order by all"
    )
    assert {(row[1], row[2]) for row in rows} == {
        (side, rule) for side in ("long", "short") for rule in ("every_side", "own_side")
    }
    assert {row[3:] for row in rows if row[2] == "own_side"} == {("groups_of_one", True)}
    assert {row[3:] for row in rows if row[2] == "every_side"} == {("estimated", False)}
    tags = built.query("select count(*) from dim_queries where query_group is not null and tags is not null")
    assert tags == [(COUNT_BRANCHES * 2 * len(STYLES),)]
