"""Other names of what the raw contract holds: one list for all entities, files and tables.

A name is compared without regard to case, blanks, hyphens and dots, and ``actualOutput`` is ``actual_output``. A column
takes its own name first, then the names that :data:`ALIASES` gives to its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from hcat.language.text import clean_text

#: Meaning -> other names. The meaning of most columns is their name; :class:`Entity.meanings` holds the exceptions.
ALIASES: Mapping[str, tuple[str, ...]] = {
    # keys
    "interaction_id": ("interaction", "call_id", "trace_id", "request_id", "client_request_id"),
    "query_id": ("qid", "question_id"),
    "document_id": ("doc_id", "docid"),
    "passage_id": ("id_", "node_id", "doc_id", "docid", "corpus_id"),
    # of a passage in a call: its source stands for an id that was not logged
    "passage_source": ("source", "doc_uri"),
    # texts
    "query_text": ("query", "question", "user_input", "input", "user_query", "query_str", "request"),
    "answer": ("response", "output", "actual_output", "result", "prediction", "generated_answer", "model_output"),
    "reference_answer": (
        "reference",
        "ground_truth",
        "expected_output",
        "expected_response",
        "expected_answer",
        "gold_answer",
        "generation_gt",
    ),
    "passage_text": ("content", "contents", "page_content", "chunk_text", "context", "document_content", "passage"),
    # lists of a call
    "contexts": (
        "retrieved_contexts",
        "retrieval_context",
        "retrieved_context",
        "retrieved_contents",
        "retrieved_documents",
        "source_documents",
        "source_nodes",
    ),
    "context_ids": ("retrieved_context_ids", "retrieved_ids"),
    "reference_context_ids": ("retrieval_gt", "expected_retrieved_context", "relevant_context_ids"),
    "answers": ("multi_responses",),
    "turns": ("messages", "conversation"),
    # of a conversation
    "conversation_id": (
        "session_id",
        "thread_id",
        "chat_id",
        "session",
        "trace_session_id",
        "mlflow_trace_session",
        "gen_ai_conversation_id",
        "dialogue_id",
    ),
    "turn_index": ("turn", "turn_number", "turn_idx"),
    # the rest
    "asked_at": ("timestamp", "created_at", "request_time", "logged_at"),
    "application_version": ("app_version",),
    "metadata": ("additional_metadata",),
    "retrieval_score": ("score", "similarity", "similarity_score", "relevance_score", "document_score"),
    "grade": ("relevance", "score", "rel"),
    "rater": ("rater_id",),
    "scale_point": ("rating",),
    "query_tags": (),
}

_NAMES = {meaning: (meaning, *names) for meaning, names in ALIASES.items()}

#: Names of an entity's own key.
KEY_ALIASES = ("id", "_id")

#: Keys that tools write beside the content of a call, which hcat does not read. Nothing is said of them.
NOT_CONTENT = frozenset(
    {
        # gold passages come without ids, so that no retrieved passage can be compared with them
        "reference_contexts",
        "expected_facts",
        "guidelines",
        "rubrics",
        "persona_name",
        "persona",
        "query_style",
        "query_length",
        "reference_tool_calls",
        "reference_topics",
        "tools_called",
        "expected_tools",
        "comments",
        "name",
        "source_file",
        "custom_column_key_values",
        "expectations",
        "token_cost",
        "input_token_count",
        "output_token_count",
        "scenario",
        "expected_outcome",
        "user_description",
        "chat_history",
        "feedback",
        "assessments",
        "query_by",
        "reference_answer_by",
        "type",
        "usage",
        "error",
        "finish_reason",
        "locale",
        "model",
        "status",
        "user",
    }
)

#: Characters from which a text may be content.
_CONTENT_CHARACTERS = 20


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """Return a name as it is compared: small letters, words joined by underscores."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", clean_text(name).strip())
    return re.sub(r"[\s.\-]+", "_", words).casefold()


def pick(record: Mapping[str, Any], meaning: str) -> Any:
    """Return the first value that is not null under a name of a meaning."""
    for name in _NAMES[meaning]:
        value = record.get(name)
        if value is not None:
            return value
    return None


def known_names(meanings: Iterable[str]) -> frozenset[str]:
    """Return all names of some meanings."""
    return frozenset(name for meaning in meanings for name in (meaning, *ALIASES.get(meaning, ())))


def looks_like_content(value: Any) -> bool:
    """Return whether a value may be a query, an answer or passages: a longer text, or a list or object of such."""
    if isinstance(value, str):
        return len(value) >= _CONTENT_CHARACTERS and " " in value.strip()
    if isinstance(value, Mapping):
        return any(looks_like_content(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(looks_like_content(item) for item in value[:3])
    return False
