"""Read what a language model replied: a reply fits the schema exactly, or an error says why not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hcat.language.features import extract_features
from hcat.language_models.replies import ReplyError, list_of, parse_object, shown, text_of
from hcat.metrics.support import Evidence
from hcat.test_set.generation.offline import Query
from hcat.test_set.generation.prompts import ANSWER_TYPES, DIFFICULTIES, MAXIMUM_FACTS, echoes_prompt

MAXIMUM_FACT_CHARACTERS: Final = 600
MAXIMUM_QUERY_CHARACTERS: Final = 600
MAXIMUM_REFERENCE_CHARACTERS: Final = 2000
_LINK = re.compile(r"https?://|www\.", re.IGNORECASE)
_OPTIONS = re.compile(r"\bA\) .+ B\) .+ C\) .+", re.DOTALL)


def read_facts(answer: str, source_texts: Sequence[str]) -> list[str]:
    """Return the key facts of a reply."""
    facts = list_of(parse_object(answer), "facts", MAXIMUM_FACTS)
    evidence = Evidence.from_features(extract_features(text) for text in source_texts)
    kept = []
    for position, fact in enumerate(facts):
        text = text_of(fact, f"facts[{position}]", MAXIMUM_FACT_CHARACTERS)
        if echoes_prompt(text):
            raise ReplyError(f"facts[{position}] must be a fact, got words of the prompt")
        if all(
            any(key in evidence.numbers for key in mention.keys) for mention in extract_features(text).number_mentions
        ):
            kept.append(text)
    if not kept:
        raise ReplyError(f"a fact must hold no number that the documents do not hold, got {len(facts)} that do")
    return kept


def read_queries(answer: str, query_type: str, count: int, chunk_ids: Sequence[str], is_refused: bool) -> list[Query]:
    """Return the queries of a reply."""
    queries = []
    for position, item in enumerate(list_of(parse_object(answer), "queries", count)):
        place = f"queries[{position}]"
        expected = {"query", "reference_answer", "difficulty", "answer_type"}
        if not isinstance(item, dict) or set(item) != expected:
            found = sorted(map(str, item)) if isinstance(item, dict) else shown(item)
            raise ReplyError(f"{place} must have exactly {', '.join(sorted(expected))}, got {found}")
        text = text_of(item["query"], f"{place}.query", MAXIMUM_QUERY_CHARACTERS)
        reference = item["reference_answer"]
        if is_refused:
            if reference not in (None, ""):
                raise ReplyError(f"{place}.reference_answer must be null, got {shown(reference)}")
            reference = None
        else:
            reference = text_of(reference, f"{place}.reference_answer", MAXIMUM_REFERENCE_CHARACTERS)
            if _LINK.search(reference):
                raise ReplyError(f"{place}.reference_answer must hold no link, got {shown(reference)}")
        for name, words in (("difficulty", DIFFICULTIES), ("answer_type", ANSWER_TYPES)):
            if item[name] not in words:
                raise ReplyError(f"{place}.{name} must be one of {', '.join(words)}, got {shown(item[name])}")
        if query_type == "yes_no" and not re.match(r"(?:Yes|No)\b", reference or ""):
            raise ReplyError(f"{place}.reference_answer must begin with Yes or No, got {shown(reference)}")
        if query_type == "multiple_choice" and not (
            _OPTIONS.search(text) and re.match(r"[ABC]\)?(?:\W|\Z)", reference or "")
        ):
            raise ReplyError(f"{place} must have options A) B) C) and name one, got {shown(text)}, {shown(reference)}")
        if echoes_prompt(text) or echoes_prompt(reference or ""):
            raise ReplyError(f"{place} must be a question, got words of the prompt")
        queries.append(
            Query(
                text,
                query_type,
                item["difficulty"],
                item["answer_type"],
                "refuse" if is_refused else "answer",
                reference,
                () if is_refused else tuple(chunk_ids),
                "language_model",
            )
        )
    return queries
