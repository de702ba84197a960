"""The house's conventions, checked over dbt's manifest and the files. Every exception stands here with its reason."""

import ast
import csv
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from builds import REPOSITORY

from hcat.engine.staging import describe_seed

#: The rows of fct_threshold_gates, whose contract holds; it only stands between the gates and the published copy.
WITHOUT_CONTRACT = {"gate_verdicts"}

#: Read before the project's own vars are known, hence given on the command line alone (decision 15).
COMMAND_LINE_VARIABLES = {"hcat_schema"}

#: Settings that the ledger does not keep as they stand, each with the reason.
SETTINGS_BESIDE_THE_LEDGER = {
    **dict.fromkeys(
        ("hcat_encoder", "hcat_classifier", "hcat_sentiment", "hcat_toxicity", "hcat_device"),
        "may be a path; name, revision, SHA-256 and device stand in columns of their own",
    ),
    **dict.fromkeys(
        ("hcat_warehouse", "hcat_raw_logs", "hcat_raw_relations", "hcat_grammar_relations"),
        "places: what was read stands in the ledger's inputs",
    ),
    "hcat_clock_was_ahead": "whether a build starts",
    "hcat_language_model_url": "a place, and an address may carry a key; the model stands in the ledger of calls",
}

#: Longer than a thin model, because dbt finds references only as literals: one line per mart.
LISTS_OF_MARTS = {"published_grammar", "published_judges", "published_test_set"}
LINES_OF_A_THIN_MODEL = 15

#: Numbers that mean the same everywhere: nothing, one, all.
PLAIN_NUMBERS = {"0", "1", "0.0", "1.0", "100"}
#: Numbers that belong to one file, each with its reason.
NUMBERS_OF_FILES = {
    "clean_line": ({"4"}, "least digits of a code point, as people write it"),
    "end_build": ({"20"}, "lines on rejected records that a build prints"),
    "start_build": ({"60"}, "seconds by which the clocks of two machines may differ"),
    "int_retrieval_quality": ({"3", "5", "10"}, "the cut-off ranks that the catalogue names"),
    "int_metric_cells": (
        {"0.05", "0.1", "0.2", "0.25", "0.3", "0.4", "0.5", "0.6", "0.7", "0.75", "0.8", "0.9", "0.95"},
        "the quantiles that are shown",
    ),
    "int_cell_sums": ({"3", "10"}, "largest score whose squares fit 64 bits in billionths; decimal digits"),
    "int_findings_in_holes": ({"0.5"}, "a cell that accounts for half of a weakness explains it"),
    "int_findings_evidence": ({"2", "3"}, "squares; examples"),
    "arithmetic": ({"99"}, "whole percent inside 0 and 100"),
    "int_origins_counted": ({"2"}, "squares"),
    "int_weak_cells_weighed": ({"2", "3"}, "order of low, medium and high"),
    "public_value": ({"9"}, "digits of a telephone without its country, as in hcat.privacy.exposure"),
    "wilson_bound": ({"2", "4"}, "Wilson's formula"),
    "base_ratings": ({"2", "3", "5", "80"}, "points of feedback; stars; characters of an offending value"),
    "fct_assistant_costs": ({"0.5", "0.9", "0.95", "0.99"}, "the quantiles that are shown"),
    "fct_interactions": ({"200", "600", "2", "4"}, "characters and turns that part the lengths"),
    "int_clusters_bucketed": ({"1000", "128"}, "clusters that leave one by one, and groups of more"),
    "int_bias_sums": ({"1000"}, "blocks that bound the cost of permutations"),
    "fct_verdicts": ({"8", "1.5", "10"}, "weights of what is out of place or missing; answers to read first"),
    "int_judge_requests": ({"2", "3"}, "the second part of a metric's name is its subject; questions of RAGAS"),
    "int_generation_requests": ({"4", "8"}, "revision of the rules; partners of a multi-hop query"),
    "int_chunk_strata": ({"0.3333", "0.6667"}, "thirds of the documents"),
    "int_test_variants": ({"0.5"}, "entailment is more likely than not"),
    "topic_windows": ({"2"}, "windows of a chunk"),
    "topic_fit_texts": ({"20000"}, "texts of a fit of topics"),
    "sampling_minimum": ({"2"}, "chunks of a stratum, because a variance needs two"),
    "sampling_prior": ({"5"}, "evaluations that the pooled variance weighs"),
    "variant_revision": ({"4"}, "revision of the rules"),
    "int_ratings_adjudicated": ({"0.5"}, "a majority is more than half"),
    "fct_safety_rates": ({"0.5"}, "a majority is more than half"),
    "share_of_hash": ({"4503599627370496"}, "52 bits of an MD5, which a double holds exactly"),
    "fct_calibration_validity": ({"10"}, "labelled clusters of a version class"),
    "fct_calibrators": ({"20"}, "parameters that a row shows"),
    "fct_metric_thresholds": ({"2"}, "decimals to which people round a threshold"),
    "int_ratings_of_clusters": ({"2"}, "passes of a rater that count"),
    "int_interactions_sampled_for_review": (
        {"0.05", "0.3", "30", "0.000001", "2"},
        "floor, audit share and real queries of a round, and 2 sqrt(p (1 - p))",
    ),
    "number_of_hex": ({"16", "10"}, "bases of numbers"),
    "whole_number": ({"38"}, "digits of the largest decimal"),
    "int_target_evaluations": ({"7"}, "characters of a year and month"),
    "review_number": ({"4294967296"}, "a hash as a share of 2^32"),
    "bucket_characters": ({"5000", "50000000", "2", "1024"}, "characters gathered at once by GiB, and few in tests"),
    "bounded_log_odds": ({"8"}, "the log odds beyond which labels taught nothing"),
    "revision_of": ({"2", "3", "12"}, "revisions of rules"),
    "without_noise": ({"5"}, "decimals that do not depend on the batch"),
    "window_characters": ({"800"}, "characters that fit the encoder"),
    "toxic_probability": ({"0.5"}, "where the error rates of toxicity were measured"),
    "int_metrics__groundedness": ({"0.75", "0.5"}, "how sentences are joined"),
    "int_interaction_samples": ({"4"}, "answers that SelfCheck compares"),
    "int_interaction_attributes": ({"0.8", "20"}, "how sure a language must be"),
    "int_answers_to_check": ({"50"}, "rival answers"),
    "int_sentence_signals": ({"3"}, "facts beyond which labels taught nothing"),
    **{
        f"base_{entity}": ({"80"}, "characters of the offending value in a reject reason")
        for entity in ("queries", "relevance_judgements", "retrievals")
    },
    "field_fault": ({"80"}, "characters of the offending value in a reason"),
    "time_fault": ({"80"}, "characters of the offending value in a reason"),
    "stg_rejected_records": ({"500"}, "characters of raw text that are shown"),
    "utc_timestamp": ({"2", "3", "4", "6", "8", "9"}, "parts of a time, and their digits"),
}

#: Columns of models whose contract lists the words that they may hold. The count only rises.
COUNT_CLOSED_COLUMNS = 191
#: Names that promise closed words, wherever they stand in a mart.
CLOSED_NAMES = {"status", "verdict", "outcome", "kind"}

#: Modules that are torch code and imported only where a model is loaded.
MODEL_MODULES = {"minilm"}
#: Modules that know the database: for dbt models, for staging and finished warehouses, and for rows that are pulled.
ENGINE_MODULES = {"engine/fresh_rows.py", "engine/relations.py", "engine/staging.py", "engine/warehouse.py"}

#: Libraries that take long to import: only inside functions.
HEAVY_LIBRARIES = {
    "altair",
    "great_expectations",
    "ot",
    "presidio_analyzer",
    "sacrebleu",
    "sentence_transformers",
    "sklearn",
    "spacy",
    "torch",
    "transformers",
    "vl_convert",
}


@pytest.fixture(scope="session")
def models(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        node["name"]: node
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["package_name"] == "hcat"
    }


@pytest.fixture(scope="session")
def references(manifest: dict[str, Any], models: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Return (model, what it refers to) for every reference of a model to a model or seed."""
    return [
        (name, manifest["nodes"][parent]["name"])
        for name, model in models.items()
        for parent in model["depends_on"]["nodes"]
    ]


def tracked_files() -> list[Path]:
    """Return the files that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout: the tracked files are unknown")
    paths = [REPOSITORY / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def sql_files() -> list[Path]:
    return sorted([*(REPOSITORY / "models").rglob("*.sql"), *(REPOSITORY / "macros").rglob("*.sql")])


def python_modules() -> list[Path]:
    return sorted((REPOSITORY / "python_udfs" / "hcat").rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the top-level name of every library imported in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


def test_every_model_and_seed_states_its_grain(manifest: dict[str, Any]) -> None:
    grainless = [
        node["name"]
        for node in manifest["nodes"].values()
        if node["resource_type"] in ("model", "seed") and not node["description"].startswith("One row")
    ]
    assert grainless == []


def test_marts_have_contracts_and_documented_columns(models: dict[str, dict[str, Any]]) -> None:
    marts = [model for model in models.values() if model["name"].startswith(("dim_", "fct_", "gate_"))]
    assert len(marts) > 10
    without_contract = {model["name"] for model in marts if not model["config"]["contract"]["enforced"]}
    undocumented = [
        f"{model['name']}.{column['name']}"
        for model in marts
        for column in model["columns"].values()
        if not column["description"] or not column["data_type"]
    ]
    assert without_contract == WITHOUT_CONTRACT
    assert undocumented == []
    assert all(model["columns"] for model in marts if model["name"] not in WITHOUT_CONTRACT)


def test_checks_call_no_function(models: dict[str, dict[str, Any]]) -> None:
    """DuckDB cannot replay a comment on a column of a table whose check calls one (decision 49)."""
    checks = [
        (name, constraint["expression"])
        for name, model in models.items()
        for part in [model, *model["columns"].values()]
        for constraint in part.get("constraints", [])
        if constraint["type"] == "check"
    ]
    assert len(checks) > 400
    parsed = [duckdb.execute("select json_serialize_sql($1)", [f"select {check}"]).fetchone() for _, check in checks]
    assert [check for check, row in zip(checks, parsed, strict=True) if '"class":"FUNCTION"' in str(row)] == []


def test_closed_vocabularies_are_enforced_by_the_contract(models: dict[str, dict[str, Any]]) -> None:
    columns = [
        (name, column["name"], [rule["expression"] for rule in column["constraints"] if rule["type"] == "check"])
        for name, model in models.items()
        for column in model["columns"].values()
    ]
    closed = {(name, column) for name, column, checks in columns if re.search(r"(?:\bin \(|= )'", " ".join(checks))}
    assert len(closed) >= COUNT_CLOSED_COLUMNS, "a contract no longer lists the words of a column"
    marts = {(name, column) for name, column, _ in columns if name.startswith(("dim_", "fct_"))}
    assert {(name, column) for name, column in marts if column in CLOSED_NAMES} - closed == set()


def test_python_models_are_thin() -> None:
    paths = sorted((REPOSITORY / "models").rglob("*.py"))
    assert paths
    forbidden = (ast.BinOp, ast.AugAssign, ast.For, ast.While, ast.comprehension, ast.Lambda, ast.Try)
    for path in paths:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        lines = [line for line in source.splitlines() if line.strip() and not line.strip().startswith("#")]
        if path.stem not in LISTS_OF_MARTS:
            assert len(lines) <= LINES_OF_A_THIN_MODEL, f"{path.name} has {len(lines)} lines"
        functions = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert functions == ["model"], f"{path.name} defines {functions}"
        found = [type(node).__name__ for node in ast.walk(tree) if isinstance(node, forbidden)]
        assert found == [], f"{path.name} computes: {found}"


def test_what_passes_is_the_candidate_and_hangs_on_the_verdicts(references: list[tuple[str, str]]) -> None:
    read = {parent for model, parent in references if model == "published_passing"}
    assert read == {"gate_verdicts", "published_candidate"}


def test_every_catalogued_family_has_a_model_and_a_line_in_the_union(references: list[tuple[str, str]]) -> None:
    with (REPOSITORY / "seeds" / "metric_catalog.csv").open(encoding="utf-8", newline="") as lines:
        families = {f"int_metrics__{row['family']}" for row in csv.DictReader(lines)}
    # the verdict is made of the others
    assert {parent for model, parent in references if model == "int_metrics_unioned"} == families - {
        "int_metrics__verdict"
    }


def test_every_catalogued_metric_was_computed(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        # where the cut-off was decided for another encoder, no metric that needs it has a score
        catalogued = connection.execute(
            "select metric_name from metric_catalog where (requires is null"
            " or requires not like '%cut_off%' or 'context_sentence_relevance' in"
            " (select metric_name from int_threshold_decisions where threshold is not null))"
            # and without recognition of names none that needs it
            " and (requires is null or requires not like '%tagger%'"
            " or (select bool_or(has_tagger) from int_models))"
            # and nobody answers a judge here
            # and the verdict is made of the others
            " and family not in ('judged', 'verdict')"
        ).fetchall()
        # a count comes from the family alone
        computed = connection.execute(
            "select distinct metric_name from int_evaluations_completed where scored_count is not null"
        ).fetchall()
        assert set(computed) == set(catalogued)


def test_metrics_that_ask_a_language_model_are_known_by_their_name() -> None:
    with (REPOSITORY / "seeds" / "metric_catalog.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    asking = {row["metric_name"] for row in rows if "language_model" in row["requires"].split("|")}
    assert asking == {row["metric_name"] for row in rows if "_llm" in row["metric_name"]}
    assert asking == {row["metric_name"] for row in rows if row["family"] == "judged"}
    assert len(asking) > 10


@pytest.mark.parametrize(
    "path",
    sorted((REPOSITORY / "seeds").glob("*.csv")) + sorted((REPOSITORY / "decisions").glob("*.csv")),
    ids=lambda path: path.stem,
)
def test_every_column_of_a_seed_has_a_type(path: Path) -> None:
    """Without one, dbt takes a column without values for integers, which no text can be compared with."""
    with path.open(encoding="utf-8", newline="") as lines:
        assert list(describe_seed(REPOSITORY, path.stem)["config"]["column_types"]) == next(csv.reader(lines))


def test_dimensions_are_declared_and_read() -> None:
    with (REPOSITORY / "seeds" / "analysis_dimensions.csv").open(encoding="utf-8", newline="") as lines:
        dimensions = list(csv.DictReader(lines))
    with (REPOSITORY / "seeds" / "analysis_dimension_pairs.csv").open(encoding="utf-8", newline="") as lines:
        cells = list(csv.DictReader(lines))
    paired = {row[f"{place}_dimension"] for row in cells for place in ("first", "second", "third")} - {""}
    assert len({row["headline_metric"] for row in cells} - {""}) <= 1, "the headline family has one metric"
    segments = REPOSITORY / "models" / "analysis" / "segments" / "int_interaction_segments.sql"
    listed = re.search(r"set columns = \[(.*?)\]", segments.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert listed is not None
    assert {row["source"] for row in dimensions} <= {"column", "tag"}
    columns = {row["field"] for row in dimensions if row["source"] == "column"}
    assert columns - set(re.findall(r"'(\w+)'", listed[1])) == set(), f"not in the list of {segments.name}"
    assert paired - {row["dimension"] for row in dimensions} == set(), "pairs of dimensions that are not declared"


@pytest.mark.parametrize("path", sql_files(), ids=lambda path: path.stem)
def test_sql_holds_no_number_with_a_meaning(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\{#.*?#\}|--[^\n]*|'(?:[^'\\]|\\.)*'|\"[^\"]*\"", " ", text, flags=re.DOTALL)
    numbers = set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", text))
    # code points, positions in a list, depths of indentation and quantiles of the normal distribution are no settings
    numbers -= {number for number in numbers if re.search(rf"(?:(?:chr|indent)\({number}\)|\[{number}\])", text)}
    numbers -= set(re.findall(r"\d\.\d{12,}", text))
    places = {path.stem, *re.findall(r"{%-? macro (\w+)", text)}
    own = {number for place in places for number in NUMBERS_OF_FILES.get(place, (set(), ""))[0]}
    assert numbers - PLAIN_NUMBERS - own == set(), f"{path.name}: numbers belong to vars and seeds"


@pytest.mark.parametrize("path", sql_files(), ids=lambda path: path.stem)
def test_nothing_asks_what_is_not_in_a_subquery(path: Path) -> None:
    text = re.sub(r"--[^\n]*", " ", path.read_text(encoding="utf-8"))
    # a null would make it unknown: Apache Spark sends the whole subquery to every worker, by way of the driver, and
    # inside of a case it compares every row with every row
    asked = re.search(r"\bnot\s+in\s*\(\s*select\b", text, flags=re.DOTALL)
    assert asked is None, f"{path.name}: write `not exists` with an equality, or inside of a case a left join"


def test_no_table_reads_itself(models: dict[str, dict[str, Any]]) -> None:
    """A table is replaced in one statement, and a mart with a contract is empty before its rows are selected."""
    tables = {
        name: node["raw_code"]
        for name, node in models.items()
        if node["config"]["materialized"] == "table" and node["language"] == "sql"
    }
    assert len(tables) > 100
    assert {name for name, code in tables.items() if re.search(r"\{[{%][^}]*\bthis\b", code)} == set()


def test_dbt_can_load_what_it_has_parsed(target: Path) -> None:
    """Otherwise each command parses the whole project: a number as a key of some YAML file is enough."""
    from dbt.contracts.graph.manifest import Manifest

    Manifest.from_msgpack((target / "partial_parse.msgpack").read_bytes())


def test_variables_have_defaults_and_are_used() -> None:
    project = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text(encoding="utf-8"))
    declared = set(project["vars"]["hcat"])
    sources = [
        path
        for folder in ("models", "macros", "tests/singular", "tests/generic", "analyses")
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in (".sql", ".yml")
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    used = set(re.findall(r"\bvar\(\s*['\"](\w+)['\"]", text))
    assert COMMAND_LINE_VARIABLES & declared == set(), "a value in dbt_project.yml would be ignored without a word"
    assert used - declared - COMMAND_LINE_VARIABLES == set(), "variables without a default in dbt_project.yml"
    # the ledger reads its variables from a list of names
    unused = {name for name in declared - used if f"'{name}'" not in text}
    assert unused == set(), "variables that nothing reads"


def test_the_ledger_keeps_each_setting_that_can_change_a_number() -> None:
    declared = set(yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text(encoding="utf-8"))["vars"]["hcat"])
    kept = set(re.findall(r"'(hcat_\w+)'", (REPOSITORY / "macros" / "hcat_settings.sql").read_text(encoding="utf-8")))
    assert kept & SETTINGS_BESIDE_THE_LEDGER.keys() == set()
    assert kept | SETTINGS_BESIDE_THE_LEDGER.keys() == declared


def test_the_tree_names_no_machine_and_no_registry() -> None:
    machine = re.compile(r"(?:^|[^\w.])/(?:work|farm|root|home/\w+|Users/\w+)/")
    # in parts, so that this file does not name them either
    hosts = ["pypi" + ".org", "python" + "hosted.org", "registry." + "npmjs", "conda." + "anaconda", "hub." + "getdbt"]
    registry = re.compile("|".join(re.escape(host) for host in hosts))
    own_pattern = Path(__file__).resolve()
    found = []
    for path in tracked_files():
        if path.suffix in (".parquet", ".safetensors", ".png", ".svg") or path.resolve() == own_pattern:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            if machine.search(line) or registry.search(line):
                found.append(f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()[:120]}")
    assert found == []


@pytest.mark.parametrize("path", python_modules(), ids=lambda path: path.stem)
def test_modules_of_the_package_stay_light_and_know_no_engine(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    everywhere = set(imported(tree))
    assert "dbt" not in everywhere
    if path.relative_to(REPOSITORY / "python_udfs" / "hcat").as_posix() not in ENGINE_MODULES:
        assert "duckdb" not in everywhere, f"only {sorted(ENGINE_MODULES)} know the database"
    module_level = ast.Module(
        body=[node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], type_ignores=[]
    )
    if path.stem not in MODEL_MODULES:
        assert set(imported(module_level)) & HEAVY_LIBRARIES == set()
