"""The nested shape: what each tool's record becomes, and the reason why another does not."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_landed_files import land_all, write_lines

from hcat.engine.keys import hash_text
from hcat.landing.aliases import find_unread_columns
from hcat.landing.calls import CALLS, ENTITIES_OF_CALLS, expand_opened, open_call, unread_content
from hcat.landing.raw_contract import RecordError
from hcat.landing.shapes import expand_records
from hcat.landing.span_costs import COST_COLUMNS


def expand(call: dict[str, Any], entity: str) -> list[dict[str, Any]]:
    return list(expand_opened(open_call(call), entity))


CALL = {
    "interaction_id": "i1",
    "query": "What is the fee?",
    "answer": "It is 5.",
    "contexts": ["The fee is 5.", {"text": "The rate is 2.", "chunk_id": "c2", "score": 0.25}],
}


def test_tags_of_a_call_are_those_of_the_interaction_and_query_tags_those_of_the_query() -> None:
    assert expand(CALL | {"tags": {"topic": "fees"}}, "queries") == []
    (query,) = expand(CALL | {"query_tags": {"length": "short"}, "query_group": "g1"}, "queries")
    assert (query["tags"], query["query_group"]) == ({"length": "short"}, "g1")
    (interaction,) = expand(CALL | {"query_tags": {"length": "short"}}, "interactions")
    assert "tags" not in interaction


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        ({"text": "x"}, "contexts must be a list, got object"),
        ([["x"]], "a context must be a text or an object, got list"),
    ],
)
def test_wrong_contexts_are_named(contexts: Any, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        expand(CALL | {"contexts": contexts}, "retrievals")


QUERY, ANSWER, PASSAGE = "How long does it take?", "Two weeks.", "A transfer takes two weeks."


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            {"context.span_id": "1", "attributes.input.value": QUERY},
            "a span of a trace and not a call (it has context_span_id), so its file is named spans.jsonl",
        ),
        (
            {"id": "1", "traceId": "t", "type": "RETRIEVER", "parentObservationId": "2", "output": [{"text": PASSAGE}]},
            "a span of a trace and not a call (it has parent_observation_id), so its file is named spans.jsonl",
        ),
        ({"query": QUERY, "output": [{"text": PASSAGE}]}, "the answer must be a text, got list"),
        (
            {"inputs": {"topic": "a", "style": "b"}, "outputs": ANSWER},
            "the query must be a text, got object: its keys are topic, style",
        ),
        ({"query": QUERY, "multi_responses": ANSWER}, "multi_responses must be a list, got text"),
        (
            {"user_input": [{"type": "ai", "content": "Hello."}]},
            "a conversation of 1 messages of which the user said none",
        ),
    ],
)
def test_a_call_that_cannot_be_read_is_rejected_once_with_its_reason(call: dict[str, Any], reason: str) -> None:
    ((entity, row),) = expand_records([(1, call, None, None)], CALLS, ENTITIES_OF_CALLS)
    assert (entity, row[2]) == ("interactions", reason)


@pytest.mark.parametrize(
    ("keys", "entity", "reason"),
    [
        (
            {"retrieved_context_ids": ["c1"], "contexts": ["a", "b"]},
            "retrievals",
            "1 retrieved_context_ids for 2 contexts",
        ),
        ({"retrieved_context_ids": "c1"}, "retrievals", "retrieved_context_ids must be a list, got text"),
        ({"reference_context_ids": "c1"}, "relevance_judgements", "reference_context_ids must be a list, got text"),
    ],
)
def test_ids_that_fit_nothing_are_rejected_and_the_interaction_stays(
    keys: dict[str, Any], entity: str, reason: str
) -> None:
    with pytest.raises(RecordError, match=reason):
        expand(CALL | {"contexts": None} | keys, entity)
    assert len(expand(CALL | {"contexts": None} | keys, "interactions")) == 1


FILLED = f"Answer by the context.\n{PASSAGE}\nThe question is: {QUERY}"
RAW = [{"role": "user", "content": FILLED}]


@pytest.mark.parametrize(
    "keys",
    [
        # variables of a form are no query
        {"question": QUERY, "inputs": {"language": "German"}},
        {"question": QUERY, "inputs": '{"form": "a long text that somebody typed into it"}'},
        # a query inside of a container has a name; a blank one is none
        {"inputs": {"tone": "polite", "question": QUERY}},
        {"inputs": {"tone": "polite and short, please"}, "request": {"query": QUERY}},
        {"question": " ", "inputs": {"query": QUERY}},
        # messages and texts that hold a context are what the model was sent
        {"input": QUERY, "messages": RAW},
        {"question": QUERY, "user_input": json.dumps(RAW)},
        {"inputs": {"question": QUERY, "messages": RAW}},
        {"query": FILLED, "input": QUERY},
        {"input": FILLED, "inputs": {"question": QUERY}},
        {"input": FILLED, "messages": [{"role": "user", "content": QUERY}]},
        {"question": QUERY, "messages": [{"role": "user", "content": "Hi."}, {"role": "ai", "content": "Hi."}, *RAW]},
    ],
)
def test_the_query_of_a_call_goes_before_what_stands_around_it(keys: dict[str, Any]) -> None:
    (row,) = expand({"id": "i1", "answer": ANSWER, "contexts": [PASSAGE]} | keys, "interactions")
    assert (row["interaction_id"], row["query_text"], row["answer"]) == ("i1", QUERY, ANSWER)
    assert row["query_id"] == "query_" + hash_text(QUERY.casefold())[:16]
    assert "language" not in row


@pytest.mark.parametrize(
    "keys",
    [
        {"response": ANSWER, "outputs": {"trace": "c1"}},
        {"result": ANSWER, "outputs": {"answer": "a draft"}},
        {"answer": ANSWER, "response": {"choices": [{"message": {"content": "a draft"}}]}},
        {
            "answer": ANSWER,
            "messages": [{"role": "user", "content": QUERY}, {"role": "assistant", "content": "a draft"}],
        },
        {"outputs": {"sentence": ANSWER}},
    ],
)
def test_the_answer_of_a_call_goes_before_what_stands_around_it(keys: dict[str, Any]) -> None:
    (row,) = expand({"id": "i1", "query": QUERY} | keys, "interactions")
    assert (row["interaction_id"], row["answer"]) == ("i1", ANSWER)


def test_contexts_references_and_ids_of_a_call_go_before_those_of_its_containers() -> None:
    call = {
        "trace_id": "own",
        "query": QUERY,
        "answer": ANSWER,
        "retrieved_contexts": [PASSAGE],
        "ground_truth": "14 days",
        "inputs": {"query": "another?", "id": "form"},
        "outputs": {"contexts": ["another passage"]},
        "expectations": {"expected_response": "another"},
    }
    (row,), (retrieval,), (query,) = (expand(call, entity) for entity in ("interactions", "retrievals", "queries"))
    assert (row["interaction_id"], retrieval["text"], query["reference_answer"]) == ("own", PASSAGE, "14 days")
    # where the call has none, those beside its answer count
    (retrieval,) = expand({"query": QUERY, "answer": ANSWER, "outputs": {"contexts": [PASSAGE]}}, "retrievals")
    assert retrieval["text"] == PASSAGE


@pytest.mark.parametrize(
    "inputs", [{"locale": "en-GB"}, {"name": "Kim Exemplar"}, {"session_id": "a b c d e f g h i j"}]
)
def test_a_lone_text_of_another_kind_is_no_query(inputs: dict[str, str]) -> None:
    with pytest.raises(RecordError, match=f"the query must be a text, got object: its keys are {next(iter(inputs))}"):
        expand({"id": "i1", "answer": ANSWER, "inputs": inputs}, "interactions")
    # the text of a query that is named by its id stands in the file of queries
    (row,) = expand({"id": "i1", "answer": ANSWER, "query_id": "q1", "inputs": inputs}, "interactions")
    assert (row["query_id"], row.get("query_text")) == ("q1", None)


def test_a_query_beside_a_conversation_without_an_answer_belongs_to_its_turn() -> None:
    messages = [{"role": "user", "content": "Hi."}, {"role": "ai", "content": "Hello."}, *RAW]
    rows = expand({"id": "i1", "query": QUERY, "messages": messages}, "interactions")
    assert [(row["query_text"], row.get("answer")) for row in rows] == [("Hi.", "Hello."), (QUERY, None)]


def test_samples_are_interactions_of_one_query() -> None:
    call = {"id": "i1", "user_input": "What?", "response": "b", "multi_responses": ["a", "b"], "contexts": ["x"]}
    rows = expand(call | {"reference": "r", "reference_context_ids": ["c1"]}, "interactions")
    assert [(row["interaction_id"], row["answer"], row["sample_index"]) for row in rows] == [
        ("i1_sample_0", "a", 0),
        ("i1_sample_1", "b", 1),
    ]
    assert len({row["query_id"] for row in rows}) == 1
    assert [row["interaction_id"] for row in expand(call, "retrievals")] == ["i1_sample_0", "i1_sample_1"]
    assert len(expand(call | {"reference": "r"}, "queries")) == 1
    assert len(expand(call | {"reference_context_ids": ["c1"]}, "relevance_judgements")) == 1
    assert [row["answer"] for row in expand(call | {"response": "c"}, "interactions")] == ["c", "a", "b"]


CONVERSATION = {
    "id": "talk",
    "user_input": [
        {"type": "human", "content": "Hi."},
        {"type": "ai", "content": "Hello, how can I help?"},
        {"type": "human", "content": "What is"},
        {"type": "human", "content": [{"type": "text", "text": "the fee?"}]},
        {"type": "ai", "content": "", "tool_calls": [{"name": "fees", "args": {}}]},
        {"type": "tool", "content": "5"},
        {"type": "ai", "content": "It is 5."},
        {"type": "human", "content": "Are you sure?"},
    ],
    "reference": "the user knows the fee",
}


def test_a_conversation_is_one_interaction_per_turn_and_one_cluster() -> None:
    rows = expand(CONVERSATION, "interactions")
    assert [(row["interaction_id"], row["query_text"], row.get("answer"), row["turn_index"]) for row in rows] == [
        ("talk_turn_1", "Hi.", "Hello, how can I help?", 1),
        ("talk_turn_2", "What is\nthe fee?", "It is 5.", 2),
        ("talk_turn_3", "Are you sure?", None, 3),
    ]
    assert {row["conversation_id"] for row in rows} == {"talk"}
    # nobody prepared these queries, and what the whole should come to is no reference answer of a turn
    assert expand(CONVERSATION, "queries") == []


@pytest.mark.parametrize(
    "keys",
    [
        {"conversation_id": "c1", "turn_index": 2},
        {"thread.id": "c1", "turnNumber": 2},
        {"gen_ai.conversation.id": "c1", "metadata": {"turn_index": 2}},
        {"metadata": {"session": "c1", "turn_idx": 2}},
    ],
)
def test_a_call_names_its_conversation_and_its_turn_in_many_ways(keys: dict[str, Any]) -> None:
    (row,) = expand({"id": "i1", "query": "And the fee?", "answer": "5."} | keys, "interactions")
    assert (row["conversation_id"], row["turn_index"]) == ("c1", 2)


def test_a_conversation_of_messages_keeps_the_name_that_the_log_gives_it() -> None:
    named, again = (expand(CONVERSATION | {"id": key, "session_id": "s1"}, "interactions") for key in ("a", "b"))
    assert {row["conversation_id"] for row in named} == {"s1"}
    # another system that leads the same conversation answers the same queries
    assert [row["query_id"] for row in named] == [row["query_id"] for row in again]


def test_a_turn_has_the_contexts_of_its_reply() -> None:
    turns = [
        {"role": "user", "content": "What is the fee?"},
        {"role": "assistant", "content": "5.", "retrieval_context": ["The fee is 5."]},
        {"role": "user", "content": "And the rate?"},
        {"role": "assistant", "content": "2.", "retrieval_context": None},
    ]
    for call in ({"id": "t", "turns": turns}, {"id": "t", "turns": json.dumps(turns)}):
        rows = expand(call, "retrievals")
        assert [(row["interaction_id"], row["text"]) for row in rows] == [("t_turn_1", "The fee is 5.")]


def test_metadata_gives_what_the_call_does_not_say_and_its_plain_values_are_tags() -> None:
    metadata = {"application_version": "2.3", "language": "en", "channel": "web", "score": 0.5, "nested": {"a": 1}}
    (row,) = expand(CALL | {"language": "de", "tags": {"channel": "app"}, "metadata": metadata}, "interactions")
    assert (row["application_version"], row["language"]) == ("2.3", "de")
    assert row["tags"] == {"channel": "app", "score": 0.5}
    (row,) = expand(CALL | {"tags": ["beta", "web"], "additional_metadata": '{"team": "a"}'}, "interactions")
    assert row["tags"] == {"team": "a", "beta": True, "web": True}


def test_keys_that_look_like_content_are_said_by_name() -> None:
    call = {
        "query": QUERY,
        "draft_of_model": "It takes about two weeks, sir.",
        "steps": [{"thought": {"note": "The user asks about a transfer."}}],
        "model": "some-model-7b",
        "latency": 0.5,
        "rubrics": {"a": "a text that describes the worst answer"},
    }
    assert unread_content(call) == ["draft_of_model", "steps.thought.note"]
    # a test case asks about its context, and what stands where contexts may stand is none here
    test_case = {"input": QUERY, "actual_output": ANSWER, "context": [PASSAGE], "sources": ["terms.pdf", "fees.pdf"]}
    assert unread_content(test_case) == ["context"]
    # what cannot be read has a reason of its own
    assert unread_content({"query": QUERY, "answer": ANSWER, "contexts": 7, "draft": PASSAGE}) == []
    row = dict.fromkeys(("Question", "answer", "contexts", "tags", "Feedback", "version", "Kanal"), "text")
    assert find_unread_columns(row) == ["version", "Kanal"]
    assert find_unread_columns(row | {"metadata": {}}) == ["version"]


def test_equal_calls_without_ids_stay_two_and_a_file_that_is_sent_again_changes_nothing(tmp_path: Path) -> None:
    call = {"query": "What?", "answer": "5", "contexts": ["The fee is 5."]}
    write_lines(tmp_path / "calls.jsonl", call, call | {"answer": "6"}, call)
    identifiers = [row["interaction_id"] for row in land_all(tmp_path)]
    assert len(set(identifiers)) == 3
    assert identifiers[2] == identifiers[0] + "_2"
    assert [row["interaction_id"] for row in land_all(tmp_path, "retrievals")] == identifiers

    write_lines(tmp_path / "calls_again.jsonl", dict(reversed(call.items())), {"query": "New?", "answer": "7"}, call)
    again = [row for row in land_all(tmp_path) if row["source_file"] == "calls_again.jsonl"]
    assert [again[0]["interaction_id"], again[2]["interaction_id"]] == [identifiers[0], identifiers[2]]
    first = next(row for row in land_all(tmp_path) if row["source_file"] == "calls.jsonl")
    # staging counts the second copy as repeated: its content is the same
    assert again[0]["record_hash"] == first["record_hash"]


def test_unread_keys_of_a_file_are_one_line_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unread = CALL | {"passages": [PASSAGE]}
    write_lines(tmp_path / "calls.jsonl", unread, unread | {"context": [PASSAGE]})
    assert len(land_all(tmp_path)) == 2
    assert len(land_all(tmp_path, "retrievals")) == 4
    said = capsys.readouterr().err
    assert said.startswith("hcat: calls.jsonl: keys that are not read: passages, context (context is what a test case")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"contexts": []}, [0]),
        ({"source_documents": []}, [0]),
        ({"retrieved_context_ids": []}, [0]),
        ({"contexts": None}, [None]),
        # a blank cell is no list
        ({"retrieval_context": ""}, [None]),
        ({"contexts": "one text"}, [None]),
        ({"contexts": ["It takes two weeks."]}, [None]),
        ({"contexts": [], "multi_responses": ["Two.", "Three."]}, [0, 0]),
    ],
)
def test_an_empty_list_says_that_nothing_was_retrieved(call: dict[str, Any], expected: list[int | None]) -> None:
    records = expand({"id": "i1", "question": "How long?", "answer": "Two."} | call, "interactions")
    assert [record.get("count_retrieved") for record in records] == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"feedback": {"rating": "like", "content": "Thanks"}}, [("feedback", "like", "Thanks")]),
        ({"feedback": [{"key": "user_score", "score": 1}, {"key": "judge", "score": 0}]}, [("user_score", 1, None)]),
        ({"thumbs": "up", "rating": 4}, [("thumbs", "up", None), ("rating", 4, None)]),
        ({"feedback": None, "rating": "", "vote": {"when": {}}}, []),
    ],
)
def test_feedback_of_users_is_a_rating_of_their_own_kind(said: dict[str, Any], expected: list[Any]) -> None:
    records = expand({"id": "i1", "question": "How long?", "answer": "Two."} | said, "ratings")
    assert [(row["rater"], row["scale_point"], row.get("comment")) for row in records] == expected
    kinds = {(row["interaction_id"], row["rater_kind"], row["criterion"]) for row in records}
    assert kinds <= {("i1", "user_feedback", "user_feedback")}


def test_costs_of_a_call_are_read_where_they_are_plain_values() -> None:
    said = {"usage": {"prompt_tokens": 9, "completion_tokens": {"text": 2}}, "model": "small", "latency": 3, "cost": 0}
    call = {"question": "How long?", "answer": "Two.", "metadata": {"prompt_version": "7"}, **said}
    (record,) = expand(call, "interactions")
    costs = {name: record.get(name) for name in COST_COLUMNS}
    assert costs == {
        "latency_seconds": None,
        "count_input_tokens": 9,
        "count_output_tokens": None,
        "cost": 0,
        "language_model": "small",
        "prompt_version": "7",
    }


def test_passages_with_ranks_of_their_own_keep_their_place_in_the_list() -> None:
    contexts = [{"text": "A.", "rank": 1}, {"text": "B.", "rank": 1}, "C."]
    records = expand({"question": "Which?", "answer": "A.", "contexts": contexts}, "retrievals")
    assert [(record["rank"], record.get("list_position")) for record in records] == [(1, 1), (1, 2), (3, None)]
