"""What ``hcat build --progress`` prints: how far dbt has come, its errors, and one line where nothing was built."""

from types import SimpleNamespace
from typing import Any

import pytest

from hcat.engine.building import run_with_progress


def event(name: str, level: str = "info", msg: str = "", **data: Any) -> SimpleNamespace:
    return SimpleNamespace(info=SimpleNamespace(name=name, level=level, msg=msg), data=SimpleNamespace(**data))


class Result(SimpleNamespace):
    """What dbt returns, after the events that it tells its listener."""

    def __call__(self, callbacks: list[Any]) -> "Result":
        self.hear = callbacks[0]
        return self

    def invoke(self, words: list[str]) -> "Result":
        assert words == ["--log-level", "none", "--no-use-colors", "build"]
        for one in self.events:
            self.hear(one)
        return self


@pytest.mark.parametrize("is_passing", [True, False])
def test_progress_and_errors_are_printed(capsys: pytest.CaptureFixture[str], is_passing: bool) -> None:
    node = SimpleNamespace(node_path="scoring/texts.py")
    events = [
        event("LogStartLine", index=7, total=9),
        event("NodeStart", "debug", node_info=node),
        event("RunResultError", "error", "first line\nsecond \x1b line"),
        event("PrintEvent", msg="GATE FAILED"),
        event("NodeFinished", "debug", node_info=node),
    ]
    result = Result(exception=None, success=is_passing, events=events)
    assert run_with_progress(result, ["build"]) == (0 if is_passing else 1)
    assert capsys.readouterr().out.splitlines() == [
        "hcat build: reads the project",
        "first line",
        "second ⟨U+001B⟩ line",
        "GATE FAILED",
        "hcat build: 0 s, step 7 of 9: done",
    ]


def test_a_build_that_cannot_start_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    said = "the warehouse was made by hcat 0.1.0:\nrun `hcat upgrade`"
    events = [event("MainEncounteredError", "error", "Encountered an error")]
    result = Result(exception=SimpleNamespace(msg=said), success=False, events=events)
    assert run_with_progress(result, ["build"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "hcat build: reads the project\n"
    assert printed.err == "hcat: nothing was built: the warehouse was made by hcat 0.1.0: run `hcat upgrade`\n"
