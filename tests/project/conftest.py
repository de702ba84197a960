"""The parsed project and one small build of the demo, each made once per session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

# the helpers that run dbt live beside the pipeline tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pipeline"))

from builds import DEMO, run_dbt

#: The models from documents to a test set, from tables to queries, and those of a judge exist only when they are asked
#: for. The judge has no budget: nothing is sent, and every verdict is a status.
EVERYTHING = {
    "hcat_test_set": True,
    "hcat_grammar": True,
    "hcat_judge": True,
    "hcat_language_model_url": "http://127.0.0.1:9/v1",
    "hcat_language_model": "nobody",
    "hcat_language_model_calls": 0,
}


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of dbt's artefacts."""
    return tmp_path_factory.mktemp("target")


@pytest.fixture(scope="session")
def manifest(target: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return dbt's manifest of the project."""
    exit_code, output = run_dbt(["parse"], DEMO, tmp_path_factory.mktemp("unused"), target, variables=EVERYTHING)
    assert exit_code == 0, output
    return json.loads((target / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def warehouse(target: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the DuckDB file of a build of the demo and its test set with random vectors and without tests."""
    folder = tmp_path_factory.mktemp("warehouse")
    exit_code, output = run_dbt(
        ["build", "--exclude-resource-type", "test"], DEMO, folder, target, variables=EVERYTHING
    )
    assert exit_code == 0, output
    return folder / "hcat.duckdb"
