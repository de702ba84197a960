"""The raw contract: names and aliases of columns, values as text, and the nested shape of one object per call."""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat.engine.keys import hash_text
from hcat.landing.raw_contract import ENTITIES, RecordError, canonical_columns, expand_call, to_text

CALL = {
    "interaction_id": "i1",
    "query": "What is the fee?",
    "answer": "It is 5.",
    "contexts": ["The fee is 5.", {"text": "The rate is 2.", "chunk_id": "c2", "score": 0.25}],
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("entity", ENTITIES.values(), ids=lambda entity: entity.name)
def test_contract_is_consistent(entity: Any) -> None:
    assert len(set(entity.columns)) == len(entity.columns)
    assert set(entity.required) <= set(entity.columns)
    assert set(entity.json_columns) <= set(entity.columns)
    assert set(entity.aliases.values()) <= set(entity.columns)
    assert not set(entity.aliases) & set(entity.columns), "a canonical name needs no alias"


def test_canonical_columns_keeps_known_names_and_drops_the_rest() -> None:
    names = ["interaction_id", "answer", "cost", "trace"]
    assert canonical_columns(ENTITIES["interactions"], names) == {
        "interaction_id": "interaction_id",
        "answer": "answer",
    }


def test_a_canonical_name_wins_over_its_alias_in_any_order() -> None:
    for names in (["response", "answer"], ["answer", "response"]):
        assert canonical_columns(ENTITIES["interactions"], names) == {"answer": "answer"}


def test_the_first_of_two_aliases_wins() -> None:
    assert canonical_columns(ENTITIES["interactions"], ["question", "query"]) == {"question": "query_text"}


@given(
    st.lists(
        st.sampled_from([*ENTITIES["interactions"].columns, *ENTITIES["interactions"].aliases, "other"]), unique=True
    )
)
def test_no_canonical_column_is_filled_twice(names: list[str]) -> None:
    mapping = canonical_columns(ENTITIES["interactions"], names)
    assert len(set(mapping.values())) == len(mapping)
    assert set(mapping) <= set(names)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("", ""),
        (" 5 ", " 5 "),
        (5, "5"),
        (0.5, "0.5"),
        (True, "true"),
        (False, "false"),
        ([1, "b"], '[1, "b"]'),
        ({"b": 1, "a": "é"}, '{"a": "é", "b": 1}'),
        (b"caf\xc3\xa9", "café"),
        (decimal.Decimal("1.10"), "1.10"),
        (datetime.date(2026, 5, 1), "2026-05-01"),
        (datetime.datetime(2026, 5, 1, 10, tzinfo=datetime.UTC), "2026-05-01T10:00:00+00:00"),
    ],
)
def test_to_text(value: Any, text: str | None) -> None:
    assert to_text(value) == text


@pytest.mark.parametrize("value", [b"caf\xe9", {"a": float("nan")}, [float("inf")]])
def test_to_text_refuses_what_no_reader_could_read_back(value: Any) -> None:
    with pytest.raises(ValueError, match=r"utf-8|JSON compliant"):
        to_text(value)


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_objects_can_be_read_back_and_do_not_depend_on_order(value: dict[str, Any]) -> None:
    text = to_text(value)
    assert text is not None
    assert json.loads(text) == value
    assert to_text(dict(reversed(value.items()))) == text


def test_hash_text_is_md5_and_tells_parts_apart() -> None:
    assert hash_text("") == "d41d8cd98f00b204e9800998ecf8427e"
    assert hash_text("ab", "c") != hash_text("a", "bc")
    assert len(hash_text("\ud800")) == 32


def test_a_call_gives_an_interaction() -> None:
    (interaction,) = expand_call(CALL | {"tags": {"topic": "fees"}, "language": "en", "unknown": 1}, "interactions")
    query_id = "query_" + hash_text("what is the fee?")[:16]
    assert interaction == {
        "interaction_id": "i1",
        "query_id": query_id,
        "query_text": "What is the fee?",
        "answer": "It is 5.",
        "asked_at": None,
        "tags": {"topic": "fees"},
        "language": "en",
    }


def test_a_call_gives_one_retrieval_per_context() -> None:
    assert list(expand_call(CALL, "retrievals")) == [
        {"interaction_id": "i1", "rank": 1, "chunk_id": None, "text": "The fee is 5.", "retrieval_score": None},
        {"interaction_id": "i1", "rank": 2, "chunk_id": "c2", "text": "The rate is 2.", "retrieval_score": 0.25},
    ]


@pytest.mark.parametrize(
    "names",
    [
        ("id", "question", "response", "retrieved_contexts", "ground_truth", "timestamp"),
        ("call_id", "user_input", "output", "retrieval_context", "expected_output", "created_at"),
        ("trace_id", "input", "actual_output", "context", "reference", "asked_at"),
        ("interaction_id", "query_text", "answer", "contexts", "reference_answer", "asked_at"),
    ],
)
def test_names_of_common_frameworks_are_known(names: tuple[str, ...]) -> None:
    call = dict(zip(names, ("i1", "What?", "It is 5.", ["The fee is 5."], "5 euros", "2026-05-01"), strict=True))
    (interaction,) = expand_call(call, "interactions")
    (retrieval,) = expand_call(call, "retrievals")
    (query,) = expand_call(call, "queries")
    assert (interaction["interaction_id"], interaction["query_text"]) == ("i1", "What?")
    assert (interaction["answer"], interaction["asked_at"]) == ("It is 5.", "2026-05-01")
    assert (retrieval["interaction_id"], retrieval["text"]) == ("i1", "The fee is 5.")
    assert query == {"query_id": interaction["query_id"], "text": "What?", "reference_answer": "5 euros"}


def test_a_null_does_not_hide_another_name_of_the_same_thing() -> None:
    (interaction,) = expand_call({"id": "i1", "query": None, "question": "What?", "answer": "5"}, "interactions")
    assert interaction["query_text"] == "What?"


def test_a_query_text_alone_makes_no_query_record() -> None:
    assert list(expand_call(CALL, "queries")) == []


def test_tags_of_a_call_are_those_of_the_interaction_and_query_tags_those_of_the_query() -> None:
    assert list(expand_call(CALL | {"tags": {"topic": "fees"}}, "queries")) == []
    (query,) = expand_call(CALL | {"query_tags": {"length": "short"}, "query_group": "g1"}, "queries")
    assert (query["tags"], query["query_group"]) == ({"length": "short"}, "g1")
    (interaction,) = expand_call(CALL | {"query_tags": {"length": "short"}}, "interactions")
    assert "tags" not in interaction


def test_the_same_question_in_other_case_and_spacing_is_the_same_query() -> None:
    (one,) = expand_call(CALL, "interactions")
    (other,) = expand_call(CALL | {"query": "  what IS\nthe fee? "}, "interactions")
    assert one["query_id"] == other["query_id"]


@pytest.mark.parametrize("contexts", [None, []])
def test_missing_and_empty_contexts_give_no_retrieval(contexts: Any) -> None:
    assert list(expand_call(CALL | {"contexts": contexts}, "retrievals")) == []


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        ("one text", "contexts must be a list, got str"),
        ({"text": "x"}, "contexts must be a list, got dict"),
        (["x", 7], "a context must be a text or an object, got int"),
        ([["x"]], "a context must be a text or an object, got list"),
    ],
)
def test_wrong_contexts_are_named(contexts: Any, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        list(expand_call(CALL | {"contexts": contexts}, "retrievals"))
