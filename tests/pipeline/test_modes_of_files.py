"""What builds and commands make of logs is for the account that runs them: files 0600, folders 0700."""

from pathlib import Path

import pytest
from builds import Build, ask_server, copy_build, dbt_arguments, dbt_environment, folder_of_all, run_hcat, take_parsed

#: Commands, and the file that each makes.
COMMANDS = {
    ("explore",): "explorer.html",
    ("report",): "report.html",
    ("report", "--output", "{folder}/mine/page.html"): "mine/page.html",
    ("alert",): "alerts.jsonl",
    ("import", "calls", "{logs}/interactions.jsonl", "--output", "{folder}/imported"): "imported",
}


def find_open(folder: Path) -> dict[str, str]:
    """Return the files and folders in a folder that others may use, with their modes."""
    modes = {path.relative_to(folder).as_posix(): path.stat().st_mode & 0o777 for path in folder.rglob("*")}
    return {name: oct(mode) for name, mode in modes.items() if mode & 0o077}


def test_a_build_and_its_commands_make_private_files(small: Build, tmp_path: Path) -> None:
    made = copy_build(small, tmp_path)
    environment = dbt_environment(made.raw, made.warehouse)
    for command, name in COMMANDS.items():
        run_hcat(*(word.format(folder=made.warehouse, logs=made.raw) for word in command), environment=environment)
        assert (made.warehouse / name).exists()
    assert {"published", "hcat.duckdb"} <= {path.name for path in made.warehouse.iterdir()}
    assert find_open(made.warehouse) == {}


def test_a_build_makes_private_folders_and_leaves_those_that_were_there(
    small: Build, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    target, given = tmp_path / "target", tmp_path / "given"
    for folder in (target, given):
        folder.mkdir(mode=0o755)
    take_parsed(folder_of_all(tmp_path_factory), target)
    # of a build of an earlier version
    for name in ("dbt.log", "run_results.json"):
        (target / name).touch(mode=0o644)
    words = ["build", "--select", "raw_relations", "--log-level-file", "debug"]
    warehouse = given / "made" / "warehouse"
    arguments = dbt_arguments(words, target, has_artefacts=True)
    exit_code, output = ask_server("dbt", arguments, dbt_environment(small.raw, warehouse))
    assert exit_code == 0, output
    assert (target / "dbt.log").stat().st_size > 0
    assert find_open(target) == {}
    assert warehouse.is_dir()
    assert find_open(given) == {}
    assert [oct(folder.stat().st_mode & 0o777) for folder in (target, given)] == ["0o755", "0o755"]
