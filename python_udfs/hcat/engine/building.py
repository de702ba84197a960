"""dbt as ``hcat build`` and ``hcat upgrade`` run it: it alone knows schemas, engine and models."""

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from hcat.engine.project import DBT, find_place, render_setting
from hcat.engine.retention import finish_deletion
from hcat.engine.saying import say
from hcat.engine.settings import read_vars
from hcat.engine.staging import read_project_file
from hcat.engine.warehouse import WarehouseError

#: As DBT of hcat.engine.project, with a last line; the word before dbt's own says whether progress is shown.
_BUILDING: Final = (
    sys.executable,
    "-c",
    "import gc, sys; gc.set_threshold(50_000); from dbt.cli.main import dbtRunner; gc.freeze();"
    " from hcat.engine.building import run_build; sys.exit(run_build(dbtRunner, sys.argv[2:], 'p' in sys.argv[1]))",
)
_GATES: Final = "gates_pass__error"  # the test that fails where a gate of severity error does not pass
#: Every model of hcat is looked at, also those that the project switches off or asks for in other builds.
_EVERYTHING: Final[dict[str, Any]] = {
    "hcat_profile": "full",
    "hcat_modules": {},
    "hcat_test_set": True,
    "hcat_grammar": True,
    "hcat_judge": True,
}
#: Seconds between two lines of :class:`_Progress`.
_PULSE: Final = 4.0


def build(
    project: Path,
    profiles: Path | None,
    target: str | None,
    variables: str | None,
    arguments: Sequence[str],
    *,
    is_showing_progress: bool,
) -> int:
    """Build a project and return the exit code of dbt."""
    settings = read_project_file(project)
    packages = project / str(render_setting(settings.get("packages-install-path", "dbt_packages")))
    if (project / "packages.yml").is_file() and not any(packages.glob("*/dbt_project.yml")):
        say(f"hcat build: {packages} holds no package: runs `dbt deps`")
        if subprocess.run([*DBT, "deps", "--project-dir", str(project)], check=False).returncode:
            return 2
    if finish_deletion(find_place(project, target, profiles)):
        say("hcat build: finished a deletion that was killed")
    command = [*_BUILDING, "progress" if is_showing_progress else "all", "build", "--project-dir", str(project)]
    for option, value in (("--profiles-dir", profiles), ("--target", target), ("--vars", variables)):
        command += [] if value is None else [option, str(value)]
    command += [] if settings.get("name") == "hcat" else ["--select", "+package:hcat"]
    return subprocess.run([*command, *arguments], check=False).returncode


def upgrade_warehouse(
    project: Path,
    profiles: Path | None = None,
    target: str | None = None,
    variables: str | None = None,
    *,
    is_dry_run: bool = False,
) -> list[str]:
    """Make the warehouse of a project fit for this version of hcat and return what was done, a line for each step."""
    with tempfile.TemporaryDirectory() as artefacts:
        # folders of its own: the parsed project of the builds stays as it is
        command = [*DBT, "--quiet", "--no-use-colors", "--no-write-json"]
        command += ["run-operation", "hcat.upgrade_warehouse", "--args", json.dumps({"dry_run": is_dry_run})]
        command += ["--vars", json.dumps(read_vars(variables) | _EVERYTHING)]
        command += ["--project-dir", str(project), "--target-path", artefacts, "--log-path", artefacts]
        command += ["--profiles-dir", str(profiles)] if profiles else []
        command += ["--target", target] if target else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()
        lines = [re.sub(r"^\d\d:\d\d:\d\d\s+", "", line).strip() for line in said]
        told = [one for one in lines if one and not one.startswith("Encountered an error") and one[-6:] != " Error"]
        raise WarehouseError(f"the warehouse was not upgraded: {told[0] if told else 'dbt gave no reason'}")
    return [line for line in done.stdout.splitlines() if line.strip()]


def run_build(runner: Callable[..., Any], words: Sequence[str], is_showing_progress: bool) -> int:
    """Run dbt by its ``dbtRunner`` and return its exit code; the last line says what the code means."""
    if is_showing_progress:
        progress = _Progress()
        done = runner(callbacks=[progress.hear]).invoke(["--log-level", "none", "--no-use-colors", *words])
        progress.is_over.set()
    else:
        done = runner().invoke([*words])
    if done.exception is not None:
        said = " ".join(str(getattr(done.exception, "msg", done.exception)).split())
        say(f"hcat: nothing was built: {said}", is_error=True)
        return 2
    say(f"hcat build: {_say_end(done.result.results)}")
    return 0 if done.success else 1


def _say_end(results: Sequence[Any]) -> str:
    """Return what was built, what the exit code says, and what to do next."""
    failed = [each.node.name for each in results if each.status in ("error", "fail", "runtime error")]
    built = f"{[each.status for each in results].count('success')} tables and files are built"
    pages = "Next: `hcat summary`, `hcat explore`, `hcat report`"
    if failed == [_GATES]:
        why = "a gate of severity error does not pass (see GATE above): published/ keeps the last build that passed"
        return f"{built}. Exit code 1, because {why}. {pages}"
    if failed:
        return f"{built}. Exit code 1, because of {', '.join(failed)}: the errors above say why"
    return f"{built}. Exit code 0: every gate of severity error passes. {pages}"


class _Progress:
    """Says every few seconds how far a build has come and which model is longest at work."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._running: dict[str, float] = {}
        self._steps = ""
        self.is_over = threading.Event()
        say("hcat build: reads the project")
        threading.Thread(target=self._beat, daemon=True).start()

    def hear(self, event: Any) -> None:
        kind = event.info.name
        if kind == "LogStartLine":
            self._steps = f", step {event.data.index} of {event.data.total}"
        elif kind == "NodeStart":
            self._running[event.data.node_info.node_path] = time.monotonic()
        elif kind == "NodeFinished":
            self._running.pop(event.data.node_info.node_path, None)
        elif kind == "PrintEvent" or (event.info.level == "error" and not kind.startswith("Main")):
            for line in event.info.msg.splitlines():
                say(line)

    def _beat(self) -> None:
        while not self.is_over.wait(_PULSE):
            longest = min(list(self._running.items()), key=lambda item: item[1], default=None)
            now = time.monotonic()
            text = f"{longest[0]}, for {now - longest[1]:.0f} s" if longest else "reads the project"
            say(f"hcat build: {now - self._started:.0f} s{self._steps}: {text}")
