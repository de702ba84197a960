"""Builds that several tests look at: each runs once per session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builds import COUNT_SMALL, Build, Dbt, copy_made_once, write_lines


@pytest.fixture(scope="session")
def dbt(tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """Run dbt commands and return :class:`builds.Build`."""
    return Dbt(tmp_path_factory.mktemp("targets"))


@pytest.fixture(scope="session")
def small(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A build of interactions alone: no ratings, documents, references or retrievals. Built upon by copies of it."""

    def make(folder: Path) -> None:
        interactions = [
            {"interaction_id": f"good_{number}", "query_text": f"What is fee {number}?", "answer": f"It is {number}."}
            for number in range(COUNT_SMALL)
        ]
        write_lines(folder / "logs" / "interactions.jsonl", interactions)
        build = dbt("build", folder / "logs", folder / "warehouse")
        (folder / "printed.json").write_text(json.dumps([build.exit_code, build.output]), encoding="utf-8")

    folder = copy_made_once(tmp_path_factory, "small", make)
    exit_code, output = json.loads((folder / "printed.json").read_text(encoding="utf-8"))
    return Build(exit_code, output, folder / "logs", folder / "warehouse")
