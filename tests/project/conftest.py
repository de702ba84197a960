"""The parsed project and one small build of the demo, each made once per session."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

# the helpers that run dbt live beside the pipeline tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pipeline"))

from builds import DEMO, EVERYTHING, copy_made_once, folder_of_all, run_dbt, take_parsed


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the parsed project (``target``) and a build of the demo and its test set (``warehouse``).

    The build has random vectors and no tests.
    """

    def make(folder: Path) -> None:
        command = ["build", "--exclude-resource-type", "test"]
        warehouse, target = folder / "warehouse", folder / "target"
        take_parsed(folder_of_all(tmp_path_factory), target, EVERYTHING)
        exit_code, output = run_dbt(command, DEMO, warehouse, target, variables=EVERYTHING, has_artefacts=True)
        assert exit_code == 0, output

    return copy_made_once(tmp_path_factory, "project", make)


@pytest.fixture(scope="session")
def target(project: Path) -> Path:
    return project / "target"


@pytest.fixture(scope="session")
def plain_target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of dbt's artefacts without variables: dbt parses the project again when they change."""
    target = tmp_path_factory.mktemp("plain_target")
    take_parsed(folder_of_all(tmp_path_factory), target)
    return target


@pytest.fixture(scope="session")
def manifest(project: Path) -> dict[str, Any]:
    return json.loads((project / "target" / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def warehouse(project: Path) -> Path:
    return project / "warehouse" / "hcat.duckdb"
