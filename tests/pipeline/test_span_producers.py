"""Real packages write the spans that are read: texts, ids, order and times are compared field by field.

The packages are the extra ``integrations``. HCAT_PRODUCERS_PYTHON names a Python that has them, if it is another one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from builds import Build, Dbt, read_lines, write_lines

PRODUCERS = Path(__file__).with_name("producers")
PYTHON = os.environ.get("HCAT_PRODUCERS_PYTHON", sys.executable)
STAGING = "build --select +path:models/staging int_records_counted --exclude-resource-type test"
#: (chunk_id, text) in order, as both applications retrieve them.
SHELF = [("c7", "Transfers arrive within two working days."), ("c9", '{"fee": 5, "currency": "EUR"}')]
QUERY, ANSWER = "How long does a transfer take?", "Two working days."


def run_producer(module: str, program: str, *arguments: str) -> None:
    """Run an application of its own process; skip where its packages are not installed."""
    if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{module} is not installed (pip install '.[integrations]')")
    environment = {**os.environ, "MLFLOW_ALLOW_FILE_STORE": "true"}
    environment.pop("PYTHONPATH", None)
    command = [PYTHON, str(PRODUCERS / program), *arguments]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stderr


def stage(dbt: Dbt, raw: Path, warehouse: Path) -> Build:
    """Build staging, with a call that is no trace beside the spans."""
    write_lines(raw / "interactions.jsonl", [{"interaction_id": "i1", "answer": "Because."}])
    build = dbt(STAGING, raw, warehouse)
    assert build.exit_code == 0, build.output
    return build


def staged_traces(build: Build) -> list[tuple[Any, ...]]:
    """Return what is staged of each trace, in order of time."""
    return build.query(
        "select interaction_id, query_text, answer, application, application_version, conversation_id, tags, asked_at"
        " from stg_interactions where source_file = 'spans.jsonl' order by asked_at"
    )


def staged_documents(build: Build, interaction_id: str) -> list[tuple[Any, ...]]:
    """Return the documents of a trace, in order of rank."""
    return build.query(
        "select chunk_id, text, retrieval_score from stg_retrievals where interaction_id = ? order by rank",
        interaction_id,
    )


def test_spans_of_the_openinference_instrumentor_are_read_field_by_field(dbt: Dbt, tmp_path: Path) -> None:
    raw = tmp_path / "logs"
    raw.mkdir()
    run_producer("openinference.instrumentation.langchain", "langchain_application.py", str(raw / "spans.jsonl"))
    written = read_lines(raw / "spans.jsonl")
    roots = sorted((span for span in written if span["parent_id"] is None), key=lambda span: span["start_time"])
    build = stage(dbt, raw, tmp_path / "warehouse")
    assert staged_traces(build) == [
        (
            root["context"]["trace_id"].removeprefix("0x"),
            query,
            answer,
            "assistant",
            "2.3",
            session,
            None,
            datetime.fromisoformat(root["start_time"].removesuffix("Z")),
        )
        for root, query, answer, session in zip(
            roots,
            (QUERY, "And a fee?"),
            (ANSWER, '["It", "depends"]'),
            ("s1", None),
            strict=True,
        )
    ]
    for root in roots:
        documents = staged_documents(build, root["context"]["trace_id"].removeprefix("0x"))
        assert documents == [(*document, score) for document, score in zip(SHELF, (0.9, 0.25), strict=True)]
    assert build.query("select count(*) from stg_spans") == [(len(written),)]
    assert build.query("select document_id from stg_documents order by 1") == [("fees.md",), ("transfers.md",)]


def test_traces_of_the_file_store_of_mlflow_are_read_field_by_field(dbt: Dbt, tmp_path: Path) -> None:
    raw = tmp_path / "logs"
    raw.mkdir()
    store = (tmp_path / "mlruns").as_uri()
    run_producer("mlflow", "mlflow_application.py", store, str(raw / "spans.jsonl"))
    (trace,) = read_lines(raw / "spans.jsonl")
    spans = trace["data"]["spans"]
    (root,) = (span for span in spans if not span["parent_span_id"])
    build = stage(dbt, raw, tmp_path / "warehouse")
    trace_id = trace["info"]["trace_id"]
    ((*shown, asked_at),) = staged_traces(build)
    assert shown == [trace_id, QUERY, ANSWER, "assistant", None, "s1", None]
    assert (asked_at - datetime(1970, 1, 1)).total_seconds() == pytest.approx(root["start_time_unix_nano"] / 1e9)
    assert staged_documents(build, trace_id) == [(*document, None) for document in SHELF]
    assert build.query("select count(*) from stg_spans") == [(len(spans),)]
    assert build.query("select reference_answer from stg_queries") == [(ANSWER,)]
    assert build.query("select rater, rater_kind, scale_point from stg_ratings") == [
        ("user_feedback", "user_feedback", 2)
    ]
    # a file of the store itself holds the spans of one trace
    (stored,) = (tmp_path / "mlruns").rglob("traces.json")
    assert {span["span_id"] for span in json.loads(stored.read_text())["spans"]} == {span["span_id"] for span in spans}
