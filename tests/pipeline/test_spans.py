"""Spans of every dialect fold into the same records, and what cannot be folded is rejected with its reason."""

import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from builds import SETTINGS, Build, Dbt, read_lines, write_lines

from hcat.landing.dialects import read_dialects

STAGING = "build --select +path:models/staging int_records_counted --exclude-resource-type test"
#: The same call as each tool exports it.
EXPORTS = Path(__file__).with_name("exports")
QUERY, ANSWER = "How long does a transfer take?", "Two working days."
#: (id, text, score) of the retrieved documents, in order; the second text is JSON and stays as it is.
DOCUMENTS = (("c7", "Transfers arrive within two working days.", 0.9), ("c9", '{"fee": 5, "currency": "EUR"}', 0.25))
ASKED_AT = datetime(2026, 3, 2, 10, 0, 0, 123456)
#: Dialect -> (interaction_id, session, model, user, application, version) of its export; None where it logs none.
EXPORTED = {
    "openinference": ("1a" * 16, None, "model-1", None, "assistant", "2.3"),
    "genai": ("2a" * 16, "s1", "model-1", None, "assistant", "2.3"),
    "openllmetry": ("3a" * 16, "s1", None, None, "assistant", "2.3"),
    "mlflow": ("tr-e40a36514220939f4500b02d747092d3", "s1", None, None, "assistant", "2.3"),
    "langfuse": ("5a" * 16, "s1", "model-1", "u1", "assistant", "2.3"),
    "langsmith": ("run-1", "s1", "model-1", None, "assistant", None),
    "trulens": ("record-1", None, None, "ANALYST", "assistant", "2.3"),
    "plain": ("plain-1", None, None, None, "assistant", "2.3"),
}


def faults() -> list[dict[str, Any] | bytes]:
    """Return lines that cannot be used, or whose trace cannot."""
    chain = {"openinference.span.kind": "CHAIN", "input.value": QUERY}
    times = {"start_time": f"{ASKED_AT.isoformat()}Z", "end_time": f"{ASKED_AT.isoformat()}Z"}
    return [
        b'{"trace_id": "broken"',
        {"span_id": "s1", "name": "no trace"},
        {"trace_id": "no-root", "span_id": "s1", **times, "attributes": {"openinference.span.kind": "RETRIEVER"}},
        {"trace_id": "no-dialect", "span_id": "s1", **times, "kind": "SPAN_KIND_SERVER"},
        {
            "trace_id": "cut-off",
            "span_id": "s1",
            "parent_span_id": "s0",
            **times,
            "attributes": {**chain, "output.value": "Yes."},
        },
        {"trace_id": "epoch", "span_id": "s1", "start_time": 17724456, "attributes": chain},
        {"trace_id": "array", "span_id": "s1", **times, "attributes": "[1]"},
    ]


@pytest.fixture(scope="module")
def built(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Staging of the exports of all dialects and of faults."""
    raw = tmp_path_factory.mktemp("spans")
    shutil.copytree(EXPORTS, raw, dirs_exist_ok=True)
    write_lines(raw / "spans_faults.jsonl", faults())
    write_lines(raw / "interactions.jsonl", [{"interaction_id": "i1", "query_text": "Why?", "answer": "Because."}])
    build = dbt(STAGING, raw, tmp_path_factory.mktemp("spans_warehouse"))
    assert build.exit_code == 0, build.output
    return build


def test_every_dialect_has_an_export() -> None:
    # these are tried in tests/python/landing/test_producers.py
    recorded = {"haystack", "openai_agents", "vercel", "monocle", "genkit", "general"}
    assert {each.name for each in read_dialects().dialects} == {*EXPORTED, *recorded}


@pytest.mark.parametrize("dialect", EXPORTED)
def test_a_trace_of_every_dialect_is_an_interaction(built: Build, dialect: str) -> None:
    interaction_id, session, model, user, application, version = EXPORTED[dialect]
    rows = built.query(
        "select interaction_id, query_text, answer, asked_at, application, application_version, conversation_id,"
        " tags from stg_interactions where source_file like ?",
        f"spans_{dialect}.%",
    )
    tags = {name: value for name, value in (("model", model), ("user", user)) if value}
    (*shown, logged_tags) = rows[0]
    assert len(rows) == 1
    assert shown == [interaction_id, QUERY, ANSWER, ASKED_AT, application, version, session]
    assert json.loads(logged_tags or "{}") == tags


@pytest.mark.parametrize("dialect", EXPORTED)
def test_documents_keep_their_order_ids_texts_and_scores(built: Build, dialect: str) -> None:
    rows = built.query(
        "select rank, chunk_id, text, retrieval_score from stg_retrievals where interaction_id = ? order by rank",
        EXPORTED[dialect][0],
    )
    # by the conventions of OpenTelemetry a document has no text, and in an event table no id
    prefix = "of-" if dialect == "genai" else ""
    assert rows == [
        (rank, None if dialect == "trulens" else prefix + name, None if dialect == "genai" else text, score)
        for rank, (name, text, score) in enumerate(DOCUMENTS, start=1)
    ]


def test_references_documents_and_chunks_come_with_the_traces(built: Build) -> None:
    queries = built.query(
        "select queries.reference_answer, interactions.interaction_id from stg_queries as queries"
        " inner join stg_interactions as interactions using (query_id) where interactions.source_file like '%mlflow%'"
    )
    assert queries == [("Two days.", "tr-e40a36514220939f4500b02d747092d3")]
    assert built.query("select document_id from stg_documents order by 1") == [("c7.md",), ("c9.md",)]
    chunks = built.query("select chunk_id, document_id, chunk_text from stg_chunks where document_id is not null")
    assert sorted(chunks) == [(name, f"{name}.md", text) for name, text, _ in DOCUMENTS]


def test_thumbs_are_feedback_of_users_and_judges_are_no_raters(built: Build) -> None:
    assert built.query("select rater, rater_kind, criterion, scale_point from stg_ratings") == [
        ("thumbs", "user_feedback", "user_feedback", 2)
    ]
    assert built.query("select count(*) from stg_rejected_records where entity = 'ratings'") == [(0,)]


def test_what_cannot_be_used_is_rejected_with_its_reason(built: Build) -> None:
    shown = "select source_file, source_row, reject_reason from stg_rejected_records"
    spans = built.query(f"{shown} where entity = 'spans' order by 1, 2")
    assert [row[:2] for row in spans] == [
        *(("spans_faults.jsonl", row) for row in (1, 2, 6, 7)),
        ("spans_trulens.parquet", 3),
    ]
    assert [row[2].split(":")[0] for row in spans] == [
        "malformed JSON",
        "trace_id is missing or blank",
        "started_at is not an ISO 8601 timestamp",
        "attributes is not a JSON object",
        "record_type is not SPAN",
    ]
    traces = dict(
        built.query(
            "select split_part(record_excerpt, ' | ', 1), reject_reason from stg_rejected_records"
            " where entity = 'interactions'"
        )
    )
    assert {trace.strip(): reason for trace, reason in traces.items()} == {
        "no-root": "no root (openinference.*): none of the 1 spans of the trace is a chain, an agent or a model",
        "no-dialect": "no root (no attributes): none of the 1 spans of the trace is a chain, an agent or a model",
        # its span is kept without the time that could not be read
        "epoch": "no answer (input.*, openinference.*): the root span s1 and the models have none where openinference"
        " in span_dialects.yml looks for it",
        "cut-off": "cut off: the parent span s0 of s1 is missing",
    }


def test_no_span_and_no_trace_is_lost(built: Build) -> None:
    counted = {
        row[0]: row[1:]
        for row in built.query(
            "select entity, count_landed, count_staged, count_repeated, count_rejected from int_records_counted"
        )
    }
    landed, staged, repeated, rejected = counted["spans"]
    count = built.query("select count(*) from landed_records where entity = 'spans'")[0][0]
    assert landed == staged + repeated + rejected == count
    traces = built.query("select count(distinct trace_id) from stg_spans")[0][0]
    assert counted["interactions"] == (traces + 1, len(EXPORTED) + 1, 0, traces - len(EXPORTED))
    assert built.query("select count(*) from stg_interactions where source_file = 'interactions.jsonl'") == [(1,)]


def test_settings_take_tools_as_evidence_and_parents_as_remote(
    dbt: Dbt, tmp_path_factory: pytest.TempPathFactory
) -> None:
    raw = tmp_path_factory.mktemp("spans_settings")
    (chain,) = (line for line in faults() if isinstance(line, dict) and line.get("trace_id") == "cut-off")
    write_lines(raw / "spans.jsonl", [*read_lines(EXPORTS / "spans_plain.jsonl"), chain])
    write_lines(raw / "interactions.jsonl", [{"interaction_id": "i1", "answer": "Because."}])
    build = dbt(STAGING, raw, tmp_path_factory.mktemp("spans_settings_warehouse"), variables=SETTINGS)
    assert build.exit_code == 0, build.output
    assert build.query("select rank, text from stg_retrievals where interaction_id = 'plain-1' order by 1") == [
        *((rank, text) for rank, (_, text, _) in enumerate(DOCUMENTS, start=1)),
        (3, "It is Monday."),
    ]
    assert build.query("select answer from stg_interactions where interaction_id = 'cut-off'") == [("Yes.",)]
