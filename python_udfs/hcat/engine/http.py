"""Limits, waits, silent logs, and secrets, where they may travel and out of which texts they are taken."""

from __future__ import annotations

import ipaddress
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, quote_plus, urlsplit

if TYPE_CHECKING:
    from tenacity import RetryCallState

#: Loggers that httpcore makes when it first connects.
_PARTS = ("connection", "http11", "http2", "proxy", "socks")
#: Statuses that are sent again, besides all from 500: request timeout, too early, too many requests.
_RETRIED_STATUSES: Final = frozenset({408, 425, 429})
#: Characters of a refusal's body that its reason holds.
_EXCERPT_CHARACTERS: Final = 200

REDACTED: Final = "[redacted]"
MINIMUM_CHARACTERS: Final = 8
"""Shorter values are taken out of messages but not out of answers: an answer may well hold the word "dev"."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the requests to one endpoint. There is no jitter: two runs wait for the same time."""

    #: queries under way at once, 1 to 256
    concurrency: int = 8
    #: for one request, from connecting to the last byte
    timeout_seconds: float = 60.0
    #: requests for one query at most, 1 to 20
    attempts: int = 5
    #: wait before the second attempt, doubled before each further one
    backoff_seconds: float = 1.0
    backoff_maximum_seconds: float = 60.0
    #: a service that asks for more gets no further request for the query
    retry_after_maximum_seconds: float = 300.0
    #: each attempt counted; None sets no limit
    requests_per_second: float | None = None
    #: queries failing in a row that end the run: the service is down, or the description is wrong
    stop_after_failures: int = 100


@dataclass(eq=False)
class AttemptError(Exception):
    """One request that brought no answer: its kind in a word, a line about it, and whether another may succeed."""

    failure: str
    reason: str
    status: int | None = None
    is_retried: bool = True
    retry_after: float | None = None


def keeps_secrets(url: str) -> bool:
    """Return whether nobody on the way can read what is sent to an address: https, or http on this machine."""
    return urlsplit(url).scheme == "https" or is_plain_on_this_machine(url)


def is_this_machine(host: str) -> bool:
    """Return whether a name or an address of a host is that of the loopback."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_plain_on_this_machine(url: str) -> bool:
    """Return whether an address is http on this machine; no proxy may then carry the request away."""
    parts = urlsplit(url)
    return parts.scheme == "http" and is_this_machine(parts.hostname or "")


def read_retry_after(value: str | None, date: str | None = None, now: datetime | None = None) -> float | None:
    """Return the seconds that a Retry-After header asks for; None when it is missing or says nothing."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        # more digits than a float holds are a wait without end all the same
        return float(text[:300])
    until, since = _read_date(text), _read_date(date or "") or now or datetime.now(UTC)
    return None if until is None else max(0.0, (until - since).total_seconds())


def retry_by(limits: Limits) -> dict[str, Any]:
    """Return how tenacity tries a request again: how often, after which errors, and when."""
    import tenacity

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, AttemptError) else None
        doubled = limits.backoff_seconds * 2.0 ** (state.attempt_number - 1)
        return max(asked or 0.0, min(doubled, limits.backoff_maximum_seconds))

    return {
        "stop": tenacity.stop_after_attempt(limits.attempts),
        "wait": wait,
        "retry": tenacity.retry_if_exception(lambda error: isinstance(error, AttemptError) and error.is_retried),
        "reraise": True,
    }


@contextmanager
def failures_of_the_network(limits: Limits) -> Iterator[None]:
    """Raise what the network does to a request as an :class:`AttemptError`."""
    import httpx

    try:
        yield
    except (TimeoutError, httpx.TimeoutException):
        raise AttemptError("timeout", f"no whole reply within {limits.timeout_seconds:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise AttemptError("connection", reason.removesuffix(":")) from None


def check_status(
    status: int, headers: Mapping[str, str], body: bytes, limits: Limits, redactor: Redactor, phrase: str = ""
) -> None:
    """Raise an :class:`AttemptError` for a reply whose status is no success."""
    if 200 <= status < 300:
        return
    # redacted before it is cut, because a cut could leave a part of a secret
    said = " ".join(redactor.message(body.decode("utf-8", "replace")).split())[:_EXCERPT_CHARACTERS]
    reason = f"status {status} {phrase}".strip() + (f": {said}" if said else "")
    is_retried = status in _RETRIED_STATUSES or status >= 500
    retry_after = read_retry_after(headers.get("Retry-After"), headers.get("Date"))
    maximum = limits.retry_after_maximum_seconds
    if is_retried and retry_after is not None and retry_after > maximum:
        reason = f"Retry-After must be at most {maximum:g} s, got {retry_after:g}; {reason}"
        is_retried = False
    if 300 <= status < 400:
        reason += "; redirects are not followed"
    raise AttemptError("http_status", reason, status=status, is_retried=is_retried, retry_after=retry_after)


@contextmanager
def silent_http_client() -> Iterator[None]:
    """Disable every logger of httpx and httpcore within the block: they write addresses, which hold secrets."""
    names = {"httpx", "httpcore", *(name for name in logging.root.manager.loggerDict if name.startswith("httpcore."))}
    names |= {f"httpcore.{part}" for part in _PARTS}
    before = {name: logging.getLogger(name).disabled for name in names}
    for name in names:
        logging.getLogger(name).disabled = True
    try:
        yield
    finally:
        for name, was_disabled in before.items():
            logging.getLogger(name).disabled = was_disabled


def _read_date(text: str) -> datetime | None:
    """Return an HTTP date with a time zone; None when the text is not one."""
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class Redactor:
    """Takes secrets out of texts, and hidden values out of messages, as plain text, JSON or a URL spells them."""

    __slots__ = ("_everything", "_secrets")

    def __init__(self, secrets: Iterable[str], hidden: Iterable[str] = ()) -> None:
        secrets = tuple(secrets)
        self._secrets = _spellings(secret for secret in secrets if len(secret) >= MINIMUM_CHARACTERS)
        self._everything = _spellings((*secrets, *hidden))

    def message(self, text: str) -> str:
        """Return a message without any secret or hidden value."""
        return _replace(text, self._everything)

    def value(self, value: Any) -> Any:
        """Return a JSON value whose texts hold no secret of :data:`MINIMUM_CHARACTERS` or more."""
        if isinstance(value, str):
            return _replace(value, self._secrets)
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _spellings(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return every spelling of every secret, the longest first."""
    found = {
        spelling
        for secret in secrets
        if secret
        for spelling in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote_plus(secret))
    }
    # the longest first: a secret may be a part of another
    return tuple(sorted(found, key=lambda spelling: (-len(spelling), spelling)))


def _replace(text: str, spellings: tuple[str, ...]) -> str:
    for spelling in spellings:
        text = text.replace(spelling, REDACTED)
    return text
