"""Traces as ordinary records: an interaction with its retrievals, and the queries, ratings, documents and chunks in it.

What a span means is said by its dialect (:mod:`hcat.landing.dialects`). A trace that gives no interaction keeps its
row, with the reason. Each trace is folded by itself, so that traces stream and no result depends on another one. What
needs the whole log (a document that two traces name) is decided by the macro ``folded_records``.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from hcat.engine import relations
from hcat.engine.columns import schema
from hcat.engine.keys import hash_of_query
from hcat.engine.retention_rules import BLANKS
from hcat.landing.aliases import CONTRACT
from hcat.landing.containers import PASSAGE_CHARACTERS
from hcat.landing.contexts import find_named_passages, find_passages
from hcat.landing.dialects import DIALECTS_FILE, Dialect, Dialects, read_dialects
from hcat.landing.feedback import SHOWN, USER_FEEDBACK, rate
from hcat.landing.messages import ASSISTANT, OTHER, USER, messages_of, role_of, structured, text_of
from hcat.landing.span_costs import COST_COLUMNS, read_costs
from hcat.landing.span_texts import (
    find_text,
    is_beside,
    is_object,
    is_structure,
    keys_ending,
    read_document,
    read_object,
    unquote,
    value_at,
)
from hcat.landing.spans import read_time

#: Columns of a span, those that are read, and those of texts; a record leaves null what its entity does not have.
_COLUMNS: Final = {name: tuple(names.split()) for name, names in CONTRACT["columns_of_folding"].items()}
FOLDED: Final = schema(f"string: {' '.join((*_COLUMNS['texts'], *COST_COLUMNS))}", "int64: source_row landing_number")
#: Where a record came from.
_PLACES: Final = ("source_file", "trace_id", "source_row", "landing_number")
_ORDER: Final = "trace_id, landing_number, source_file, source_row, record_id"
#: Spans of a batch: attributes hold whole conversations.
_ROWS: Final = 1000
#: What is known of a document.
_DOCUMENT: Final = ("chunk_id", "text", "retrieval_score", "document_id", "title")
_EVERYWHERE: Final = frozenset(CONTRACT["span_texts"]["everywhere"].split())
_OF_AN_ASSISTANT, _SEARCHES = (
    re.compile(CONTRACT["span_texts"][name], re.IGNORECASE) for name in ("of_an_assistant", "searches")
)
#: Earlier times stand for none, as in the macro time_fault: tools write zero for an end that has not come.
_FIRST_TIME: Final = datetime(2000, 1, 1)

_NUMBER: Final = re.compile(r"[.][0-9]+\b", re.ASCII)
_NUMBERS: Final = re.compile(r"[.]([0-9]+)", re.ASCII)


@dataclass(slots=True)
class Span:
    """A span that can be used, with its attributes and what its dialect says of it."""

    row: Mapping[str, Any]
    texts: Mapping[str, str]
    #: the path of a key (a number of it is ``*``), its numbers with leading zeros, and its text
    attributes: Sequence[tuple[str, str, str]]
    has_empty_list: bool
    started: datetime | None
    ended: datetime | None
    has_ended: bool
    dialect: Dialect | None = None
    role: str = "other"
    values: Sequence[Value] = ()
    documents: Sequence[Mapping[str, str | None]] = ()

    @property
    def has_failed(self) -> bool:
        """Whether its status is that of an error."""
        status = self.row["status"] or ""
        return status == "2" or "error" in status

    @property
    def shown(self) -> str:
        """Its name for people."""
        return str(self.row["span_id"] if self.row["name"] is None else self.row["name"])


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a field, with its place in the lists of the span."""

    span: Span
    field: str
    priority: int
    position: str
    text: str


@dataclass(frozen=True, slots=True)
class Folding:
    """What a project says of traces: its dialects and two settings."""

    dialects: Dialects
    takes_tools: bool
    parents_may_be_remote: bool


def fold_traces(landed: Any, settings: Mapping[str, Any], project: Path = Path()) -> relations.Streamed:
    """Return the records that the landed spans give, and the spans themselves with their status.

    Parameters
    ----------
    landed : relation
        The landed records of all entities.
    settings : mapping
        `tool_outputs_are_evidence`: whether outputs of tools are retrievals. `missing_parents`: `cut_off` or `remote`,
        what a trace is whose topmost chain hangs on a span that was not logged.
    project : Path
        Folder of the dbt project, which may have dialects of its own.

    Returns
    -------
    stream
        Rows of :data:`FOLDED`, those of a trace together. The entity `retrievers` has one row per trace and dialect
        whose retrievers found documents (`count_retrieved` 1), said that there are none (0), or said nothing (null).
    """
    spans = landed.filter("entity = 'spans'").select(*_COLUMNS["read"])
    fold = partial(fold_batches, read_folding(settings, project))
    return relations.convert_rows(spans, fold, FOLDED, _ROWS, "trace_id", _ORDER)


def read_folding(settings: Mapping[str, Any], project: Path = Path()) -> Folding:
    """Return what a project says of traces."""
    missing = settings["missing_parents"]
    if missing not in ("cut_off", "remote"):
        raise ValueError(f"hcat_missing_parents must be cut_off or remote, got {missing}")
    dialects = read_dialects(project / DIALECTS_FILE)
    return Folding(dialects, bool(settings["tool_outputs_are_evidence"]), missing == "remote")


def fold_batches(folding: Folding, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of landed spans, which come trace by trace."""
    rows = (row for batch in batches for row in batch.to_pylist())
    held: list[dict[str, Any]] = []
    for trace_id, spans in groupby(rows, key=lambda row: _text_or_none(row["trace_id"])):
        held += fold_trace(trace_id, spans, folding)
        if len(held) >= _ROWS:
            yield pa.RecordBatch.from_pylist(held, FOLDED)
            held = []
    if held:
        yield pa.RecordBatch.from_pylist(held, FOLDED)


def fold_trace(trace_id: str | None, rows: Iterable[Mapping[str, Any]], folding: Folding) -> Iterator[dict[str, Any]]:
    """Yield the landed spans of a trace, in the order in which they came, with their status, and then its records."""
    spans: list[Span] = []
    first: dict[str, str] = {}
    for row in rows:
        record = {"entity": "spans", **row, "trace_id": trace_id}
        record |= {name: _text_or_none(row[name]) for name in _COLUMNS["of_a_span"]}
        record["status"] = record["status"] and record["status"].lower()
        attributes = read_object(record.pop("attributes"))
        record["record_status"], record["reject_reason"] = _judge(record, row["attributes"], attributes, first)
        yield record
        if record["record_status"] == "staged":
            spans.append(_read_span(record, row["attributes"] or "", attributes or {}, folding))
    if not spans:
        return
    interaction, used, source = _read_trace(spans, folding)
    keys = (key for span in spans for key in (str(span.row["name"]), *span.texts))
    if interaction["is_unread"] and any(map(_OF_AN_ASSISTANT.search, keys)):
        # what its dialect cannot read is read by the names of its keys, and said to be
        guessed = [_guess(span, folding.dialects.general) for span in spans]
        again = _read_trace(guessed, folding)
        if not again[0]["is_unread"]:
            spans, (interaction, used, source) = guessed, again
    del interaction["is_unread"]
    yield interaction
    yield from _fold_retrievers(spans, interaction)
    if interaction["read_error"] is None:
        yield from _fold_documents(used, source, interaction)
        yield from _fold_queries(spans, interaction)
        yield from _fold_ratings(spans, interaction, folding.dialects.annotations)


def _read_trace(
    spans: Sequence[Span], folding: Folding
) -> tuple[dict[str, Any], list[Mapping[str, str | None]], str | None]:
    """Return the interaction of a trace, the documents that it used, and where they come from."""
    for span in spans:
        span.documents = list(_list_documents(span))
    root = min(spans, key=_order_of_root)
    used, source = _choose_documents(spans, root, folding.takes_tools, folding.dialects.general)
    return _fold_interaction(root, spans, used, folding.parents_may_be_remote), used, source


def _judge(
    record: Mapping[str, Any], text: str | None, attributes: Mapping[str, str] | None, first: dict[str, str]
) -> tuple[str, str | None]:
    """Return the status of a span and the reason of a rejection: the first readable record of a span counts."""
    if record["read_error"] is not None:
        return "rejected", record["read_error"]
    for name in ("trace_id", "span_id"):
        if record[name] is None:
            return "rejected", f"{name} is missing or blank"
    if attributes is None:
        return "rejected", f"attributes is not a JSON object: {(text or '')[:SHOWN]}"
    before = first.setdefault(record["span_id"], record["record_id"] + record["record_hash"])
    if before == record["record_id"] + record["record_hash"]:
        return "staged", None
    if before.endswith(record["record_hash"]):
        return "repeated", None
    return "rejected", "trace_id, span_id was sent before with other content"


def _read_span(record: Mapping[str, Any], text: str, attributes: Mapping[str, str], folding: Folding) -> Span:
    """Return a span with its dialect, its role and the values of its fields."""
    placed = [(*_place(key), value) for key, value in attributes.items()]
    if record["kind"] is not None:
        placed.append(("kind", "", record["kind"]))
    started, ended = (read_time(record[name]) for name in ("started_at", "ended_at"))
    has_ended = record["ended_at"] is not None and (ended is None or ended >= _FIRST_TIME)
    span = Span(record, attributes, placed, "[]" in text, _plausible(started), _plausible(ended), has_ended)
    _recognise(span, folding.dialects.dialects)
    span.values = list(_find_values(span, folding.takes_tools))
    return span


def _plausible(time: datetime | None) -> datetime | None:
    return time if time is not None and time >= _FIRST_TIME else None


def _recognise(span: Span, dialects: Sequence[Dialect]) -> None:
    """Give a span the first dialect of which it has a key, and the role of its kind."""
    texts: dict[str, str] = {path: text for path, _, text in reversed(span.attributes)}
    span.dialect = next((each for each in dialects if not each.recognised_by.isdisjoint(texts)), None)
    if span.dialect is None:
        return
    written = [texts[path] for path in span.dialect.kinds if path in texts]
    kinds = [(text.replace('"', "") if span.dialect.texts_are_json else text).lower() for text in written]
    # a span without a kind is told by its name
    kinds = kinds or [str(span.row["name"]).lower()]
    kind = next((kind for kind in kinds if kind in span.dialect.roles), kinds[0])
    span.role = span.dialect.roles.get(kind) or next(
        (role for word, role in span.dialect.roles.items() if word[:1] == "*" and kind.endswith(word[1:])), "other"
    )


def _guess(read: Span, general: Dialect) -> Span:
    """Return a span that no dialect can use with a role and the keys of its texts, by the words it is named with."""
    span = replace(read, values=[value for value in read.values if value.field not in ("query", "answer")])
    texts = {
        key: text
        for key, text in span.texts.items()
        if key.split(".")[0] not in general.people and not is_beside(key) and not text.isdecimal()
    }
    kinds = [texts[key] for key in keys_ending(texts, general.kinds) if key in texts]
    named = re.findall("[a-z]+", " ".join([str(span.row["name"]), *kinds]).lower())
    outputs = keys_ending(texts, general.outputs, general.inputs)
    span.dialect = replace(general, inputs=keys_ending(texts, general.inputs), outputs=outputs)
    # a tool that retrieves is a retriever, and one that generates is a tool
    roles = sorted(general.roles.items(), key=lambda item: (item[1] == "model", item[1] == "tool"))
    span.role = next((role for start, role in roles if any(word.startswith(start) for word in named)), "other")
    has_both = _said(span, "query") is not None and _said(span, "answer") is not None
    if span.row["parent_span_id"] is None or span.role == "other":
        span.role = "chain" if has_both else "other"
    return span


def _find_values(span: Span, takes_tools: bool) -> Iterator[Value]:
    """Yield the values that the dialect of a span finds in it, for the fields that its role may have."""
    dialect = span.dialect
    if dialect is None:
        return
    for path, position, text in span.attributes:
        for place in dialect.places.get(path, ()):
            if not _may_have(span, place.field, takes_tools) or (place.is_text_alone and is_structure(text)):
                continue
            if place.other_key is None or any(
                other == place.other_key and word.lower() == place.word and position.startswith(above)
                for other, above, word in span.attributes
            ):
                value = unquote(text) if dialect.texts_are_json else text
                yield Value(span, place.field, place.priority, position, value)


def _may_have(span: Span, name: str, takes_tools: bool) -> bool:
    if name in ("query", "answer"):
        return span.role == "chain" or _may_answer(span)
    if name.startswith("document"):
        return span.role in ("retriever", "reranker")
    return name != "tool_output" or (span.role == "tool" and takes_tools)


def _may_answer(span: Span) -> bool:
    return span.role == "model" and span.dialect is not None and span.dialect.model_may_answer


def _said(span: Span, name: str) -> str | None:
    """Return the query or the answer of a span: at a key of its dialect, or else by what it is."""
    values = [each for each in span.values if each.field == name and not is_object(each.text)]
    values.sort(key=lambda each: each.position, reverse=True)
    if values:
        text = min(values, key=lambda each: each.priority).text
        # a text in parts is read part by part
        parts = structured(text) if name == "query" else text
        return text_of({"content": parts}) if isinstance(parts, list) else text
    if span.dialect is None:
        return None
    keys, role = (span.dialect.inputs, USER) if name == "query" else (span.dialect.outputs, ASSISTANT)
    found = (find_text(value_at(span.texts, key), role) for key in keys)
    return next((text for text in found if text is not None), None)


def _find_query(root: Span, spans: Sequence[Span], used: Sequence[Mapping[str, str | None]]) -> str | None:
    """Return what the user asked: what the root says, or else the first call of a model. A prompt that holds a passage
    of the trace gives way to what the retriever was asked."""
    passages = [text for each in used if (text := each["text"]) is not None and len(text) >= PASSAGE_CHARACTERS]
    in_order = sorted(spans, key=lambda span: (*_early(span.started), span.row["span_id"]))
    asked = [_said(span, "query") for span in (root, *(each for each in in_order if each.role == "model"))]
    first = next((query for query in asked if query is not None), None)
    if first is None or not any(text in first for text in passages):
        return first
    searching = (_said(span, "query") for span in in_order if span.role in ("retriever", "reranker", "tool"))
    plain = (query for query in (*asked, *searching) if query and not any(text in query for text in passages))
    return next(plain, first)


def _find_answer(root: Span, spans: Sequence[Span]) -> str | None:
    """Return the answer of the root, or else that of the last call of a model; a root that failed has none."""
    own = _said(root, "answer")
    if own is not None or root.has_failed or root.role != "chain":
        return own
    last = sorted((span for span in spans if span.role == "model"), key=_latest)
    return next((text for span in last if (text := _said(span, "answer")) is not None), None)


def _fold_interaction(
    root: Span, spans: Sequence[Span], used: Sequence[Mapping[str, str | None]], parents_may_be_remote: bool
) -> dict[str, Any]:
    """Return the interaction of a trace, or why there is none as its read_error."""

    def find(name: str) -> str | None:
        # of several elements the last one counts
        values = (value for span in spans for value in span.values if value.field == name)
        last = sorted(values, key=lambda value: value.position, reverse=True)
        best = min(last, key=lambda value: (value.span is not root, value.priority, *_latest(value.span)), default=None)
        return None if best is None else best.text

    trace_id, query, answer = root.row["trace_id"], _find_query(root, spans, used), _find_answer(root, spans)
    tags = {name: text for name in ("model", "user") if (text := find(name)) is not None}
    record: dict[str, Any] = {
        "interaction_id": trace_id if (given := find("interaction_id")) is None else given,
        "query_text": query,
        "answer": answer,
        "application": find("application"),
        "application_version": find("version"),
        "tags": json.dumps(tags, ensure_ascii=False, separators=(",", ":")) if tags else None,
        "asked_at": root.row["started_at"],
        "conversation_id": find("session"),
    }
    cut_off = _explain_cut_off(root, spans, parents_may_be_remote)
    reason = cut_off
    if reason is None and root.role != "chain" and not _may_answer(root):
        reason = (
            f"no root ({_seen(spans)}): none of the {len(spans)} spans of the trace is a chain, an agent or a model"
        )
    if reason is None and (answer is None or query is None):
        missing = "answer" if answer is None else "query"
        is_silent = not root.has_failed and all(map(_is_silent, spans))
        hint = ", and no text at all, so switch the capture of content on" if is_silent else ""
        reason = f"no {missing}{hint} ({_seen(spans)}): the root span {root.shown}"
        if answer is None and root.has_failed:
            reason += " ended with an error"
        elif root.dialect is not None:
            reason += f" and the models have none where {root.dialect.name} in {DIALECTS_FILE} looks for it"
    return {
        **_record("interactions", root, ("interaction", trace_id), list(record.values())),
        **record,
        **read_costs(root, spans, find),
        "query_id": None if query is None else "query_" + hash_of_query(query)[:16],
        # what was guessed is said
        "kind": root.dialect.name if root.dialect is not None else None,
        "read_error": reason,
        # a trace that was cut off, or whose root failed, has its reason
        "is_unread": reason is not None and not root.has_failed and cut_off is None,
    }


def _is_silent(span: Span) -> bool:
    """Return whether a span by the conventions of OpenTelemetry holds no text, which they leave out by default."""
    keys = (*span.dialect.inputs, *span.dialect.outputs) if span.dialect is not None else ()
    by_convention = any(key.startswith("gen_ai.") for key in span.texts)
    return by_convention and all(value_at(span.texts, key) is None for key in keys)


def _seen(spans: Sequence[Span]) -> str:
    """Return how the attributes of a trace begin: that tells whose they are."""
    parts = (key.split(".") for span in spans for key in span.texts)
    found = {f"{first}.*" if rest else first for first, *rest in parts} - _EVERYWHERE
    return ", ".join(sorted(found)[:5]) or "no attributes"


def _order_of_root(span: Span) -> tuple[Any, ...]:
    """Return the order of roots: the first chain at the top, a chain below, or the last call of a model."""
    if span.role == "chain":
        candidate = 0 if span.row["parent_span_id"] is None else 1
        return candidate, *_early(span.started), *_late(span.ended), span.row["span_id"]
    return 2 if _may_answer(span) else 3, *_late(span.started), *_late(span.ended), span.row["span_id"]


def _explain_cut_off(root: Span, spans: Sequence[Span], parents_may_be_remote: bool) -> str | None:
    """Return why a part of the trace was not logged; None if it is whole."""
    known = {span.row["span_id"] for span in spans}
    parent = root.row["parent_span_id"]
    if root.role != "chain" and not _may_answer(root):
        missing = {span.row["parent_span_id"] for span in spans} - known - {None}
        where = "the trace has no span of a chain or agent, and the parent span"
        return f"cut off: {where} {min(missing)} is missing" if missing else None
    is_remote = parents_may_be_remote or ("span.parent_is_remote", "", "true") in root.attributes
    if root.role == "chain" and parent is not None and parent not in known and not is_remote:
        return f"cut off: the parent span {parent} of {root.shown} is missing"
    if not root.has_ended and any(span.has_ended for span in spans):
        return f"cut off: the root span {root.shown} has not ended"
    return None


def _fold_retrievers(spans: Sequence[Span], interaction: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the retrievers of a trace that did not fail say of its documents, one row per dialect."""
    has_documents = any(span.documents for span in spans)
    says_none: defaultdict[str, bool] = defaultdict(bool)
    for span in spans:
        if span.role == "retriever" and span.dialect is not None and not span.has_failed:
            says_none[span.dialect.name] |= span.has_empty_list
    for dialect, is_said in says_none.items():
        said = "1" if has_documents else "0" if is_said else None
        places = {name: interaction[name] for name in ("record_id", *_PLACES)}
        yield {"entity": "retrievers", **places, "kind": dialect, "count_retrieved": said}


def _choose_documents(
    spans: Sequence[Span], root: Span, takes_tools: bool, general: Dialect
) -> tuple[list[Mapping[str, str | None]], str | None]:
    """Return the documents that a trace used, in order, and where they come from if no retriever gave them: those of
    rerankers, or else of retrievers; those of tools where a project says so, or where no retriever ran; or else the
    contexts that the root names."""
    is_reranked = any(span.role == "reranker" and span.documents for span in spans)
    retrieving = {span.row["span_id"] for span in spans if span.role == "retriever" and span.documents}
    has_retriever = any(span.role in ("retriever", "reranker") for span in spans)

    def is_used(span: Span) -> bool:
        # a retriever around another one hands on what the inner one found
        is_inner = span.row["parent_span_id"] in retrieving
        if span.role == "tool":
            return takes_tools or not has_retriever
        return span.role == "reranker" or (span.role == "retriever" and not is_reranked and not is_inner)

    used = [span for span in spans if span.documents and is_used(span)]
    if not used and not has_retriever:
        # a step that the tool of the other spans does not know is told by its name
        guessed = [_guess(span, general) for span in spans if span.role == "other"]
        used = [replace(span, documents=list(_list_documents(span))) for span in guessed if span.role != "chain"]
        used = [span for span in used if span.documents]
    used.sort(key=lambda span: (span.role == "tool", *_early(span.started), span.row["span_id"]))
    source = "tool" if used and not has_retriever and not takes_tools else None
    if not used:
        # contexts that stand beside the answer, or that a step was given
        below = sorted(
            (span for span in spans if span.role in ("chain", "model")), key=lambda span: _early(span.started)
        )
        root.documents = root.documents or next(filter(None, map(_list_given, below)), ())
        used, source = [root] if root.documents else [], "root"
    return [{**each, "span": span} for span in used for each in span.documents], source  # type: ignore[dict-item]


def _fold_documents(
    used: Sequence[Mapping[str, Any]], source: str | None, interaction: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the documents that a trace used, once each, as retrievals, documents and chunks."""
    seen: set[tuple[bool, str | None, str | None]] = set()
    for each in used:
        span, chunk_id, text, document_id = each["span"], each["chunk_id"], each["text"], each["document_id"]
        content = (span.role == "tool", chunk_id, text)
        if content in seen:
            continue
        seen.add(content)
        rank, score = str(len(seen)), each["retrieval_score"]
        asked = interaction["interaction_id"]
        own = {"interaction_id": asked, "chunk_id": chunk_id, "text": text, "rank": rank, "retrieval_score": score}
        key = ("retrieval", span.row["trace_id"], rank)
        yield {**_record("retrievals", span, key, [asked, rank, chunk_id, text, score]), **own, "kind": source}
        if chunk_id is None or document_id is None:
            continue
        own = {"document_id": document_id, "title": each["title"]}
        yield {**_record("documents", span, ("document", document_id), list(own.values())), **own}
        if text is not None:
            own = {"chunk_id": chunk_id, "document_id": document_id, "text": text}
            yield {**_record("chunks", span, ("chunk", *own.values()), list(own.values())), **own}


def _list_documents(span: Span) -> Iterator[dict[str, str | None]]:
    """Yield the documents of a span with an id or a text, in order: at keys of its dialect, or by what they are."""
    names = ("document_id", "document_text", "document_score", "document_source", "document_title")
    read = [
        {column: found.get(name) for column, name in zip(_DOCUMENT, names, strict=True)}
        for _, found in _choose(span, names)
    ]
    read = read or [dict.fromkeys(_DOCUMENT) | read_document(item) for item in _list_passages(span)]
    read = read or [
        dict.fromkeys(_DOCUMENT) | {"text": each.text} for each in span.values if each.field == "tool_output"
    ]
    for each in read:
        chunk_id = (each["chunk_id"] or "").strip(" ") or None
        if chunk_id is not None or each["text"] is not None:
            yield {**each, "chunk_id": chunk_id}


def _list_given(span: Span) -> list[Mapping[str, str | None]]:
    """Return the contexts that a step of an application was given, under their name or as what a tool returned."""
    inputs = [value_at(span.texts, key) for key in (span.dialect.inputs if span.dialect else ())]
    returned = (
        each for value in inputs for each in messages_of(value) or () if role_of(each) == OTHER or not text_of(each)
    )
    found = (*map(find_named_passages, inputs), *map(find_passages, returned))
    return [dict.fromkeys(_DOCUMENT) | read_document(item) for item in next(filter(None, found), [])]


def _list_passages(span: Span) -> list[Any]:
    """Return the passages that a span returned, told by what they are."""
    if span.dialect is None or span.role in ("model", "other"):
        return []
    named = {key: value_at(span.texts, key) for key in span.dialect.outputs}
    if span.role == "chain":
        return next(filter(None, (find_named_passages({key.split(".")[-1]: named[key]}) for key in named)), [])
    outputs = list(named.values())
    is_sure = span.role in ("retriever", "reranker")
    listed = [structured(value_at(span.texts, key)) for key in span.dialect.documents if is_sure]
    lists = [value for value in listed if isinstance(value, list)] + [find_passages(each, is_sure) for each in outputs]
    # one list of the same passages may lack their ids
    with_ids = (each for each in lists if each and read_document(each[0]).get("chunk_id") is not None)
    found: list[Any] = next(with_ids, next(filter(None, lists), []))
    names = [str(span.row["name"]), *(text for key, text in span.texts.items() if key.endswith("name"))]
    if not found and span.role == "tool" and _SEARCHES.search(" ".join(names)):
        # a tool that searches may return its passages as one text
        texts = (text_of(structured(value)) for value in outputs)
        found = [text for text in texts if len(text or "") >= PASSAGE_CHARACTERS and structured(text) is text][:1]
    return found


def _fold_queries(spans: Sequence[Span], interaction: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the query of a trace once per reference answer."""
    values = [value for span in spans for value in span.values if value.field == "reference_answer"]
    values.sort(key=lambda value: (value.priority, value.span.row["record_id"], value.position))
    query_id = interaction["query_id"]
    for reference in dict.fromkeys(value.text for value in values):
        key = {"record_id": _md5("query", query_id, reference), "record_hash": _md5(query_id, reference)}
        own = {"query_id": query_id, "text": interaction["query_text"], "reference_answer": reference}
        places = {name: interaction[name] for name in _PLACES}
        yield {"entity": "queries", **places, **key, **own}


def _fold_ratings(
    spans: Sequence[Span], interaction: Mapping[str, Any], annotations: Sequence[Mapping[str, str | None]]
) -> Iterator[dict[str, Any]]:
    """Yield the annotations of people as ratings, or with the reason why one is none."""
    said: dict[str, dict[str, Any]] = {}
    names = ("annotation_name", "annotation_source", "annotation_value", "annotator", "annotation_time")
    for span in spans:
        for position, found in _choose(span, names):
            name, value, rater = found.get("annotation_name"), found.get("annotation_value"), found.get("annotator")
            people = span.dialect.people if span.dialect is not None else frozenset()
            if name is None or value is None:
                continue
            score = {"name": name, "value": value, "source": found.get("annotation_source"), "rater": rater}
            if not (rated := rate(score, annotations, people)):
                continue
            time, asked = found.get("annotation_time"), interaction["interaction_id"]
            is_of_user = rated["rater_kind"] == USER_FEEDBACK
            content = [asked, name if is_of_user else rater, name, value, time]
            record = _record("ratings", span, ("rating", span.row["record_id"], position), content)
            record |= {**rated, "interaction_id": asked, "rated_at": time}
            if not is_of_user:
                yield record
            elif name not in said or (time or "") >= (said[name]["rated_at"] or ""):
                said[name] = record
    # of what a user pressed the last counts
    yield from said.values()


def _choose(span: Span, names: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the fields of each element of a list in a span, each from its first key that holds a value."""
    values = [value for value in span.values if value.field in names]
    values.sort(key=lambda value: (value.position, value.priority))
    for position, found in groupby(values, key=lambda value: value.position):
        fields: dict[str, str] = {}
        for value in found:
            fields.setdefault(value.field, value.text)
        yield position, fields


def _record(entity: str, span: Span, key: Sequence[str | None], content: Sequence[str | None]) -> dict[str, Any]:
    """Return the columns that every folded record has: it stands where its span stands."""
    places = {name: span.row[name] for name in _PLACES}
    return {"entity": entity, "record_id": _md5(*key), "record_hash": _md5(*content), "read_error": None, **places}


def _md5(*parts: str | None) -> str:
    text = "|".join(part for part in parts if part is not None)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _early(time: datetime | None) -> tuple[bool, datetime]:
    return time is None, time or _FIRST_TIME


def _late(time: datetime | None) -> tuple[bool, timedelta]:
    return time is None, _FIRST_TIME - (time or _FIRST_TIME)


def _latest(span: Span) -> tuple[Any, ...]:
    return *_late(span.started), span.row["span_id"]


@lru_cache(maxsize=2**16)
def _place(key: str) -> tuple[str, str]:
    """Return the path and the position of a key: positions compare as texts."""
    return _NUMBER.sub(".*", key), ".".join(number.rjust(6, "0")[:6] for number in _NUMBERS.findall(key))


def _text_or_none(text: str | None) -> str | None:
    """Return a text without outer blanks, as the macro text_or_null does; None where nothing is left."""
    kinds = ((each, unicodedata.category(each)) for each in text or "")
    if text is None or all(each in " \t\n\f\r" or kind[0] == "Z" or kind == "Cf" for each, kind in kinds):
        return None
    return text.strip(BLANKS)
