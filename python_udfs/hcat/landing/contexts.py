"""What a call retrieved: its contexts as the frameworks write them, read into columns of retrievals."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from hcat.landing.aliases import KEY_ALIASES, pick, plain_name
from hcat.landing.raw_contract import RecordError, json_kind

_PASSAGE_IDS = ("chunk_id", *KEY_ALIASES, "document_id")
# how deepeval writes a list of passages, and the source of one, into a single text
_JOINED_NAME, _JOINED_BY = "retrieval_context", "|"
_MARKED_SOURCE = re.compile(r"deepeval_source=(?P<source>.*?),deepeval_context=(?P<context>.*)", re.DOTALL)


def plain_record(call: Mapping[str, Any]) -> dict[str, Any]:
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


def structured(value: Any) -> Any:
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


def are_documents(value: Any) -> bool:
    """Return whether a value is a list of documents as LangChain writes them: the retrieved context of a chain."""
    items = structured(value)
    return (
        isinstance(items, list)
        and bool(items)
        and all(isinstance(item, Mapping) and ("page_content" in item or "kwargs" in item) for item in items)
    )


def find_contexts(record: Mapping[str, Any]) -> Any:
    """Return the retrieved contexts of a call: a list, or what stands in its place; None where there are none."""
    contexts = structured(pick(record, "contexts"))
    if contexts is None and are_documents(record.get("context")):
        contexts = structured(record["context"])
    if isinstance(contexts, str) and contexts == record.get(_JOINED_NAME):
        # a cell that is empty says nothing
        contexts = contexts.split(_JOINED_BY) if contexts else None
    identifiers = structured(pick(record, "context_ids"))
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


def read_context(context: Any) -> dict[str, Any]:
    """Return a context as columns of a retrieval, without rank."""
    if context is None or isinstance(context, str):
        marked = _MARKED_SOURCE.fullmatch(context or "")
        return {"chunk_id": marked["source"], "text": marked["context"]} if marked else {"text": context}
    if not isinstance(context, Mapping):
        raise RecordError(f"a context must be a text or an object, got {json_kind(context)}")
    record = plain_record(context)
    # a LangChain document inside its serialised class, a LlamaIndex node inside its score
    for name in ("kwargs", "node", "document"):
        inner = record.get(name)
        if isinstance(inner, Mapping):
            record = plain_record(inner) | {
                name: value for name, value in record.items() if name not in ("id", "type", "lc")
            }
            break
    metadata = plain_record(record["metadata"]) if isinstance(record.get("metadata"), Mapping) else {}
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
    """Return the id of a passage: its own, or the one that its store or its corpus gave it; None without one."""
    for name in _PASSAGE_IDS:
        found = record.get(name)
        if found is not None:
            return found
    return pick(record, "passage_id")
