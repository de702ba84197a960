"""``hcat build``: ends a deletion that was killed, and runs ``dbt build`` on hcat and on what it reads."""

from __future__ import annotations

import gc
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hcat.engine.project import DBT, find_place, is_own_project
from hcat.engine.retention import finish_deletion
from hcat.engine.warehouse import WarehouseError

#: Seconds between two lines of :class:`_Progress`.
_PULSE: Final = 4.0


def build(
    project: Path,
    profiles: Path | None = None,
    target: str | None = None,
    variables: str | None = None,
    arguments: Sequence[str] = (),
    *,
    environment: Mapping[str, str],
    say: Callable[[str], None],
    is_showing_progress: bool = False,
) -> int:
    """Build a project and return the exit code of dbt."""
    if finish_deletion(find_place(project, target, profiles)):
        say("hcat build: finished a deletion that was killed")
    words = ["build", "--project-dir", str(project)]
    for option, value in (("--profiles-dir", profiles), ("--target", target), ("--vars", variables)):
        words += [] if value is None else [option, str(value)]
    words += [] if is_own_project(project) else ["--select", "+package:hcat"]
    words += arguments
    if is_showing_progress:
        return _build_with_progress(words, say)
    return subprocess.run([*DBT, *words], env=dict(environment), check=False).returncode


def _build_with_progress(words: Sequence[str], say: Callable[[str], None]) -> int:
    """Run dbt in this process; its errors are printed, and instead of all other lines those of :class:`_Progress`."""
    progress = _Progress(say)
    # as in DBT: the objects of a parsed project all stay
    gc.set_threshold(50_000)
    from dbt.cli.main import dbtRunner

    done = dbtRunner(callbacks=[progress.hear]).invoke(["--log-level", "none", *words])
    progress.finish()
    if done.exception is not None:
        raise WarehouseError(f"nothing was built: {getattr(done.exception, 'msg', done.exception)}")
    return 0 if done.success else 1


class _Progress:
    """Says every few seconds how far a build has come and which model is longest at work."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._print = say
        self._started = time.monotonic()
        self._running: dict[str, float] = {}
        self._steps = ""
        self._is_over = threading.Event()
        say("hcat build: reads the project")
        threading.Thread(target=self._beat, daemon=True).start()

    def hear(self, event: Any) -> None:
        """Take an event of dbt."""
        kind = event.info.name
        if kind == "LogStartLine":
            self._steps = f", step {event.data.index} of {event.data.total}"
        elif kind == "NodeStart":
            self._running[event.data.node_info.node_path] = time.monotonic()
        elif kind == "NodeFinished":
            self._running.pop(event.data.node_info.node_path, None)
        elif kind == "PrintEvent" or (event.info.level == "error" and not kind.startswith("Main")):
            for line in event.info.msg.splitlines():
                self._print(line)

    def finish(self) -> None:
        """Say the last line, where anything was built."""
        self._is_over.set()
        if self._steps:
            self._say("done")

    def _beat(self) -> None:
        while not self._is_over.wait(_PULSE):
            longest = min(list(self._running.items()), key=lambda item: item[1], default=None)
            since = f", for {time.monotonic() - longest[1]:.0f} s" if longest else ""
            self._say(f"{longest[0]}{since}" if longest else "reads the project")

    def _say(self, text: str) -> None:
        self._print(f"hcat build: {time.monotonic() - self._started:.0f} s{self._steps}: {text}")
