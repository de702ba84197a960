"""Budgets of the house: what is counted here only falls. What adds to one place says what it replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from builds import REPOSITORY

#: What a night, a reader and a newcomer pay for: as it stands, and what it shall come to. No change raises a count.
BUDGETS = {
    # name: (today, goal)
    "models of a night": (301, 150),
    "nodes of a night": (382, 220),
    "models from a record to a gate": (44, 28),
    "lines of models": (19_341, 14_500),
    "lines of YAML of models": (18_167, 10_000),
    "macros": (140, 75),
    "settings": (198, 50),
    "lines of the package": (71_900, 45_000),
    "lines of tests": (50_600, 28_000),
    "lines of benchmarks": (16_375, 9_000),
}
#: A count below this share of its budget has to lower it.
SLACK = 0.99
ON_DEMAND = {"test_set", "grammar", "judging"}


def count_lines(folder: str, *suffixes: str) -> int:
    """Return the lines of the files below a folder of the project, one file after another."""
    files = (path for suffix in suffixes for path in (REPOSITORY / folder).rglob(f"*{suffix}"))
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def nodes_of_a_night(manifest: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the node of whatever a nightly build runs, without the jobs on request."""
    asked_for = {name for name, node in manifest["nodes"].items() if ON_DEMAND & set(node["fqn"])}
    for name, node in manifest["nodes"].items():
        kind, parents = node["resource_type"], set(node.get("depends_on", {}).get("nodes", []))
        is_built = kind in ("model", "seed", "test", "operation") and name not in asked_for
        is_own = node.get("config", {}).get("materialized") != "ephemeral"
        if is_built and is_own and not (kind == "test" and parents & asked_for):
            yield name, node
    for name, node in (*manifest["exposures"].items(), *manifest["saved_queries"].items()):
        yield name, node


def count_path_to(manifest: dict[str, Any], mart: str) -> int:
    """Return the number of models on the longest path from a landed record to a mart; an ephemeral model is none."""
    models = {name: node for name, node in manifest["nodes"].items() if node["resource_type"] == "model"}

    @cache
    def count(name: str) -> int:
        before = max((count(parent) for parent in models[name]["depends_on"]["nodes"] if parent in models), default=0)
        return before + (models[name]["config"]["materialized"] != "ephemeral")

    return count(mart)


def count_all(manifest: dict[str, Any]) -> dict[str, int]:
    """Return each count of `BUDGETS` as the project has it."""
    night = [name for name, _ in nodes_of_a_night(manifest)]
    settings = re.findall(r"^    hcat_\w+:", (REPOSITORY / "dbt_project.yml").read_text(encoding="utf-8"), re.MULTILINE)
    return {
        "models of a night": sum(name.startswith("model.") for name in night),
        "nodes of a night": len(night),
        "models from a record to a gate": count_path_to(manifest, "model.hcat.fct_threshold_gates"),
        "lines of models": count_lines("models", ".sql", ".py"),
        "lines of YAML of models": count_lines("models", ".yml"),
        "macros": len(list((REPOSITORY / "macros").rglob("*.sql"))),
        "settings": len(settings),
        "lines of the package": count_lines("python_udfs/hcat", ".py", ".j2"),
        "lines of tests": count_lines("tests", ".py", ".sql"),
        "lines of benchmarks": count_lines("benchmarks", ".py"),
    }


def test_budgets_only_fall(manifest: dict[str, Any]) -> None:
    counts = count_all(manifest)
    assert counts.keys() == BUDGETS.keys()
    above = {name: (count, BUDGETS[name][0]) for name, count in counts.items() if count > BUDGETS[name][0]}
    assert not above, f"above the budget (now, budget): {above}; say what a change replaces, and remove it"
    below = {name: count for name, count in counts.items() if count < SLACK * BUDGETS[name][0]}
    assert not below, f"below the budget: {below}; lower the budgets to these counts"
