"""The webhook of alerts: its address, one post, and how long it is tried.

The address is a secret. It comes from the environment, and no text that is made here holds it. Neither what httpx says
about a failure nor the answer of the server is shown. The loggers of the HTTP client print addresses and are silent
while it works.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from hcat.engine.http import is_plain_on_this_machine, keeps_secrets, read_retry_after, silent_http_client

#: Environment variable with the address of the webhook.
WEBHOOK_VARIABLE: Final = "HCAT_ALERT_WEBHOOK"
#: Seconds that one answer of the webhook may take.
ANSWER_SECONDS: Final = 10.0
#: Statuses that a later attempt may change; all others are final.
PASSING_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a webhook is tried.

    Parameters
    ----------
    attempts : int
        Posts of one message, at least 1.
    first_seconds : float
        Wait after the first failure; it doubles each time. ``Retry-After`` can only make it longer.
    longest_seconds : float
        Longest wait that doubling makes.
    total_seconds : float
        Longest time from the first attempt to the last. A wait that would end later is not begun, and the message
        stays due.
    """

    attempts: int = 6
    first_seconds: float = 1.0
    longest_seconds: float = 30.0
    total_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one message.

    Parameters
    ----------
    is_accepted : bool
        The webhook took it.
    is_final : bool
        A later attempt would not change that.
    count_attempts : int
        Posts that were made.
    reason : str
        One line; it never holds the address nor anything that the server said.
    """

    is_accepted: bool
    is_final: bool
    count_attempts: int
    reason: str


def read_webhook(environment: Mapping[str, str]) -> str | None:
    """Return the address of the webhook, or None when none is set."""
    address = environment.get(WEBHOOK_VARIABLE, "").strip()
    if not address:
        return None
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname) and parts.port != 0 and not re.search(r"[\s\x00-\x1f\x7f]", address)
        is_usable = is_whole and keeps_secrets(address)
    except ValueError:
        is_usable = False
    if not is_usable:
        # outside the handler above: the error of urlsplit holds parts of the address
        raise ValueError(
            f"{WEBHOOK_VARIABLE} must be an https address (http on this machine only), got something else (not shown)"
        )
    return address


def open_client(webhook: str) -> Any:
    """Return an HTTP client for an address that follows no redirects."""
    import httpx

    try:
        # no redirects: they would carry the message to an address that nobody set
        return httpx.Client(
            timeout=ANSWER_SECONDS, follow_redirects=False, trust_env=not is_plain_on_this_machine(webhook)
        )
    except Exception as error:
        fault = type(error).__name__
    # outside the handler: a proxy's address may hold a password
    raise ValueError(f"proxy and certificates in the environment must be usable, the HTTP client says {fault}")


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What one post led to; ``retry_after`` in seconds, 0 when the server names no time."""

    is_accepted: bool
    is_worth_another: bool
    reason: str
    retry_after: float = 0.0


def post(
    client: Any,
    webhook: str,
    payload: Mapping[str, Any],
    patience: Patience,
    sleep: Callable[[float], None] = time.sleep,
) -> Delivery:
    """Return what became of a message that is posted until it is accepted, refused for good, or patience ends."""
    import tenacity

    doubling = tenacity.wait_exponential(multiplier=patience.first_seconds, max=patience.longest_seconds)

    def wait(state: tenacity.RetryCallState) -> float:
        attempt: _Attempt = state.outcome.result()  # type: ignore[union-attr]
        return max(doubling(state), attempt.retry_after)

    retrying = tenacity.Retrying(
        sleep=sleep,
        retry=tenacity.retry_if_result(lambda attempt: attempt.is_worth_another),
        wait=wait,
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(patience.attempts), tenacity.stop_before_delay(patience.total_seconds)
        ),
        # the last answer is the result: no error is raised that could carry the request
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
    )
    body = json.dumps(payload).encode()
    with silent_http_client():
        attempt: _Attempt = retrying(_post_once, client, webhook, body)
    count = int(retrying.statistics.get("attempt_number", 1))
    reason = attempt.reason
    if not attempt.is_accepted and attempt.is_worth_another:
        asked = f", which asks to wait {attempt.retry_after:.0f} s" if attempt.retry_after else ""
        reason = f"{reason}{asked} (attempt {count} of {patience.attempts}, at most {patience.total_seconds:g} s)"
    return Delivery(attempt.is_accepted, not attempt.is_worth_another, count, reason)


def _post_once(client: Any, webhook: str, body: bytes) -> _Attempt:
    """Return what one post led to. Nothing of the exception leaves: its text and its request may hold the address."""
    import httpx

    try:
        answer = client.post(webhook, content=body, headers={"Content-Type": "application/json; charset=utf-8"})
    except httpx.TimeoutException:
        return _Attempt(False, True, "the webhook did not answer in time")
    except httpx.TransportError as error:
        return _Attempt(False, True, f"no connection to the webhook ({type(error).__name__})")
    except Exception as error:
        return _Attempt(False, False, f"the webhook cannot be called ({type(error).__name__})")
    if answer.is_success:
        return _Attempt(True, False, "accepted")
    reason = f"the webhook answered {answer.status_code}"
    if answer.is_redirect:
        return _Attempt(False, False, f"{reason}: redirects are not followed")
    return _Attempt(
        False,
        answer.status_code in PASSING_STATUSES,
        reason,
        read_retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date")) or 0.0,
    )
