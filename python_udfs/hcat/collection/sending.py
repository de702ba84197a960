"""Send queries: several at once, each with retries, and no faster than the endpoint permits."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Final

import httpx
import tenacity

from hcat.collection.endpoint import Endpoint, fill, fill_resolved
from hcat.collection.paths import ReplyError
from hcat.collection.queries import Query
from hcat.collection.replies import Reply, read_reply
from hcat.engine.http import (
    AttemptError,
    Redactor,
    check_status,
    failures_of_the_network,
    is_plain_on_this_machine,
    retry_by,
    silent_http_client,
)

MAXIMUM_BODY_BYTES: Final = 16 << 20
"""A longer reply is refused, so that it cannot fill the memory."""
#: Statuses by which an application says that it cannot answer a query.
_STATUSES_OF_APPLICATIONS: Final = (400, 413, 422, 500)


@dataclass(frozen=True, slots=True)
class Planned:
    """One interaction to collect: the answer with an index, from 0, to a query."""

    interaction_id: str
    query: Query
    sample_index: int
    query_hash: str

    def values(self, endpoint: Endpoint) -> dict[str, Any]:
        """Return the values of the placeholders."""
        return {
            "query": self.query.text,
            "query_id": self.query.query_id,
            "sample_index": self.sample_index,
            "interaction_id": self.interaction_id,
            "application": endpoint.application,
            "application_version": endpoint.application_version,
        }


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, with the time and duration of the request that brought it."""

    item: Planned
    reply: Reply
    asked_at: datetime
    seconds: float
    attempts: int


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer after the last attempt, and the status of the last reply if there was one."""

    item: Planned
    #: timeout, connection, http_status, malformed_reply or service_error
    failure: str
    reason: str
    status: int | None
    failed_at: datetime
    attempts: int

    @property
    def is_reply(self) -> bool:
        """Whether the application replied to the query, and not the network, a gateway or a guard before it."""
        return self.failure in ("malformed_reply", "service_error") or self.status in _STATUSES_OF_APPLICATIONS


class Sender:
    """Sends queries to an endpoint; tests replace sleep and clock."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._redactor = Redactor(endpoint.secrets, endpoint.hidden)
        self._next_start = 0.0
        self._sleep, self._clock = sleep, clock
        self.count_requests = 0
        self.count_failures_in_a_row = 0

    async def send(self, items: Sequence[Planned], on_done: Callable[[Answered | Failed], Awaitable[None]]) -> None:
        """Send interactions in order, up to ``concurrency`` at once, and pass each result to ``on_done``."""
        limits = self._endpoint.limits
        waiting = iter(items)
        client = httpx.AsyncClient(
            timeout=httpx.Timeout(limits.timeout_seconds, pool=None),
            limits=httpx.Limits(max_connections=limits.concurrency, max_keepalive_connections=limits.concurrency),
            # headers with secrets must go only to the host that the description names
            follow_redirects=False,
            trust_env=not is_plain_on_this_machine(self._endpoint.url),
        )
        # a cookie would join unrelated queries into one conversation
        client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        with silent_http_client():
            async with client:
                try:
                    async with asyncio.TaskGroup() as group:
                        for _ in range(min(limits.concurrency, len(items))):
                            group.create_task(self._work(client, waiting, on_done))
                except BaseExceptionGroup as group_error:
                    raise group_error.exceptions[0] from None

    async def _work(
        self,
        client: httpx.AsyncClient,
        waiting: Iterator[Planned],
        on_done: Callable[[Answered | Failed], Awaitable[None]],
    ) -> None:
        limit = self._endpoint.limits.stop_after_failures
        # all workers share one iterator, so that each query goes to one of them
        while self.count_failures_in_a_row < limit and (item := next(waiting, None)) is not None:
            done = await self._answer(client, item)
            self.count_failures_in_a_row = 0 if isinstance(done, Answered) else self.count_failures_in_a_row + 1
            await on_done(done)

    async def _answer(self, client: httpx.AsyncClient, item: Planned) -> Answered | Failed:
        # one object per query, because tenacity keeps the state of a running retry in it
        retrying = tenacity.AsyncRetrying(sleep=self._sleep, **retry_by(self._endpoint.limits))
        try:
            answered: Answered = await retrying(self._ask, client, item)
            return replace(answered, attempts=retrying.statistics["attempt_number"])
        except AttemptError as error:
            reason, attempts = self._redactor.message(error.reason), retrying.statistics["attempt_number"]
            return Failed(item, error.failure, reason, error.status, datetime.now(UTC), attempts)

    async def _ask(self, client: httpx.AsyncClient, item: Planned) -> Answered:
        """Return the answer to one request."""
        endpoint, limits = self._endpoint, self._endpoint.limits
        values = item.values(endpoint)
        now = self._clock()
        start = max(now, self._next_start)
        self._next_start = start + (1.0 / limits.requests_per_second if limits.requests_per_second else 0.0)
        delay = start - now
        if delay > 0:
            await self._sleep(delay)
        self.count_requests += 1
        headers = fill_resolved(endpoint.request.headers, endpoint.headers, values)
        parameters = fill_resolved(endpoint.request.parameters, endpoint.parameters, values)
        content = None
        if endpoint.request.body is not None:
            # filled before it is serialised, so that no query can change the structure of the JSON
            content = json.dumps(fill(endpoint.request.body, values), ensure_ascii=False, allow_nan=False).encode()
            if not any(name.lower() == "content-type" for name in headers):
                headers["Content-Type"] = "application/json"
        asked_at, started = datetime.now(UTC), self._clock()
        # httpx limits each read only, and a service that sends a byte a minute would never end
        with failures_of_the_network(limits):
            async with (
                asyncio.timeout(limits.timeout_seconds),
                client.stream(
                    endpoint.request.method, endpoint.url, params=parameters or None, headers=headers, content=content
                ) as response,
            ):
                body = await _read_body(response)
        status = response.status_code
        check_status(status, response.headers, body, limits, self._redactor, response.reason_phrase)
        try:
            reply = read_reply(body, self._endpoint.response)
        except ReplyError as error:
            raise AttemptError(error.failure, str(error), status=status) from None
        return Answered(item, reply, asked_at, self._clock() - started, 0)


async def _read_body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAXIMUM_BODY_BYTES:
            reason = f"a reply must have at most {MAXIMUM_BODY_BYTES} bytes, got more"
            raise AttemptError("malformed_reply", reason, status=response.status_code, is_retried=False)
    return bytes(body)
