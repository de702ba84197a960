"""``hcat build`` ends a deletion that was killed and hands the rest to dbt."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from hcat.engine import building

PROFILE = "own: {target: dev, outputs: {dev: {type: duckdb, path: warehouse/hcat.duckdb, schema: main}}}"


@pytest.mark.parametrize(("name", "selected"), [("hcat", []), ("own", ["--select", "+package:hcat"])])
def test_the_command_is_that_of_dbt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, selected: list[str]
) -> None:
    for variable in ("DBT_PROFILES_DIR", "HCAT_WAREHOUSE"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "dbt_project.yml").write_text(f"name: {name}\nprofile: own\n")
    (tmp_path / "profiles.yml").write_text(PROFILE)
    commands: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> SimpleNamespace:
        commands.append(command)
        return SimpleNamespace(returncode=1)

    said: list[str] = []
    monkeypatch.setattr(building.subprocess, "run", run)
    monkeypatch.setattr(building, "finish_deletion", lambda place: name == "own")
    monkeypatch.setattr(building, "say", said.append)
    code = building.build(tmp_path, None, "dev", "{a: 1}", ["--quiet"], is_showing_progress=False)
    assert code == 1
    given = ["build", "--project-dir", str(tmp_path), "--target", "dev", "--vars", "{a: 1}", *selected, "--quiet"]
    assert commands == [[*building._BUILDING, "all", *given]]
    assert said == (["hcat build: finished a deletion that was killed"] if name == "own" else [])
    (tmp_path / "packages.yml").touch()
    assert building.build(tmp_path, None, None, None, [], is_showing_progress=False) == 2
    assert commands[1:] == [[*building.DBT, "deps", "--project-dir", str(tmp_path)]]
