"""What builds and commands make of logs is for the account that runs them: files 0600, folders 0700."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from builds import REPOSITORY, Build, dbt_arguments, dbt_environment, write_lines

from hcat.engine.project import DBT

COMMANDS = (
    ("explore",),
    ("report",),
    ("alert",),
    ("labels", "export"),
    ("labels", "desk"),
    ("test-set", "--output", "{folder}/made/queries.jsonl"),
)


def find_open(folder: Path) -> dict[str, str]:
    """Return the files and folders in a folder that others may read, with their modes."""
    modes = {path.relative_to(folder).as_posix(): path.stat().st_mode & 0o777 for path in folder.rglob("*")}
    return {name: oct(mode) for name, mode in modes.items() if mode & 0o077}


def test_a_build_and_its_commands_make_private_files(small: Build) -> None:
    # the folder was made by somebody else, and keeps its mode
    mode = small.warehouse.stat().st_mode & 0o777
    assert mode == 0o777 & ~_umask()
    assert find_open(small.warehouse) == {}
    environment = dbt_environment(small.raw, small.warehouse)
    made = set(small.warehouse.rglob("*"))
    for command in COMMANDS:
        words = [word.format(folder=small.warehouse) for word in command]
        arguments = [sys.executable, "-m", "hcat.cli", *words]
        done = subprocess.run(arguments, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stderr)
    names = {path.name for path in set(small.warehouse.rglob("*")) - made}
    assert names > {"explorer.html", "report.html", "alerts.jsonl", "desk.html", "made"}
    assert find_open(small.warehouse) == {}
    assert small.warehouse.stat().st_mode & 0o777 == mode


def test_the_log_and_the_artefacts_of_dbt_are_private(tmp_path: Path) -> None:
    raw, target = tmp_path / "logs", tmp_path / "target"
    write_lines(raw / "interactions.jsonl", [{"interaction_id": "1", "query_text": "a", "answer": "b"}])
    target.mkdir()
    # of a build of an earlier version
    for name in ("dbt.log", "run_results.json"):
        (target / name).touch(mode=0o644)
    words = ["build", "--select", "+stg_interactions", "--log-level-file", "debug"]
    subprocess.run(
        [*DBT, *dbt_arguments(words, target, has_artefacts=True)],
        env=dbt_environment(raw, tmp_path / "new" / "warehouse"),
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    assert (target / "dbt.log").stat().st_size > 0
    files = [path for path in target.rglob("*") if path.is_file()]
    assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o600"}
    for folder in (tmp_path / "new", tmp_path / "new" / "warehouse"):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert find_open(tmp_path / "new") == {}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
