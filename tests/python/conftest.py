"""The command line and a browser for whatever tests commands and pages."""

from collections.abc import Iterator
from typing import Any

import pytest
from alert_materials import Hcat, run
from desks import open_browser


@pytest.fixture
def hcat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hcat:
    """Return a function that runs a command and returns what it printed; of a fault (code 2), its error alone."""

    def call(*arguments: object, code: int = 0, lines: int = 1) -> str:
        found = run(monkeypatch, *arguments)
        shown = capsys.readouterr()
        assert found == code, shown
        if code < 2:
            return shown.out
        assert (shown.out, shown.err.count("\n")) == ("", lines)
        return shown.err

    return call


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return Chromium without a window; tests that need it are skipped where it is missing."""
    with open_browser() as opened:
        yield opened
