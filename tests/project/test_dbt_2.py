"""dbt 2 parses the project, the integration tests and the profiles of modules, and builds the SQL (decision 41)."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from builds import REPOSITORY, copy_bank, environment_without_settings

WHEEL = "dbt-core==2.0.0a4"
SECONDS = 300
#: The release that has a wheel with adapters, and the library that its driver loads, which no package of Python has.
BUILDER, LIBRARY = "dbt==2.0.0rc196", "duckdb-node-bindings-linux-x64"
#: Tables of runs, and columns that tell one run from another.
LEDGERS = {"dim_runs", "hcat_builds"}
OF_A_RUN = re.compile(
    "(.+_)?run(_id)?|(built|evaluated|last_seen|logged|measured|retested|started)_at|settings(_hash)?|models_hash|event|"
    "dbt_version|(.+_)?build_number|count_runs_seen|gate_result_id|run_metric_id|finding_sighting_id"
)


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


def test_dbt_2_builds_the_sql_of_the_demo_with_the_rows_of_dbt_1(tmp_path: Path) -> None:
    before = REPOSITORY / "warehouse" / "hcat.duckdb"
    if not before.is_file():
        pytest.skip("no build of the demo in warehouse/: `make build` makes it")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tmp_path / "dbt"), BUILDER]
    pack = ["npm", "pack", "--silent", f"@{LIBRARY.replace('-', '/', 1)}@1.5.6-r.1"]
    for command in (pack, ["tar", "xzf", f"{LIBRARY}-1.5.6-r.1.tgz"], pip):
        if shutil.which(command[0]) is None or run(command, tmp_path).returncode:
            pytest.skip(f"{' '.join(command)} fails: what dbt 2 builds with cannot be had here")
    shutil.copy(before, tmp_path / "hcat.duckdb")
    settings = ["HCAT_DEMO=1", f"HCAT_WAREHOUSE={tmp_path}", f"LD_LIBRARY_PATH={tmp_path / 'package'}"]
    # what Python makes is there; one model is refused because dbt 2 spells the types of its columns otherwise
    left_out = [*(path.stem for path in (REPOSITORY / "models").rglob("*.py")), "int_interactions_sampled_for_review"]
    paths = ["--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path)]
    done = run(
        ["env", *settings, str(tmp_path / "dbt" / "bin" / "dbt"), "run", *paths, "--exclude", *left_out], REPOSITORY
    )
    # a hook that prints uses methods of texts that dbt 2 does not have
    assert [line.split()[-1] for line in done.stdout.splitlines() if " Failed " in line] == ["hcat-on-run-end-0"]
    assert int(re.findall(r"(\d+) success", done.stdout)[-1]) > 100
    with duckdb.connect() as both:
        both.execute(f"attach '{before}' as first (read_only); attach '{tmp_path}/hcat.duckdb' as second (read_only)")
        tables = "from duckdb_columns() semi join duckdb_tables() using (database_name, table_name)"
        columns = both.sql(f"select table_name, column_name {tables} where database_name = 'first'").fetchall()
        different = []
        for table in sorted({name for name, _ in columns} - LEDGERS):
            own = ", ".join(f'"{each}"' for name, each in columns if name == table and not OF_A_RUN.fullmatch(each))
            first, second = (f'select distinct {own} from {side}.main."{table}"' for side in ("first", "second"))
            if both.sql(f"({first} except {second}) union all ({second} except {first})").fetchall():
                different.append(table)
        assert different == []
