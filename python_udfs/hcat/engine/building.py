"""``hcat build``: ends a deletion that was killed, and runs ``dbt build`` on hcat and on what it reads."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hcat.engine.project import DBT, find_place, is_own_project
from hcat.engine.retention import finish_deletion


def build(
    project: Path,
    profiles: Path | None = None,
    target: str | None = None,
    variables: str | None = None,
    arguments: Sequence[str] = (),
    *,
    environment: Mapping[str, str],
    say: Callable[[str], None],
) -> int:
    """Build a project and return the exit code of dbt."""
    if finish_deletion(find_place(project, target, profiles)):
        say("hcat build: finished a deletion that was killed")
    command = [*DBT, "build", "--project-dir", str(project)]
    for option, value in (("--profiles-dir", profiles), ("--target", target), ("--vars", variables)):
        command += [] if value is None else [option, str(value)]
    command += [] if is_own_project(project) else ["--select", "+package:hcat"]
    return subprocess.run([*command, *arguments], env=dict(environment), check=False).returncode
