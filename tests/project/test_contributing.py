"""Two recipes of CONTRIBUTING.md are followed in a copy of the tree: each names all files that its thing needs.

Each recipe edits exactly the files that its list names. One build of the copy shows that the things are there, and the
tests that the recipes name find nothing missing.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from builds import DBT, EVERYTHING, REPOSITORY, dbt_arguments, dbt_environment, query, write_lines

Edit = Callable[[str], str]

#: Checks of other kinds of metrics than the one that is made here.
ABOUT_OTHERS = {
    "tests/project/test_conventions.py::test_metrics_that_ask_a_language_model_are_known_by_their_name",
}


@dataclass(frozen=True)
class Recipe:
    """A list of CONTRIBUTING.md, what its placeholders stand for, and the edits that follow it."""

    headings: tuple[str, ...]
    names: dict[str, str]
    edits: dict[str, Edit]
    items: list[str] = field(init=False)
    checks: set[str] = field(init=False)

    def __post_init__(self) -> None:
        sections = [read_section(heading) for heading in self.headings]
        object.__setattr__(self, "items", [item for section in sections for item in list_items(section)])
        found = {check for section in sections for check in re.findall(r"`(tests/\S+?::test_\w+)`", section)}
        object.__setattr__(self, "checks", found)

    def files(self, item: str) -> list[str]:
        """Return the files that an item names, with this recipe's names in place of the placeholders."""
        found = re.findall(r"`([^`\s]+/[^`\s]+\.(?:csv|md|py|sql|yml))`", item)
        for placeholder, name in self.names.items():
            found = [path.replace(f"<{placeholder}>", name) for path in found]
        return found


def read_section(heading: str) -> str:
    page = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    return section


def list_items(section: str) -> Iterator[str]:
    """Yield the numbered items of a section, each as one line."""
    for item in re.findall(r"^[0-9]+\. (.*?)(?=^[0-9]+\. |^\n|\Z)", section, re.MULTILINE | re.DOTALL):
        yield " ".join(item.split())


def added(text: str) -> Edit:
    """Return the edit that adds lines at the end, or writes a file that is not there."""
    return lambda before: before + text


def behind(anchor: str, text: str) -> Edit:
    """Return the edit that puts a text behind the first occurrence of another one."""

    def edit(before: str) -> str:
        assert anchor in before, anchor
        return before.replace(anchor, anchor + text, 1)

    return edit


def with_row(**values: str) -> Edit:
    """Return the edit that adds a row to a CSV file; other columns stay empty."""

    def edit(before: str) -> str:
        written = io.StringIO()
        columns = before.splitlines()[0].split(",")
        csv.DictWriter(written, columns, restval="", lineterminator="\n").writerow(values)
        return before + written.getvalue()

    return edit


METRIC = Recipe(
    ("Of a new family",),
    {"family": "brevity"},
    {
        "seeds/metric_catalog.csv": with_row(
            metric_name="answer_words",
            family="brevity",
            base_metric="answer_words",
            aggregate="none",
            direction="lower_is_better",
            range_low="0",
            range_high="100000",
            unit="words",
            requires="answer",
            applies_to_behaviour="any",
            refusal_rule="scored",
            is_primary="false",
            source="docs/metrics.md",
            description="number of words of the answer",
        ),
        "models/scoring/metrics/int_metrics__brevity.sql": added(
            """-- One row per answered interaction with the number of words of its answer.
with interactions as (
    select interaction_id, answer from {{ ref('hcat', 'int_interaction_attributes') }}
    where is_answered
),

final as (
    select
        {{ evaluation_id('interaction_id', "'answer_words'") }} as evaluation_id,
        interaction_id,
        'answer_words' as metric_name,
        {{ array_length(all_matches('answer', '([^ ]+)')) }}::double as raw_score,
        'scored' as score_status,
        1::bigint as scored_count,
        null::string as detail
    from interactions
)

select * from final
"""
        ),
        "models/scoring/metrics/_metrics.yml": added(
            "\n  - name: int_metrics__brevity\n"
            "    description: One row per answered interaction with the number of words of its answer.\n"
        ),
        "models/scoring/metrics/int_metrics_unioned.sql": behind("'similarity', ", "'brevity', "),
        "models/scoring/metrics/_metrics_unit_tests.yml": added(
            """
  - name: int_metrics__brevity_counts_words
    description: Three words are three.
    model: int_metrics__brevity
    given:
      - input: ref('int_interaction_attributes')
        rows:
          - {interaction_id: i1, answer: It is free., is_answered: true}
          - {interaction_id: i2, answer: null, is_answered: false}
    expect:
      rows:
        - {interaction_id: i1, metric_name: answer_words, raw_score: 3.0, score_status: scored}
"""
        ),
        "python_udfs/hcat/report/families.yml": added(
            """
brevity:
  measures: How short the answer is.
  formula: Number of words of the answer.
  limits: A short answer may be wrong.
  source: hcat (docs/metrics.md)
"""
        ),
        "docs/metrics.md": added("\n## Brevity\n\n`answer_words` is the number of words of the answer.\n"),
    },
)

MART = Recipe(
    ("Add a mart",),
    {"name": "systems_counted", "room": "core"},
    {
        "models/core/fct_systems_counted.sql": added(
            """with interactions as (
    select system from {{ ref('hcat', 'fct_interactions') }}
),

final as (
    select
        system,
        case when count(*) > 1 then 'many' else 'one' end as size_class,
        count(*)::bigint as count_interactions
    from interactions
    group by system
)

select * from final
"""
        ),
        "models/core/_core.yml": added(
            """
  - name: fct_systems_counted
    description: One row per system with its interactions.
    config: *mart
    columns:
      - name: system
        description: Application and version.
        data_type: varchar
        constraints:
          - type: not_null
      - name: size_class
        description: 'How many interactions there are: one or many.'
        data_type: varchar
        constraints:
          - type: not_null
          - type: check
            expression: "size_class in ('one', 'many')"
      - name: count_interactions
        description: Number of interactions.
        data_type: bigint
        constraints:
          - type: not_null
"""
        ),
        "models/core/_core_unit_tests.yml": added(
            """
  - name: fct_systems_counted_counts_interactions
    description: Two interactions are many.
    model: fct_systems_counted
    given:
      - input: ref('fct_interactions')
        rows:
          - {interaction_id: i1, system: a 1}
          - {interaction_id: i2, system: a 1}
          - {interaction_id: i3, system: a 2}
    expect:
      rows:
        - {system: a 1, size_class: many, count_interactions: 2}
        - {system: a 2, size_class: one, count_interactions: 1}
"""
        ),
        "tests/singular/core/keys_of_core_are_unique.sql": behind(
            "{{ keys_that_repeat({\n", "    'fct_systems_counted': 'system',\n"
        ),
        "tests/singular/core/promises_of_core_hold.sql": added(
            """
{% call promise('systems_counted_is_complete', ['fct_systems_counted']) %}
-- Every interaction is counted once.
select 'all systems' as id, 'not every interaction is counted once' as problem
from (select sum(count_interactions) as count_interactions from {{ ref('hcat', 'fct_systems_counted') }}) as counted
inner join (select count(*) as count_all from {{ ref('hcat', 'fct_interactions') }}) as logged
    on counted.count_interactions <> logged.count_all
{% endcall %}
"""
        ),
        "tests/project/test_data_tests.py": behind(
            "BREAKS: Mapping[str, Break] = {\n",
            '    "systems_counted_is_complete": Break("fct_systems_counted", "\'all systems\'", DELETE),\n',
        ),
        "macros/published_marts.sql": behind("'dim_documents', ", "'fct_systems_counted', "),
        "docs/marts.md": behind(
            "| mart | one row per | key | what it shows |\n|---|---|---|---|\n",
            "| `fct_systems_counted` | system | `system` | how many interactions it has |\n",
        ),
        "models/exposures.yml": behind("    depends_on:\n", "      - ref('hcat', 'fct_systems_counted')\n"),
        "python_udfs/hcat/engine/retention_rules.py": behind('"dim_chunks", ', '"fct_systems_counted", '),
    },
)

RECIPES = {"metric family": METRIC, "mart": MART}
UNIT_TESTS = [
    "int_metrics__brevity_counts_words",
    "fct_systems_counted_counts_interactions",
]


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_names_the_files_that_its_thing_needs(recipe: Recipe) -> None:
    # an item is for every case, unless it says for which; behind its colon may stand an example
    due, possible = set[str](), set[str]()
    for item in recipe.items:
        if item.startswith("If "):
            possible.update(recipe.files(item))
        else:
            due.update(recipe.files(item.split(":")[0]))
    assert due <= set(recipe.edits) <= due | possible
    assert recipe.checks


@dataclass(frozen=True)
class Copy:
    """A copy of the tree in which all recipes were followed, with one build of it."""

    folder: Path
    project: Path
    environment: dict[str, str]

    def dbt(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run dbt in the copy, with everything switched on."""
        variables = EVERYTHING | {"hcat_unit_tests": True}
        command = [*DBT, *dbt_arguments(arguments, self.project / "target", variables, has_artefacts=True)]
        return self.run(command)

    def run(self, command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment | more,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def statuses(self) -> dict[str, str]:
        """Return the name of each node and test of the last command, with what became of it."""
        results = json.loads((self.project / "target" / "run_results.json").read_text(encoding="utf-8"))["results"]
        # the id of a unit test names its model before its own name
        parts = [result["unique_id"].split(".") for result in results]
        names = [part[3] if part[0] == "unit_test" else part[2] for part in parts]
        return dict(zip(names, (result["status"] for result in results), strict=True))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    base = tmp_path_factory.mktemp("recipes")
    folder, logs, project = base / "tree", base / "logs", base / "pytest" / "project"
    left_out = shutil.ignore_patterns(
        ".*", "warehouse", "target", "node_modules", "__pycache__", "training", "*.egg-info"
    )
    shutil.copytree(REPOSITORY, folder, ignore=left_out)
    # the demo of experts is a project of its own
    shutil.copy(REPOSITORY / ".dbtignore", folder)
    for recipe in RECIPES.values():
        for path, edit in recipe.edits.items():
            place = folder / path
            text = place.read_text(encoding="utf-8") if place.exists() else ""
            place.write_text(edit(text), encoding="utf-8")
    write_lines(
        logs / "interactions.jsonl",
        [
            {"interaction_id": f"i{number}", "query_text": f"Fee {number}?", "answer": f"It is {number}."}
            for number in range(6)
        ],
    )
    environment = dbt_environment(logs, project / "warehouse")
    environment |= {"DBT_PROFILES_DIR": str(folder), "PYTHONPATH": str(folder / "python_udfs")}
    made = Copy(folder, project, environment)
    things = ["+gate_verdicts", "+fct_systems_counted", "keys_of_core_are_unique", "promises_of_core_hold"]
    built = made.dbt("build", "--indirect-selection", "buildable", "--select", *things)
    failed = {name: status for name, status in made.statuses().items() if status in ("error", "skipped")}
    assert failed == {}, built.stdout[-5000:] + built.stderr[-2000:]
    return made


def test_the_things_are_there(copy: Copy) -> None:
    statuses = copy.statuses()
    for test in ("keys_of_core_are_unique", "promises_of_core_hold"):
        assert {status for name, status in statuses.items() if name.startswith(test)} == {"pass"}, test
    warehouse = copy.project / "warehouse" / "hcat.duckdb"
    assert query(warehouse, "select sum(count_interactions), count(*) from fct_systems_counted") == [(6, 1)]
    scored = (
        "select count(*), min(raw_score), min(score_status) from fct_evaluations where metric_name = 'answer_words'"
    )
    assert query(warehouse, scored) == [(6, 3.0, "scored")]


def test_unit_tests_of_the_new_models_pass(copy: Copy) -> None:
    ran = copy.dbt("test", "--select", *UNIT_TESTS)
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert {name: copy.statuses().get(name) for name in UNIT_TESTS} == dict.fromkeys(UNIT_TESTS, "pass")


def test_the_checks_that_the_recipes_name_find_nothing_missing(copy: Copy) -> None:
    checks = set().union(*(recipe.checks for recipe in RECIPES.values())) - ABOUT_OTHERS
    # the tests of the copy take this build for their own, as workers beside each other do
    (copy.project.parent / "project.finished").touch()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *sorted(checks)]
    command += ["--basetemp", str(copy.project.parent / "worker")]
    ran = copy.run(command, PYTEST_XDIST_WORKER="recipes", PATH=os.environ["PATH"])
    assert ran.returncode == 0, ran.stdout[-5000:]
