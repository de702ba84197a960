"""A part of the project itself on both engines, from raw logs to scores: equal rows, and a rerun that resumes."""

import json
import os
import subprocess
from pathlib import Path

import duckdb
import pytest
from both_engines import ROOT, build_in_session, describe_build, write_profile

from hcat.engine.project import DBT

DEMO = ROOT / "demo" / "logs"
#: What is built: landing, staging, splitting, embedding and comparing, SQL and Python, tables, views and increments.
SELECTED = "+int_sentence_matches"
#: Entities whose records belong to an interaction.
OF_INTERACTIONS = ("interactions", "retrievals", "ratings")
#: The place of each interaction in its conversation.
_TURNS = "select interaction_id, conversation_key, turn_index, count_turns from {schema}.int_interactions"


def write_logs(folder: Path, count_interactions: int) -> None:
    """Write the demo's logs with the first interactions alone."""
    first = [json.loads(line)["interaction_id"] for line in (DEMO / "interactions.jsonl").read_text().splitlines()]
    kept = set(first[:count_interactions])
    for path in DEMO.glob("*.jsonl"):
        lines = path.read_text().splitlines()
        if path.stem in OF_INTERACTIONS:
            records = [record for record in map(json.loads, lines) if record["interaction_id"] in kept]
            # all of them are turns of one conversation in one run, in the order of their times
            lines = [
                json.dumps(
                    record | {"conversation_id": "talk", "run_id": "smoke"} if path.stem == "interactions" else record
                )
                for record in records
            ]
        (folder / f"{path.stem}_{count_interactions}.jsonl").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(spark_target, tmp_path_factory):
    """Folder of both builds, with a profile of both engines."""
    folder = tmp_path_factory.mktemp("smoke")
    write_profile(folder, spark_target, "smoke")
    return folder


@pytest.fixture(scope="module")
def build_on_duckdb(folder):
    """Return a function that waits for a build of eight interactions on DuckDB, in a process of its own."""
    write_logs(folder / "duckdb" / "logs", 8)
    words, settings = describe_build(folder, "duckdb", SELECTED)
    with open(folder / "duckdb" / "output.txt", "w+") as output:
        process = subprocess.Popen(
            [*DBT, *words], env={**os.environ, **settings}, stdout=output, stderr=subprocess.STDOUT
        )

        def wait():
            assert process.wait() == 0, (folder / "duckdb" / "output.txt").read_text()
            return folder / "duckdb" / "hcat.duckdb"

        yield wait
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def build_on_spark(folder, spark):
    """Return a function that builds the first so many interactions in the session of this process."""

    def run(count_interactions):
        write_logs(folder / "spark" / "logs", count_interactions)
        build_in_session(folder, SELECTED)

    return run


def test_a_rerun_resumes_and_both_engines_give_the_same_scores(build_on_duckdb, build_on_spark, spark):
    build_on_spark(4)
    embedded = spark.table("smoke.int_texts_embedded")
    before = {row.text_id: row.embedding for row in embedded.collect()}
    assert before
    # the files of the first build stay: their records come again, and are neither landed nor embedded twice
    build_on_spark(8)
    spark.catalog.refreshTable("smoke.int_texts_embedded")
    after = [(row.text_id, row.embedding) for row in spark.table("smoke.int_texts_embedded").collect()]
    assert len(after) == len(dict(after)) > len(before)
    assert {text_id: dict(after)[text_id] for text_id in before} == before

    there = spark.table("smoke.int_sentence_matches").toArrow().to_pylist()
    with duckdb.connect(str(build_on_duckdb()), read_only=True) as connection:
        schema = connection.sql(
            "select table_schema from information_schema.tables where table_name = 'int_texts_embedded'"
        ).fetchall()[0][0]
        here = connection.sql(f"select * from {schema}.int_sentence_matches").to_arrow_table().to_pylist()
        embeddings = dict(connection.sql(f"select text_id, embedding from {schema}.int_texts_embedded").fetchall())
        turns = connection.sql(_TURNS.format(schema=schema)).to_arrow_table().to_pylist()
    read = spark.sql(_TURNS.format(schema="smoke")).toArrow().to_pylist()
    assert {row["count_turns"] for row in turns} == {8}
    assert sorted(map(str, read)) == sorted(map(str, turns))
    assert {text_id: list(vector) for text_id, vector in after} == {
        text_id: list(vector) for text_id, vector in embeddings.items()
    }
    keys = ("interaction_id", "comparison", "sentence_index")
    expected = {tuple(row[key] for key in keys): row for row in here}
    assert len(there) == len(expected) > 0
    for row in there:
        other = expected[tuple(row[key] for key in keys)]
        near = {name: pytest.approx(other[name], abs=1e-6) for name in ("similarity", "weight")}
        assert row == {**other, **near}
