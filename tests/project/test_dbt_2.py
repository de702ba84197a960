"""dbt 2 parses the project, the integration tests and the profiles of modules (decision 41)."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builds import REPOSITORY, environment_without_settings

WHEEL = "dbt-core==2.0.0a4"
SECONDS = 300


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    settings = environment_without_settings()
    return subprocess.run(
        arguments, cwd=folder, env=settings, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.fixture(scope="module")
def dbt_2(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the program of dbt 2, in an environment of its own."""
    folder = tmp_path_factory.mktemp("dbt_2")
    run([sys.executable, "-m", "venv", str(folder)], folder)
    installed = run([str(folder / "bin" / "pip"), "install", "--quiet", WHEEL], folder)
    if installed.returncode:
        pytest.skip(f"{WHEEL} cannot be installed here: {installed.stderr.strip().splitlines()[-1]}")
    return str(folder / "bin" / "dbt")


@pytest.mark.parametrize("variables", ["{}", "{hcat_profile: minimal}", "{hcat_modules: {drift: false}}"])
def test_dbt_2_parses_the_project(dbt_2: str, variables: str, tmp_path: Path) -> None:
    parsed = run([dbt_2, "parse", "--vars", variables, "--target-path", str(tmp_path)], REPOSITORY)
    assert parsed.returncode == 0, parsed.stdout + parsed.stderr
    assert "[error]" not in parsed.stdout + parsed.stderr


def test_dbt_2_reads_the_demo_but_for_seeds_of_one_name(dbt_2: str, tmp_path: Path) -> None:
    """It counts a seed that is switched off, so that the demo's decisions meet the shipped ones (decision 41)."""
    command = ["env", "HCAT_DEMO=1", dbt_2, "parse", "--target-path", str(tmp_path)]
    said = run(command, REPOSITORY).stderr.splitlines()
    errors = {line.split('"')[1] for line in said if "[error]" in line and "two seeds with the name" in line}
    assert errors == {path.stem for path in (REPOSITORY / "demo" / "seeds").glob("*.csv")}
    assert sum("[error]" in line for line in said) == len(errors)


def test_dbt_2_parses_a_project_that_has_hcat_as_its_package(dbt_2: str, tmp_path: Path) -> None:
    folder = tmp_path / "bank"
    shutil.copytree(REPOSITORY / "integration_tests", folder, ignore=shutil.ignore_patterns("dbt_packages", "target"))
    (folder / "packages.yml").write_text(f"packages:\n  - local: {REPOSITORY}\n")
    for command in ("deps", "parse"):
        done = run([dbt_2, command], folder)
        assert done.returncode == 0, done.stdout + done.stderr
