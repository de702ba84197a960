"""hcat as a package beside a project that has names of its own (integration_tests), built whole on Spark."""

import pytest
import yaml
from both_engines import run_in_session
from builds import copy_bank

SHARED = ("dim_documents", "fct_evaluations", "risks")
COUNT_CALLS = 20


def log_calls(spark):
    """Make the table of the assistant, with a passage for each call; every tenth call has no reply."""
    spark.sql("create schema if not exists bank")
    spark.sql(
        f"""
        create table bank.retrieved_passages as
        select
            'c' || id as interaction_id,
            'What does plan ' || id || ' cost?' as question,
            case when id % 10 <> 9 then 'The fee of plan ' || id || ' is ' || id || ' euros.' end as reply,
            timestamp_ntz '2026-05-01 00:00:00' + make_interval(0, 0, 0, 0, id) as called_at,
            1 as rank,
            'Plan ' || id || ' costs ' || id || ' euros.' as text
        from (select cast(id as int) as id from range({COUNT_CALLS}))
        """
    )


@pytest.fixture(scope="module")
def project(spark, spark_target, tmp_path_factory):
    folder = copy_bank(tmp_path_factory.mktemp("package_on_spark"))
    profile = {"integration_tests": {"target": "spark", "outputs": {"spark": {**spark_target, "schema": "bank"}}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    log_calls(spark)
    words = ["--quiet", "--log-level-file", "none", "--no-write-json", "--log-path", str(folder)]
    words += ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    # not those of the demo, in which the tests of hcat's own project run
    settings = {"HCAT_WAREHOUSE": str(folder / "warehouse"), "HCAT_DEMO": "0"}
    run_in_session(["deps", *words], settings)
    # the tests of models run on Spark elsewhere, and each costs a plan
    run_in_session(["build", *words, "--exclude-resource-type", "unit_test", "test"], settings)
    return folder


def test_both_projects_build_and_hcat_has_a_schema_of_its_own(project, spark):
    for name in SHARED:
        assert [tuple(row) for row in spark.sql(f"select name from bank.{name}").collect()] == [
            (f"{name} of the bank",)
        ]
    assert spark.table("bank_evaluation.fct_interactions").count() == COUNT_CALLS - 2
    own = {"answered_calls", "answer_words", "logged_calls", "own_metrics", "retrieved_passages", "threshold_gates"}
    assert {row.tableName for row in spark.sql("show tables in bank").collect()} == own | set(SHARED)


def test_own_seeds_and_metrics_count(project, spark):
    gates = spark.sql("select gate_name, verdict from bank_evaluation.fct_threshold_gates order by 1").collect()
    assert [tuple(row) for row in gates] == [("answers_present", "passed"), ("records_accepted", "passed")]
    words = "select count(*), max(raw_score) from bank_evaluation.fct_evaluations where metric_name = 'answer_words'"
    assert [tuple(row) for row in spark.sql(words).collect()] == [(COUNT_CALLS - 2, 8.0)]
