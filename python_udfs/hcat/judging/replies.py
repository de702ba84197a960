"""Read what a judge replied: a reply fits the schema exactly, or an error says why not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from hcat.judging.prompts import CORRECTNESS, INSUFFICIENT, MAXIMUM_SCORE, MAXIMUM_STATEMENTS
from hcat.language_models.replies import ReplyError, list_of, parse_object, shown, text_of

MAXIMUM_STATEMENT_CHARACTERS: Final = 1000
MAXIMUM_QUESTION_CHARACTERS: Final = 600
MAXIMUM_SENTENCE_CHARACTERS: Final = 12_000
MAXIMUM_REASON_CHARACTERS: Final = 2000

_VERDICTS = {"yes": True, "no": False}


def read_statements(answer: str) -> list[str]:
    """Return the statements of a reply, at least one."""
    statements = list_of(parse_object(answer), "statements", MAXIMUM_STATEMENTS)
    return [
        text_of(each, f"statements[{position}]", MAXIMUM_STATEMENT_CHARACTERS)
        for position, each in enumerate(statements)
    ]


def read_verdicts(answer: str, count: int) -> list[bool]:
    """Return ``count`` verdicts in order, True for Yes.

    Parameters
    ----------
    answer : str
        Text of the reply.
    count : int
        Verdicts that were asked for.

    Raises
    ------
    ReplyError
        If there are more or fewer, or one is neither Yes nor No.

    Examples
    --------
    >>> read_verdicts('{"verdicts": [{"explanation": "It says so.", "verdict": "Yes"}]}', 1)
    [True]
    """
    verdicts = _exactly(list_of(parse_object(answer), "verdicts", max(count, 1)), "verdicts", count)
    read = []
    for position, item in enumerate(verdicts):
        place = f"verdicts[{position}]"
        members = _members(item, place, ("explanation", "verdict"))
        _reason(members["explanation"], f"{place}.explanation")
        word = members["verdict"]
        if not isinstance(word, str) or word.strip().rstrip(".").lower() not in _VERDICTS:
            raise ReplyError(f"{place}.verdict must be Yes or No, got {shown(word)}")
        read.append(_VERDICTS[word.strip().rstrip(".").lower()])
    return read


def read_questions(answer: str, count: int) -> list[str]:
    """Return ``count`` questions."""
    questions = _exactly(list_of(parse_object(answer), "questions", count), "questions", count)
    return [
        text_of(each, f"questions[{position}]", MAXIMUM_QUESTION_CHARACTERS) for position, each in enumerate(questions)
    ]


def read_sentences(answer: str, count: int) -> list[str]:
    """Return the extracted sentences; none where the reply is the phrase for insufficient information."""
    if answer.strip().strip('"').rstrip(".").casefold() == INSUFFICIENT.casefold():
        return []
    sentences = [
        text_of(each, f"sentences[{position}]", MAXIMUM_SENTENCE_CHARACTERS)
        for position, each in enumerate(list_of(parse_object(answer), "sentences", max(count, 1)))
    ]
    phrases = [each for each in sentences if each.rstrip(".").casefold() == INSUFFICIENT.casefold()]
    if phrases and len(sentences) > 1:
        raise ReplyError(f"sentences must be sentences or the phrase {INSUFFICIENT!r} alone, got both")
    return [] if phrases else sentences


def read_rubric(answer: str, points: Sequence[int]) -> int:
    """Return the scale point of a reply."""
    members = _members(parse_object(answer), "a reply", ("reason", "score"))
    _reason(members["reason"], "reason")
    point: Any = members["score"]
    if isinstance(point, bool) or not isinstance(point, int) or point not in points:
        raise ReplyError(f"score must be one of {', '.join(map(str, points))}, got {shown(point)}")
    return int(point)


def read_score(answer: str) -> float:
    """Return the score of a reply, 0 to 10."""
    score = _members(parse_object(answer), "a reply", ("score",))["score"]
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
    if not is_number or not 0 <= score <= MAXIMUM_SCORE:
        raise ReplyError(f"score must be a number from 0 to {MAXIMUM_SCORE}, got {shown(score)}")
    return float(score)


def read_ranking(answer: str) -> int:
    """Return the number of the better answer, 1 or 2."""
    ranking = _members(parse_object(answer), "a reply", ("ranking",))["ranking"]
    # a bool is no number here, although True == 1
    if ranking not in ([1, 2], [2, 1]) or any(type(each) is not int for each in ranking):
        raise ReplyError(f"ranking must be [1, 2] or [2, 1], got {shown(ranking)}")
    return int(ranking[0])


def read_correctness(answer: str) -> str:
    """Return the verdict: correct, incorrect or undecided."""
    members = _members(parse_object(answer), "a reply", ("reason", "verdict"))
    _reason(members["reason"], "reason")
    if members["verdict"] not in CORRECTNESS:
        raise ReplyError(f"verdict must be one of {', '.join(CORRECTNESS)}, got {shown(members['verdict'])}")
    return str(members["verdict"])


def _members(value: Any, place: str, expected: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(expected):
        found = ", ".join(sorted(map(str, value))) or "none" if isinstance(value, dict) else shown(value)
        raise ReplyError(f"{place} must have exactly {', '.join(expected)}, got {found}")
    return value


def _exactly(items: list[Any], name: str, count: int) -> list[Any]:
    if len(items) != count:
        raise ReplyError(f"{name} must be a list of {count}, got {len(items)}")
    return items


def _reason(value: Any, place: str) -> None:
    text_of(value, place, MAXIMUM_REASON_CHARACTERS)
