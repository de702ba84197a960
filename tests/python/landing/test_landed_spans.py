"""Spans in one spelling: ids, times and flat attributes, from the shapes of several tools."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_landed_files import land_all

from hcat.landing.raw_contract import ENTITIES, RecordError
from hcat.landing.spans import expand_spans

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def only(record: dict[str, Any]) -> dict[str, Any]:
    (span,) = expand_spans(record)
    return span


@pytest.mark.parametrize(
    "record",
    [
        {"trace_id": TRACE_ID, "span_id": SPAN_ID},
        {"traceId": TRACE_ID, "spanId": SPAN_ID, "parentSpanId": "0000000000000000"},
        {"context": {"trace_id": f"0x{TRACE_ID}", "span_id": f"0x{SPAN_ID}"}, "parent_id": None},
        {"context.trace_id": TRACE_ID, "context.span_id": SPAN_ID},
        {"TRACE": json.dumps({"trace_id": TRACE_ID, "span_id": SPAN_ID}), "RECORD": {"parent_span_id": ""}},
        {"trace_id": TRACE_ID, "id": SPAN_ID, "parent_run_id": None},
        {
            "trace_id": base64.b64encode(bytes.fromhex(TRACE_ID)).decode(),
            "span_id": base64.b64encode(bytes.fromhex(SPAN_ID)).decode(),
        },
        {"trace_id": bytes.fromhex(TRACE_ID), "span_id": bytes.fromhex(SPAN_ID)},
    ],
)
def test_ids_of_every_tool_are_hexadecimal_and_a_root_has_no_parent(record: dict[str, Any]) -> None:
    span = only(record)
    assert (span["trace_id"], span["span_id"], span.get("parent_span_id")) == (TRACE_ID, SPAN_ID, None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1767225600123456789, "2026-01-01T00:00:00.123456+00:00"),
        ("1767225600000000000", "2026-01-01T00:00:00.000000+00:00"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        # staging reads these as seconds and milliseconds
        (1767225600, 1767225600),
        (1767225600000, 1767225600000),
        (0, None),
    ],
)
def test_nanoseconds_become_a_time_and_other_numbers_stay(value: Any, text: Any) -> None:
    assert only({"start_time": value})["started_at"] == text


def test_attributes_are_flat_and_json_inside_of_a_text_stands_twice() -> None:
    attributes = {"a.b": 1, "c": {"d": [True, None, 0.5]}, "e": '{"f": ["x"]}', "g": "[1] is a quote", "h": [0.5] * 200}
    assert only({"attributes": attributes})["attributes"] == {
        "a.b": "1",
        "c.d.0": "true",
        "c.d.2": "0.5",
        "e": '{"f": ["x"]}',
        "e.f.0": "x",
        "g": "[1] is a quote",
        "h": json.dumps([0.5] * 200),
    }


def test_other_fields_are_attributes_and_events_keep_their_place() -> None:
    span = only(
        {
            "run_type": "chain",
            "outputs": '{"answer": "Yes."}',
            "attributes.input.value": "Why?",
            "events": [{"name": "e", "attributes": [{"key": "k", "value": {"intValue": "3"}}]}],
            "resource": {"attributes": {"service.name": "app"}},
            "status": {"code": 2, "message": "bad"},
            "flags": 0x301,
        }
    )
    assert span["status"] == 2
    assert span["attributes"] == {
        "run_type": "chain",
        "outputs": '{"answer": "Yes."}',
        "outputs.answer": "Yes.",
        "input.value": "Why?",
        "events.0.name": "e",
        "events.0.attributes.k": "3",
        "resource.service.name": "app",
        "status.message": "bad",
        "span.parent_is_remote": "true",
    }


def test_what_is_said_of_a_trace_is_an_attribute_of_its_root() -> None:
    spans = [{"span_id": "2", "parent_span_id": "1"}, {"span_id": "1", "parent_span_id": None}]
    child, root = expand_spans({"info": {"tags": {"k": "v"}}, "data": {"spans": spans}})
    assert (child["attributes"], root["attributes"]) == ({}, {"trace.tags.k": "v"})
    (page_span,) = expand_spans({"data": [{"id": "1", "traceId": "t"}], "meta": {}})
    assert (page_span["trace_id"], page_span["span_id"]) == ("t", "1")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"resourceSpans": {}}, "OTLP must hold a list of spans, got object"),
        ({"resourceSpans": ["x"]}, "a span must be an object, got text"),
        ({"spans": [1]}, "a span must be an object, got number"),
        ({"RECORD_TYPE": "LOG", "TRACE": {}}, "record_type is not SPAN: LOG"),
    ],
)
def test_a_record_that_is_no_span_says_why(record: dict[str, Any], reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        list(expand_spans(record))


@given(
    st.dictionaries(st.sampled_from(["attributes", "events", "resource", "status", "spans", "data", "x"]), json_values)
)
def test_any_json_is_a_span_or_a_reason(record: dict[str, Any]) -> None:
    try:
        spans = list(expand_spans(record))
    except RecordError:
        return
    for span in spans:
        assert set(span) <= set(ENTITIES["spans"].columns)
        attributes = span["attributes"]
        if isinstance(attributes, dict):
            assert all(isinstance(value, str) for value in attributes.values())


def test_json_is_one_document_or_an_object_a_line(tmp_path: Path) -> None:
    spans = [{"trace_id": "t", "span_id": str(number)} for number in (1, 2)]
    (tmp_path / "spans_lines.json").write_text("\n".join(map(json.dumps, spans)))
    (tmp_path / "spans_list.json").write_text(json.dumps(spans, indent=1))
    (tmp_path / "spans_one.json").write_text(json.dumps({"spans": spans}, indent=1))
    rows = land_all(tmp_path, "spans")
    assert [(row["source_file"], row["source_row"], row["span_id"]) for row in rows] == [
        ("spans_lines.json", 1, "1"),
        ("spans_lines.json", 2, "2"),
        ("spans_list.json", 1, "1"),
        ("spans_list.json", 2, "2"),
        ("spans_one.json", 1, "1"),
        ("spans_one.json", 1, "2"),
    ]


def test_a_file_without_ids_and_a_broken_document_are_one_problem(tmp_path: Path) -> None:
    (tmp_path / "spans_a.jsonl").write_text('{"message": "hello"}\n')
    (tmp_path / "spans_b.json").write_text('[{"trace_id":\n')
    problems = [row["read_error"] for row in land_all(tmp_path, "spans") if not row["source_row"]]
    assert problems[0] == "spans_a.jsonl has no column 'trace_id', 'span_id' (found: attributes)"
    assert problems[1].startswith("spans_b.json cannot be read: Expecting value")
