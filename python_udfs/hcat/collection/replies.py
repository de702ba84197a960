"""Read the reply of a service: an answer with its contexts, or the reason why there is none."""

import json
import math
from dataclasses import dataclass
from typing import Any

from hcat.collection.endpoint import Response
from hcat.collection.paths import JsonPath, PathError, ReplyError, describe_type


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a service, as received, with its contexts in the order of the reply."""

    answer: str
    #: In the columns of the raw contract; None is what the service does not give.
    retrievals: tuple[dict[str, Any], ...]
    #: Whether the reply says what was retrieved, be it nothing.
    is_retrieval_reported: bool
    is_refused: bool


def read_reply(body: bytes, response: Response) -> Reply:
    """Return the answer and the contexts that the body of a reply holds."""
    document = _parse(body)
    error = None if response.error is None else _read_optional(response.error, document)
    # the field for errors may be there and report none
    if response.error is not None and error:
        text = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False, sort_keys=True)
        said = " ".join(text.split())[:200]
        raise ReplyError(f"{response.error.text} says: {said}", "service_error")
    refusal = response.refusal
    marked = None if refusal is None else _read_optional(refusal.path, document)
    # equal and of one type: 1 is not true
    if refusal is None or isinstance(marked, bool) != isinstance(refusal.equals, bool) or marked != refusal.equals:
        answer = _read_text(response.answer, document, "the answer")
        retrievals = _read_retrievals(response, document)
        return Reply(answer, retrievals or (), retrievals is not None, False)
    answer = refusal.text or _read_text(refusal.answer or response.answer, document, "the text of the refusal")
    try:
        retrievals = _read_retrievals(response, document)
    except PathError:
        # a service that declines has often retrieved nothing
        retrievals = None
    return Reply(answer, retrievals or (), retrievals is not None, True)


def _parse(body: bytes) -> Any:
    if not body.strip():
        raise ReplyError("the body must be JSON, got nothing")
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ReplyError(f"the body must be UTF-8, got other bytes at {error.start}") from None
    except json.JSONDecodeError as error:
        found = f"{error.msg} at character {error.pos} of {len(error.doc)}"
        raise ReplyError(f"the body must be JSON, got: {found}") from None
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"the body must be JSON, got: {type(error).__name__}") from None


def _refuse_constant(name: str) -> None:
    raise json.JSONDecodeError(f"{name} is no JSON value", "", 0)


def _read_optional(path: JsonPath, document: Any) -> Any:
    try:
        return path.read(document)
    except PathError:
        return None


def _read_text(path: JsonPath, document: Any, name: str) -> str:
    value = path.read(document)
    if not isinstance(value, str):
        raise ReplyError(f"{name} at {path.text} must be a text, got {describe_type(value)}")
    return value


def _read_retrievals(response: Response, document: Any) -> tuple[dict[str, Any], ...] | None:
    """Return the contexts; None where the description names no place of them."""
    places = {"contexts": response.contexts, "chunk_ids": response.chunk_ids, "scores": response.scores}
    read = {name: path.read_each(document) for name, path in places.items() if path is not None}
    if not read:
        return None
    counts = {name: len(values) for name, values in read.items()}
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise ReplyError(f"contexts, chunk_ids and scores must be as many, got {found}")
    nothing = [None] * next(iter(counts.values()))
    columns = [read.get(name, nothing) for name in places]
    return tuple(_make_retrieval(rank, *values) for rank, values in enumerate(zip(*columns, strict=True), start=1))


def _make_retrieval(rank: int, text: Any, chunk_id: Any, score: Any) -> dict[str, Any]:
    def fail(name: str, expected: str, value: Any) -> ReplyError:
        return ReplyError(f"{name} {rank} must be {expected}, got {describe_type(value)}")

    if text is not None and not isinstance(text, str):
        raise fail("context", "a text", text)
    if chunk_id is not None and (isinstance(chunk_id, bool) or not isinstance(chunk_id, str | int)):
        raise fail("chunk id", "a text or an integer", chunk_id)
    if text is None and (chunk_id is None or not str(chunk_id).strip()):
        raise ReplyError(f"context {rank} must have a text or a chunk id, got neither")
    if score is not None:
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise fail("score", "a number", score)
        try:
            score = float(score)
        except OverflowError:
            score = math.inf
        if not math.isfinite(score):
            raise ReplyError(f"score {rank} must be finite, got a number that no double holds")
    chunk_id = None if chunk_id is None else str(chunk_id)
    return {"rank": rank, "chunk_id": chunk_id, "text": text, "retrieval_score": score}
