"""The same call of an assistant as the tools export it, by their published schemas."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

QUERY = "How long does a transfer take?"
ANSWER = "Two working days."
#: (id, text, score) of the retrieved documents, in order; the second text is JSON and stays as it is.
DOCUMENTS = (
    ("c7", "Transfers arrive within two working days.", 0.9),
    ("c9", '{"fee": 5, "currency": "EUR"}', 0.25),
)
#: Start of the call in nanoseconds and as a time.
START = 1_772_445_600_123_456_789
ASKED_AT = datetime(2026, 3, 2, 10, 0, 0, 123456)
ISO = "2026-03-02T10:00:00.123456Z"


def typed(value: Any) -> dict[str, Any]:
    """Return a value as OTLP writes it in JSON."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes as OTLP writes them in JSON."""
    return [{"key": key, "value": typed(value)} for key, value in attributes.items()]


def otlp(trace_id: str, spans: list[tuple[str, str, str, dict[str, Any]]], **more: Any) -> dict[str, Any]:
    """Return an OTLP request with spans (id, id of the parent, name, attributes); ``more`` belongs to the first."""
    listed = [
        {
            "traceId": trace_id,
            "spanId": span_id,
            "parentSpanId": parent_id,
            "name": name,
            "kind": 1,
            "startTimeUnixNano": str(START + place * 1000),
            "endTimeUnixNano": str(START + 10**9),
            "attributes": pairs(attributes),
            "status": {},
        }
        for place, (span_id, parent_id, name, attributes) in enumerate(spans)
    ]
    listed[0] |= more
    resource = {"attributes": pairs({"service.name": "assistant", "service.version": "2.3"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "app"}, "spans": listed}]}]}


def openinference() -> dict[str, Any]:
    """Return a chain with a retriever, a reranker and a model, as Phoenix reads it."""

    def documents(prefix: str, found: list[tuple[str, str, float]]) -> dict[str, Any]:
        names = ("id", "content", "score")
        return {
            f"{prefix}.{place}.document.{name}": value
            for place, document in enumerate(found)
            for name, value in zip(names, document, strict=True)
        }

    metadata = {"retrieval.documents.0.document.metadata": '{"source": "transfers.md"}'}
    retrieved = [("c1", "Something else.", 0.99), *DOCUMENTS]
    spans = [
        ("0a" * 8, "", "ask", {"openinference.span.kind": "CHAIN", "input.value": QUERY, "output.value": ANSWER}),
        (
            "0b" * 8,
            "0a" * 8,
            "find",
            {"openinference.span.kind": "RETRIEVER", **documents("retrieval.documents", retrieved), **metadata},
        ),
        (
            "0c" * 8,
            "0a" * 8,
            "rank",
            {
                "openinference.span.kind": "RERANKER",
                **documents("reranker.input_documents", retrieved),
                **documents("reranker.output_documents", list(DOCUMENTS)),
            },
        ),
        (
            "0d" * 8,
            "0a" * 8,
            "write",
            {
                "openinference.span.kind": "LLM",
                "llm.model_name": "model-1",
                "output.value": json.dumps({"answer": "a draft"}),
                "embedding.vector": [0.5] * 200,
            },
        ),
    ]
    return otlp("1a" * 16, spans)


def genai() -> dict[str, Any]:
    """Return an agent by the conventions of OpenTelemetry; texts of documents are no part of them.

    Their ids begin with ``of-``; the texts come from ``chunks``.
    """

    def said(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "parts": [{"type": "text", "content": text}]}

    messages = [said("user", "Good morning."), said("assistant", "Good morning!"), said("user", QUERY)]
    answers = [{"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."}, said("", ANSWER)["parts"][0]]}]
    spans = [
        (
            "1a" * 8,
            "",
            "invoke_agent assistant",
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "assistant",
                "gen_ai.conversation.id": "s1",
                "gen_ai.input.messages": json.dumps(messages),
                "gen_ai.output.messages": json.dumps(answers),
            },
        ),
        (
            "1b" * 8,
            "1a" * 8,
            "retrieval shelf",
            {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.retrieval.documents": [{"id": f"of-{name}", "score": score} for name, _, score in DOCUMENTS],
            },
        ),
        ("1c" * 8, "1a" * 8, "chat", {"gen_ai.operation.name": "chat", "gen_ai.response.model": "model-1"}),
    ]
    return otlp("2a" * 16, spans)


def openllmetry() -> dict[str, Any]:
    """Return a workflow of Traceloop with a query of a vector store, whose results are events."""
    request = otlp(
        "3a" * 16,
        [
            (
                "2a" * 8,
                "",
                "ask.workflow",
                {
                    "traceloop.span.kind": "workflow",
                    "traceloop.workflow.name": "assistant",
                    "traceloop.association.properties.session_id": "s1",
                    "traceloop.entity.input": json.dumps({"args": [], "kwargs": {"question": QUERY}}),
                    "traceloop.entity.output": json.dumps(ANSWER),
                },
            ),
            ("2b" * 8, "2a" * 8, "chroma.query", {"db.system": "chroma", "db.operation": "query"}),
        ],
    )
    request["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["events"] = [
        {
            "name": "db.query.result",
            "timeUnixNano": str(START),
            "attributes": pairs(
                {"db.query.result.id": name, "db.query.result.document": text, "db.query.result.score": score}
            ),
        }
        for name, text, score in DOCUMENTS
    ]
    return request


def mlflow() -> dict[str, Any]:
    """Return a trace of MLflow 3 as its ``to_json`` writes it: JSON inside of texts, ids in base64."""

    def encode(digits: str) -> str:
        return base64.b64encode(bytes.fromhex(digits)).decode()

    def span(span_id: str, parent_id: str | None, name: str, kind: str, place: int, outputs: Any) -> dict[str, Any]:
        return {
            "trace_id": encode("4a" * 16),
            "span_id": encode(span_id),
            "parent_span_id": parent_id and encode(parent_id),
            "name": name,
            "start_time_unix_nano": START + place * 1000,
            "end_time_unix_nano": START + 10**9,
            "events": [],
            "status": {"code": "STATUS_CODE_OK", "message": ""},
            "attributes": {
                "mlflow.traceRequestId": json.dumps("tr-" + "4a" * 16),
                "mlflow.spanType": json.dumps(kind),
                "mlflow.spanInputs": json.dumps({"question": QUERY}),
                "mlflow.spanOutputs": json.dumps(outputs),
            },
        }

    found = [
        {"page_content": text, "metadata": {"doc_uri": f"{name}.md", "score": score}, "id": name}
        for name, text, score in DOCUMENTS
    ]
    person = {"source_type": "HUMAN", "source_id": "rater-1"}
    return {
        "info": {
            "trace_id": "tr-" + "4a" * 16,
            "state": "OK",
            "trace_metadata": {"mlflow.trace.session": "s1"},
            "tags": {"application": "assistant", "application_version": "2.3"},
            "assessments": [
                {"assessment_name": "expected_response", "source": person, "expectation": {"value": "Two days."}},
                {"assessment_name": "thumbs", "source": person, "feedback": {"value": "up"}},
                {"assessment_name": "judge", "source": {"source_type": "LLM_JUDGE"}, "feedback": {"value": True}},
            ],
        },
        "data": {
            "spans": [
                span("3a" * 8, None, "answer", "UNKNOWN", 0, ANSWER),
                span("3b" * 8, "3a" * 8, "retrieve", "RETRIEVER", 1, found),
            ]
        },
    }


def langfuse() -> dict[str, Any]:
    """Return a page of observations of the API v2, whose inputs and outputs are texts."""

    def observation(name: str, kind: str, parent: str | None, given: Any, got: Any) -> dict[str, Any]:
        return {
            "id": f"observation-{name}",
            "traceId": "5a" * 16,
            "projectId": "p1",
            "parentObservationId": parent,
            "type": kind,
            "name": name,
            "startTime": ISO,
            "endTime": "2026-03-02T10:00:01.000Z",
            "level": "DEFAULT",
            "version": "2.3",
            "sessionId": "s1",
            "userId": "u1",
            "traceName": "assistant",
            "input": given if isinstance(given, str) else json.dumps(given),
            "output": got if isinstance(got, str) else json.dumps(got),
            "metadata": {},
        }

    found = [
        {"page_content": text, "metadata": {"score": score}, "id": name, "type": "Document"}
        for name, text, score in DOCUMENTS
    ]
    model = observation("write", "GENERATION", "observation-ask", "...", ANSWER) | {"providedModelName": "model-1"}
    return {
        "data": [
            observation("ask", "SPAN", None, {"args": [], "kwargs": {"question": QUERY}}, ANSWER),
            observation("find", "RETRIEVER", "observation-ask", QUERY, found),
            model,
        ],
        "meta": {"cursor": None},
    }


def langsmith() -> list[dict[str, Any]]:
    """Return rows of the bulk export, for a Parquet file: typed times, inputs and outputs as JSON texts."""
    start = ASKED_AT.replace(tzinfo=UTC)

    def run(run_id: str, parent: str | None, kind: str, outputs: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": run_id,
            "tenant_id": "tenant",
            "session_id": "project",
            "session_name": "assistant",
            "trace_id": "run-1",
            "parent_run_id": parent,
            "run_type": kind,
            "name": kind,
            "start_time": start,
            "end_time": start,
            "status": "success",
            "inputs": json.dumps({"question": QUERY}),
            "outputs": json.dumps(outputs),
            "extra": json.dumps({"metadata": {"thread_id": "s1", "ls_model_name": "model-1"}}),
            "error": None,
            "dotted_order": run_id,
        }

    found = [
        {"page_content": text, "metadata": {"score": score}, "id": name, "type": "Document"}
        for name, text, score in DOCUMENTS
    ]
    return [
        run("run-1", None, "chain", {"output": ANSWER}),
        run("run-2", "run-1", "retriever", {"documents": found}),
        run("run-3", "run-1", "llm", {"generations": [[{"text": ANSWER}]]}),
    ]


def trulens() -> list[dict[str, Any]]:
    """Return rows of an event table that TruLens fills, with objects as texts and a row that is no span."""

    def event(span_id: str, parent_id: str, name: str, attributes: dict[str, Any]) -> dict[str, Any]:
        return {
            "TIMESTAMP": "2026-03-02 10:00:01",
            "START_TIMESTAMP": ISO.removesuffix("Z").replace("T", " "),
            "TRACE": json.dumps({"trace_id": "7a" * 16, "span_id": span_id}),
            "RESOURCE_ATTRIBUTES": json.dumps({"snow.user.name": "ANALYST"}),
            "RECORD_TYPE": "SPAN",
            "RECORD": json.dumps(
                {"name": name, "kind": "SPAN_KIND_INTERNAL", "parent_span_id": parent_id, "status": {"code": "OK"}}
            ),
            "RECORD_ATTRIBUTES": json.dumps({"ai.observability.app_name": "assistant", **attributes}),
        }

    base = "ai.observability"
    root = {
        f"{base}.span_type": "record_root",
        f"{base}.record_id": "record-1",
        f"{base}.app_version": "2.3",
        f"{base}.record_root.input": QUERY,
        f"{base}.record_root.output": ANSWER,
    }
    retrieval = {
        f"{base}.span_type": "retrieval",
        f"{base}.retrieval.query_text": QUERY,
        f"{base}.retrieval.retrieved_contexts": [text for _, text, _ in DOCUMENTS],
        f"{base}.retrieval.retrieved_scores": [score for _, _, score in DOCUMENTS],
    }
    log = event("6c" * 8, "", "log", {}) | {"RECORD_TYPE": "LOG"}
    return [event("6a" * 8, "", "ask", root), event("6b" * 8, "6a" * 8, "find", retrieval), log]


def plain() -> list[dict[str, Any]]:
    """Return spans with hcat's own names."""
    found = [{"chunk_id": name, "text": text, "score": score} for name, text, score in DOCUMENTS]
    shared = {"trace_id": "plain-1", "started_at": ISO, "ended_at": "2026-03-02T10:00:01Z"}
    root = {"query": QUERY, "answer": ANSWER, "application": "assistant", "application_version": "2.3"}
    return [
        {**shared, "span_id": "1", "kind": "chain", "name": "ask", "attributes": root},
        {**shared, "span_id": "2", "parent_span_id": "1", "kind": "retriever", "attributes": {"documents": found}},
        {**shared, "span_id": "3", "parent_span_id": "1", "kind": "tool", "attributes": {"output": "It is Monday."}},
    ]
