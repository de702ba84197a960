"""The tables of generation: requests in, calls and queries out."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.language_models.conversation import KEY_VARIABLE, LEDGER_FIELDS, converse, drop_replays, ledger_row
from hcat.language_models.endpoint import LanguageModel, Reply, Service, in_waves
from hcat.test_set.generation.offline import REFUSED_TYPES, Outcome, Settings, Source, Template, generate
from hcat.test_set.generation.prompts import (
    FACTS_RESPONSE,
    PROMPT_REVISION,
    facts_prompt,
    queries_prompt,
    queries_response,
)
from hcat.test_set.generation.replies import read_facts, read_queries

GENERATED_SCHEMA = schema(
    "string: generated_id generation_key chunk_id query_type generator generator_revision generation_status "
    "status_detail query_id query_text reference_answer difficulty answer_type expected_behaviour pattern",
    "list<string>: source_chunk_ids",
)

CALLS_SCHEMA = schema("string: call_id generation_key chunk_id query_type", *LEDGER_FIELDS)

BATCH_REQUESTS: Final = 500
"""Requests per batch: they bound memory and change no query."""

#: Other chunks that a prompt for a multi-hop query holds.
_PARTNERS_OF_A_PROMPT = 2


class QueryMaker:
    """Batch function that turns requests into queries, or into the reason why there are none.

    Parameters
    ----------
    templates : Table
        Seed query_templates.
    settings : mapping
        speaker, seed.
    """

    def __init__(self, templates: pa.Table, settings: Mapping[str, Any]) -> None:
        self._templates = [Template.from_row(row) for row in templates.sort_by("template_id").to_pylist()]
        self._settings = Settings(str(settings["speaker"]), int(settings["seed"]))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return one row per query, and one per request without any (schema :data:`GENERATED_SCHEMA`)."""
        rows: list[dict[str, Any]] = []
        for request in batch.to_pylist():
            rows += _rows(request, self._answer(request))
        return pa.RecordBatch.from_pylist(rows, schema=GENERATED_SCHEMA)

    def _answer(self, request: Mapping[str, Any]) -> Outcome:
        source = Source(request["chunk_id"], request["chunk_text"], request["document_title"])
        partners = _partners(request)
        if request["generator"] == "offline":
            return generate(
                request["query_type"], request["count_wanted"], source, partners, self._templates, self._settings
            )
        if request["call_status"] != "answered":
            return Outcome(request["call_status"] or "call_failed", request["status_detail"] or "no call was made")
        sources = [source, *partners[:_PARTNERS_OF_A_PROMPT]]
        queries = read_queries(
            request["answer"],
            request["query_type"],
            request["count_wanted"],
            [each.chunk_id for each in sources],
            request["query_type"] in REFUSED_TYPES,
        )
        return Outcome("generated", f"{len(queries)} of {request['count_wanted']}", tuple(queries))


def _partners(request: Mapping[str, Any]) -> list[Source]:
    ids, texts = request["partner_chunk_ids"] or [], request["partner_texts"] or []
    return [Source(chunk_id, text, request["document_title"]) for chunk_id, text in zip(ids, texts, strict=True)]


def _rows(request: Mapping[str, Any], outcome: Outcome) -> list[dict[str, Any]]:
    shared = {
        name: request[name] for name in ("generation_key", "chunk_id", "query_type", "generator", "generator_revision")
    } | {"generation_status": outcome.status, "status_detail": outcome.detail}
    if not outcome.queries:
        generated_id = hash_text(request["generation_key"], "0")
        return [shared | {"generated_id": generated_id, "expected_behaviour": request["expected_behaviour"]}]
    return [
        query._asdict()
        | shared
        | {
            "generated_id": hash_text(request["generation_key"], str(number)),
            "query_id": hash_text("query", request["generation_key"], str(number)),
            "query_text": query.text,
            "source_chunk_ids": query.source_chunk_ids or None,
        }
        for number, query in enumerate(outcome.queries)
    ]


# Calls


def call_pending(
    requests: pa.Table,
    settings: Mapping[str, Any],
    kept: Iterable[tuple[str, str]] = (),
    written: Iterable[tuple[str, str]] = (),
) -> Iterator[pa.RecordBatch]:
    """Ask the language model for what is requested and yield the ledger of calls (schema :data:`CALLS_SCHEMA`).

    Parameters
    ----------
    requests : Table
        Rows of int_generation_requests, ordered by chunk: the budget is spent in this order.
    settings : mapping
        Fields of :class:`hcat.language_models.endpoint.Service` without the key, which comes from HCAT_LLM_API_KEY.
    kept : iterable of (str, str)
        Prompt hash and answer of earlier calls.
    written : iterable of (str, str)
        Call id and status of the ledger so far (:func:`hcat.language_models.conversation.drop_replays`).

    Raises
    ------
    SettingsError
        If something is requested and the service is not described.
    """
    if requests.num_rows == 0:
        return
    ledger = list(written)
    service = Service(**settings, key=os.environ.get(KEY_VARIABLE, ""))
    model = LanguageModel(service, dict(sorted(pair for pair in kept if pair[1] is not None)))
    chunks: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for request in requests.to_pylist():
        # the key facts of a chunk serve all its query types, those of a chunk and its partners the multi-hop ones
        chunks.setdefault((request["chunk_id"], request["partner_chunk_ids"] is not None), []).append(request)
    most = max((1 + len(each)) * (1 + service.repairs) for each in chunks.values())
    for rows in in_waves(model, list(chunks.values()), most, lambda each: _call_for_chunk(model, each)):
        yield pa.RecordBatch.from_pylist(drop_replays(rows, ledger), schema=CALLS_SCHEMA)


def _call_for_chunk(model: LanguageModel, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    first = requests[0]
    sources = [Source(first["chunk_id"], first["chunk_text"], first["document_title"])]
    sources += _partners(first)[:_PARTNERS_OF_A_PROMPT]
    documents = [(source.title, source.text) for source in sources]
    key = hash_text("key facts", *[request["generation_key"] for request in requests])
    shared = {"chunk_id": first["chunk_id"], "generation_key": None, "query_type": None, "step": "key_facts"}
    prompt, read = facts_prompt(documents), partial(read_facts, source_texts=[source.text for source in sources])
    rows, answer = converse(model, shared, key, prompt, FACTS_RESPONSE, read, PROMPT_REVISION)
    about_facts, ids = rows[-1], [source.chunk_id for source in sources]
    for request in requests:
        query_type, count, key = request["query_type"], request["count_wanted"], request["generation_key"]
        shared = {"chunk_id": request["chunk_id"], "generation_key": key, "query_type": query_type, "step": "queries"}
        if answer is None:
            missing = Reply(None, about_facts["call_status"], f"no key facts: {about_facts['status_detail']}")
            rows.append(ledger_row(model, shared, key, 0, None, missing, None, PROMPT_REVISION) | {"is_last": True})
            continue
        asked = {"query_type": query_type, "count": count}
        read_them = partial(read_queries, **asked, chunk_ids=ids, is_refused=query_type in REFUSED_TYPES)
        prompt = queries_prompt(**asked, documents=documents, facts=answer)
        rows += converse(model, shared, key, prompt, queries_response(**asked), read_them, PROMPT_REVISION)[0]
    return rows
