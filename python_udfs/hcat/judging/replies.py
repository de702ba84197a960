"""Read what a judge replied: a reply fits the schema that was sent, or an error says why not."""

from collections.abc import Mapping
from typing import Any, Final

from hcat.language_models.replies import ReplyError, read_reply

INSUFFICIENT: Final = "Insufficient Information"
"""The phrase of RAGAS for a context that answers nothing (section 3, context relevance)."""


def read_verdicts(answer: str, schema: Mapping[str, Any]) -> list[bool]:
    """Return the verdicts in order, True for Yes."""
    return [each["verdict"] == "Yes" for each in read_reply(answer, schema)["verdicts"]]


def read_sentences(answer: str, schema: Mapping[str, Any]) -> list[str]:
    """Return the extracted sentences; none where the reply is the phrase for insufficient information."""
    if _is_phrase(answer.strip().strip('"')):
        return []
    sentences: list[str] = read_reply(answer, schema)["sentences"]
    if any(map(_is_phrase, sentences)) and len(sentences) > 1:
        raise ReplyError(f"sentences must be sentences or the phrase {INSUFFICIENT!r} alone, got both")
    return [each for each in sentences if not _is_phrase(each)]


def read_ranking(answer: str, schema: Mapping[str, Any]) -> int:
    """Return the number of the better answer, 1 or 2."""
    ranking: list[int] = read_reply(answer, schema)["ranking"]
    if sorted(ranking) != [1, 2]:
        raise ReplyError(f"ranking must be [1, 2] or [2, 1], got {ranking}")
    return ranking[0]


def _is_phrase(text: str) -> bool:
    return text.rstrip(".").casefold() == INSUFFICIENT.casefold()
