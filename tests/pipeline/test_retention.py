"""Deletion on request in builds: what is forgotten leaves no byte and does not come back, and pruned weeks keep their sums."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from builds import (
    RUN_TABLES,
    UNTESTED,
    Build,
    Dbt,
    checksum_tables,
    dbt_environment,
    differing_tables,
    query,
    write_lines,
)

from hcat.engine.retention import forget_interactions, prune_weeks
from hcat.engine.warehouse import DATABASE_FILE

REPOSITORY = Path(__file__).resolve().parents[2]
#: The smallest build that has weeks, references and retrieval.
VARIABLES = {"hcat_profile": "minimal", "hcat_modules": {"drift": True, "reference": True, "retention": True}}
#: Nothing else says this, and nothing must say it after it was forgotten.
SECRET = "The vault in Zurzach opens at 7:43 on Thursdays for Ms Quendelin."
FORGOTTEN = ("call_01", "call_06", "call_09")
#: What differs on purpose: counts of records, and what belongs to the deletion.
OF_DELETIONS = {"fct_deletions", "hcat_deletions", "hcat_deletion_log", "hcat_inputs"}
COUNT = 12


def write_logs(folder: Path, without: tuple[str, ...] = ()) -> None:
    """Write twelve interactions of six weeks; every query is asked twice, except that of call_01."""
    numbers = [number for number in range(COUNT) if f"call_{number:02}" not in without]
    start = datetime(2026, 6, 1, 9)
    interactions = [
        {
            "interaction_id": f"call_{number:02}",
            "query_id": "query_of_vault" if number == 1 else f"query_{number % 5}",
            "query_text": "When does the vault open?" if number == 1 else f"What is fee {number % 5}?",
            "answer": SECRET if number == 1 else f"The fee is {number}. It is due in week {number % 5}.",
            "asked_at": (start + timedelta(days=3 * number)).isoformat(),
            "application": "desk",
            "tags": {"topic": ["fees", "cards"][number % 2]},
        }
        for number in numbers
    ]
    retrievals = [
        {
            "interaction_id": f"call_{number:02}",
            "rank": rank,
            "text": f"Fee {number % 4 + rank} applies. See page {rank}.",
        }
        for number in numbers
        for rank in (1, 2)
    ]
    asked = {row["query_id"]: row["query_text"] for row in interactions}
    queries = [
        {"query_id": name, "text": text, "reference_answer": f"It is {name[-1]}."}
        for name, text in sorted(asked.items())
    ]
    write_lines(folder / "interactions.jsonl", interactions)
    write_lines(folder / "retrievals.jsonl", retrievals)
    write_lines(folder / "queries.jsonl", queries)


@pytest.fixture(scope="module")
def built(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A build of all twelve interactions."""
    folder = tmp_path_factory.mktemp("retention")
    write_logs(folder / "logs")
    build = dbt(UNTESTED, folder / "logs", folder / "warehouse", variables=VARIABLES, is_demo=False)
    assert build.exit_code == 0, build.output
    return build


@pytest.fixture
def environment(built: Build, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The settings of the build, by which the commands find its warehouse."""
    for name, value in dbt_environment(built.raw, built.warehouse, is_demo=False).items():
        monkeypatch.setenv(name, value)
    yield


def marts(database: Path) -> dict[str, tuple[int, int]]:
    """Return the checksums of all marts but those of builds and deletions."""
    left_out = {*RUN_TABLES, *OF_DELETIONS}
    return {
        name: found
        for name, found in checksum_tables(database).items()
        if name.startswith(("dim_", "fct_")) and name not in left_out
    }


def find_bytes(folder: Path, text: str) -> list[str]:
    """Return the files that hold a text as it is, and the tables in which a query finds it."""
    found = [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
    for path in [*folder.rglob("*.duckdb"), *folder.rglob("*.parquet")]:
        with duckdb.connect(
            str(path) if path.suffix == ".duckdb" else ":memory:", read_only=path.suffix == ".duckdb"
        ) as opened:
            tables = (
                [f"'{path}'"]
                if path.suffix == ".parquet"
                else [f'"{row[0]}"' for row in opened.execute("show tables").fetchall()]
            )
            found += [
                f"{path}: {table}"
                for table in tables
                if opened.execute(
                    f"select 1 from {table} as found where contains(found::varchar, $1) limit 1", [text]
                ).fetchall()
            ]
    return found


def test_what_is_forgotten_leaves_no_byte_and_does_not_come_back_and_pruned_weeks_keep_their_sums(
    dbt: Dbt, built: Build, environment: None, tmp_path: Path
) -> None:
    database = built.warehouse / DATABASE_FILE
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(FORGOTTEN))
    (built.warehouse / "explorer.html").write_text(SECRET)
    (built.warehouse / "review_one.csv").write_text(f"interaction_id,answer\ncall_01,{SECRET}\ncall_02,It is 2.\n")
    assert len(find_bytes(built.warehouse, SECRET)) > 5

    said = dict(forget_interactions(REPOSITORY, ids, is_dry_run=True))
    assert said["would delete"].startswith("3 interactions, ")
    assert said["records"] == "interactions 3, queries 1, retrievals 6"
    assert query(database, "select count(*) from landed_interactions where read_error is not null") == [(0,)]
    said = dict(forget_interactions(REPOSITORY, ids, "ticket 7"))
    assert said["removed"].startswith("explorer.html")
    for text in (SECRET, "When does the vault open?", *FORGOTTEN):
        assert find_bytes(built.warehouse, text) == []
    assert (built.warehouse / "review_one.csv").read_text() == "interaction_id,answer\ncall_02,It is 2.\n"
    # readers go on reading until the next build
    assert query(built.warehouse / "published" / DATABASE_FILE, "select count(*) from fct_interactions") == [(9,)]

    again = dbt(UNTESTED, built.raw, built.warehouse, variables=VARIABLES, is_demo=False)
    assert again.exit_code == 0, again.output
    write_logs(tmp_path / "logs", without=FORGOTTEN)
    anew = dbt(UNTESTED, tmp_path / "logs", tmp_path / "warehouse", variables=VARIABLES, is_demo=False)
    assert anew.exit_code == 0, anew.output
    expected = marts(anew.warehouse / DATABASE_FILE)
    assert len(expected) > 10
    assert differing_tables(expected, marts(database)) == set()
    assert find_bytes(built.warehouse, SECRET) == []
    rejected = "select distinct reject_reason, record_excerpt from stg_interactions__rejected"
    assert again.query(rejected) == [("deleted on request", "")]
    last = "select run_id from dim_runs order by started_at desc limit 1"
    proof = f"select command, reason, count_ids, count_interactions, followed_by_run_id = ({last}) from fct_deletions"
    assert again.query(proof) == [("forget", "ticket 7", 3, 3, True)]

    weeks = "select * exclude (is_pruned) from fct_metric_weeks order by metric_week_id"
    drift = "select * from fct_metric_drift where test = 'sequential_mean' order by metric_drift_id"
    before = (query(database, weeks), query(database, drift))
    said = dict(prune_weeks(REPOSITORY, date(2026, 6, 17)))
    assert said["weeks"] == "all before 2026-06-15: their sums stay"
    assert find_bytes(built.warehouse, "The fee is 2.") == []
    # tombstones and sums are no results of builds
    pruned = dbt("build --full-refresh", built.raw, built.warehouse, variables=VARIABLES, is_demo=False)
    assert pruned.exit_code == 0, pruned.output
    for text in (SECRET, "The fee is 2."):
        assert find_bytes(built.warehouse, text) == []
    assert query(database, "select min(asked_at)::date >= '2026-06-15' from fct_interactions") == [(True,)]
    assert (query(database, weeks), query(database, drift)) == before
    assert query(database, "select max(week_start)::varchar from fct_metric_weeks where is_pruned") == [("2026-06-08",)]
