"""One question to a language model: ask, read strictly, ask again if the reply is unusable, and record every call."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from hcat.engine.keys import hash_text
from hcat.language_models.endpoint import UNSETTLED, LanguageModel, Reply
from hcat.language_models.replies import ReplyError

KEY_VARIABLE: Final = "HCAT_LLM_API_KEY"
"""Environment variable of the endpoint's key, which has no other source."""

LEDGER_FIELDS: Final = (
    "string: step", "int32: call_round", "bool: is_last", "string: model prompt_revision prompt_hash prompt answer",
    "string: call_status status_detail", "bool: was_kept", "int32: count_attempts prompt_tokens completion_tokens",
    "float64: seconds",
)  # fmt: skip
"""Columns of every ledger of calls, after the id and the purpose of the call."""


def hash_prompt(model: str, messages: Sequence[Mapping[str, str]], revision: str) -> str:
    """Return the content key of a call."""
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
    """Return the ledger of one question, and what was read from the last reply (None if no reply was usable)."""
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
        wanted = "Reply with one JSON object that fits the schema, and with nothing else."
        said = {"role": "assistant", "content": reply.text[:12_000]}
        messages = [*messages, said, {"role": "user", "content": f"That reply cannot be used: {problem}. {wanted}"}]
    rows[-1]["is_last"] = True
    return rows, value


def drop_replays(rows: Iterable[dict[str, Any]], written: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return new rows of a ledger without kept answers that the ledger already holds."""
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
    """Return one row of a ledger, without secrets."""
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
