"""The nested shape that RAG frameworks log: one object per call, with query, answer and contexts.

A call becomes an interaction, its retrievals, a query when it adds facts about one, and relevance judgements when it
names the passages that should have been found. A conversation becomes one interaction per turn, each with the id of the
conversation and the number of the turn.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hcat.engine.keys import hash_text
from hcat.landing.aliases import KEY_ALIASES, NOT_CONTENT, known_names, looks_like_content, pick, plain_name
from hcat.landing.raw_contract import ENTITIES, RecordError, json_kind, to_text

#: Stem of the files that hold calls.
CALLS = "calls"
#: Entities that calls hold.
ENTITIES_OF_CALLS = ("interactions", "retrievals", "queries", "relevance_judgements")

# objects around the content, as MLflow, LangSmith and Langfuse write them, and what they hold. Those in plural may also
# be JSON in a text; an answer in JSON stays the text that the user saw.
_CONTAINERS = {
    "inputs": "query_text",
    "input": "query_text",
    "request": "query_text",
    "outputs": "answer",
    "output": "answer",
    "response": "answer",
    "expectations": "reference_answer",
}
_AROUND = frozenset({*_CONTAINERS, "reference_outputs"})
_CONTENT = ("query_text", "answer", "reference_answer", "contexts", "context_ids", "reference_context_ids", "turns")
_READ = known_names(
    (
        *_CONTENT,
        "answers",
        "asked_at",
        "interaction_id",
        "metadata",
        "query_tags",
        *ENTITIES["interactions"].columns,
        *ENTITIES["queries"].columns,
    )
) | {*KEY_ALIASES, *_CONTAINERS, "reference_outputs", "choices"}
# what only a span of a trace has
_SPAN_NAMES = frozenset(
    {
        "span_id",
        "context_span_id",
        "parent_span_id",
        "parent_observation_id",
        "parent_run_id",
        "span_kind",
        "resource_spans",
        "scope_spans",
        "spans",
    }
)
# one encoder for all calls: making one costs as much as using it
_WRITE_CONTENT = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str).encode
_PASSAGE_IDS = ("chunk_id", *KEY_ALIASES, "document_id")
_USER_ROLES = ("user", "human")
_ASSISTANT_ROLES = ("assistant", "ai", "model")
# how deepeval writes a list of passages, and the source of one, into a single text
_JOINED_NAME, _JOINED_BY = "retrieval_context", "|"
_MARKED_SOURCE = re.compile(r"deepeval_source=(?P<source>.*?),deepeval_context=(?P<context>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A query and its answer: the whole of a call, a sample of it, or a turn of a conversation."""

    interaction_id: str
    query_id: Any
    query_text: str | None
    answer: str | None
    sample_index: Any = None
    is_further_sample: bool = False
    conversation_id: str | None = None
    turn_index: int | None = None
    contexts: list[Any] | None = None
    is_last_turn: bool = True


@dataclass(frozen=True, slots=True)
class OpenedCall:
    """A call under plain names, and its queries with their answers."""

    record: Mapping[str, Any]
    exchanges: Sequence[_Exchange]


def content_of(call: Mapping[str, Any]) -> str:
    """Return the key of a call's content: equal for equal calls, whatever their file and the order of their keys.

    Examples
    --------
    >>> content_of({"answer": "5", "query": "What?"}) == content_of({"query": "What?", "answer": "5"})
    True
    """
    return hash_text(_WRITE_CONTENT(call))


def expand_call(
    call: Mapping[str, Any], entity_name: str, seen: Counter[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the records of one entity that a nested call holds.

    Parameters
    ----------
    call : mapping
        ``{"interaction_id", "query", "answer", "contexts": [text | {"text", "chunk_id", "score"}], ...}``. The names
        that RAG frameworks use are accepted (:data:`hcat.landing.aliases.ALIASES`). All other keys of the interactions
        and queries contract are taken by name.
    entity_name : {"interactions", "retrievals", "queries", "relevance_judgements"}
        Entity to extract. A call without ``query_id`` gets the hash of its query text.
    seen : Counter or None
        Calls of the file without an id by their content, counted on here: the second of equal ones has another id.

    Raises
    ------
    RecordError
        If the call is a span, or if a query, an answer or contexts cannot be read.

    Examples
    --------
    >>> call = {"id": "i1", "question": "How long?", "answer": "Two weeks.", "contexts": ["It takes two weeks."]}
    >>> [(record["rank"], record["text"]) for record in expand_call(call, "retrievals")]
    [(1, 'It takes two weeks.')]
    >>> seen, call = Counter(), {"query": "How long?", "answer": "x"}
    >>> [record["interaction_id"] for _ in range(2) for record in expand_call(call, "interactions", seen)]
    ['call_e0bcb295a08855a1', 'call_e0bcb295a08855a1_2']
    """
    try:
        opened = open_call(call, seen)
    except RecordError:
        # said once, as the reason of the interaction
        if entity_name == "interactions":
            raise
        return
    yield from expand_opened(opened, entity_name)


def open_call(call: Mapping[str, Any], seen: Counter[str] | None = None) -> OpenedCall:
    """Return what a call holds, read once for all of its entities; see :func:`expand_call`.

    Raises
    ------
    RecordError
        If the call is a span, or if a query or an answer cannot be read.
    """
    record = _open_containers(_plain(call))
    if not _SPAN_NAMES.isdisjoint(record):
        mark = min(_SPAN_NAMES & record.keys())
        raise RecordError(f"a span of a trace and not a call (it has {mark}): name the file spans.jsonl")
    call_id = _given_id(record)
    if call_id is None:
        content = content_of(call)
        seen = Counter() if seen is None else seen
        seen[content] += 1
        call_id = f"call_{content[:16]}" + (f"_{seen[content]}" if seen[content] > 1 else "")
    return OpenedCall(record, _read_exchanges(record, call_id))


def expand_opened(opened: OpenedCall, entity_name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one entity that an opened call holds.

    Raises
    ------
    RecordError
        If contexts cannot be read.

    Examples
    --------
    >>> opened = open_call({"id": "i1", "question": "How long?", "answer": "Two weeks.", "contexts": []})
    >>> [record["interaction_id"] for record in expand_opened(opened, "interactions")]
    ['i1']
    """
    for exchange in opened.exchanges:
        yield from _EXPANDERS[entity_name](opened.record, exchange)


def unread_content(call: Mapping[str, Any]) -> list[str]:
    """Return the keys of a call that look like content and are not read, as they are written.

    Examples
    --------
    >>> unread_content({"query": "How long?", "model_reply": "It takes about two weeks."})
    ['model_reply']
    """
    unread = []
    for name, value in call.items():
        plain = plain_name(name)
        is_read = plain in _READ or plain in NOT_CONTENT or (plain == "context" and _are_documents(value))
        if not is_read and looks_like_content(value):
            unread.append(name)
    return unread


def brings(call: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether a call brings a query, and whether it brings an answer, readable or not.

    Examples
    --------
    >>> brings({"question": "How long?"}), brings({"messages": [{"role": "user", "content": "How long?"}]})
    ((True, False), (True, True))
    """
    record = _open_containers(_plain(call))
    is_conversation = _find_messages(record) is not None or bool(_SPAN_NAMES & record.keys())
    has_query = pick(record, "query_text") is not None or pick(record, "query_id") is not None
    has_answer = any(pick(record, meaning) is not None for meaning in ("answer", "answers"))
    return has_query or is_conversation, has_answer or is_conversation


def _plain(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call under plain names; a name that stands in two spellings keeps the value that is not null."""
    names = _plain_names(tuple(call))
    if names is not None:
        return dict(zip(names, call.values(), strict=True))
    record: dict[str, Any] = {}
    for name, value in call.items():
        plain = plain_name(name)
        if record.get(plain) is None:
            record[plain] = value
    return record


@lru_cache(maxsize=1024)
def _plain_names(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return names as they are compared; None when one stands in two spellings."""
    plain = tuple(map(plain_name, names))
    return plain if len(set(plain)) == len(plain) else None


def _open_containers(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the content of its containers beside its other keys, which win."""
    if _AROUND.isdisjoint(record):
        return record
    opened = dict(record)
    references = _structured(opened.pop("reference_outputs", None))
    if isinstance(references, Mapping) and pick(opened, "reference_answer") is None:
        inner = _plain(references)
        found = pick(inner, "reference_answer")
        opened["reference_answer"] = pick(inner, "answer") if found is None else found
    for name, meaning in _CONTAINERS.items():
        container = _structured(opened.get(name)) if name.endswith("s") else opened.get(name)
        if isinstance(container, Mapping):
            held = _find_held(_plain(container), meaning)
            if held is not None:
                del opened[name]
                opened |= {key: value for key, value in held.items() if opened.get(key) is None}
    for name, meaning in (("inputs", "query_text"), ("outputs", "answer")):
        if opened.get(name) is not None and pick(opened, meaning) is None:
            opened[meaning] = opened.pop(name)
    return opened


def _find_held(held: dict[str, Any], meaning: str) -> dict[str, Any] | None:
    """Return the keys of a container; None when it holds neither what is looked for nor a conversation."""
    if meaning == "answer" and (reply := _choice(held)) is not None:
        return {"answer": reply}
    if pick(held, meaning) is not None or meaning == "reference_answer" or _find_messages(held) is not None:
        return held
    texts = [value for value in held.values() if isinstance(value, str)]
    # the only text of inputs is the query, that of outputs the answer, under whatever name
    return held | {meaning: texts[0]} if len(held) == 1 and texts else None


def _choice(reply: Mapping[str, Any]) -> Any:
    """Return the text of a chat completion; None where there is none."""
    choices = reply.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        return message.get("content") if isinstance(message, Mapping) else None
    return None


def _structured(value: Any) -> Any:
    """Return the list or object that a text holds, as JSON or as Python writes it; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(value.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return found if isinstance(found, list | dict) else value
    return value


def _given_id(record: Mapping[str, Any]) -> Any:
    names = ("interaction_id", *KEY_ALIASES)
    found = next((record[name] for name in names if record.get(name) is not None), None)
    found = pick(record, "interaction_id") if found is None else found
    return None if isinstance(found, str) and not found.strip() else found


def make_query_id(text: str) -> str:
    """Return the id of a query that has none: a hash of its text, whatever its case and its blanks.

    Examples
    --------
    >>> make_query_id("How  long?") == make_query_id("how long?")
    True
    """
    return "query_" + hash_text(" ".join(text.casefold().split()))[:16]


def _read_exchanges(record: dict[str, Any], call_id: Any) -> list[_Exchange]:
    """Return what a call holds: one exchange, one per sample of the answer, or one per turn of a conversation.

    Raises
    ------
    RecordError
        If the query or the answer is neither a text nor a conversation.
    """
    messages = _find_messages(record)
    if messages is not None:
        return _read_conversation(messages, record, call_id)
    query_text = _scalar(pick(record, "query_text"), "query")
    query_id = pick(record, "query_id")
    if query_id is None and query_text is not None and query_text.strip():
        query_id = make_query_id(query_text)
    single = pick(record, "answer")
    samples = _structured(pick(record, "answers"))
    if samples is not None and not isinstance(samples, list):
        raise RecordError(f"multi_responses must be a list, got {json_kind(samples)}")
    if not samples:
        answer = _scalar(single, "answer")
        return [_Exchange(call_id, query_id, query_text, answer, record.get("sample_index"))]
    answers = samples if single is None or single in samples else [single, *samples]
    return [
        _Exchange(f"{call_id}_sample_{index}", query_id, query_text, _scalar(answer, "answer"), index, index > 0)
        for index, answer in enumerate(answers)
    ]


def _scalar(value: Any, what: str) -> str | None:
    if isinstance(value, Mapping | list | tuple):
        keys = f": its keys are {', '.join(list(map(str, value))[:5])}" if isinstance(value, Mapping) else ""
        raise RecordError(f"the {what} must be a text, got {json_kind(value)}{keys}")
    return to_text(value)


def _find_messages(record: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return the messages of a conversation, wherever the call keeps them; None for a call of one query."""
    for value in (pick(record, "query_text"), pick(record, "turns")):
        messages = _structured(value)
        if isinstance(messages, list) and messages and all(map(_is_message, messages)):
            return messages
    return None


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "content" in value and ("role" in value or "type" in value)


def _read_conversation(messages: Sequence[Mapping[str, Any]], record: dict[str, Any], call_id: Any) -> list[_Exchange]:
    """Return one exchange per turn: what the user said since the last reply, and the reply.

    A conversation of one turn is a call like any other. Tool and system messages are neither. The last turn may find
    its answer and its contexts beside the conversation.
    """
    turns: list[tuple[list[str], str | None, list[Any]]] = []
    for message in messages:
        role = str(message.get("role", message.get("type"))).casefold()
        text = _message_text(message["content"])
        if role in _USER_ROLES:
            if not turns or turns[-1][1] is not None:
                turns.append(([], None, []))
            turns[-1][0].append(text)
        elif role in _ASSISTANT_ROLES and turns:
            said, answer, contexts = turns[-1]
            found = _structured(message.get("retrieval_context"))
            contexts += found if isinstance(found, list) else []
            # a message that only calls a tool says nothing
            turns[-1] = (said, text if text.strip() else answer, contexts)
    if not turns:
        raise RecordError(f"a conversation of {len(messages)} messages of which the user said none")
    if len(turns) == 1:
        said, reply, contexts = turns[0]
        query_text = "\n".join(said)
        answer = _scalar(pick(record, "answer"), "answer") if reply is None else reply
        return [_Exchange(call_id, make_query_id(query_text), query_text, answer, contexts=contexts or None)]
    logged = pick(record, "conversation_id")
    conversation_id = str(call_id if logged is None else to_text(logged))
    exchanges = []
    for number, (said, reply, contexts) in enumerate(turns, start=1):
        is_last = number == len(turns)
        answer = _scalar(pick(record, "answer"), "answer") if is_last and reply is None else reply
        exchanges.append(
            _Exchange(
                f"{call_id}_turn_{number}",
                "query_" + hash_text(conversation_id, str(number))[:16],
                "\n".join(said),
                answer,
                conversation_id=conversation_id,
                turn_index=number,
                contexts=contexts or None,
                is_last_turn=is_last,
            )
        )
    return exchanges


def _message_text(content: Any) -> str:
    """Return the text of a message, which may stand in parts."""
    if isinstance(content, list):
        parts = [
            part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict)
        ]
        return "\n".join(part for part in parts if isinstance(part, str))
    return to_text(content) or ""


def _are_documents(value: Any) -> bool:
    """Return whether a value is a list of documents as LangChain writes them: the retrieved context of a chain."""
    items = _structured(value)
    return (
        isinstance(items, list)
        and bool(items)
        and all(isinstance(item, Mapping) and ("page_content" in item or "kwargs" in item) for item in items)
    )


def _find_contexts(record: Mapping[str, Any]) -> Any:
    """Return the retrieved contexts of a call: a list, or what stands in its place; None where there are none.

    ``context`` alone is the passage that a test case asks about, and never taken as retrieved, unless its items are
    the documents of a LangChain chain.
    """
    contexts = _structured(pick(record, "contexts"))
    if contexts is None and _are_documents(record.get("context")):
        contexts = _structured(record["context"])
    if isinstance(contexts, str) and contexts == record.get(_JOINED_NAME):
        contexts = contexts.split(_JOINED_BY) if contexts else []
    identifiers = _structured(pick(record, "context_ids"))
    if identifiers is None:
        return contexts
    if not isinstance(identifiers, list):
        raise RecordError(f"retrieved_context_ids must be a list, got {json_kind(identifiers)}")
    if contexts is None:
        return [{"chunk_id": identifier} for identifier in identifiers]
    if not isinstance(contexts, list) or len(contexts) != len(identifiers):
        count = len(contexts) if isinstance(contexts, list) else "no list of"
        raise RecordError(f"{len(identifiers)} retrieved_context_ids for {count} contexts")
    return [
        {"chunk_id": identifier} | (dict(context) if isinstance(context, Mapping) else {"text": context})
        for identifier, context in zip(identifiers, contexts, strict=True)
    ]


def _read_context(context: Any) -> dict[str, Any]:
    """Return a context as columns of a retrieval, without rank.

    Raises
    ------
    RecordError
        If it is neither a text nor an object.
    """
    if context is None or isinstance(context, str):
        marked = _MARKED_SOURCE.fullmatch(context or "")
        return {"chunk_id": marked["source"], "text": marked["context"]} if marked else {"text": context}
    if not isinstance(context, Mapping):
        raise RecordError(f"a context must be a text or an object, got {json_kind(context)}")
    record = _plain(context)
    # a LangChain document inside its serialised class, a LlamaIndex node inside its score
    for name in ("kwargs", "node", "document"):
        inner = record.get(name)
        if isinstance(inner, Mapping):
            record = _plain(inner) | {name: value for name, value in record.items() if name not in ("id", "type", "lc")}
            break
    metadata = _plain(record["metadata"]) if isinstance(record.get("metadata"), Mapping) else {}
    text = record["text"] if "text" in record else pick(record, "passage_text")
    if text is None and isinstance(record.get("text_resource"), Mapping):
        text = record["text_resource"].get("text")
    places = (record, metadata) if metadata else (record,)
    identifier = _find_first(places, find_passage_id)
    if identifier is None:
        identifier = _find_first(places, lambda place: pick(place, "passage_source"))
    found = {
        "chunk_id": identifier,
        "text": text,
        "rank": record.get("rank"),
        "retrieval_score": _find_first(places, lambda place: pick(place, "retrieval_score")),
        "completeness_weight": record.get("completeness_weight"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _find_first(places: Iterable[Mapping[str, Any]], find: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Return the first value that is found in one of several places; None without one."""
    for place in places:
        found = find(place)
        if found is not None:
            return found
    return None


def find_passage_id(record: Mapping[str, Any]) -> Any:
    """Return the id of a passage: its own, or the one that its store or its corpus gave it; None without one.

    Examples
    --------
    >>> find_passage_id({"_id": "d1", "text": "The fee is 5."}), find_passage_id({"doc_id": 7})
    ('d1', 7)
    """
    for name in _PASSAGE_IDS:
        found = record.get(name)
        if found is not None:
            return found
    return pick(record, "passage_id")


def _read_tags(record: Mapping[str, Any]) -> Any:
    """Return the tags of a call: its own, beside the plain values of its metadata."""
    tags = _structured(record.get("tags"))
    if isinstance(tags, list):
        tags = {str(tag): True for tag in tags if isinstance(tag, str | int)}
    metadata = _structured(pick(record, "metadata"))
    if not isinstance(metadata, Mapping) or not (tags is None or isinstance(tags, Mapping)):
        return tags
    plain = {
        name: value
        for name, value in metadata.items()
        if isinstance(value, str | int | float) and plain_name(str(name)) not in ENTITIES["interactions"].columns
    }
    return {**plain, **(tags or {})} or None


def _expand_interaction(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    metadata = _structured(pick(record, "metadata"))
    held = _plain(metadata) if isinstance(metadata, Mapping) else {}
    for name in ENTITIES["interactions"].columns:
        value = record.get(name)
        held[name] = held.get(name) if value is None else value
    for name in ("asked_at", "application_version"):
        if held[name] is None:
            held[name] = pick(record, name)
    for name in ("conversation_id", "turn_index"):
        found = pick(record, name)
        held[name] = pick(held, name) if found is None else found
    if exchange.conversation_id is not None:
        held |= {"conversation_id": exchange.conversation_id, "turn_index": exchange.turn_index}
    held |= {
        "interaction_id": exchange.interaction_id,
        "query_id": exchange.query_id,
        "query_text": exchange.query_text,
        "answer": exchange.answer,
        "sample_index": exchange.sample_index,
        "tags": _read_tags(record),
    }
    yield {name: held[name] for name in ENTITIES["interactions"].columns if held[name] is not None}


def _expand_query(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    # a query text alone is part of the interaction; a queries record exists when the call adds facts to it
    own = ("query_id", "text", "tags", "reference_answer")
    facts = {
        name: record[name] for name in ENTITIES["queries"].columns if name not in own and record.get(name) is not None
    }
    # the tags of a call are those of the interaction
    if (tags := pick(record, "query_tags")) is not None:
        facts["tags"] = tags
    reference = pick(record, "reference_answer")
    if isinstance(reference, list):
        reference = reference[0] if reference else None
    # what a whole conversation should come to is no reference answer of one turn
    if reference is not None and exchange.conversation_id is None:
        facts["reference_answer"] = reference
    # samples of one answer share their query
    if facts and exchange.query_id is not None and not exchange.is_further_sample:
        yield facts | {"query_id": exchange.query_id, "text": exchange.query_text}


def _expand_retrievals(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    contexts = exchange.contexts
    if contexts is None and exchange.is_last_turn:
        contexts = _find_contexts(record)
    if contexts is None:
        return
    if not isinstance(contexts, list):
        raise RecordError(f"contexts must be a list, got {json_kind(contexts)}")
    read = [_read_context(context) for context in contexts]
    for rank, context in enumerate(read, start=1):
        yield {"interaction_id": exchange.interaction_id, "rank": rank} | context


def _expand_judgements(record: Mapping[str, Any], exchange: _Exchange) -> Iterator[dict[str, Any]]:
    identifiers = _structured(pick(record, "reference_context_ids"))
    if identifiers is None or exchange.query_id is None or exchange.is_further_sample:
        return
    if not isinstance(identifiers, list):
        raise RecordError(f"reference_context_ids must be a list, got {json_kind(identifiers)}")
    yield from judge_relevant(exchange.query_id, identifiers)


def judge_relevant(query_id: Any, identifiers: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield a relevance judgement of grade 1 per passage, once each; lists inside the list are read through.

    Examples
    --------
    >>> [record["chunk_id"] for record in judge_relevant("q1", [["c1", "c2"], "c1", {"doc_uri": "c3"}])]
    ['c1', 'c2', 'c3']
    """
    flat: dict[str, None] = {}
    for item in identifiers:
        inner = item if isinstance(item, list) else [item]
        for identifier in inner:
            if isinstance(identifier, Mapping):
                identifier = _read_context(identifier).get("chunk_id")
            if identifier is not None:
                flat[str(identifier)] = None
    for identifier in flat:
        yield {"query_id": query_id, "chunk_id": identifier, "grade": 1}


_EXPANDERS = {
    "interactions": _expand_interaction,
    "queries": _expand_query,
    "retrievals": _expand_retrievals,
    "relevance_judgements": _expand_judgements,
}
