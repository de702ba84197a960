"""The raw contract: which entities and columns hcat reads, and the nested shape that RAG frameworks log.

Every column lands as text, objects and lists as JSON text. The staging SQL assigns the types, where a reader can
challenge them. ``aliases`` are names that common logging tools use for the same column.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hcat.engine.keys import hash_text

#: Name of the nested shape: one JSON object per call with a ``contexts`` array.
CALLS = "calls"
#: Name of the entity whose records are looked for inside of what tools export.
SPANS = "spans"
#: Endings of a file of queries that a test set is written to and collected from.
QUERY_FILES = (".jsonl", ".csv")


@dataclass(frozen=True, slots=True)
class Entity:
    """One raw entity.

    Parameters
    ----------
    name : str
        Name of the entity and stem of its files.
    columns : tuple of str
        Canonical column names in the order in which they land.
    required : tuple of str
        Columns that every file of the entity must have.
    aliases : mapping of str to str
        Other accepted column names -> canonical name.
    json_columns : tuple of str
        Columns that hold a JSON object or list.
    """

    name: str
    columns: tuple[str, ...]
    required: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    json_columns: tuple[str, ...] = ()


ENTITIES: Mapping[str, Entity] = {
    entity.name: entity
    for entity in (
        Entity(
            "interactions",
            (
                "interaction_id",
                "run_id",
                "query_id",
                "application",
                "application_version",
                "language",
                "customer_group",
                "query_text",
                "answer",
                "tags",
                "sample_index",
                "asked_at",
            ),
            ("interaction_id", "answer"),
            {"id": "interaction_id", "query": "query_text", "question": "query_text", "response": "answer"},
            ("tags",),
        ),
        Entity(
            "retrievals",
            ("interaction_id", "chunk_id", "text", "rank", "retrieval_score", "completeness_weight"),
            ("interaction_id", "rank"),
            {"interaction": "interaction_id", "score": "retrieval_score", "chunk_text": "text", "context": "text"},
        ),
        Entity(
            "queries",
            (
                "query_id",
                "parent_query_id",
                "source_group",
                "query_group",
                "text",
                "reference_answer",
                "source_chunk_ids",
                "query_type",
                "difficulty",
                "answer_type",
                "expected_behaviour",
                "variant_type",
                "sampling_weight",
                "tags",
            ),
            ("query_id", "text"),
            {
                "query": "text",
                "query_text": "text",
                "reference": "reference_answer",
                "ground_truth": "reference_answer",
                "query_tags": "tags",
            },
            ("source_chunk_ids", "tags"),
        ),
        Entity("documents", ("document_id", "title", "topic", "text"), ("document_id",), {"id": "document_id"}),
        Entity(
            "chunks",
            ("chunk_id", "document_id", "topic", "text", "chunk_index"),
            ("chunk_id", "text"),
            {"id": "chunk_id", "chunk_text": "text"},
        ),
        Entity(
            "ratings",
            (
                "interaction_id",
                "rater",
                "criterion",
                "guideline_version",
                "scale_point",
                "rating_pass",
                "rated_at",
                "review_round",
                "sampling",
                "inclusion_probability",
            ),
            ("interaction_id", "rater", "criterion", "scale_point"),
            {"interaction": "interaction_id", "rater_id": "rater", "rating": "scale_point"},
        ),
        Entity(
            "relevance_judgements",
            ("query_id", "chunk_id", "judge", "grade"),
            ("query_id", "chunk_id", "grade"),
            {"query": "query_id", "relevance": "grade"},
        ),
        # the names of other tools are known to hcat.landing.spans
        Entity(
            "spans",
            (
                "trace_id",
                "span_id",
                "parent_span_id",
                "kind",
                "name",
                "started_at",
                "ended_at",
                "status",
                "attributes",
            ),
            ("trace_id", "span_id"),
            json_columns=("attributes",),
        ),
    )
}

_CALL_KEYS: Mapping[str, tuple[str, ...]] = {
    "interaction_id": ("interaction_id", "id", "call_id", "trace_id"),
    "query_text": ("query", "query_text", "question", "user_input", "input"),
    "answer": ("answer", "response", "output", "actual_output"),
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context", "context"),
    "reference_answer": ("reference_answer", "reference", "ground_truth", "expected_output"),
    "asked_at": ("asked_at", "timestamp", "created_at"),
}


class RecordError(ValueError):
    """A record that cannot be landed as it is; the message is the reason in the rejects table."""


def canonical_columns(entity: Entity, names: Mapping[str, Any] | list[str]) -> dict[str, str]:
    """Return the mapping from the names in a file to the canonical columns of an entity.

    Parameters
    ----------
    entity : Entity
    names : mapping or list of str
        Names in the file; unknown ones are left out. A canonical name wins over its alias when a file has both.

    Examples
    --------
    >>> canonical_columns(ENTITIES["interactions"], ["id", "question", "latency"])
    {'id': 'interaction_id', 'question': 'query_text'}
    """
    mapping: dict[str, str] = {}
    taken = {name for name in names if name in entity.columns}
    for name in names:
        if name in entity.columns:
            mapping[name] = name
        elif name in entity.aliases and entity.aliases[name] not in taken:
            mapping[name] = entity.aliases[name]
            taken.add(entity.aliases[name])
    return mapping


def expand_call(call: Mapping[str, Any], entity_name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one entity that a nested call holds.

    Parameters
    ----------
    call : mapping
        ``{"interaction_id", "query", "answer", "contexts": [text | {"text", "chunk_id", "score"}], ...}``; the names
        that RAG frameworks use for these keys are accepted (``question``, ``response``, ``retrieved_contexts``,
        ``ground_truth``, ...). All other keys of the interactions and queries contract are taken by name.
    entity_name : {"interactions", "retrievals", "queries"}
        Entity to extract. A call without ``query_id`` gets the hash of its query text.

    Raises
    ------
    RecordError
        If ``contexts`` is not a list of texts or objects.

    Examples
    --------
    >>> call = {"id": "i1", "question": "How long?", "answer": "Two weeks.", "contexts": ["It takes two weeks."]}
    >>> [(record["rank"], record["text"]) for record in expand_call(call, "retrievals")]
    [(1, 'It takes two weeks.')]
    """
    picked = {
        key: next((call[name] for name in names if call.get(name) is not None), None)
        for key, names in _CALL_KEYS.items()
    }
    query_text = picked["query_text"]
    query_id = call.get("query_id")
    if query_id is None and isinstance(query_text, str) and query_text.strip():
        query_id = "query_" + hash_text(" ".join(query_text.casefold().split()))[:16]
    if entity_name == "interactions":
        record = {name: call.get(name) for name in ENTITIES["interactions"].columns if name in call}
        yield record | {
            "interaction_id": picked["interaction_id"],
            "query_id": query_id,
            "query_text": query_text,
            "answer": picked["answer"],
            "asked_at": picked["asked_at"],
        }
    elif entity_name == "queries":
        # a query text alone is part of the interaction; a queries record exists when the call adds facts to it
        facts = {
            name: call[name]
            for name in ENTITIES["queries"].columns
            if name in call and name not in ("query_id", "text", "tags") and call[name] is not None
        }
        # the tags of a call are those of the interaction
        if call.get("query_tags") is not None:
            facts["tags"] = call["query_tags"]
        if picked["reference_answer"] is not None:
            facts["reference_answer"] = picked["reference_answer"]
        if facts and query_id is not None:
            yield facts | {"query_id": query_id, "text": query_text}
    elif entity_name == "retrievals":
        contexts = picked["contexts"]
        if contexts is None:
            return
        if not isinstance(contexts, list):
            raise RecordError(f"contexts must be a list, got {type(contexts).__name__}")
        for rank, context in enumerate(contexts, start=1):
            if isinstance(context, str) or context is None:
                context = {"text": context}
            if not isinstance(context, Mapping):
                raise RecordError(f"a context must be a text or an object, got {type(context).__name__}")
            weight = {"completeness_weight": context["completeness_weight"]} if "completeness_weight" in context else {}
            yield weight | {
                "interaction_id": picked["interaction_id"],
                "rank": context.get("rank", rank),
                "chunk_id": context.get("chunk_id", context.get("id")),
                "text": context.get("text", context.get("content", context.get("page_content"))),
                "retrieval_score": context.get("retrieval_score", context.get("score")),
            }


def to_text(value: Any) -> str | None:
    """Return ``value`` as the text that lands: None stays None, objects and lists become JSON, the rest ``str``.

    Raises
    ------
    ValueError
        If bytes are not UTF-8, or an object or list holds a number that JSON cannot write (NaN, infinity).

    Examples
    --------
    >>> to_text({"b": True, "a": [1, None]}), to_text(0.5), to_text(None)
    ('{"a": [1, null], "b": true}', '0.5', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, default=str)
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)
