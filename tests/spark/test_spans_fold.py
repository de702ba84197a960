"""Spans of every dialect fold into the same rows on both engines."""

import json
import os
import shutil

import duckdb
import pytest
from both_engines import build_in_session, describe_build, write_profile
from builds import ask_server, write_lines
from test_spans import EXPORTS, faults

SELECTED = "+path:models/staging"
TABLES = (
    "base_folded_traces",
    "base_interactions",
    "base_retrievals",
    "base_queries",
    "base_documents",
    "base_chunks",
    "base_ratings",
    "stg_rejected_records",
)


@pytest.fixture(scope="module")
def folder(spark_target, tmp_path_factory):
    """Folder of both builds, with the same logs."""
    folder = tmp_path_factory.mktemp("fold")
    write_profile(folder, spark_target, "fold")
    for target in ("duckdb", "spark"):
        logs = folder / target / "logs"
        shutil.copytree(EXPORTS, logs, dirs_exist_ok=True)
        write_lines(logs / "spans_faults.jsonl", faults())
        quoted = {"question": 'Is it "5"?', "answer": '"Yes" or "no"\n\\ 5 €'}
        (page,) = json.loads((EXPORTS / "spans_langfuse.json").read_text())
        trace = page["data"][0] | {"traceId": "quoted", "input": json.dumps(quoted)}
        write_lines(logs / "spans_quoted.jsonl", [trace | {"output": quoted["answer"]}])
        write_lines(logs / "interactions.jsonl", [{"interaction_id": "i1", "query_text": "Why?", "answer": "Because."}])
    return folder


def test_both_engines_fold_the_same_rows(folder, spark):
    words, settings = describe_build(folder, "duckdb", SELECTED)
    exit_code, output = ask_server("dbt", words, {**os.environ, **settings})
    assert exit_code == 0, output
    build_in_session(folder, SELECTED)
    with duckdb.connect(str(folder / "duckdb" / "hcat.duckdb"), read_only=True) as connection:
        for table in TABLES:
            here = connection.sql(f"from {table}").to_arrow_table()
            there = spark.table(f"fold.{table}").toArrow()
            assert here.num_rows > 0, table
            assert there.column_names == here.column_names
            rows = [sorted(each.to_pylist(), key=str) for each in (here, there)]
            assert rows[0] == rows[1], table
