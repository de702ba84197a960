"""Asking a language model: any endpoint that speaks the chat completions protocol of OpenAI."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx
import tenacity

from hcat.engine.http import (
    AttemptError,
    Limits,
    Redactor,
    check_status,
    failures_of_the_network,
    is_plain_on_this_machine,
    keeps_secrets,
    retry_by,
    silent_http_client,
)

UNSETTLED: Final = ("call_failed", "budget_exhausted", "stopped")
"""Statuses that the next build tries again."""

MAXIMUM_REPLY_BYTES: Final = 4 << 20
#: A server that does not know response_format says so with one of these.
_UNKNOWN_FORMAT: Final = frozenset({400, 404, 422, 501})
_EXCERPT_CHARACTERS: Final = 200


class SettingsError(ValueError):
    """Unusable settings of the endpoint; the message is one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Limits):
    """Endpoint, model and limits of a language-model service."""

    base_url: str
    model: str
    #: of one build, as the tokens: what lies beyond has the status budget_exhausted, and the next build asks it
    maximum_calls: int = 2000
    maximum_tokens: int = 5_000_000
    reply_tokens: int = 1200
    #: how often an invalid reply is asked for again
    repairs: int = 1
    concurrency: int = 4
    timeout_seconds: float = 120.0
    stop_after_failures: int = 5
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError(
                "a language model needs HCAT_LLM_BASE_URL (or the var hcat_language_model_url), http(s)://host/v1,"
                f" got {parts.scheme or 'nothing'}"
            )
        if parts.username or parts.password or parts.query:
            raise SettingsError("HCAT_LLM_BASE_URL must hold no password and no query: keys belong in HCAT_LLM_API_KEY")
        if self.key and not keeps_secrets(self.base_url):
            raise SettingsError(
                "HCAT_LLM_BASE_URL is http, and HCAT_LLM_API_KEY could be read on the way: use https (http works to"
                " this machine only)"
            )
        if not self.model.strip():
            raise SettingsError("a language model needs HCAT_LLM_MODEL (or the var hcat_language_model), got nothing")
        if self.maximum_calls < 0:
            raise SettingsError(f"hcat_language_model_calls must be at least 0, got {self.maximum_calls}")

    @property
    def is_deciding(self) -> bool:
        """Whether the address is that of a model that returns probabilities (:mod:`hcat.language_models.decisions`)."""
        return self.base_url.rstrip("/").endswith("/systemone")


class Reply(NamedTuple):
    """The result of one call."""

    text: str | None
    status: str
    detail: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 0
    seconds: float = 0.0
    was_kept: bool = False


class LanguageModel:
    """A chat endpoint with a budget."""

    #: What follows the address of the settings.
    _path = "/chat/completions"
    _holds = "a text choices[0].message.content"
    #: Whether the server is asked to keep to a schema.
    _is_structured = True

    def __init__(
        self, service: Service, kept: Mapping[str, str] | None = None, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if service.is_deciding and self._path:
            raise SettingsError(
                "HCAT_LLM_BASE_URL ends in /systemone: such a model returns probabilities. It can judge, and it writes"
                " no queries"
            )
        self.service = service
        self.redactor = Redactor([service.key] if service.key else [])
        self._kept = dict(kept or {})
        self._sleep = sleep
        self._lock = threading.Lock()
        self._failures_in_a_row = 0
        self.count_calls = 0
        self.count_tokens = 0

    def ask(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], prompt_hash: str) -> Reply:
        """Return the reply to messages; an error of the server is a status, not an exception."""
        with self._lock:
            kept = self._kept.get(prompt_hash)
            if kept is not None:
                return Reply(kept, "answered", was_kept=True)
            refusal = self._refusal()
            if refusal is not None:
                return refusal
            self.count_calls += 1
        started = time.monotonic()
        retrying = tenacity.Retrying(sleep=self._sleep, **retry_by(self.service))
        try:
            with silent_http_client():
                text, prompt_tokens, completion_tokens = retrying(self._send, messages, schema)
        except AttemptError as error:
            with self._lock:
                self._failures_in_a_row += 1
            reason = self.redactor.message(f"{error.failure}: {error.reason}")
            attempts = retrying.statistics["attempt_number"]
            return Reply(None, "call_failed", reason, attempts=attempts, seconds=time.monotonic() - started)
        text = str(self.redactor.value(text))
        with self._lock:
            self._failures_in_a_row = 0
            self.count_tokens += prompt_tokens + completion_tokens
            self._kept[prompt_hash] = text
        seconds, attempts = time.monotonic() - started, retrying.statistics["attempt_number"]
        return Reply(text, "answered", "", prompt_tokens, completion_tokens, attempts, seconds)

    def _refusal(self) -> Reply | None:
        """Return why no further call is sent; None if one may be."""
        service = self.service
        if self._failures_in_a_row >= service.stop_after_failures:
            return Reply(None, "stopped", f"{self._failures_in_a_row} calls in a row failed")
        if self.count_calls >= service.maximum_calls:
            detail = f"calls of a build must be at most {service.maximum_calls}, all of them are spent"
            return Reply(None, "budget_exhausted", detail)
        if self.count_tokens >= service.maximum_tokens:
            detail = f"tokens of a build must be at most {service.maximum_tokens}, {self.count_tokens} are spent"
            return Reply(None, "budget_exhausted", detail)
        return None

    def _send(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> tuple[str, int, int]:
        """Return text, prompt tokens and completion tokens of one request; an :class:`AttemptError` if it fails."""
        service, is_structured = self.service, self._is_structured
        body = self._write(messages, schema, is_structured)
        headers = {"Authorization": f"Bearer {service.key}"} if service.key else {}
        with failures_of_the_network(service):
            status, answered, content = self._post(body, headers)
        if is_structured and status in _UNKNOWN_FORMAT:
            self._is_structured = False
            raise AttemptError(
                "http_status", f"status {status} with response_format, tried again without", status=status
            )
        check_status(status, answered, content, service, self.redactor)
        return self._read(content, status)

    def _write(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], is_structured: bool
    ) -> dict[str, Any]:
        """Return the body of a request."""
        body: dict[str, Any] = {
            "model": self.service.model,
            "messages": [dict(message) for message in messages],
            "temperature": 0,
            "seed": 0,
            "max_tokens": self.service.reply_tokens,
        }
        if is_structured:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": dict(schema)},
            }
        return body

    def _read(self, content: bytes, status: int) -> tuple[str, int, int]:
        """Return text, prompt tokens and completion tokens of a reply; an :class:`AttemptError` if it has no text."""
        try:
            document = json.loads(content)
            text, prompt, completion = self._find(document)
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            said = " ".join(content[:_EXCERPT_CHARACTERS].decode("utf-8", "replace").split())
            reason = f"a reply must hold {self._holds}, got {said!r}"
            raise AttemptError("malformed_reply", reason, status=status) from None
        return text, count_of(document.get("usage"), prompt), count_of(document.get("usage"), completion)

    def _find(self, document: Any) -> tuple[str, str, str]:
        """Return the text of a reply, and the names of its counts of tokens."""
        text = document["choices"][0]["message"]["content"]
        if not isinstance(text, str):
            raise TypeError
        return text, "prompt_tokens", "completion_tokens"

    def _post(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, httpx.Headers, bytes]:
        url = self.service.base_url.rstrip("/") + self._path
        deadline = time.monotonic() + self.service.timeout_seconds
        # no redirects: the key goes to the host that the settings name and to no other
        how: dict[str, Any] = {"timeout": self.service.timeout_seconds, "follow_redirects": False}
        how["trust_env"] = not is_plain_on_this_machine(url)
        with httpx.stream("POST", url, json=body, headers=dict(headers), **how) as response:
            parts: list[bytes] = []
            length = 0
            for part in response.iter_bytes():
                parts.append(part)
                length += len(part)
                if length > MAXIMUM_REPLY_BYTES:
                    reason = f"a reply must have at most {MAXIMUM_REPLY_BYTES} bytes, got more"
                    raise AttemptError("malformed_reply", reason, status=response.status_code, is_retried=False)
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("deadline")
            return response.status_code, response.headers, b"".join(parts)


def settled(table: Any, column: str, key: str = "generation_key") -> str:
    """Return a query in brackets for the keys of a finished table that need no second try.

    Parameters
    ----------
    table : relation name
        Holds the key and the status.
    column : str
        Name of the status.
    key : str
        Name of the content key.
    """
    words = ", ".join(f"'{word}'" for word in UNSETTLED)
    return f"(select {key} from {table} group by {key} having count_if({column} in ({words})) = 0)"


def in_waves(
    model: LanguageModel, work: Sequence[Any], most_calls: int, task: Callable[[Any], list[dict[str, Any]]]
) -> list[list[dict[str, Any]]]:
    """Return the rows of each piece of work, several at once while the budget is certain to cover them."""
    results: list[list[dict[str, Any]]] = []
    with ThreadPoolExecutor(model.service.concurrency) as pool:
        position = 0
        while position < len(work):
            left = model.service.maximum_calls - model.count_calls
            width = model.service.concurrency if left >= most_calls * model.service.concurrency else 1
            results += list(pool.map(task, work[position : position + width]))
            position += width
    return results


def count_of(usage: Any, name: str) -> int:
    """Return a count of tokens that a server states, or 0 where it states none."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else 0
