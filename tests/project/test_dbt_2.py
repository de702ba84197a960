"""dbt 2 parses the project, the integration tests and the profiles of modules (decision 41)."""

import subprocess
import sys
from pathlib import Path

import pytest
from builds import REPOSITORY, copy_bank, environment_without_settings

WHEEL = "dbt-core==2.0.0a4"
SECONDS = 300


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    settings = environment_without_settings()
    return subprocess.run(
        arguments, cwd=folder, env=settings, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.fixture(scope="module")
def dbt_2(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the program of dbt 2, in a folder of its own."""
    folder = tmp_path_factory.mktemp("dbt_2")
    installed = run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), WHEEL], folder)
    if installed.returncode:
        pytest.skip(f"{WHEEL} cannot be installed here: {installed.stderr.strip().splitlines()[-1]}")
    return str(folder / "bin" / "dbt")


@pytest.mark.parametrize(
    ("is_demo", "variables"),
    [("", "{}"), ("1", "{}"), ("", "{hcat_profile: minimal}"), ("", "{hcat_modules: {drift: false}}")],
)
def test_dbt_2_parses_the_project(dbt_2: str, is_demo: str, variables: str, tmp_path: Path) -> None:
    command = ["env", f"HCAT_DEMO={is_demo}", dbt_2, "parse", "--vars", variables, "--target-path", str(tmp_path)]
    parsed = run(command, REPOSITORY)
    assert parsed.returncode == 0, parsed.stdout + parsed.stderr
    assert "[error]" not in parsed.stdout + parsed.stderr


def test_dbt_2_parses_a_project_that_has_hcat_as_its_package(dbt_2: str, tmp_path: Path) -> None:
    folder = copy_bank(tmp_path)
    for command in ("deps", "parse"):
        done = run([dbt_2, command], folder)
        assert done.returncode == 0, done.stdout + done.stderr
