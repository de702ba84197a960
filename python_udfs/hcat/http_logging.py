"""The HTTP client logs addresses and headers, which hold secrets: silence while it works."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

#: Loggers that httpcore makes when it first connects.
_PARTS = ("connection", "http11", "http2", "proxy", "socks")


@contextmanager
def silent_http_client() -> Iterator[None]:
    """Disable every logger of httpx and httpcore within the block, whatever level somebody gave it."""
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
