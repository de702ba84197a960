"""What ``hcat build`` prints: how far dbt has come, its errors, and a last line on what was built and what is next."""

from types import SimpleNamespace
from typing import Any

import pytest

from hcat.engine.building import run_build


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


@pytest.mark.parametrize(
    ("failed", "last"),
    [
        ([], "1 tables and files are built. Exit code 0: every gate of severity error passes. Next: `hcat summary`,"),
        (["gates_pass__error"], "1 tables and files are built. Exit code 1, because a gate of severity error does not"),
        (["texts", "gates_pass__error"], "1 tables and files are built. Exit code 1, because of texts, gates_pass"),
    ],
)
def test_errors_and_the_end_are_printed(capsys: pytest.CaptureFixture[str], failed: list[str], last: str) -> None:
    node = SimpleNamespace(node_path="scoring/texts.py")
    events = [
        event("LogStartLine", index=7, total=9),
        event("NodeStart", "debug", node_info=node),
        event("RunResultError", "error", "first line\nsecond \x1b line"),
        event("PrintEvent", msg="GATE FAILED"),
        event("NodeFinished", "debug", node_info=node),
    ]
    ended = [(each, "fail") for each in failed] + [("model", "success")]
    results = [SimpleNamespace(node=SimpleNamespace(name=name), status=status) for name, status in ended]
    result = Result(exception=None, success=not failed, events=events, result=SimpleNamespace(results=results))
    assert run_build(result, ["build"], True) == bool(failed)
    *lines, end = capsys.readouterr().out.splitlines()
    assert lines == ["hcat build: reads the project", "first line", "second ⟨U+001B⟩ line", "GATE FAILED"]
    assert end.startswith(f"hcat build: {last}")


def test_a_build_that_cannot_start_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    said = "the warehouse was made by hcat 0.1.0:\nrun `hcat upgrade`"
    events = [event("MainEncounteredError", "error", "Encountered an error")]
    result = Result(exception=SimpleNamespace(msg=said), success=False, events=events)
    assert run_build(result, ["build"], True) == 2
    printed = capsys.readouterr()
    assert printed.out == "hcat build: reads the project\n"
    assert printed.err == "hcat: nothing was built: the warehouse was made by hcat 0.1.0: run `hcat upgrade`\n"
