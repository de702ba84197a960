"""Builds that several tests look at: each runs once per session."""

import json
from pathlib import Path

import duckdb
import pytest
from builds import COUNT_SMALL, DEMO, REPOSITORY, Build, Dbt, copy_made_once, folder_of_all, write_lines

from benchmarks import planted

#: Where `make build` puts the demo; CI runs it before the tests.
WAREHOUSE = REPOSITORY / "warehouse"
CASCADE = "hcat-entailment-cascade"


@pytest.fixture(scope="session")
def dbt(tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """Run dbt commands and return :class:`builds.Build`."""
    return Dbt(tmp_path_factory.mktemp("targets"), folder_of_all(tmp_path_factory))


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


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of a build of the demo by the default models, which several tests read; skipped without that build."""
    database = WAREHOUSE / "hcat.duckdb"
    if not database.exists():
        pytest.skip("no build of the demo in warehouse/: `make build` makes it")
    with duckdb.connect(str(database), read_only=True) as connection:
        found = {row[0] for row in connection.execute("select interaction_id from fct_interactions").fetchall()}
        run = "select classifier_name from dim_runs order by build_number desc limit 1"
        classifier = connection.execute(run).fetchone()
    if found != planted.read_faults(DEMO).keys():
        pytest.skip("warehouse/ holds other logs than demo/logs: `make clean build`")
    if classifier != (CASCADE,):
        pytest.skip(f"warehouse/ was built with {classifier}, and planted.yml is about {CASCADE}")
    return WAREHOUSE
