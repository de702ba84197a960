"""Limits, waits, silent logs and where secrets may travel: what every HTTP request of hcat has in common."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

#: Loggers that httpcore makes when it first connects.
_PARTS = ("connection", "http11", "http2", "proxy", "socks")


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


class AttemptError(Exception):
    """One request that brought no answer: its kind in a word, a line about it, and whether another may succeed."""

    def __init__(
        self,
        failure: str,
        reason: str,
        *,
        status: int | None = None,
        is_retried: bool = True,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.failure, self.reason, self.status = failure, reason, status
        self.is_retried, self.retry_after = is_retried, retry_after


def keeps_secrets(url: str) -> bool:
    """Return whether nobody on the way can read what is sent to an address: https, or http on this machine."""
    return urlsplit(url).scheme == "https" or is_plain_on_this_machine(url)


def is_plain_on_this_machine(url: str) -> bool:
    """Return whether an address is http on this machine; no proxy may then carry the request away."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        is_local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = False
    return parts.scheme == "http" and is_local


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


def back_off(limits: Limits, attempt: int) -> float:
    """Return the seconds to wait after attempt 1, 2, ...: doubled each time up to a limit."""
    return min(limits.backoff_seconds * 2.0 ** (attempt - 1), limits.backoff_maximum_seconds)


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
