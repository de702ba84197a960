"""Shapes of evaluation sets: the corpus of BEIR and AutoRAG, and the questions of AutoRAG.

``queries.jsonl`` and ``qrels/*.tsv`` of BEIR have one record per record of the contract and need no shape of their own.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hcat.landing.aliases import pick, plain_name
from hcat.landing.calls import judge_relevant, make_query_id
from hcat.landing.contexts import find_passage_id
from hcat.landing.raw_contract import ENTITIES, RecordError, json_kind

#: Stems of files and the entities that they hold.
CORPUS, QUESTIONS, JUDGEMENTS = "corpus", "qa", "qrels"


def expand_corpus(passage: Mapping[str, Any], entity_name: str) -> Iterator[dict[str, Any]]:
    """Yield the document or the chunk that a passage of a corpus stands for."""
    record = {plain_name(name): value for name, value in passage.items()}
    identifier = find_passage_id(record)
    document_id = identifier if record.get("path") is None else record["path"]
    topic = record.get("topic")
    if entity_name == "documents":
        yield {"document_id": document_id, "title": record.get("title"), "topic": topic}
    else:
        text = record.get("text")
        text = pick(record, "passage_text") if text is None else text
        yield {"chunk_id": identifier, "document_id": document_id, "text": text, "topic": topic}


def expand_question(question: Mapping[str, Any], entity_name: str) -> Iterator[dict[str, Any]]:
    """Yield the query or the relevance judgements that a question with its gold passages stands for."""
    record = {plain_name(name): value for name, value in question.items()}
    text = pick(record, "query_text")
    query_id = pick(record, "query_id")
    if query_id is None and isinstance(text, str):
        query_id = make_query_id(text)
    if entity_name == "relevance_judgements":
        identifiers = pick(record, "reference_context_ids")
        if identifiers is not None and not isinstance(identifiers, list):
            raise RecordError(f"the gold passages must be a list, got {json_kind(identifiers)}")
        yield from judge_relevant(query_id, identifiers or [])
        return
    reference = pick(record, "reference_answer")
    if isinstance(reference, list):
        reference = reference[0] if reference else None
    own = ("query_id", "text", "reference_answer")
    facts = {name: record[name] for name in ENTITIES["queries"].columns if name in record and name not in own}
    yield {"query_id": query_id, "text": text, "reference_answer": reference} | facts
