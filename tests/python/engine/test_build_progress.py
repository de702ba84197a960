"""What ``hcat build --progress`` prints: how far dbt has come, its errors, and one line where nothing was built."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hcat.engine import building
from hcat.engine.saying import say
from hcat.engine.warehouse import WarehouseError


def event(name: str, level: str = "info", msg: str = "", **data: Any) -> SimpleNamespace:
    return SimpleNamespace(info=SimpleNamespace(name=name, level=level, msg=msg), data=SimpleNamespace(**data))


def build(monkeypatch: pytest.MonkeyPatch, result: SimpleNamespace, *events: SimpleNamespace) -> int:
    class Runner:
        def __init__(self, callbacks: list[Any]) -> None:
            self.hear = callbacks[0]

        def invoke(self, words: list[str]) -> SimpleNamespace:
            assert words[:3] == ["--log-level", "none", "build"]
            for one in events:
                self.hear(one)
            return result

    monkeypatch.setitem(sys.modules, "dbt.cli.main", SimpleNamespace(dbtRunner=Runner))
    monkeypatch.setattr(building, "find_place", lambda *given: None)
    monkeypatch.setattr(building, "finish_deletion", lambda place: False)
    monkeypatch.setattr(building, "is_own_project", lambda project: True)
    return building.build(Path("project"), environment={}, say=say, is_showing_progress=True)


@pytest.mark.parametrize("is_passing", [True, False])
def test_progress_and_errors_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_passing: bool
) -> None:
    node = SimpleNamespace(node_path="scoring/texts.py")
    events = [
        event("LogStartLine", index=7, total=9),
        event("NodeStart", "debug", node_info=node),
        event("RunResultError", "error", "first line\nsecond \x1b line"),
        event("PrintEvent", msg="GATE FAILED"),
        event("NodeFinished", "debug", node_info=node),
    ]
    result = SimpleNamespace(exception=None, success=is_passing)
    assert build(monkeypatch, result, *events) == (0 if is_passing else 1)
    assert capsys.readouterr().out.splitlines() == [
        "hcat build: reads the project",
        "first line",
        "second ⟨U+001B⟩ line",
        "GATE FAILED",
        "hcat build: 0 s, step 7 of 9: done",
    ]


def test_a_build_that_cannot_start_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "the warehouse was made by hcat 0.1.0: run `hcat upgrade`"
    result = SimpleNamespace(exception=SimpleNamespace(msg=said), success=False)
    with pytest.raises(WarehouseError, match=r"^nothing was built: the warehouse was made by hcat 0\.1\.0"):
        build(monkeypatch, result, event("MainEncounteredError", "error", "Encountered an error"))
