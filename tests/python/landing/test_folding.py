"""A trace becomes ordinary records, or has the reason why not. Every test states the smallest trace for it."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from hcat.landing.dialects import DialectError, Dialects, read_dialects
from hcat.landing.folding import FOLDED, Folding, fold_batches, fold_trace, fold_traces, read_time

#: One dialect with every rule: a guard, a text alone, priorities and lists.
OWN = """
dialects:
  d:
    recognised_by: k
    kind: k
    texts_are_json: true
    model_may_answer: true
    people: [human, app]
    roles: {chain: chain, model: llm, retriever: [retriever, search], reranker: reranker, tool: tool}
    interaction_id: id
    query: [m.*.content if m.*.role is user, input if text]
    answer: [answer, output if text]
    reference_answer: reference
    document_text: docs.*.text
    document_id: docs.*.id
    document_score: docs.*.score
    document_source: docs.*.source
    document_title: docs.*.title
    tool_output: tool
    model: model
    input_tokens: tokens
    cost: price
    prompt_version: prompt
    annotation_name: notes.*.name
    annotation_source: notes.*.source
    annotation_value: notes.*.value
    annotator: notes.*.by
    annotation_time: notes.*.at
annotations:
  - {name: feedback, value: up, criterion: relevance, scale_point: 2}
  - {name: stars, criterion: truthfulness}
  - {name: stars, value: 1, criterion: truthfulness, scale_point: 0}
"""
ASK = {"k": "chain", "input": "Why?", "output": "Because."}


@pytest.fixture(scope="module")
def dialects(tmp_path_factory: pytest.TempPathFactory) -> Dialects:
    path = tmp_path_factory.mktemp("own") / "span_dialects.yml"
    path.write_text(OWN)
    return read_dialects(path)


def span(span_id: str | None, attributes: Any, **more: Any) -> dict[str, Any]:
    written = json.dumps(attributes) if isinstance(attributes, dict) else attributes
    row = dict.fromkeys(("parent_span_id", "kind", "name", "status", "started_at", "ended_at", "read_error"))
    row |= {"record_id": f"r{span_id}", "source_file": "f", "trace_id": "t", "span_id": span_id, "attributes": written}
    row |= {"record_hash": f"h{span_id}{written}", "unread_record": None, "read_note": None}
    return row | {"source_row": 1, "landing_number": 1} | more


@pytest.fixture
def fold(dialects: Dialects) -> Any:
    def records(*spans: dict[str, Any], remote: bool = False) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for row in fold_trace(spans[0]["trace_id"], spans, Folding(dialects, False, remote)):
            found.setdefault(row["entity"], []).append(row)
        return found

    return records


def reason_of(records: dict[str, list[dict[str, Any]]]) -> str | None:
    (interaction,) = records["interactions"]
    return interaction["read_error"]


def test_a_span_needs_ids_and_an_object_and_is_never_overwritten(fold: Any) -> None:
    rows = fold(
        span("1", ASK),
        span("1", ASK, record_id="copy"),
        span("1", {**ASK, "output": "Else."}, record_id="other"),
        span(" ", {}),
        span("2", '["k"]'),
        span("3", None, read_error="malformed JSON"),
    )["spans"]
    assert [(row["record_status"], row["reject_reason"]) for row in rows] == [
        ("staged", None),
        ("repeated", None),
        ("rejected", "trace_id, span_id was sent before with other content"),
        ("rejected", "span_id is missing or blank"),
        ("rejected", 'attributes is not a JSON object: ["k"]'),
        ("rejected", "malformed JSON"),
    ]


def test_spans_without_a_trace_are_no_trace(fold: Any) -> None:
    records = fold(span("1", ASK, trace_id=None))
    assert set(records) == {"spans"}
    assert records["spans"][0]["reject_reason"] == "trace_id is missing or blank"


@pytest.mark.parametrize(
    ("attributes", "query", "answer"),
    [
        # only a message of the user is a query, and the last one counts
        ({"m.0.content": "A?", "m.0.role": "User", "m.1.content": "B.", "m.1.role": "system"}, "A?", "Because."),
        ({"m.2.content": "A?", "m.2.role": "user", "m.10.content": "B?", "m.10.role": "user"}, "B?", "Because."),
        # a text in quotes is read as JSON; one that begins and ends with a quote need not be JSON
        ({"input": '"Why not?"', "answer": '"Yes" or "no"'}, "Why not?", '"Yes" or "no"'),
        # half of a character is no text that a table holds
        ({"answer": '"\\ud800"'}, "Why?", '"\\ud800"'),
        # a text that begins with a bracket is no list, and an empty answer is one
        ({"output": "[1] says yes."}, "Why?", "[1] says yes."),
        ({"answer": ""}, "Why?", ""),
    ],
)
def test_the_root_gives_query_and_answer(fold: Any, attributes: dict[str, str], query: str, answer: str) -> None:
    (interaction,) = fold(span("1", ASK | attributes))["interactions"]
    assert (interaction["query_text"], interaction["answer"]) == (query, answer)


@pytest.mark.parametrize(
    ("spans", "root"),
    [
        # the first chain holds the others, and the last call of a model answers
        ([("1", "chain", None, "00"), ("2", "chain", None, "01")], "1"),
        ([("1", "chain", "2", "00"), ("2", "chain", None, "01")], "2"),
        ([("1", "llm", None, "00"), ("2", "llm", None, "01"), ("3", "tool", None, "02")], "2"),
        # a span without a time comes last
        ([("1", "chain", None, None), ("2", "chain", None, "09")], "2"),
    ],
)
def test_the_root_is_the_topmost_chain_or_the_last_model(fold: Any, spans: list[Any], root: str) -> None:
    rows = [
        span(
            number,
            {**ASK, "k": kind, "output": number},
            parent_span_id=parent,
            started_at=second and f"2026-01-05T10:00:{second}Z",
        )
        for number, kind, parent, second in spans
    ]
    (interaction,) = fold(*rows)["interactions"]
    assert interaction["answer"] == root


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([span("1", {"k": "search"})], "no root (k): none of the 1 spans of the trace is a chain, an agent or a model"),
        (
            [span("1", {"x": "y", "acme.id": "1"}, kind="SERVER"), span("2", {})],
            "no root (acme.*, x): none of the 2 spans of the trace is a chain, an agent or a model",
        ),
        (
            [span("1", {"k": "search"}, parent_span_id="0")],
            "cut off: the trace has no span of a chain or agent, and the parent span 0 is missing",
        ),
        ([span("1", ASK, parent_span_id="0", name="ask")], "cut off: the parent span 0 of ask is missing"),
        (
            [span("1", ASK, ended_at="0001-01-01T00:00:00Z"), span("2", {}, ended_at="2026-01-05")],
            "cut off: the root span 1 has not ended",
        ),
        ([span("1", {"k": "chain"}, status="ERROR")], "no answer (k): the root span 1 ended with an error"),
        (
            [span("1", {"k": "chain", "output": '{"x": 1}'})],
            "no answer (k, output): the root span 1 and the models have none where d in span_dialects.yml looks for it",
        ),
        (
            [span("1", {"k": "chain", "output": "Yes."})],
            "no query (k, output): the root span 1 and the models have none where d in span_dialects.yml looks for it",
        ),
    ],
)
def test_a_trace_without_interaction_says_why(fold: Any, rows: list[dict[str, Any]], reason: str) -> None:
    assert reason_of(fold(*rows)) == reason


def test_a_parent_may_be_remote_by_the_setting_or_by_its_span(fold: Any) -> None:
    lonely = span("1", ASK, parent_span_id="0")
    assert reason_of(fold(lonely, remote=True)) is None
    assert reason_of(fold(span("1", ASK | {"span.parent_is_remote": "true"}, parent_span_id="0"))) is None


def documents(kind: str, *names: str) -> dict[str, str]:
    return {"k": kind} | {f"docs.{place}.id": name for place, name in enumerate(names)}


def retrieved(records: dict[str, list[dict[str, Any]]]) -> list[tuple[str | None, str | None]]:
    return [(row["rank"], row["chunk_id"] or row["text"]) for row in records.get("retrievals", [])]


def test_documents_of_a_reranker_replace_those_of_retrievers(fold: Any) -> None:
    found = fold(
        span("1", ASK),
        span("2", documents("retriever", "a", "b")),
        span("3", documents("reranker", "b")),
        span("4", {}),
    )
    assert retrieved(found) == [("1", "b")]


def test_a_retriever_around_another_one_counts_and_the_inner_one_does_not(fold: Any) -> None:
    found = fold(
        span("1", ASK),
        span("2", documents("retriever", "a")),
        span("3", documents("retriever", "b"), parent_span_id="2"),
        # found twice, counted once
        span("4", documents("search", "a", "c")),
    )
    assert retrieved(found) == [("1", "a"), ("2", "c")]


def test_documents_and_chunks_and_queries_come_with_a_trace(fold: Any) -> None:
    found = fold(
        span("1", ASK | {"reference": "So."}),
        span("2", {"k": "search", "docs.0.id": " c ", "docs.0.text": "T.", "docs.0.source": "d", "docs.0.title": "D"}),
    )
    assert [(row["document_id"], row["title"]) for row in found["documents"]] == [("d", "D")]
    assert [(row["chunk_id"], row["document_id"], row["text"]) for row in found["chunks"]] == [("c", "d", "T.")]
    assert [(row["text"], row["reference_answer"]) for row in found["queries"]] == [("Why?", "So.")]


@pytest.mark.parametrize(
    ("attributes", "more", "said"),
    [
        ({"k": "search"}, {}, [None]),
        ({"k": "search", "docs": "[]"}, {}, ["0"]),
        (documents("search", "a"), {}, ["1"]),
        ({"k": "search"}, {"status": "ERROR"}, []),
    ],
)
def test_a_retriever_says_whether_there_are_documents(
    fold: Any, attributes: dict[str, str], more: dict[str, str], said: list[str | None]
) -> None:
    found = fold(span("1", ASK), span("2", attributes, **more))
    assert [row["count_retrieved"] for row in found.get("retrievers", [])] == said


def test_costs_are_the_time_of_the_root_and_the_calls_of_models(fold: Any) -> None:
    timed = {"started_at": "2026-05-04T09:00:00Z", "ended_at": "2026-05-04T09:00:02.500Z"}
    call = {"k": "llm", "model": "small", "prompt": "7"}
    found = fold(
        span("a", ASK | {"tokens": "99"}, **timed),
        span("b", call | {"tokens": "10", "price": "0.5"}, parent_span_id="a"),
        # the call below says the same tokens once more
        span("c", call | {"tokens": "10"}, parent_span_id="b"),
        span("d", call | {"tokens": 5, "price": "free"}, parent_span_id="a"),
    )
    (row,) = found["interactions"]
    assert (row["latency_seconds"], row["count_input_tokens"], row["count_output_tokens"]) == ("2.5", "15.0", None)
    # staging says that it cannot be read
    assert (row["cost"], row["language_model"], row["prompt_version"]) == ("free", "small", "7")
    (row,) = fold(span("a", ASK | {"tokens": "99"}))["interactions"]
    assert (row["latency_seconds"], row["count_input_tokens"]) == (None, "99")


@pytest.mark.parametrize(
    ("name", "value", "source", "expected"),
    [
        ("feedback", "up", "HUMAN", ("relevance", "2", None)),
        ("stars", "2.0", "app", ("truthfulness", "2.0", None)),
        # 1 and 1.0 are one number
        ("stars", "1.0", "app", ("truthfulness", "0", None)),
        ("tone", "kind", "human", (None, "kind", "annotation without a criterion in span_dialects.yml: tone = kind")),
        ("feedback", "up", "LLM", None),
        # what users pressed has no criterion of raters
        ("thumbs", "up", "human", ("user_feedback", "up", None)),
        ("user score", "0", "API", ("user_feedback", "0", None)),
        ("accuracy", "1", "API", None),
    ],
)
def test_annotations_by_people_are_ratings(fold: Any, name: str, value: str, source: str, expected: Any) -> None:
    note = {"notes.0.name": name, "notes.0.value": value, "notes.0.source": source}
    ratings = fold(span("1", ASK | note)).get("ratings", [])
    shown = [(row["criterion"], row["scale_point"], row["read_error"]) for row in ratings]
    assert shown == ([] if expected is None else [expected])
    assert {row["rater"] for row in ratings} <= {"unnamed", name}


def test_the_last_thing_that_a_user_pressed_counts(fold: Any) -> None:
    pressed = [("up", "2026-05-04"), ("down", "2026-05-06"), ("up", "2026-05-05")]
    names = {f"notes.{place}.name": "thumbs" for place in range(3)} | {
        f"notes.{place}.source": "app" for place in range(3)
    }
    notes = names | {f"notes.{place}.value": value for place, (value, _) in enumerate(pressed)}
    times = {f"notes.{place}.at": time for place, (_, time) in enumerate(pressed)}
    (row,) = fold(span("1", ASK | notes | times))["ratings"]
    assert (row["rater_kind"], row["scale_point"], row["rated_at"]) == ("user_feedback", "down", "2026-05-06")


def test_keys_of_a_project_go_before_the_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "span_dialects.yml"
    path.write_text("dialects: {plain: {query: frage, roles: {chain: kette}}, mine: {recognised_by: x, kind: x}}")
    found = {each.name: each for each in read_dialects(path).dialects}
    shipped = {each.name: each for each in read_dialects().dialects}
    assert list(found) == ["mine", *shipped]
    (first,) = found["plain"].places["frage"]
    assert (first.field, first.priority) == ("query", 0)
    assert found["plain"].roles == shipped["plain"].roles | {"kette": "chain"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("dialects: {x: {kind: k}}", "the dialect x needs recognised_by and kind"),
        ("dialects: {plain: {querry: q}}", "the dialect plain has no field querry"),
        ("dialects: {plain: {query: 'a.{asked}'}}", "has a key that cannot be read: a.{asked}"),
        ("dialects: {plain: {query: a when b}}", "has a key that cannot be read: a when b"),
        ("dialect: {}", "holds dialect, and only"),
        ("annotations: [{name: x}]", "an annotation needs name and criterion"),
    ],
)
def test_a_file_of_dialects_that_cannot_be_used_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "span_dialects.yml"
    path.write_text(text)
    with pytest.raises(DialectError, match=reason):
        read_dialects(path)


def test_the_order_and_the_batches_of_rows_change_nothing(dialects: Dialects) -> None:
    rows = [span(str(number % 3), ASK, trace_id=f"t{number // 3}", record_id=f"r{number}") for number in range(30)]
    schema = pa.schema([(name, pa.string()) for name in rows[0] if name not in ("source_row", "landing_number")])
    schema = schema.append(pa.field("source_row", pa.int64())).append(pa.field("landing_number", pa.int64()))
    folding = Folding(dialects, False, False)
    folded = [
        pa.Table.from_batches(fold_batches(folding, iter(pa.Table.from_pylist(rows, schema).to_batches(size))), FOLDED)
        for size in (1, 4, 100)
    ]
    assert folded[0].num_rows == 40
    assert folded[0].equals(folded[1])
    assert folded[0].equals(folded[2])
    table = pa.Table.from_pylist(rows[::-1], schema).append_column("entity", pa.array(["spans"] * len(rows)))
    with duckdb.connect() as connection:
        settings = {"tool_outputs_are_evidence": False, "missing_parents": "remote"}
        assert fold_traces(connection.from_arrow(table), settings).read_all().num_rows == 40


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-05T10:00:00",
        "2026-01-05T10:00:00.1234567+02:00",
        "2026-01-05T10:00:00+01:00[Europe/Berlin]",
        "2026-01-05 10:00:00 Europe/Berlin",
        "2026-01-05 9:05 UTC",
        "2026-01-05",
        "2026-02-30",
        "20260105t100000,5z",
        "0001-01-01T00:00:00Z",
        "1780300000",
        "1780300000250",
        "178030000",
        "yesterday",
    ],
)
def test_times_are_read_as_staging_reads_them(text: str) -> None:
    from hcat.engine.staging import Staging, find_project, read_variables

    project = find_project(Path(__file__).parents[3])
    staging = Staging(project, read_variables(project, project))
    staging.add("times", pa.table({"at": [text]}))
    (row,) = staging.rows(staging.render("select {{ utc_timestamp('\"at\"') }} as read from times"))
    assert row["read"] == read_time(text)
