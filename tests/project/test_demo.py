"""The demo is apart: what it decides stands in demo/seeds, and is used only when HCAT_DEMO=1 asks for it."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from builds import DEMO, REPOSITORY, load_script, read_lines
from numpy.testing import assert_allclose

from hcat.grammar.export import write_queries
from hcat.robustness.groups import name_faulty_modules

RELATIONAL = REPOSITORY / "demo" / "relational"
DEMO_SEEDS = sorted(path.stem for path in (REPOSITORY / "demo" / "seeds").glob("*.csv"))


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def count_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def read_records(name: str) -> list[dict[str, Any]]:
    return read_lines(DEMO / f"{name}.jsonl")


@pytest.mark.parametrize(("is_demo", "folder"), [("1", "demo/seeds"), ("", "decisions")])
def test_decisions_of_the_demo_and_the_shipped_ones_exclude_each_other(is_demo: str, folder: str) -> None:
    import jinja2

    written = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text(encoding="utf-8"))["seed-paths"]
    paths = [jinja2.Template(path).render(env_var=lambda *_: is_demo) for path in written]
    assert paths == ["seeds", folder, "demo/relational" if is_demo else "demo/none"]
    assert sorted(path.stem for path in (REPOSITORY / "decisions").glob("*.csv")) == DEMO_SEEDS


@pytest.mark.parametrize("name", DEMO_SEEDS)
def test_no_shipped_decision_is_about_the_demo(name: str) -> None:
    path = REPOSITORY / "decisions" / f"{name}.csv"
    demo = REPOSITORY / "demo" / "seeds" / f"{name}.csv"
    assert path.read_text(encoding="utf-8").splitlines()[0] == demo.read_text(encoding="utf-8").splitlines()[0]
    # gates that hold for anybody hold for the demo too, and all thresholds but the one that its labels decide; other
    # decisions nobody can take for everybody
    apart = [row for row in read_rows(path) if row not in read_rows(demo)]
    if name == "threshold_decisions":
        assert {row["metric_name"] for row in apart} == {"groundedness"}
    else:
        assert apart == ([] if name == "threshold_gates" else read_rows(path))


def test_pages_say_how_large_the_demo_is() -> None:
    page = (DEMO / "README.md").read_text(encoding="utf-8")
    sizes = {f"{path.name}` ({count_lines(path):,})" for path in DEMO.glob("*.jsonl")}
    assert {size for size in sizes if size not in page} == set()
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"It has {count_lines(DEMO / 'interactions.jsonl'):,} interactions" in readme


def test_the_page_of_queries_from_tables_says_what_comes_from_the_demo(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        row = connection.execute(
            "select (select count(distinct sql_template_id) from fct_grammar_counts),"
            " (select count(distinct query_group) from fct_grammar_queries),"
            " (select count(*) from fct_grammar_queries), (select count(*) from fct_rejected_grammar_queries)"
        ).fetchone()
    assert row is not None
    templates, facts, queries, rejected = row
    page = " ".join((REPOSITORY / "docs" / "grammar.md").read_text(encoding="utf-8").split())
    assert (
        f"come {templates} SQL templates with {queries // facts} texts each, {facts} facts and **{queries:,} queries**."
        f" {rejected} of {facts + rejected} fillings have no answer." in page
    )


def test_the_demo_is_named_in_no_shipped_seed() -> None:
    for path in [*(REPOSITORY / "seeds").glob("*.csv"), *(REPOSITORY / "decisions").glob("*.csv")]:
        assert "harbourlight" not in path.read_text(encoding="utf-8").casefold(), path
        assert " demo" not in path.read_text(encoding="utf-8").casefold(), path


def test_metrics_of_listed_risks_are_seen_by_segment_and_over_time(warehouse: Path) -> None:
    named = {
        row[column]
        for row in read_rows(REPOSITORY / "demo" / "seeds" / "risks.csv")
        for column in ("metric_name", "control_metric")
    } - {""}
    with duckdb.connect(str(warehouse), read_only=True) as connection:

        def metrics(condition: str) -> set[str]:
            return {name for (name,) in connection.execute(f"select distinct metric_name from {condition}").fetchall()}

        scored = named & metrics("fct_evaluations where raw_score is not null")
        assert {"support_numbers", "groundedness"} <= scored
        assert scored <= metrics("fct_marginal_weaknesses where dimension = 'topic' and count_scored > 0")
        scored &= metrics("int_primary_evaluations where is_in_monitored_population and raw_score is not null")
        assert scored <= metrics("fct_metric_drift where test = 'mean_shift' and dimension = 'topic'")
        # the catalogue itself marks what the risks of nearly every application name
        assert {"support_numbers", "toxicity__maximum"} <= metrics("metric_catalog where is_primary")


def test_the_generator_makes_the_shipped_logs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratings are about these very answers, and other seeds of the generator are measured against them."""
    monkeypatch.syspath_prepend(str(REPOSITORY / "demo"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import make_demo

    sheets = tmp_path / "first.jsonl", tmp_path / "further.jsonl"
    options = "--output", tmp_path, "--rating-sheet", sheets[0], "--further-sheet", sheets[1]
    make_demo.main([*map(str, options)])
    drawn = [json.loads(line)["interaction_id"] for sheet in sheets for line in sheet.read_text("utf-8").splitlines()]
    chances = {row["interaction_id"]: row["inclusion_probability"] for row in read_records("ratings")}
    assert sorted(drawn) == sorted(chances)
    # each rated answer stands for those of its stratum, and all together for all that could be drawn
    rounds = yaml.safe_load((REPOSITORY / "demo" / "rounds.yml").read_text(encoding="utf-8"))["rounds"]
    of_rounds = tuple(f"{each['name']}_" for each in rounds)
    types = {
        row["query_id"]: "of a round" if row["query_id"].startswith(of_rounds) else row["variant_type"]
        for row in read_records("queries")
    }
    drawable = [
        row
        for row in read_records("interactions")
        if types.get(row.get("query_id"), "original") in ("original", "paraphrase", "misspelling")
        and row["recorded_fault"] not in ("toxic_answer", "copied_text", "repeated_error")
    ]
    assert_allclose(sum(1 / chance for chance in chances.values()), len(drawable), rtol=1e-3)
    for sheet in sheets:
        sheet.unlink()
    made = {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in DEMO.glob("*.jsonl")} - made == {"ratings.jsonl"}
    for name in sorted(made - {"retrievals.jsonl"}):
        assert (tmp_path / name).read_bytes() == (DEMO / name).read_bytes(), name
    # another kind of processor may move the last digits of a score, and nothing else
    rows, shipped = (
        [json.loads(line) for line in (folder / "retrievals.jsonl").read_text(encoding="utf-8").splitlines()]
        for folder in (tmp_path, DEMO)
    )
    scores, shipped_scores = ([row.pop("retrieval_score") for row in table] for table in (rows, shipped))
    assert rows == shipped
    assert_allclose(scores, shipped_scores, atol=1e-5)


def test_the_first_build_of_the_demo_sees_no_later_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "demo"))
    import first_build

    count = first_build.write_first_logs(tmp_path)
    logged = (DEMO / "interactions.jsonl").read_text(encoding="utf-8")
    first = (tmp_path / "interactions.jsonl").read_text(encoding="utf-8")
    # the next build lands only what is new: each record is, to the byte, one of the logs
    assert set(first.splitlines()) < set(logged.splitlines())
    assert 0 < count == len(first.splitlines())
    assert max(json.loads(line)["asked_at"] for line in first.splitlines()) < "2026-07-06"


def test_the_relational_demo_is_what_its_script_makes(tmp_path: Path) -> None:
    load_script(REPOSITORY / "demo" / "make_relational_demo.py").make(tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in RELATIONAL.iterdir() if path.suffix != ".yml")
    assert [name for name in made if (tmp_path / name).read_bytes() != (RELATIONAL / name).read_bytes()] == []


def test_the_faulty_module_of_an_application_over_tables_is_the_one_that_was_planted(
    warehouse: Path, tmp_path: Path
) -> None:
    written = write_queries(warehouse.parent, tmp_path / "queries.jsonl")
    simulator = load_script(REPOSITORY / "examples" / "relational_application" / "simulate.py")
    simulator.write_logs(written.path, tmp_path, RELATIONAL, None, has_faults=True)
    contexts: dict[str, set[str]] = defaultdict(set)
    for row in read_lines(tmp_path / "retrievals.jsonl"):
        contexts[row["interaction_id"].removeprefix("relational_")].add(row["chunk_id"])
    groups = defaultdict(list)
    for fault in read_lines(tmp_path / "planted_faults.jsonl"):
        groups[fault["query_group"]].append(fault)
    planted, named_right = Counter[str](), 0
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
