"""A browser, and the pages that the tests look at, each made once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from desks import open_browser
from made_build import make_build

from hcat.explorer.document import write_explorer


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return Chromium without a window; tests that need it are skipped where it is missing."""
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a made-up build."""
    return make_build(tmp_path_factory.mktemp("explorer"))


@pytest.fixture(scope="session")
def explorer(build: Path) -> Path:
    """Return the page of that build."""
    return write_explorer(build, build / "explorer.html")


@pytest.fixture(scope="session")
def hostile_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a build whose texts attack whoever shows them."""
    return make_build(tmp_path_factory.mktemp("hostile"), count=60, is_hostile=True)


@pytest.fixture(scope="session")
def hostile_explorer(hostile_build: Path) -> Path:
    """Return the page of that build."""
    return write_explorer(hostile_build, hostile_build / "explorer.html")
