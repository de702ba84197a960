"""What a call retrieved: its contexts as the frameworks write them, read into columns of retrievals."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from hcat.engine.keys import hash_text
from hcat.landing.aliases import CONTRACT, KEY_ALIASES, looks_like_content, pick, plain_name
from hcat.landing.messages import OTHER, role_of, structured, text_of
from hcat.landing.raw_contract import RecordError, json_kind

_PASSAGE_IDS = ("chunk_id", "segment_id", *KEY_ALIASES, "document_id")
#: Names under which passages stand, if what stands there looks like passages.
LOOKS: tuple[str, ...] = tuple(CONTRACT["contexts_by_look"].split())
_FILES = re.compile(CONTRACT["names_of_files"], re.IGNORECASE)
_OF_ONE_TEXT = frozenset(CONTRACT["contexts_of_one_text"].split())
# a record with one of these names is a test case, whose context is gold
_TEST_CASE = frozenset({"retrieval_context", "actual_output"})
#: Lists of passages stand at most so deep in what a tool returns.
_DEEPEST = 8
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


def is_passage(item: Any) -> bool:
    """Return whether an object holds a passage: a text of several words under a name of such texts, and no message."""
    if not isinstance(item, Mapping) or role_of(item) not in (None, OTHER):
        return False
    try:
        text = read_context(item).get("text")
    except RecordError:
        return False
    # passages in a text are opened further down
    return isinstance(text, str) and " " in text.strip() and not find_passages(text)


def levels_of(value: Any) -> Iterator[list[Any]]:
    """Yield what stands in a nested value, opened, level by level."""
    level = [structured(value)]
    for _ in range(_DEEPEST):
        yield level
        inner = (
            each.values() if isinstance(each, Mapping) else each for each in level if isinstance(each, Mapping | list)
        )
        level = [structured(item) for items in inner for item in items]


def find_passages(value: Any, takes_texts: bool = False) -> list[Any]:
    """Return the least deep list of passages in what a tool returns, or an empty one."""
    for each in (each for level in levels_of(value) for each in level if isinstance(each, list) and each):
        if all(map(_looks_like_passage if takes_texts else is_passage, each)):
            return each
    return []


def find_documents(message: Mapping[str, Any]) -> list[Any]:
    """Return the passages that are parts of a message: documents, search results, and what tools put out."""
    parts = structured(message.get("content", message.get("parts")))
    found = []
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping) and part.get("type") in ("document", "search_result"):
            source = part.get("source")
            held = source if isinstance(source, Mapping) else part
            text = held.get("data") if held.get("type") == "text" else text_of(held.get("content"))
            found += [{"text": text, "source": part.get("title") or part.get("source")}] if text else []
        elif isinstance(part, Mapping) and str(part.get("type")).startswith("tool"):
            found += find_passages(part.get("output"))
    return found


def find_named_passages(value: Any) -> list[Any]:
    """Return the least deep list of passages that stands under a name of contexts, or an empty one."""
    for each in (each for level in levels_of(value) for each in level if isinstance(each, Mapping)):
        found = find_contexts(plain_record(each))
        if isinstance(found, list) and found and all(map(_looks_like_passage, found)):
            return found
    return []


def _looks_like_passage(item: Any) -> bool:
    if not isinstance(item, str):
        return is_passage(item)
    # what is an object may hold some
    return looks_like_content(item) and structured(item) is item and not _FILES.match(item.strip())


def _by_look(record: Mapping[str, Any]) -> Any:
    """Return the contexts under a name that may mean something else, because they look like some."""
    for name in LOOKS:
        if name not in record or (name == "context" and not _TEST_CASE.isdisjoint(record)):
            continue
        held = structured(record[name])
        if name in _OF_ONE_TEXT and isinstance(held, str) and looks_like_content(held):
            return [held]
        if isinstance(held, Mapping):
            held = _open_map(held) or []
        if isinstance(held, list) and not all(map(_looks_like_passage, held)):
            # citations and sources may group their passages
            held = [passage for each in held for passage in find_passages([each], takes_texts=name == "sources")]
        if name == "citations" and isinstance(held, list):
            # what an answer quotes of itself
            held = [each for each in held if str(read_context(each).get("text")) not in str(pick(record, "answer"))]
        if isinstance(held, list) and held:
            return held
    return None


def _open_map(held: Mapping[str, Any]) -> list[Any]:
    """Return the passages of an object: those of a list in it, or its texts by their ids, or none."""
    are_ids = all(looks_like_content(text) and re.search(r"\d|\W", key) for key, text in held.items())
    return find_passages(held) or [{"chunk_id": key, "text": text} for key, text in held.items() if are_ids]


def find_contexts(record: Mapping[str, Any]) -> Any:
    """Return the retrieved contexts of a call: a list, or what stands in its place; None where there are none."""
    contexts = structured(pick(record, "contexts"))
    if isinstance(contexts, Mapping):
        contexts = _open_map(contexts) or contexts
    if isinstance(contexts, str):
        # a cell that is empty says nothing, and one text is one passage
        is_joined = contexts == record.get(_JOINED_NAME)
        contexts = (contexts.split(_JOINED_BY) if is_joined else [contexts]) if contexts.strip() else None
    identifiers = structured(pick(record, "context_ids"))
    if contexts is None and identifiers is None:
        return _by_look(record)
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


def read_context(context: Any, by_document: bool = False) -> dict[str, Any]:
    """Return a context as columns of a retrieval; ``by_document`` of a log whose gold names documents alone."""
    if context is None or isinstance(context, str):
        marked = _MARKED_SOURCE.fullmatch(context or "")
        return {"chunk_id": marked["source"], "text": marked["context"]} if marked else {"text": context}
    if not isinstance(context, Mapping):
        raise RecordError(f"a context must be a text or an object, got {json_kind(context)}")
    places, text = open_passage(context)
    identifier = find_first(places, find_passage_id)
    if identifier is None:
        identifier = find_first(places, lambda place: pick(place, "passage_source"))
        document = find_first(places, lambda place: place.get("doc_uri"))
        # a document is no chunk: its passages differ by their texts
        if document is not None and document == identifier and isinstance(text, str) and not by_document:
            identifier = f"{document}#{hash_text(text)[:12]}"
    record = places[0]
    found = {
        "chunk_id": identifier,
        "text": text,
        "rank": record.get("rank"),
        "retrieval_score": find_first(places, lambda place: pick(place, "retrieval_score")),
        "completeness_weight": record.get("completeness_weight"),
    }
    return {name: value for name, value in found.items() if value is not None}


def open_passage(context: Mapping[str, Any]) -> tuple[tuple[Mapping[str, Any], ...], Any]:
    """Return the places in which an object may name what it is, the nearest first, and its text."""
    record = plain_record(context)
    # a LangChain document inside its serialised class, a LlamaIndex node inside its score, a passage inside its id
    for name in ("kwargs", "node", "document", "retrieved_context", "data"):
        inner = record.get(name)
        if isinstance(inner, Mapping):
            own = "id" if "id" in inner or isinstance(record.get("id"), list) else None
            outer = {name: value for name, value in record.items() if name not in (own, "type", "lc")}
            record = plain_record(inner) | outer
            break
    described = (structured(record.get(name)) for name in ("metadata", "meta", "attributes"))
    places = (record, *(plain_record(each) for each in described if isinstance(each, Mapping)))
    text = record["text"] if "text" in record else pick(record, "passage_text")
    if isinstance(text, Mapping | list):
        text = text_of(text)
    if text is None and isinstance(record.get("text_resource"), Mapping):
        text = record["text_resource"].get("text")
    if text is None and str(record.get("type")).casefold().startswith("text"):
        text = record.get("value")
    return places, text


def find_first(places: Iterable[Mapping[str, Any]], find: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Return the first value that is found in one of several places; None without one."""
    return next((found for place in places if (found := find(place)) is not None), None)


def find_passage_id(record: Mapping[str, Any]) -> Any:
    """Return the id of a passage: its own, or the one that its store or its corpus gave it; None without one."""
    found = next((record[name] for name in _PASSAGE_IDS if record.get(name) is not None), None)
    return pick(record, "passage_id") if found is None else found
