"""What builds and commands make of logs is for the account that runs them: files 0600, folders 0700."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from builds import REPOSITORY, dbt_arguments, dbt_environment, write_lines

from hcat.engine.project import DBT

VARIABLES = {"hcat_profile": "minimal"}
#: Commands, and the file that each makes.
COMMANDS = {
    ("explore",): "explorer.html",
    ("report",): "report.html",
    ("report", "--output", "{folder}/mine/page.html"): "mine/page.html",
    ("alert",): "alerts.jsonl",
    ("import", "calls", "{logs}/calls.jsonl", "--output", "{folder}/imported"): "imported",
}


def find_open(folder: Path) -> dict[str, str]:
    """Return the files and folders in a folder that others may use, with their modes."""
    modes = {path.relative_to(folder).as_posix(): path.stat().st_mode & 0o777 for path in folder.rglob("*")}
    return {name: oct(mode) for name, mode in modes.items() if mode & 0o077}


def test_a_build_and_its_commands_make_private_files(tmp_path: Path) -> None:
    logs, target, warehouse = tmp_path / "logs", tmp_path / "target", tmp_path / "given" / "made" / "warehouse"
    calls = [
        {"id": f"call_{number}", "query": f"What is fee {number}?", "answer": f"It is {number}.", "asked_at": day}
        for number, day in enumerate(("2026-05-01", "2026-05-02", "2026-05-03"))
    ]
    write_lines(logs / "calls.jsonl", calls)
    target.mkdir()
    warehouse.parents[1].mkdir(mode=0o755)
    # of a build of an earlier version
    for name in ("dbt.log", "run_results.json"):
        (target / name).touch(mode=0o644)
    words = ["--quiet", "build", "--exclude-resource-type", "test", "--log-level-file", "debug"]
    environment = dbt_environment(logs, warehouse, is_demo=False)

    def run(arguments: list[str]) -> None:
        done = subprocess.run(
            arguments, env=environment, cwd=REPOSITORY, umask=0o022, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)

    run([*DBT, *dbt_arguments(words, target, VARIABLES, has_artefacts=True)])
    assert (target / "dbt.log").stat().st_size > 0
    assert find_open(target) == {}
    for command, made in COMMANDS.items():
        run([sys.executable, "-m", "hcat.cli", *(word.format(folder=warehouse, logs=logs) for word in command)])
        assert (warehouse / made).exists()
    assert {"published", "hcat.duckdb"} <= {path.name for path in warehouse.iterdir()}
    # what a build makes, and no folder that was there
    assert find_open(tmp_path / "given") == {}
    assert [oct(path.stat().st_mode & 0o777) for path in (target, tmp_path / "given")] == ["0o755", "0o755"]
