"""Read what a language model replied: a reply fits the schema that was sent, or an error says why not."""

import re
from collections.abc import Sequence

from hcat.language.features import extract_features
from hcat.language_models.replies import ReplyError, read_reply, shown
from hcat.metrics.support import Evidence
from hcat.test_set.generation.offline import Query
from hcat.test_set.generation.prompts import FACTS_RESPONSE, echoes_prompt, queries_response

_LINK = re.compile(r"https?://|www\.", re.IGNORECASE)
_OPTIONS = re.compile(r"\bA\) .+ B\) .+ C\) .+", re.DOTALL)


def read_facts(answer: str, source_texts: Sequence[str]) -> list[str]:
    """Return the key facts of a reply, without those that hold a number that the documents do not hold."""
    facts: list[str] = read_reply(answer, FACTS_RESPONSE)["facts"]
    evidence = Evidence.from_features(extract_features(text) for text in source_texts)
    if any(map(echoes_prompt, facts)):
        raise ReplyError("facts must be facts, got words of the prompt")
    kept = [
        fact
        for fact in facts
        if all(not evidence.numbers.isdisjoint(each.keys) for each in extract_features(fact).number_mentions)
    ]
    if not kept:
        raise ReplyError(f"a fact must hold no number that the documents do not hold, got {len(facts)} that do")
    return kept


def read_queries(answer: str, query_type: str, count: int, chunk_ids: Sequence[str], is_refused: bool) -> list[Query]:
    """Return the queries of a reply."""
    queries = []
    for item in read_reply(answer, queries_response(query_type, count))["queries"]:
        text, reference = item["query"], item["reference_answer"]
        said = reference or ""
        if _LINK.search(said):
            raise ReplyError(f"reference_answer must hold no link, got {shown(said)}")
        if query_type == "yes_no" and not re.match(r"(?:Yes|No)\b", said):
            raise ReplyError(f"reference_answer must begin with Yes or No, got {shown(said)}")
        if query_type == "multiple_choice" and not (_OPTIONS.search(text) and re.match(r"[ABC]\)?(?:\W|\Z)", said)):
            raise ReplyError(f"a query must have options A) B) C) and its answer name one, got {shown(text)}")
        if echoes_prompt(text) or echoes_prompt(said):
            raise ReplyError("a query must be a question, got words of the prompt")
        behaviour, sources = ("refuse", ()) if is_refused else ("answer", tuple(chunk_ids))
        kinds = (item["difficulty"], item["answer_type"])
        queries.append(Query(text, query_type, *kinds, behaviour, reference, sources, "language_model"))
    return queries
