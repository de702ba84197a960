"""A webhook on loopback for the tests of alerts."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from alert_materials import Server
from loopback import start_server

from hcat.monitoring.alerts.delivery import WEBHOOK_VARIABLE


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with ExitStack() as stack:
        started = start_server(stack, Server())
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(WEBHOOK_VARIABLE, started.address())
        yield started
