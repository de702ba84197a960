"""Traces and exports as tools write them: each text arrives, none is mapped wrongly, and what is not known is said."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_landed_files import land_all

from hcat.engine.keys import hash_text
from hcat.landing.calls import ENTITIES_OF_CALLS
from hcat.landing.contexts import find_passages
from hcat.landing.folding import fold_trace, read_folding
from hcat.landing.importing import import_into

RECORDED = Path(__file__).with_name("recorded")
PRODUCERS = yaml.safe_load((RECORDED / "producers.txt").read_text(encoding="utf-8"))
FOLDING = read_folding({"tool_outputs_are_evidence": False, "missing_parents": "cut_off"})
#: What the desk of the tram company was asked and said.
SAID = {
    "Can I take my bicycle along at ten?": "Yes, bicycles travel free after nine on weekdays.",
    "What does a monthly pass cost?": "A monthly pass costs 54 euros.",
}
SHELF = {
    "k1": "Bicycles travel free of charge on weekdays after nine in the morning.",
    "k2": "A monthly pass costs 54 euros and is valid on all lines of the city.",
    "k3": "Lost property is kept for thirty days at the central station.",
}


def fold(folder: Path) -> dict[str, list[dict[str, Any]]]:
    rows = land_all(folder, "spans")
    rows.sort(key=lambda row: (row["trace_id"], row["source_row"]))
    found: dict[str, list[dict[str, Any]]] = {"retrievals": []}
    for trace_id, spans in groupby(rows, key=lambda row: row["trace_id"]):
        for row in fold_trace(trace_id, spans, FOLDING):
            found.setdefault(row["entity"], []).append(row)
    return found


@pytest.mark.parametrize("producer", PRODUCERS["traces"])
def test_every_text_of_a_producer_arrives(producer: str, tmp_path: Path) -> None:
    traces, passages, source = PRODUCERS["traces"][producer]
    (file,) = RECORDED.glob(f"{producer}.[jc]s*")
    (tmp_path / f"spans{file.suffix}").write_bytes(file.read_bytes())
    found = fold(tmp_path)
    assert {row["reject_reason"] for row in found["spans"]} == {None}
    assert [row["read_error"] for row in found["interactions"]] == [None] * traces
    assert len({row["query_text"] for row in found["interactions"]}) == traces
    assert all(SAID[row["query_text"]] == row["answer"].strip() for row in found["interactions"])
    for interaction in found["interactions"]:
        own = [row for row in found["retrievals"] if row["interaction_id"] == interaction["interaction_id"]]
        assert {row["kind"] for row in own} <= {source}
        assert [row["chunk_id"] for row in own] == passages or (passages is None and own)
        texts = [row["text"] for row in own]
        assert all(row["text"] == SHELF[row["chunk_id"]] for row in own if row["chunk_id"])
        assert passages != [None] or all(text in texts[0] for text in SHELF.values())


QUERY, ANSWER = "What does a monthly pass cost?", "A monthly pass costs 54 euros."
P1, P2 = SHELF["k1"], SHELF["k2"]
TRACES = yaml.safe_load((RECORDED / "traces.txt").read_text(encoding="utf-8"))
PASSAGES = [{"id": key, "text": text} for key, text in SHELF.items()]
MESSAGES = json.dumps([{"role": "user", "content": QUERY}])
FILLED = f"Context: {SHELF['k1']}\nQuestion: {QUERY}"


def write_trace(folder: Path, *spans: tuple[str, dict[str, str]]) -> None:
    """Write a trace whose first span holds the others."""
    rows = [
        {"trace_id": "t", "span_id": f"s{place}", "parent_span_id": "s0" if place else None, "name": name}
        | {"kind": "INTERNAL", "start_time": f"2026-05-01T00:00:0{place}Z", "end_time": "2026-05-01T00:01:00Z"}
        | {"attributes": attributes}
        for place, (name, attributes) in enumerate(spans)
    ]
    (folder / "spans.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    "spans",
    [
        # names of a tool that nobody knows, below a span of the web server
        [
            ("POST /chat", {"http.method": "POST"}),
            ("rag.run", {"acme.user_question": QUERY, "acme.final_answer": ANSWER}),
            ("vector_search", {"acme.search.query": QUERY, "acme.search.documents": json.dumps(PASSAGES)}),
        ],
        [("run", {"input": MESSAGES, "answer": ANSWER, "sources": json.dumps(PASSAGES)})],
        # what a tool put out stands in what the model was given
        [
            ("run", {"acme:input": QUERY, "acme:output": ANSWER}),
            ("find docs", {"acme:input": QUERY, "acme:output": json.dumps(PASSAGES), "acme:type": "search"}),
            ("llm", {"acme:input": json.dumps({"m": [{"c": [{"output": PASSAGES}]}]}), "acme:output": "{}"}),
        ],
    ],
)
def test_an_unknown_tool_is_read_by_the_names_of_its_keys_and_that_is_said(
    spans: list[tuple[str, dict[str, str]]], tmp_path: Path
) -> None:
    write_trace(tmp_path, *spans)
    found = fold(tmp_path)
    (interaction,) = found["interactions"]
    assert (interaction["query_text"], interaction["answer"], interaction["kind"]) == (QUERY, ANSWER, "general")
    assert [row["chunk_id"] for row in found["retrievals"]] == list(SHELF)


@pytest.mark.parametrize(
    ("spans", "seen"),
    [
        ([("GET /", {"http.method": "GET"}), ("SELECT", {"db.query.text": "select a from b"})], "db.*, http.*"),
        ([("resize", {"job.input": "make picture five smaller", "job.output": "the picture is smaller"})], "job.*"),
        ([("chat", {"bot.utterance": QUERY, "bot.said": ANSWER})], "bot.*"),
    ],
)
def test_a_trace_of_another_program_is_not_guessed_at(
    spans: list[tuple[str, dict[str, str]]], seen: str, tmp_path: Path
) -> None:
    write_trace(tmp_path, *spans)
    found = fold(tmp_path)
    assert found["interactions"][0]["read_error"].startswith(f"no root ({seen}): ")
    assert not found["retrievals"]


@pytest.mark.parametrize("tool", TRACES)
def test_every_text_of_a_trace_by_a_published_schema_arrives(tool: str, tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, TRACES[tool]["spans"])))
    found = fold(tmp_path)
    (interaction,) = found["interactions"]
    assert (interaction["query_text"], interaction["answer"], interaction["read_error"]) == (QUERY, ANSWER, None)
    assert [P2 in row["text"] for row in found["retrievals"]] == [True] * TRACES[tool]["passages"]


@pytest.mark.parametrize("answer", ['["It", "depends"]', '{"answer": "The fee is 5.", "sources": [1]}'])
def test_an_answer_in_json_under_its_name_stays_what_the_user_saw(answer: str, tmp_path: Path) -> None:
    outputs = {"output.value": json.dumps({"answer": answer}), "input.value": json.dumps({"question": QUERY})}
    write_trace(tmp_path, ("ask", {"openinference.span.kind": "CHAIN", **outputs}))
    (interaction,) = fold(tmp_path)["interactions"]
    assert (interaction["query_text"], interaction["answer"]) == (QUERY, answer)


def test_a_filled_prompt_gives_way_to_what_the_retriever_was_asked(tmp_path: Path) -> None:
    kind = "openinference.span.kind"
    documents = {"retrieval.documents.0.document.id": "k1", "retrieval.documents.0.document.content": P1}
    message = {"llm.input_messages.0.message.role": "user", "llm.output_messages.0.message.role": "assistant"}
    parts = "llm.input_messages.0.message.contents.0.message_content.text"
    write_trace(
        tmp_path,
        ("ask", {kind: "CHAIN", "output.value": "<acme.Reply object at 0x7f>"}),
        ("find", {kind: "RETRIEVER", "input.value": QUERY, **documents}),
        ("llm", {kind: "LLM", parts: FILLED, **message, "llm.output_messages.0.message.content": ANSWER}),
    )
    (interaction,) = fold(tmp_path)["interactions"]
    assert (interaction["query_text"], interaction["answer"]) == (QUERY, ANSWER)


EXPORTS = yaml.safe_load((RECORDED / "exports.txt").read_text(encoding="utf-8"))


def land(folder: Path, export: Any) -> dict[str, list[dict[str, Any]]]:
    (folder / "export.json").write_text(json.dumps(export))
    import_into("calls", folder / "export.json", folder / "logs")
    return {name: land_all(folder / "logs", name) for name in ENTITIES_OF_CALLS}


@pytest.mark.parametrize("producer", ["agno_runs", "autogen", "crewai", "google_adk_sessions"])
def test_every_text_of_a_run_of_agents_arrives(producer: str, tmp_path: Path) -> None:
    landed = land(tmp_path, [json.loads((RECORDED / f"{producer}.jsonl").read_text())])
    (interaction,) = landed["interactions"]
    assert QUERY in interaction["query_text"]
    assert interaction["answer"] == ANSWER
    assert {row["chunk_id"]: row["text"] for row in landed["retrievals"]} == SHELF
    # what an agent was told of the form of its answer is no reference
    assert landed["queries"] == []


@pytest.mark.parametrize("producer", PRODUCERS["calls"])
def test_every_text_of_a_log_of_events_or_of_named_steps_arrives(producer: str, tmp_path: Path) -> None:
    calls, passages = PRODUCERS["calls"][producer]
    (file,) = RECORDED.glob(f"{producer}.json*")
    import_into("calls", file, tmp_path)
    answered = [(row["query_text"], row["answer"]) for row in land_all(tmp_path) if row["answer"]]
    assert answered == [(QUERY, ANSWER)] * calls
    found = zip(passages, land_all(tmp_path, "retrievals"), strict=True)
    assert all(row["chunk_id"] in (key, None) and row["text"].strip() == SHELF[key] for key, row in found)


def test_runs_that_overlap_or_do_not_end_are_no_calls(tmp_path: Path) -> None:
    def event(name: str, run: str, **more: Any) -> dict[str, Any]:
        return {"type": f"{name}RunEvent", "run_id": run, **more}

    first, second = event("Start", "a", run_input=QUERY), event("Start", "b", run_input=QUERY)
    ends = [event("Finish", run, run_output=ANSWER) for run in "ab"]
    events = [first, ends[0], first, second, *ends, second]
    (tmp_path / "calls.jsonl").write_text("\n".join(map(json.dumps, events)))
    rows = land_all(tmp_path)
    assert [(row["query_text"], row["answer"]) for row in rows[:1]] == [(QUERY, ANSWER)]
    assert [row["read_error"][:16] for row in (rows[1], rows[3])] == ["a run starts her"] * 2
    # its run is over: the end has an answer and nobody asked
    assert rows[2]["query_text"] is None


@pytest.mark.parametrize(
    "call",
    [
        {"question": QUERY, "text": P1, "document": {"query": QUERY, "data": P2}},
        {"question": QUERY, "payload": {"data": "six"}, "check": {"expected_output": {"answer": ANSWER}}},
        {"question": QUERY, "steps": [{"llm": {"replies": [ANSWER]}}, {"llm": {"replies": ["No."]}}]},
        {"id": "t", "tokens": {"input": 5, "output": 7}},
    ],
)
def test_what_steps_do_not_name_as_an_answer_is_none(call: dict[str, Any], tmp_path: Path) -> None:
    whole = {"question": QUERY, "answer": ANSWER}
    (tmp_path / "calls.jsonl").write_text("\n".join(map(json.dumps, (whole, call))))
    assert [row["answer"] for row in land_all(tmp_path)] == [ANSWER, None]


@pytest.mark.parametrize(
    ("producer", "stem", "trace", "said"),
    [
        ("scores_langfuse.json", "scores", "t1", ("user-feedback", "1.0", "ok")),
        ("scores_langsmith.jsonl", "feedback", "00000000-0000-0000-0000-000000000001", ("user_score", "1", "fine")),
        ("scores_phoenix.csv", "annotations", "8a3f000000000000", ("user_feedback", "thumbs-up", "good")),
    ],
)
def test_scores_in_a_file_of_their_own_are_ratings_of_their_trace(
    producer: str, stem: str, trace: str, said: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / f"{stem}.{producer.split('.')[1]}").write_bytes((RECORDED / producer).read_bytes())
    first, *others = land_all(tmp_path, "ratings")
    assert (first["interaction_id"], first["rater_kind"], first["criterion"]) == (trace, *["user_feedback"] * 2)
    assert (first["rater"], first["scale_point"], first["comment"]) == said
    # scores of models are no ratings, and what a person rates needs a criterion
    reasons = [row["read_error"] for row in others if row["interaction_id"] is None]
    assert all(reason.startswith("annotation without a criterion in span_dialects.yml: ") for reason in reasons)
    assert len(others) == {"scores": 2, "feedback": 1, "annotations": 0}[stem]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        # Open WebUI and LibreChat
        ("annotation", [{"rating": 1, "comment": "clear"}, {"rating": -1}]),
        ("feedback", [{"rating": "thumbsUp"}, {"rating": "thumbsDown"}]),
    ],
)
def test_what_users_press_beside_an_answer_is_said_of_its_turn(
    name: str, values: list[dict[str, Any]], tmp_path: Path
) -> None:
    turns = [
        each
        for value in values
        for each in ({"role": "user", "content": QUERY}, {"role": "assistant", "content": ANSWER, name: value})
    ]
    landed = land(tmp_path, [{"chat": {"id": "c", "messages": turns}}])
    said = [(row["interaction_id"], row["rater"], row["rater_kind"], row["scale_point"]) for row in landed["ratings"]]
    kind = "user_feedback"
    assert said == [(f"c_turn_{at}", name, kind, str(value["rating"])) for at, value in enumerate(values, start=1)]


def test_what_the_system_is_told_is_no_passage(tmp_path: Path) -> None:
    told = {"role": "system", "content": [{"type": "text", "text": "You answer politely and in short."}]}
    landed = land(tmp_path, [{"messages": [told, {"role": "user", "content": QUERY}], "answer": ANSWER}])
    assert landed["retrievals"] == []
    inputs = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps([{"role": "ai", "content": ANSWER}]),
    }
    said = [{"role": each["role"], "parts": each["content"]} for each in (told, {"role": "user", "content": QUERY})]
    write_trace(tmp_path, ("chat", inputs | {"gen_ai.input.messages": json.dumps(said)}))
    found = fold(tmp_path)
    assert (found["interactions"][0]["answer"], found["retrievals"]) == (ANSWER, [])


def test_passages_in_a_text_are_opened_and_a_passage_in_json_stays_a_text() -> None:
    inner = [{"id": "k1", "text": P1}, {"id": "k2", "text": '{"fee": 5, "currency": "EUR"}'}]
    assert find_passages([{"text": json.dumps({"results": inner})}]) == inner


def test_a_trace_that_holds_no_text_says_what_to_switch_on(tmp_path: Path) -> None:
    write_trace(
        tmp_path, ("run", {"gen_ai.operation.name": "invoke_agent"}), ("ask", {"gen_ai.operation.name": "chat"})
    )
    (interaction,) = fold(tmp_path)["interactions"]
    assert interaction["read_error"].startswith("no answer, and no text at all, so switch the capture of content on")


@pytest.mark.parametrize("tool", EXPORTS)
def test_every_text_of_an_export_arrives(tool: str, tmp_path: Path) -> None:
    expected = EXPORTS[tool]
    landed = land(tmp_path, expected["export"])
    assert [(row["query_text"], row["answer"], row["read_error"]) for row in landed["interactions"]] == [
        (QUERY, ANSWER, None)
    ]
    assert landed["interactions"][0]["query_id"] == "query_" + hash_text(QUERY.casefold())[:16]
    assert [row["text"] for row in landed["retrievals"]] == expected["passages"]
    if "chunk_ids" in expected:
        found = [(row["rank"], row["chunk_id"]) for row in landed["retrievals"]]
        assert found == [(str(rank), name) for rank, name in enumerate(expected["chunk_ids"], start=1)]
        judged = [(row["chunk_id"], row["grade"]) for row in landed["relevance_judgements"]]
        assert judged == [(name, "1") for name in expected["relevant"]]
    references = [expected["reference"]] if expected["reference"] else []
    assert [row["reference_answer"] for row in landed["queries"]] == references


def test_messages_one_a_row_become_turns_with_times_of_their_own(tmp_path: Path) -> None:
    said = [("user", "And for children?", "02"), ("bot", ANSWER, "01"), ("user", QUERY, "01"), ("bot", "Half.", "02")]
    rows = [f"s,{role},{text},2026-08-{day} 10:00:0{role == 'bot':d},web" for role, text, day in said]
    # a row that breaks off is rejected alone, and says nothing of the file
    lines = ["session_id,sender,text,created_at,channel", "s,user", *rows]
    (tmp_path / "calls.csv").write_text("\n".join(lines))
    broken, *batches = land_all(tmp_path)
    assert broken["read_error"] == "2 fields where the header has 5"
    found = [(row["turn_index"], row["query_text"], row["answer"], row["asked_at"]) for row in batches]
    first, second = "2026-08-01 10:00:00", "2026-08-02 10:00:00"
    assert found == [("1", QUERY, ANSWER, first), ("2", "And for children?", "Half.", second)]
    assert {row["conversation_id"] for row in batches} == {"s"}


@pytest.mark.parametrize(("record", "shape"), [({"q": 1}, "calls"), ({"spanId": "s", "traceId": "t"}, "spans")])
def test_a_file_without_a_known_name_is_said_with_the_command_that_adds_it(
    record: dict[str, Any], shape: str, tmp_path: Path
) -> None:
    file = tmp_path / "my export.json"
    file.write_text(json.dumps([record]))
    command = f"run `hcat import {shape} '{file}' --output my_logs`"
    for place in (file, tmp_path):
        (row,) = land_all(place)
        assert row["read_error"].endswith(command)


def test_the_outputs_of_an_example_are_a_reference_and_no_answer(tmp_path: Path) -> None:
    example = {"id": "e", "dataset_id": "d", "inputs": {"question": QUERY}, "outputs": {"answer": ANSWER}}
    landed = land(tmp_path, [example])
    assert landed["interactions"] == []
    assert [(row["text"], row["reference_answer"]) for row in landed["queries"]] == [(QUERY, ANSWER)]


def test_a_document_is_no_chunk_unless_the_gold_names_documents_alone(tmp_path: Path) -> None:
    found = [{"doc_uri": "a.md", "content": text} for text in (P1, P2)]
    call = {
        "request": {"messages": [{"role": "user", "content": QUERY}]},
        "response": ANSWER,
        "retrieved_context": found,
    }
    landed = land(tmp_path, [call | {"expected_retrieved_context": found[:1]}])
    first, second = (row["chunk_id"] for row in landed["retrievals"])
    assert [row["chunk_id"] for row in landed["relevance_judgements"]] == [first]
    assert first != second
    (tmp_path / "other").mkdir()
    landed = land(tmp_path / "other", [call | {"expected_retrieved_context": [{"doc_uri": "a.md"}]}])
    assert {row["chunk_id"] for name in ("retrievals", "relevance_judgements") for row in landed[name]} == {"a.md"}
