"""What `make build` says about the demo, held against what is planted in it; skipped without that build."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from builds import DEMO, REPOSITORY

from benchmarks import planted

#: Where `make build` puts the demo; CI runs it before the tests.
WAREHOUSE = REPOSITORY / "warehouse"
CASCADE = "hcat-entailment-cascade"


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder of a build of these very logs by the default models."""
    database = WAREHOUSE / "hcat.duckdb"
    if not database.exists():
        pytest.skip("no build of the demo in warehouse/: `make build` makes it")
    with duckdb.connect(str(database), read_only=True) as connection:
        found = {row[0] for row in connection.execute("select interaction_id from fct_interactions").fetchall()}
        run = "select classifier_name from dim_runs order by started_at desc, run_id desc limit 1"
        classifier = connection.execute(run).fetchone()
    if found != planted.read_faults(DEMO).keys():
        pytest.skip("warehouse/ holds other logs than demo/logs: `make clean build`")
    if classifier != (CASCADE,):
        pytest.skip(f"warehouse/ was built with {classifier}, and planted.yml is about {CASCADE}")
    return WAREHOUSE


def test_all_that_is_planted_is_found_and_little_else(built: Path) -> None:
    outcome = planted.measure(built, DEMO, planted.read_planted())
    items, false = outcome.tables
    assert [row for row in items.rows if row[1] != "yes"] == []
    assert len(items.rows) >= 20
    assert len(false.rows) <= planted.FALSE_ALLOWED


def test_most_prediction_sets_have_one_label(built: Path) -> None:
    with duckdb.connect(str(built / "hcat.duckdb"), read_only=True) as connection:
        row = connection.execute(
            "select avg((prediction_set in ('accepted', 'failed'))::int) from int_prediction_sets"
            " where metric_name = 'groundedness' and prediction_set is not null"
        ).fetchone()
    assert row is not None
    assert row[0] >= planted.LEAST_DECIDED
