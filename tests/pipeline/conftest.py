"""Builds that several tests look at: each runs once per session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from builds import Build, run_dbt

Dbt = Callable[..., Build]


@pytest.fixture(scope="session")
def dbt(tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """Run a dbt command and return its :class:`builds.Build`; the parsed project is shared between calls."""
    target = tmp_path_factory.mktemp("target")

    def run(arguments: str | list[str], raw: Path, warehouse: Path, **settings: object) -> Build:
        words = arguments.split() if isinstance(arguments, str) else arguments
        exit_code, output = run_dbt(words, raw, warehouse, target, **settings)
        return Build(exit_code, output, raw, warehouse)

    return run
