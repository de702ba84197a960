"""Budgets of the house: what is counted here only falls. What adds to one place says what it replaced."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from builds import DEMO, REPOSITORY, run_dbt

#: What a night, a reader and a newcomer pay for: as it stands, and what it shall come to. No change raises a count.
BUDGETS = {
    # name: (today, goal)
    "models of a night": (150, 150),
    "nodes of a night": (211, 220),
    "models from a record to a gate": (28, 28),
    "lines of models": (14_258, 14_500),
    "lines of YAML of models": (9_899, 10_000),
    "macros": (34, 75),
    "settings": (50, 50),
    "lines of the package": (44_694, 45_000),
    "lines of tests": (34_868, 28_000),
    "lines of benchmarks": (8_760, 9_000),
}
#: A count below this share of its budget has to lower it.
SLACK = 0.99


def count_lines(folder: str, *suffixes: str) -> int:
    """Return the lines of the files below a folder of the project, one file after another."""
    files = (path for suffix in suffixes for path in (REPOSITORY / folder).rglob(f"*{suffix}"))
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def nodes_of_a_night(manifest: dict[str, Any]) -> list[str]:
    """Return the ids of whatever a nightly build runs; an ephemeral model is a part of its readers."""
    built = [
        name
        for name, node in manifest["nodes"].items()
        if node["resource_type"] in ("model", "seed", "test", "operation")
        and node["config"]["materialized"] != "ephemeral"
        and node["config"]["enabled"]
    ]
    return [*built, *manifest["exposures"], *manifest["saved_queries"]]


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
    night = nodes_of_a_night(manifest)
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


def test_budgets_only_fall(plain_target: Path, tmp_path: Path) -> None:
    # what is on request exists in no night, and so in no manifest without variables
    exit_code, output = run_dbt(["parse"], DEMO, tmp_path, plain_target, has_artefacts=True)
    assert exit_code == 0, output
    counts = count_all(json.loads((plain_target / "manifest.json").read_text(encoding="utf-8")))
    assert counts.keys() == BUDGETS.keys()
    above = {name: (count, BUDGETS[name][0]) for name, count in counts.items() if count > BUDGETS[name][0]}
    assert not above, f"above the budget (now, budget): {above}; say what a change replaces, and remove it"
    below = {name: count for name, count in counts.items() if count < SLACK * BUDGETS[name][0]}
    assert not below, f"below the budget: {below}; lower the budgets to these counts"
