"""Modules: what a project switches on and off, said once in macros/hcat_modules.sql and held by every model."""

import ast
import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from builds import REPOSITORY, run_dbt_in

PROFILES = ("minimal", "standard", "full")


def read_modules() -> dict[str, dict[str, list[str]]]:
    """Return the table of modules that the macro holds."""
    text = (REPOSITORY / "macros" / "hcat_modules.sql").read_text(encoding="utf-8")
    found = re.search(r"return\((\{.*?\n    \})\)", text, re.DOTALL)
    assert found
    return ast.literal_eval(found[1])


def read_conditions() -> dict[str, tuple[str, str]]:
    """Return model or seed -> (module, condition that its YAML states)."""
    conditions = {}
    for folder in ("models", "seeds"):
        for path in sorted((REPOSITORY / folder).rglob("*.yml")):
            text = path.read_text(encoding="utf-8")
            described = yaml.safe_load(text) if "hcat_modules" in text else {}
            for entry in [*described.get("models", []), *described.get("seeds", [])]:
                condition = str(entry.get("config", {}).get("enabled", ""))
                module = re.search(r"hcat_modules'\)\.get\('(\w+)', ", condition)
                if module:
                    conditions[entry["name"]] = (module[1], condition)
    return conditions


def read_tests_of_rooms() -> dict[str, str]:
    """Return each test of keys or promises in the nightly build -> the module that switches all of it; else ''."""
    tests = {}
    for path in sorted((REPOSITORY / "tests" / "singular").rglob("*.sql")):
        text = path.read_text(encoding="utf-8")
        if ("keys_that_repeat(" in text or "promises()" in text) and "requested" not in path.parts:
            found = re.search(r"enabled=is_on\('(\w+)'\)", text)
            tests[path.stem] = found[1] if found else ""
    return tests


MODULES = read_modules()
TESTS_OF_ROOMS = read_tests_of_rooms()
CONDITIONS = read_conditions()


def list_nodes(variables: str, target: Path) -> list[str]:
    """Return the names of the models, seeds and tests of the project, as dbt parses it with these variables."""
    words = ["--quiet", "ls", "--vars", variables, "--target-path", str(target), "--output", "name"]
    kinds = [part for kind in ("model", "seed", "test") for part in ("--resource-type", kind)]
    return run_dbt_in(REPOSITORY, *words, *kinds).splitlines()


@pytest.mark.parametrize("name", sorted(CONDITIONS))
def test_a_model_states_the_profiles_of_its_module(name: str) -> None:
    import jinja2

    module, condition = CONDITIONS[name]
    for profile in PROFILES:
        for said in ({}, {module: True}, {module: False}):
            settings: Mapping[str, Any] = {"hcat_modules": said, "hcat_profile": profile, "hcat_own_seeds": []}
            # the condition of a model may name the engine, too
            rendered = jinja2.Template(condition).render(var=settings.__getitem__, target={"type": "duckdb"})
            assert rendered == str(said.get(module, profile in MODULES[module]["profiles"])), (profile, said)


def test_the_marts_of_a_module_are_switched_with_it() -> None:
    of_marts = {mart: module for module, described in MODULES.items() for mart in described["marts"]}
    assert {mart: CONDITIONS[mart][0] for mart in of_marts} == of_marts
    published = {name: module for name, (module, _) in CONDITIONS.items() if name.startswith(("dim_", "fct_"))}
    assert published == of_marts


#: In how many projects modules are switched off, and in how many of them each. Of any two modules, each is off in a
#: project in which the other one is on, because no two are off in the same projects.
COUNT_PROJECTS, COUNT_OFF = 6, 3


@pytest.mark.parametrize("project", range(COUNT_PROJECTS))
def test_a_module_that_is_off_takes_nothing_else_with_it(project: int, tmp_path: Path) -> None:
    switched = dict(zip(sorted(MODULES), combinations(range(COUNT_PROJECTS), COUNT_OFF), strict=False))
    assert switched.keys() == MODULES.keys(), "more modules than projects can tell apart"
    off = {module for module, projects in switched.items() if project in projects}
    names = set(
        list_nodes(f"{{hcat_modules: {{{', '.join(f'{module}: false' for module in sorted(off))}}}}}", tmp_path)
    )
    assert not {name for name, (of, _) in CONDITIONS.items() if of in off} & names
    assert {name for name, (of, _) in CONDITIONS.items() if of not in off} <= names
    # dbt leaves out, without a word, a test that reads a model that is not there
    assert {name for name, of in TESTS_OF_ROOMS.items() if of not in off} <= names


def test_the_minimal_profile_is_small(tmp_path: Path) -> None:
    names = list_nodes("{hcat_profile: minimal}", tmp_path)
    assert not set(CONDITIONS) & set(names)
    assert {"fct_evaluations", "fct_marginal_weaknesses", "fct_threshold_gates", "published_passing"} <= set(names)
    assert {name for name, module in TESTS_OF_ROOMS.items() if not module} <= set(names)
    assert len(names) <= 176
