"""One question to a language model: ask, read strictly, ask again where the reply cannot be used, and write it down."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from hcat.engine.keys import hash_text
from hcat.language_models.endpoint import UNSETTLED, LanguageModel, Reply
from hcat.language_models.replies import ReplyError

MAXIMUM_REPLY_CHARACTERS: Final = 12_000
"""Characters of a reply that is sent back where it could not be used."""

KEY_VARIABLE: Final = "HCAT_LLM_API_KEY"
"""Environment variable of the endpoint's key: the only place that it comes from."""

LEDGER_FIELDS: Final = [
    ("step", pa.string()),
    ("call_round", pa.int32()),
    ("is_last", pa.bool_()),
    ("model", pa.string()),
    ("prompt_revision", pa.string()),
    ("prompt_hash", pa.string()),
    ("prompt", pa.string()),
    ("answer", pa.string()),
    ("call_status", pa.string()),
    ("status_detail", pa.string()),
    ("was_kept", pa.bool_()),
    ("count_attempts", pa.int32()),
    ("prompt_tokens", pa.int32()),
    ("completion_tokens", pa.int32()),
    ("seconds", pa.float64()),
]
"""Columns of every ledger of calls, behind the id and what the call is for."""


def repair_prompt(messages: Sequence[Mapping[str, str]], answer: str, problem: str) -> list[dict[str, str]]:
    """Return the messages that ask once more, with the reply that could not be used and what was wrong with it."""
    again = (
        f"That reply cannot be used: {problem}. Reply with one JSON object that fits the schema, and with nothing else."
    )
    return [
        *map(dict, messages),
        {"role": "assistant", "content": answer[:MAXIMUM_REPLY_CHARACTERS]},
        {"role": "user", "content": again},
    ]


def hash_prompt(model: str, messages: Sequence[Mapping[str, str]], revision: str) -> str:
    """Return the content key of a call: model, revision of the prompts and messages."""
    return hash_text(revision, model, json.dumps(list(messages), ensure_ascii=False, sort_keys=True))


def converse(
    model: LanguageModel,
    shared: Mapping[str, Any],
    key: str,
    messages: list[dict[str, str]],
    schema: Mapping[str, Any],
    read: Callable[[str], Any],
    revision: str,
) -> tuple[list[dict[str, Any]], Any]:
    """Return the ledger of one question, and what was read from the last reply (None where none could be used).

    Parameters
    ----------
    model : LanguageModel
    shared : mapping
        Columns of the ledger that say what the question is for.
    key : str
        What the ids of the calls are made of.
    messages, schema
        The question and the JSON schema of its reply.
    read : callable
        Text of a reply -> value; :class:`hcat.language_models.replies.ReplyError` where it cannot be used.
    revision : str
        Revision of the prompts.
    """
    rows: list[dict[str, Any]] = []
    value = None
    for number in range(1 + model.service.repairs):
        reply = model.ask(messages, schema, hash_prompt(model.service.model, messages, revision))
        problem = None
        if reply.text is not None:
            try:
                value = read(reply.text)
            except ReplyError as error:
                problem = str(error)
        rows.append(ledger_row(model, shared, key, number, messages, reply, problem, revision))
        if problem is None or reply.text is None:
            break
        messages = repair_prompt(messages, reply.text, problem)
    rows[-1]["is_last"] = True
    return rows, value


def drop_replays(rows: Iterable[dict[str, Any]], written: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the rows of a ledger without kept answers that stand in it already: what an answer cost stays.

    An answer that cannot be used is read again from what was kept when the call after it failed; its row says that
    nothing was spent, and must not take the place of the one that was paid for.

    Parameters
    ----------
    rows : iterable of dict
        New rows.
    written : iterable of (str, str)
        Call id and status of the ledger so far.
    """
    paid = {call_id for call_id, status in written if status not in UNSETTLED}
    return [row for row in rows if not (row["was_kept"] and row["call_id"] in paid)]


def ledger_row(
    model: LanguageModel,
    shared: Mapping[str, Any],
    key: str,
    number: int,
    messages: Sequence[Mapping[str, str]] | None,
    reply: Reply,
    problem: str | None,
    revision: str,
) -> dict[str, Any]:
    """Return one row of a ledger; ``messages`` is None where nothing could be asked, ``problem`` for a good reply."""
    redact = model.redactor.value
    return {
        **shared,
        "call_id": hash_text("call", key, str(number)),
        "call_round": number,
        "is_last": False,
        "model": model.service.model,
        "prompt_revision": revision,
        "prompt_hash": None if messages is None else hash_prompt(model.service.model, messages, revision),
        "prompt": None if messages is None else redact(json.dumps(list(messages), ensure_ascii=False)),
        "answer": redact(reply.text),
        "call_status": "invalid_reply" if problem else reply.status,
        "status_detail": redact(problem or reply.detail),
        "was_kept": reply.was_kept,
        "count_attempts": reply.attempts,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "seconds": reply.seconds,
    }
