"""Spans of every dialect fold into the same rows on both engines."""

import json
import shutil

import duckdb
from both_engines import build_in_session, write_profile
from builds import folder_of_all, run_dbt, take_parsed, write_lines
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


def test_both_engines_fold_the_same_rows(spark, spark_target, tmp_path_factory, tmp_path):
    write_profile(tmp_path, spark_target, "fold")
    for target in ("duckdb", "spark"):
        logs = tmp_path / target / "logs"
        shutil.copytree(EXPORTS, logs, dirs_exist_ok=True)
        write_lines(logs / "spans_faults.jsonl", faults())
        quoted = {"question": 'Is it "5"?', "answer": '"Yes" or "no"\n\\ 5 €'}
        (page,) = json.loads((EXPORTS / "spans_langfuse.json").read_text())
        trace = page["data"][0] | {"traceId": "quoted", "input": json.dumps(quoted)}
        write_lines(logs / "spans_quoted.jsonl", [trace | {"output": quoted["answer"]}])
        write_lines(logs / "interactions.jsonl", [{"interaction_id": "i1", "query_text": "Why?", "answer": "Because."}])
    place, words = tmp_path / "duckdb", ["build", "--select", SELECTED, "--indirect-selection", "cautious"]
    take_parsed(folder_of_all(tmp_path_factory), tmp_path / "target")
    exit_code, output = run_dbt(words, place / "logs", place, tmp_path / "target")
    assert exit_code == 0, output
    build_in_session(tmp_path, SELECTED)
    with duckdb.connect(str(place / "hcat.duckdb"), read_only=True) as connection:
        for table in TABLES:
            here = connection.sql(f"from {table}").to_arrow_table()
            there = spark.table(f"fold.{table}").toArrow()
            assert here.num_rows > 0, table
            assert there.column_names == here.column_names
            rows = [sorted(each.to_pylist(), key=str) for each in (here, there)]
            assert rows[0] == rows[1], table
