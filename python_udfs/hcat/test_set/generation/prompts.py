"""What a language model is asked: first the key facts of a chunk, then queries of one type about them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.language_models.prompts import TEXT, list_of, object_of, read_texts, write_messages

PROMPT_REVISION: Final = "prompts 1"
"""Raised when a word of the prompts changes; it is part of the hash by which answers are kept."""

MAXIMUM_DOCUMENT_CHARACTERS: Final = 12_000
"""Longer chunks are cut: what lies behind is asked for by other chunks."""

MAXIMUM_FACTS: Final = 12

_TEXTS: Final = read_texts(__file__)
#: Query type that a language model writes -> its task; other types come from templates.
_TASKS: Final[Mapping[str, str]] = _TEXTS["tasks"]

FACTS_RESPONSE: Final[Mapping[str, Any]] = object_of({"facts": list_of(TEXT, 1, MAXIMUM_FACTS)})


def queries_response(query_type: str, count: int) -> Mapping[str, Any]:
    """Return the JSON schema of a reply with at most ``count`` queries of a type."""
    query = {
        "query": TEXT,
        "reference_answer": {"type": "null"} if query_type == "insufficient_context" else TEXT,
        "difficulty": {"enum": ["easy", "medium", "hard"]},
        "answer_type": {"enum": ["abbreviation", "entity", "description", "human", "location", "numeric"]},
    }
    return object_of({"queries": {"type": "array", "minItems": 1, "maxItems": count, "items": object_of(query)}})


def facts_prompt(documents: Sequence[tuple[str | None, str]]) -> list[dict[str, str]]:
    """Return the messages that ask for the key facts of documents."""
    task = (
        f"List the key facts of the documents, {MAXIMUM_FACTS} at most, one whole sentence each, with the names "
        f"and numbers they hold."
    )
    return write_messages(_TEXTS["system"], {"task": task, "documents": _quote(documents), "schema": FACTS_RESPONSE})


def queries_prompt(
    query_type: str, count: int, documents: Sequence[tuple[str | None, str]], facts: Sequence[str]
) -> list[dict[str, str]]:
    """Return the messages that ask for queries of one type."""
    if query_type not in _TASKS:
        raise ValueError(f"query_type must be one of {', '.join(_TASKS)}, got {query_type!r}")
    content = {
        "task": f"{_TASKS[query_type]} {count} at most. Say how hard each is and what kind of answer it has.",
        "rules": _TEXTS["rules"],
        "key_facts": list(facts),
        "documents": _quote(documents),
        "schema": queries_response(query_type, count),
    }
    return write_messages(_TEXTS["system"], content)


def echoes_prompt(text: str) -> bool:
    """Return whether a text repeats eight words in a row of the instructions."""
    words = text.lower().split()
    runs = {" ".join(words[start : start + 8]) for start in range(len(words) - 7)}
    said = " ".join([_TEXTS["system"], *_TEXTS["rules"], *_TASKS.values()]).lower().split()
    return any(" ".join(said[start : start + 8]) in runs for start in range(len(said) - 7))


def _quote(documents: Sequence[tuple[str | None, str]]) -> list[dict[str, Any]]:
    return [{"title": title, "text": text[:MAXIMUM_DOCUMENT_CHARACTERS]} for title, text in documents]
