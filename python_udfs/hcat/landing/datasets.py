"""Shapes of evaluation sets: the corpus of BEIR and AutoRAG, and the questions of AutoRAG.

``queries.jsonl`` and ``qrels/*.tsv`` of BEIR have one record per record of the contract and need no shape of their own.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hcat.landing.aliases import pick, plain_name
from hcat.landing.calls import expand_opened, open_call
from hcat.landing.contexts import find_passage_id

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
    opened = open_call(question)
    first = opened.exchanges[0]
    # a query counts without an answer, too
    alone = [{"query_id": first.query_id, "text": first.query_text}] if entity_name == "queries" else []
    yield from list(expand_opened(opened, entity_name)) or alone
