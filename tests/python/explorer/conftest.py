"""The pages that the tests look at, each made once."""

from pathlib import Path

import pytest
from made_build import make_build

from hcat.explorer.document import write_explorer


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_build(tmp_path_factory.mktemp("explorer"))


@pytest.fixture(scope="session")
def explorer(build: Path) -> Path:
    return write_explorer(build, build / "explorer.html")


@pytest.fixture(scope="session")
def hostile_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a build whose texts attack whoever shows them."""
    return make_build(tmp_path_factory.mktemp("hostile"), count=60, is_hostile=True)


@pytest.fixture(scope="session")
def hostile_explorer(hostile_build: Path) -> Path:
    return write_explorer(hostile_build, hostile_build / "explorer.html")
