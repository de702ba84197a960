"""The project's own data tests find what they are for: run here on rows that break them."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import jinja2
import pytest
from builds import DEMO, EVERYTHING, REPOSITORY, run_dbt

SINGULAR = REPOSITORY / "tests" / "singular"
#: Tests of rooms that read what no published table is made of.
BESIDE_THE_PUBLICATION = {"no_record_is_lost", "promises_of_review_hold", "promises_of_semantic_hold"}
#: Marts whose key another test shows to be unique.
KEYS_SHOWN_OTHERWISE = {"fct_evaluations": "completes_index"}


class Break(NamedTuple):
    """How a promise is broken: a table, how the test names the broken row, and what happens to that row."""

    table: str
    id: str
    change: str
    where: str = "true"


def insert(table: str, id: str, **values: str | int) -> Break:
    """Break a promise by a row that no table of the demo has."""
    written = ", ".join(map(repr, values.values()))
    return Break(table, f"'{id}'", f"insert into broken ({', '.join(values)}) values ({written})")


DELETE = "delete from broken where rowid = $row"
AGAIN = "insert into broken from broken where rowid = $row"

BREAKS: Mapping[str, Break] = {
    # core
    "costs_count_every_interaction": insert(
        "fct_assistant_costs", "broken", assistant_cost_id="broken", period="all", count_interactions=1
    ),
    "conversations_are_complete": Break("fct_conversations", "conversation_key", DELETE),
    "metrics_are_complete": Break("dim_metrics", "metric_name", DELETE),
    "retrieved_contexts_are_complete": Break("fct_retrieved_contexts", "concat_ws(' ', interaction_id, rank)", DELETE),
    "scores_and_statuses_agree": Break(
        *("fct_evaluations", "evaluation_id"),
        *("update broken set raw_score = null where rowid = $row", "score_status = 'scored'"),
    ),
    "scores_lie_in_the_catalogued_range": Break(
        "fct_evaluations",
        "evaluation_id",
        "update broken set raw_score = 1.1 where rowid = $row",
        "raw_score is not null and metric_name in (select metric_name from dim_metrics where range_high = 1)",
    ),
    "sentence_evidence_is_complete": Break("fct_sentence_evidence", "interaction_id", DELETE),
    "verdicts_are_complete": Break("fct_verdicts", "interaction_id", DELETE),
    "one_system_has_one_name": Break(
        "fct_interactions", "system", "update broken set application_version = 'other' where rowid = $row"
    ),
    # scoring
    "decisions_name_catalogued_metrics": insert(
        "threshold_decisions", "broken", decision_name="broken", metric_name="broken"
    ),
    "fused_prior_is_complete": Break("groundedness_prior", "classifier_name", AGAIN),
    # labels
    "calibration_is_complete": Break(
        "fct_evaluations",
        "concat_ws(' ', metric_name, interaction_id)",
        "update broken set calibrated_probability = 0.5 where rowid = $row",
        "calibrated_probability is null",
    ),
    "labelled_clusters_are_left_out": Break(
        "int_target_evaluations",
        "concat_ws(' ', metric_name, 'broken', 'label', label)",
        "update broken set cluster_id = 'broken' where rowid = $row",
        "is_audit and raw_score is not null and metric_name in (select metric_name from int_labels_fitted"
        " where part = 'quantiles' and status = 'conformalized')",
    ),
    "ratings_are_complete": Break("fct_ratings", "'ratings'", DELETE),
    "score_bands_hold_every_label": insert("fct_score_bands", "broken", metric_name="broken", count_labels=1),
    "thresholds_are_complete": Break(
        "fct_metric_thresholds", "concat_ws(' ', metric_name, method, risk_appetite)", DELETE
    ),
    # analysis
    "effective_labels_are_at_most_labels": insert(
        "fct_failure_rates", "broken", failure_rate_id="broken", effective_n=2, count_labels=1, method="labels_only"
    ),
    "failure_causes_are_complete": insert(
        "fct_failure_causes", "broken metric", interaction_id="broken", metric_name="metric"
    ),
    "failure_rates_add_up_to_the_labels": insert(
        "fct_failure_rates",
        "broken system test_set all all",
        **{"criterion": "broken", "system": "system", "population": "test_set", "dimension": "all", "segment": "all"},
    ),
    "privacy_findings_have_interactions": insert(
        "fct_privacy_findings", "broken", privacy_finding_id="broken", interaction_id="nowhere"
    ),
    "sightings_have_a_result": insert("int_findings_seen", "broken", finding_sighting_id="broken"),
    "version_regressions_are_complete": insert(
        "fct_version_regressions",
        "broken 1 2 metric",
        **{"application": "broken", "baseline_version": "1", "candidate_version": "2", "metric_name": "metric"},
    ),
    "weak_cells_are_findings": insert("fct_findings", "broken", finding_id="broken", retest_result="weak"),
    # drift
    "drift_is_complete": Break(
        "fct_metric_drift",
        "concat_ws(' ', metric_name, dimension, segment, test, window_weeks)",
        DELETE,
        "test = 'mean_shift'",
    ),
    "effective_scores_are_at_most_scores": insert(
        "fct_metric_weeks", "broken", metric_week_id="broken", scored_effective=2, count_scored=1
    ),
    "weeks_add_up_to_the_whole": Break("fct_metric_weeks", "concat_ws(' ', metric_name, dimension, segment)", AGAIN),
    # review
    "drawn_interactions_are_described": insert("int_interactions_sampled_for_review", "broken", review_id="broken"),
    "drawn_interactions_are_unique": Break(
        "int_interactions_sampled_for_review",
        "'broken'",
        "insert into broken (review_id) values ('broken'), ('broken')",
    ),
    # robustness
    "chunk_orders_are_complete": insert("fct_metric_reliability", "broken", system="broken", measure="pairs_ordered"),
    "reliability_has_both_measures": insert(
        "fct_metric_reliability", "broken metric", system="broken", metric_name="metric", measure="recall"
    ),
    "robustness_groups_are_complete": insert(
        "fct_robustness_groups",
        "system length broken",
        **{"system": "system", "hypothesis": "length", "query_group": "broken", "count_queries": 1},
    ),
    "robustness_pairs_are_complete": insert(
        "fct_robustness_pairs", "broken", robustness_pair_id="broken", score_change=1
    ),
    # weakness
    "segments_add_up_to_the_whole": Break(
        "fct_marginal_weaknesses", "concat_ws(' ', metric_name, dimension)", AGAIN, "count_scored > 0"
    ),
    "weaknesses_are_complete": Break("fct_marginal_weaknesses", "marginal_weakness_id", DELETE),
    # gates
    "risks_are_watched": insert("risks", "broken", risk_id="broken", criterion="criterion"),
    "run_metrics_is_complete": Break("fct_run_metrics", "metric_name", DELETE),
    "records_are_conserved": Break(
        "int_records_counted", "entity", "update broken set count_landed = count_landed + 1 where rowid = $row"
    ),
    # semantic
    "days_are_unique": Break("time_spine_days", "day", AGAIN),
    "semantic_evaluations_are_complete": Break("semantic_evaluations", "'all rows'", DELETE),
}


def compile_tests(project: Path, *selected: str) -> dict[str, str]:
    """Return the statements of the tests among the selected nodes, by the names of their files."""
    target = project / "target"
    command = ["compile", "--select", *selected]
    exit_code, output = run_dbt(command, DEMO, project / "warehouse", target, variables=EVERYTHING, has_artefacts=True)
    assert exit_code == 0, output
    folder = target / "compiled" / "hcat" / "tests" / "singular"
    # the histories have rows of the build, and this run has none
    return {path.stem: re.sub(r"run_id = '[^']+'", "true", path.read_text()) for path in folder.rglob("*.sql")}


@pytest.fixture(scope="module")
def compiled(project: Path, manifest: dict[str, Any]) -> dict[str, str]:
    """Return the statement of each test that tests several models."""
    # the manifest is read before this run writes another one into its folder
    assert manifest["nodes"]
    return compile_tests(project, "test_type:singular")


@pytest.fixture
def connection(warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(warehouse), read_only=True) as opened:
        yield opened


def read_rows(connection: duckdb.DuckDBPyConnection, statement: str, *broken: str) -> list[tuple[Any, ...]]:
    """Return the rows of a test that reads `broken_<table>` in the place of these tables."""
    for table in broken:
        statement = statement.replace(f'"hcat"."main"."{table}"', f"temp.broken_{table}")
    return connection.execute(statement).fetchall()


def keys_of(room: str) -> dict[str, str]:
    """Return the key of each model that the test of a room names."""
    text = next(SINGULAR.rglob(f"keys_of_{room}_are_unique.sql")).read_text(encoding="utf-8")
    return dict(re.findall(r"'(\w+)': '(\w+)'", text))


ROOMS_WITH_KEYS = sorted(path.stem.split("_of_")[1].removesuffix("_are_unique") for path in SINGULAR.rglob("keys_of_*"))


@pytest.mark.parametrize("room", ROOMS_WITH_KEYS)
def test_each_key_that_repeats_is_named(
    room: str, compiled: dict[str, str], connection: duckdb.DuckDBPyConnection
) -> None:
    statement, keys = compiled[f"keys_of_{room}_are_unique"], keys_of(room)
    assert read_rows(connection, statement) == []
    for model, key in keys.items():
        connection.execute(f"create temp table broken_{model} as from {model} limit 0")
        connection.execute(f"insert into broken_{model} ({key}) values ('7'), ('7'), ('8'), (null)")
    named = {(model, count): key for model, key, count in read_rows(connection, statement, *keys)}
    assert named == {(model, count): key for model in keys for count, key in ((2, "7"), (1, None))}


def test_every_mart_has_a_key_that_is_tested(manifest: dict[str, Any]) -> None:
    marts = {
        node["name"]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["name"].startswith(("dim_", "fct_"))
    }
    tested = {model for room in ROOMS_WITH_KEYS for model in keys_of(room)}
    assert marts - tested == set(KEYS_SHOWN_OTHERWISE)


def test_a_build_of_some_models_tests_no_table_that_it_leaves(compiled: dict[str, str], project: Path) -> None:
    assert compiled
    tests = ("keys_of_analysis_are_unique", "promises_of_analysis_hold")
    some = compile_tests(project, "fct_findings", "fct_failure_causes", *tests)
    models = re.findall(r"'(\w+)' as model", some["keys_of_analysis_are_unique"])
    assert models == ["fct_failure_causes", "fct_findings"]
    # what is promised of other marts is left out
    promises = re.findall(r"'(\w+)' as promise", some["promises_of_analysis_hold"])
    assert promises == ["weak_cells_are_findings", "sightings_have_a_result", "failure_causes_are_complete"]


def test_the_publication_waits_for_the_tests_of_rooms(manifest: dict[str, Any]) -> None:
    parents = {key: set(node["depends_on"].get("nodes", ())) for key, node in manifest["nodes"].items()}
    before, coming = set[str](), {"model.hcat.published_candidate"}
    while coming:
        coming = set().union(*(parents.get(key, set()) for key in coming)) - before
        before |= coming
    tests = {
        path.stem
        for pattern in ("keys_of_*", "promises_of_*", "no_record_is_lost*")
        for path in SINGULAR.rglob(pattern)
        if "requested" not in path.parts
    }
    assert {name for name in tests if not parents[f"test.hcat.{name}"] <= before} == BESIDE_THE_PUBLICATION


def test_each_promise_is_broken_once() -> None:
    made = re.findall(r"call promise\(\s*'(\w+)'", "".join(path.read_text() for path in SINGULAR.rglob("*.sql")))
    assert sorted(made) == sorted(BREAKS)


@pytest.mark.parametrize("promise", BREAKS)
def test_a_broken_promise_is_named_with_what_breaks_it(
    promise: str, compiled: dict[str, str], connection: duckdb.DuckDBPyConnection
) -> None:
    table, id, change, where = BREAKS[promise]
    statement = next(text for text in compiled.values() if f"'{promise}' as promise" in text)
    assert read_rows(connection, statement) == []
    connection.execute(f"create temp table broken_{table} as from {table}")
    change = re.sub(r"\b(update|into|from) broken\b", rf"\1 broken_{table}", change)
    found = connection.execute(f"select rowid, {id} from broken_{table} where {where} limit 1").fetchone()
    row, expected = found or (None, id.strip("'"))
    connection.execute(change, {"row": row} if "$row" in change else None)
    named = {(name, broken) for name, broken, _ in read_rows(connection, statement, table)}
    assert (promise, str(expected)) in named


def test_a_pair_of_versions_that_no_answer_has_is_named(
    compiled: dict[str, str], connection: duckdb.DuckDBPyConnection
) -> None:
    connection.execute("create temp table broken_version_pairs as from version_pairs")
    connection.execute("insert into broken_version_pairs values ('nobody', '1', '2', 'why')")
    rows = read_rows(connection, compiled["decisions_are_in_force"], "version_pairs")
    assert [row[-1] for row in rows if row[0] == "version_pairs"] == ["nobody 2 beside 1"]


def render(name: str, **arguments: str) -> str:
    """Return the statement of a generic test; tables have their own names."""
    text = (REPOSITORY / "tests" / "generic" / f"{name}.sql").read_text(encoding="utf-8")
    found = re.search(rf"\{{% test {name}\(.*?\) %\}}(.*)\{{% endtest %\}}", text, re.DOTALL)
    assert found
    functions = {"ref": lambda model: model, "hash_row": lambda columns: f"hash({', '.join(columns)})"}
    return jinja2.Template(found[1]).render(**functions, **arguments)


@pytest.mark.parametrize(
    ("expected", "actual", "differing"),
    [
        ((1, 2), (2, 1), []),
        ((1, 2), (1, 2, 2), [(2, 1, 2)]),
        ((1, None), (1, None), [(None, 1, 1)]),
        ((1, 2, 3), (1, 2, 4), [(3, 1, 0), (4, 0, 1)]),
    ],
)
def test_a_key_that_is_missing_or_too_many_is_named_with_its_counts(
    expected: tuple[int | None, ...], actual: tuple[int | None, ...], differing: list[tuple[int | None, int, int]]
) -> None:
    with duckdb.connect() as connection:
        for table, keys in (("expected", expected), ("actual", actual)):
            connection.execute(f"create table {table} as select unnest($1::integer[]) as key", [list(keys)])
        statement = render("completes_index", model="actual", index_model="expected", key="key")
        assert sorted(connection.execute(statement).fetchall(), key=str) == differing
