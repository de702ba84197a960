"""Read the reply of a service: an answer with its contexts, or the reason why there is none.

A reply that does not match the description is a failure. Nothing is guessed: a reply without the place of the answer is
not an empty answer.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Final

from hcat.collection.endpoint import Refusal, Response
from hcat.collection.paths import JsonPath, PathError, describe_type

_ERROR_CHARACTERS: Final = 200


class ReplyError(ValueError):
    """A reply is not an answer."""

    def __init__(self, failure: str, reason: str) -> None:
        super().__init__(reason)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One retrieved context."""

    chunk_id: str | None
    text: str | None
    score: float | None


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a service."""

    answer: str
    retrievals: tuple[Retrieval, ...]
    is_retrieval_reported: bool
    is_refused: bool


def read_reply(body: bytes, response: Response) -> Reply:
    """Return the answer and the contexts that the body of a reply holds."""
    document = _parse(body)
    if response.error is not None:
        error = _read_optional(response.error, document)
        # the field for errors is there and reports none
        if error is not None and error is not False and error not in ("", [], {}):
            text = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False, sort_keys=True)
            raise ReplyError(
                "service_error", f"{response.error.text} says: {' '.join(text.split())[:_ERROR_CHARACTERS]}"
            )
    refusal = response.refusal
    if refusal is not None and _is_same(_read_optional(refusal.path, document), refusal.equals):
        # a service that declines has often retrieved nothing
        found = _read_retrievals_if_any(response, document)
        return Reply(_read_refusal_text(refusal, response, document), found or (), found is not None, True)
    answer = _read_text(response.answer, document, "the answer")
    try:
        return Reply(answer, _read_retrievals(response, document), _reports_retrieval(response), False)
    except PathError as error:
        raise ReplyError("malformed_reply", str(error)) from None


def _parse(body: bytes) -> Any:
    if not body.strip():
        raise ReplyError("malformed_reply", "the body must be JSON, got nothing")
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ReplyError("malformed_reply", f"the body must be UTF-8, got other bytes at {error.start}") from None
    except json.JSONDecodeError as error:
        found = f"{error.msg} at character {error.pos} of {len(error.doc)}"
        raise ReplyError("malformed_reply", f"the body must be JSON, got: {found}") from None
    except (ValueError, RecursionError) as error:
        raise ReplyError("malformed_reply", f"the body must be JSON, got: {type(error).__name__}") from None


def _refuse_constant(name: str) -> None:
    raise json.JSONDecodeError(f"{name} is no JSON value", "", 0)


def _read_optional(path: JsonPath, document: Any) -> Any:
    try:
        return path.read(document)
    except PathError:
        return None


def _is_same(found: Any, expected: Any) -> bool:
    """Return whether two scalars are equal and of one type: 1 is not true."""
    return isinstance(found, bool) == isinstance(expected, bool) and bool(found == expected)


def _read_refusal_text(refusal: Refusal, response: Response, document: Any) -> str:
    if refusal.text is not None:
        return refusal.text
    return _read_text(refusal.answer or response.answer, document, "the text of the refusal")


def _read_text(path: JsonPath, document: Any, name: str) -> str:
    try:
        value = path.read(document)
    except PathError as error:
        raise ReplyError("malformed_reply", str(error)) from None
    if not isinstance(value, str):
        raise ReplyError("malformed_reply", f"{name} at {path.text} must be a text, got {describe_type(value)}")
    return value


def _reports_retrieval(response: Response) -> bool:
    return response.contexts is not None or response.chunk_ids is not None


def _read_retrievals_if_any(response: Response, document: Any) -> tuple[Retrieval, ...] | None:
    try:
        return _read_retrievals(response, document) if _reports_retrieval(response) else None
    except PathError:
        return None


def _read_retrievals(response: Response, document: Any) -> tuple[Retrieval, ...]:
    read = {
        name: path.read_each(document)
        for name, path in (
            ("contexts", response.contexts),
            ("chunk_ids", response.chunk_ids),
            ("scores", response.scores),
        )
        if path is not None
    }
    lengths = {name: len(values) for name, values in read.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{count} {name}" for name, count in lengths.items())
        raise ReplyError("malformed_reply", f"contexts, chunk_ids and scores must be as many, got {found}")
    count = next(iter(lengths.values()), 0)
    nothing = [None] * count
    columns = [read.get(name, nothing) for name in ("contexts", "chunk_ids", "scores")]
    return tuple(_make_retrieval(rank, *values) for rank, values in enumerate(zip(*columns, strict=True), start=1))


def _make_retrieval(rank: int, text: Any, chunk_id: Any, score: Any) -> Retrieval:
    def fail(name: str, expected: str, value: Any) -> ReplyError:
        return ReplyError("malformed_reply", f"{name} {rank} must be {expected}, got {describe_type(value)}")

    if text is not None and not isinstance(text, str):
        raise fail("context", "a text", text)
    if chunk_id is not None and (isinstance(chunk_id, bool) or not isinstance(chunk_id, str | int)):
        raise fail("chunk id", "a text or an integer", chunk_id)
    if text is None and (chunk_id is None or not str(chunk_id).strip()):
        raise ReplyError("malformed_reply", f"context {rank} must have a text or a chunk id, got neither")
    if score is not None:
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise fail("score", "a number", score)
        try:
            score = float(score)
        except OverflowError:
            score = math.inf
        if not math.isfinite(score):
            raise ReplyError("malformed_reply", f"score {rank} must be finite, got a number that no double holds")
    return Retrieval(None if chunk_id is None else str(chunk_id), text, score)
