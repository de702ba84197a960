"""The adapter by itself, on a project of a few models: seeds, Python models, increments, contracts and failures."""

import pytest
import yaml
from both_engines import invoke

AWKWARD = [
    "it's",
    'say "so"',
    "back\\slash\\",
    "two\nlines",
    "tab\there",
    "Zürich 東京 🙂",
    "100 % {x}",
    "-- none",
    "''",
]
FILES = {
    "dbt_project.yml": "name: small\nprofile: hcat\nversion: 1.0.0\nflags: {send_anonymous_usage_stats: false}\n"
    "seeds: {small: {+quote_columns: false, +column_types: {text: varchar}}}\n",
    "models/numbers.py": """
def model(dbt, session):
    if str(dbt.config.meta_get("is_broken")) == "True":
        raise ValueError("broken on purpose")
    return session.range(3)
""",
    "models/plain.sql": "{{ config(materialized='table') }} select 1 as id, 'a' as word"
    "{% if var('is_broken', false) %}, raise_error('stop') as x{% endif %}",
    "models/kept.sql": """
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='id') }}
"""
    "select * from (values (1, '{{ var('word', 'old') }}'), ({{ var('word', 'old') | length }}, 'b'))"
    " as t(id, word)",
    "models/schema.yml": """
models:
  - name: numbers
    config: {materialized: table, meta: {is_broken: "{{ var('is_broken', false) }}"}}
  - name: checked
    config: {materialized: table, contract: {enforced: true}}
    columns:
      - {name: word, data_type: varchar, constraints: [{type: not_null}]}
      - {name: score, data_type: double, constraints: [{type: check, expression: "score <= 1"}]}
""",
    "models/checked.sql": "select 'a' as word, cast({{ var('score', 1) }} as double) as score",
}


@pytest.fixture(scope="module")
def dbt(spark, spark_target, tmp_path_factory):
    """Run dbt commands on the small project in this process; returns (success, messages of failures)."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    quoted = "".join('{},"{}"\n'.format(number, text.replace('"', '""')) for number, text in enumerate(AWKWARD))
    (folder / "seeds").mkdir()
    (folder / "seeds" / "awkward.csv").write_text("id,text\n" + quoted + "99,\n")
    profile = {"hcat": {"target": "spark", "outputs": {"spark": {**spark_target, "schema": "small"}}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))

    def run(*arguments, **variables):
        words = [*arguments, "--project-dir", str(folder), "--profiles-dir", str(folder), "--quiet"]
        words += ["--vars", yaml.safe_dump(variables, default_flow_style=True, width=10**6).strip()]
        return invoke(words, {})

    success, messages = run("build")
    assert success, messages
    return run


def test_seeds_load_unchanged(dbt, spark):
    rows = {row.id: row.text for row in spark.table("small.awkward").collect()}
    assert rows == {**dict(enumerate(AWKWARD)), 99: None}


def test_a_model_that_raises_shows_its_trace_and_leaves_the_earlier_table(dbt, spark):
    success, messages = dbt("run", "--select", "numbers", "plain", is_broken=True)
    assert not success
    assert "broken on purpose" in messages
    assert "Traceback" in messages
    assert [row.id for row in spark.table("small.numbers").orderBy("id").collect()] == [0, 1, 2]
    assert [tuple(row) for row in spark.table("small.plain").collect()] == [(1, "a")]
    assert dbt("run", "--select", "numbers", "plain")[0], "the build after it goes through"


def test_delete_and_insert_replaces_by_key_and_keeps_the_rest(dbt, spark):
    assert dbt("run", "--select", "kept", word="newer")[0]
    rows = sorted(tuple(row) for row in spark.table("small.kept").collect())
    assert rows == [(1, "newer"), (3, "b"), (5, "b")]


def test_a_contract_is_held_against_the_rows(dbt, spark):
    success, messages = dbt("run", "--select", "checked", score=2)
    assert not success
    assert "1 rows break the contract" in messages
    assert [row.score for row in spark.table("small.checked").collect()] == [1.0]


def test_settings_of_the_environment_win(spark_target):
    from dbt_common.exceptions import DbtRuntimeError

    from dbt.adapters.sparksession import SparkSessionCredentials

    settings = {"spark.a": "1", "spark.b": ""}
    credentials = SparkSessionCredentials(schema="s", server_side_parameters=settings, conf="spark.a=2; spark.c=x=y")
    assert {"spark.a": "2", "spark.c": "x=y"}.items() <= credentials.server_side_parameters.items()
    assert "spark.b" not in credentials.server_side_parameters
    with pytest.raises(DbtRuntimeError, match=r"got 'spark\.a'"):
        SparkSessionCredentials(schema="s", conf="spark.a")
