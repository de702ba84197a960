"""Deletion on request in builds: what is forgotten leaves no byte and stays away, and pruned weeks keep their sums."""

from datetime import date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from builds import SMALL, UNTESTED, Build, Dbt, checksum_tables, dbt_environment, differing_tables, query, write_lines

from benchmarks.contents import TABLES_OF_BUILDS
from hcat.engine.retention import forget_interactions, prune_weeks
from hcat.engine.warehouse import DATABASE_FILE

REPOSITORY = Path(__file__).resolve().parents[2]
#: Nothing else says this, and nothing must say it after it was forgotten.
SECRET = "The vault in Zurzach opens at 7:43 on Thursdays for Ms Quendelin."
FORGOTTEN = ("call_06", "call_07", "call_09")
#: An interaction of which only a line that cannot be read came.
TORN = "torn_1"
#: Interactions before the day from which on weeks stay.
PRUNED = ("call_00", "call_01", "call_02", "call_03", "call_04")
KEPT_FROM = date(2026, 6, 15)
#: What differs on purpose: builds, deletions, and what remembers pruned weeks.
LEFT_OUT = {*TABLES_OF_BUILDS, "fct_deletions", "fct_metric_weeks", "fct_metric_drift"}
COUNT = 12


def write_logs(folder: Path, without: tuple[str, ...] = ()) -> None:
    """Write twelve interactions of six weeks; that of call_07 alone asks a query of its own.

    Lines that cannot be read name what is forgotten, in the file of each entity.
    """
    numbers = [number for number in range(COUNT) if f"call_{number:02}" not in without]
    start = datetime(2026, 6, 1, 9)
    interactions = [
        {
            "interaction_id": f"call_{number:02}",
            "query_id": "query_of_vault" if number == 7 else f"query_{number % 5}",
            "query_text": "When does the vault open?" if number == 7 else f"What is fee {number % 5}?",
            "answer": SECRET if number == 7 else f"The fee is {number}. It is due in week {number % 5}.",
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
    torn = (
        [] if without else [f'{{"interaction_id": "{name}", "text": "{SECRET}'.encode() for name in ("call_07", TORN)]
    )
    write_lines(folder / "interactions.jsonl", [*interactions, *torn])
    write_lines(folder / "retrievals.jsonl", [*retrievals, *torn])
    write_lines(folder / "queries.jsonl", [*queries, *torn])
    for entity in ("documents", "chunks"):
        write_lines(folder / f"{entity}.jsonl", torn)


@pytest.fixture(scope="module")
def built(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A build of all twelve interactions."""
    folder = tmp_path_factory.mktemp("retention")
    write_logs(folder / "logs")
    build = dbt(UNTESTED, folder / "logs", folder / "warehouse", variables=SMALL, is_demo=False)
    assert build.exit_code == 0, build.output
    return build


@pytest.fixture
def environment(built: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of the build, by which the commands find its warehouse."""
    for name, value in dbt_environment(built.raw, built.warehouse, is_demo=False).items():
        monkeypatch.setenv(name, value)


def marts(database: Path) -> dict[str, tuple[int, int]]:
    """Return the checksums of all marts that say the same in every warehouse with the same interactions."""
    found = checksum_tables(database).items()
    return {name: sums for name, sums in found if name.startswith(("dim_", "fct_")) and name not in LEFT_OUT}


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


def test_what_is_deleted_leaves_no_byte_and_stays_away_and_pruned_weeks_keep_their_sums(
    dbt: Dbt, built: Build, environment: None, tmp_path: Path
) -> None:
    database = built.warehouse / DATABASE_FILE
    weeks = (
        f"select * exclude (is_pruned) from fct_metric_weeks where week_start < '{KEPT_FROM}' order by metric_week_id"
    )
    before = query(database, weeks)
    assert len(before) > 10
    said = dict(prune_weeks(REPOSITORY, date(2026, 6, 17), "two weeks"))
    assert said["weeks"] == f"all before {KEPT_FROM}: their sums stay"

    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join([*FORGOTTEN, TORN]))
    (built.warehouse / "explorer.html").write_text(SECRET)
    (built.warehouse / "review_one.csv").write_text(f"interaction_id,answer\ncall_07,{SECRET}\ncall_08,It is 8.\n")
    assert len(find_bytes(built.warehouse, SECRET)) > 5
    said = dict(forget_interactions(REPOSITORY, ids, "ticket 7"))
    assert said["records"] == "chunks 2, documents 2, interactions 5, queries 4, retrievals 8"
    assert "are in no landed record" not in said["deleted"]
    for text in (SECRET, "When does the vault open?", "The fee is 2.", *FORGOTTEN, TORN, *PRUNED):
        assert find_bytes(built.warehouse, text) == []
    assert (built.warehouse / "review_one.csv").read_text() == "interaction_id,answer\ncall_08,It is 8.\n"
    # readers go on reading until the next build
    assert query(built.warehouse / "published" / DATABASE_FILE, "select count(*) from fct_interactions") == [(4,)]

    again = dbt("build", built.raw, built.warehouse, variables=SMALL, is_demo=False)
    assert again.exit_code == 0, again.output
    write_logs(tmp_path / "logs", without=(*FORGOTTEN, *PRUNED))
    anew = dbt(UNTESTED, tmp_path / "logs", tmp_path / "warehouse", variables=SMALL, is_demo=False)
    assert anew.exit_code == 0, anew.output
    expected = marts(anew.warehouse / DATABASE_FILE)
    assert len(expected) > 10
    assert differing_tables(expected, marts(database)) == set()
    assert query(database, weeks) == before
    assert query(database, "select distinct week_start < $1 from fct_metric_weeks where is_pruned", KEPT_FROM) == [
        (True,)
    ]
    last = "select run_id from dim_runs order by build_number desc limit 1"
    proof = f"select command, reason, count_interactions, followed_by_run_id = ({last}) from fct_deletions order by 1"
    assert again.query(proof) == [("forget", "ticket 7", 3, True), ("prune", "two weeks", 5, True)]

    # tombstones are no results of builds: nothing lands again
    refreshed = dbt(
        "build --full-refresh --select raw_relations landed_records base_interactions stg_rejected_records",
        built.raw,
        built.warehouse,
        variables=SMALL,
        is_demo=False,
    )
    assert refreshed.exit_code == 0, refreshed.output
    counted = "select reject_reason, record_excerpt, count(*) from stg_rejected_records"
    rejected = f"{counted} where entity = 'interactions' group by all"
    assert refreshed.query(rejected) == [("deleted on request", "", 10)]
    for text in (SECRET, "When does the vault open?", "The fee is 2."):
        assert find_bytes(built.warehouse, text) == []
