"""The webhook of alerts: its address, one post, and how long it is tried.

The address is a secret. It comes from the environment, and no text that is made here holds it. Neither what httpx says
about a failure nor the answer of the server is shown. The loggers of the HTTP client print addresses and are silent
while it works.
"""

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from hcat.engine.http import is_plain_on_this_machine, keeps_secrets, read_retry_after, silent_http_client

WEBHOOK_VARIABLE: Final = "HCAT_ALERT_WEBHOOK"
ANSWER_SECONDS: Final = 10.0
#: Statuses that a later attempt may change; all others are final.
PASSING_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class Patience(NamedTuple):
    """How long a webhook is tried: waits double, and none is begun that would end after ``total_seconds``."""

    attempts: int = 6
    first_seconds: float = 1.0
    longest_seconds: float = 30.0
    total_seconds: float = 120.0


class Delivery(NamedTuple):
    """What became of a post. The reason is one line without the address and without anything that the server said."""

    is_accepted: bool
    #: A later attempt would not change it.
    is_final: bool
    reason: str
    #: Seconds that the server asks to wait.
    retry_after: float = 0.0


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
    retrying = tenacity.Retrying(
        sleep=sleep,
        retry=tenacity.retry_if_result(lambda delivery: not delivery.is_final),
        wait=lambda state: max(doubling(state), state.outcome.result().retry_after),  # type: ignore[union-attr]
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(patience.attempts), tenacity.stop_before_delay(patience.total_seconds)
        ),
        # the last answer is the result: no error is raised that could carry the request
        retry_error_callback=lambda state: state.outcome.result(),  # type: ignore[union-attr]
    )
    with silent_http_client():
        delivery: Delivery = retrying(_post_once, client, webhook, json.dumps(payload).encode())
    if delivery.is_final:
        return delivery
    asked = f", which asks to wait {delivery.retry_after:.0f} s" if delivery.retry_after else ""
    tried = f"attempt {retrying.statistics['attempt_number']} of {patience.attempts}"
    return delivery._replace(reason=f"{delivery.reason}{asked} ({tried}, at most {patience.total_seconds:g} s)")


def _post_once(client: Any, webhook: str, body: bytes) -> Delivery:
    """Return what one post led to. Nothing of the exception leaves: its text and its request may hold the address."""
    import httpx

    try:
        answer = client.post(webhook, content=body, headers={"Content-Type": "application/json; charset=utf-8"})
    except httpx.TimeoutException:
        return Delivery(False, False, "the webhook did not answer in time")
    except httpx.TransportError as error:
        return Delivery(False, False, f"no connection to the webhook ({type(error).__name__})")
    except Exception as error:
        return Delivery(False, True, f"the webhook cannot be called ({type(error).__name__})")
    if answer.is_success:
        return Delivery(True, True, "accepted")
    redirects = ": redirects are not followed" if answer.is_redirect else ""
    return Delivery(
        False,
        answer.status_code not in PASSING_STATUSES,
        f"the webhook answered {answer.status_code}{redirects}",
        read_retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date")) or 0.0,
    )
