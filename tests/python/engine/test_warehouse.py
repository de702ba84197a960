"""A warehouse that cannot be used is one line: locked, not writable, or left by a build that was killed."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from hcat.engine.warehouse import WarehouseError, check_finished, open_warehouse, prepare_database


def test_the_folder_of_a_new_warehouse_is_made(tmp_path: Path) -> None:
    prepare_database(tmp_path / "new" / "folder" / "hcat.duckdb")
    assert (tmp_path / "new" / "folder").is_dir()


def test_a_file_in_the_way_of_the_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WarehouseError, match=r"^cannot make the folder of the warehouse, .*file/x: Not a directory$"):
        prepare_database(tmp_path / "file" / "x" / "hcat.duckdb")


def test_a_read_only_folder_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the super-user may write everywhere, so the answer of the system is made up
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(WarehouseError, match="cannot be written: set HCAT_WAREHOUSE to a folder that can"):
        prepare_database(tmp_path / "hcat.duckdb")


#: What no build of hcat does (decision 49). Where DuckDB can replay it, checks may call functions again.
NOT_REPLAYED = """
import os, signal, sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("begin")
connection.execute("create table scores (score double check (abs(score) <= 1))")
connection.execute("comment on column scores.score is 'a score'")
connection.execute("commit")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_log_that_cannot_be_replayed_is_one_line_with_its_mend(tmp_path: Path) -> None:
    database = tmp_path / "hcat.duckdb"
    subprocess.run([sys.executable, "-c", NOT_REPLAYED, str(database)], check=False, timeout=60)
    with pytest.raises(WarehouseError, match=r"^DuckDB cannot replay hcat.duckdb.wal, .*: set it aside and build"):
        prepare_database(database)
    (tmp_path / "hcat.duckdb.wal").rename(tmp_path / "hcat.duckdb.wal.aside")
    prepare_database(database)


@pytest.mark.parametrize(
    ("events", "is_finished"),
    [
        ([], True),
        ([("started", 1, "2026-05-01")], False),
        ([("started", 1, "2026-05-01"), ("ended", 1, "2026-05-01")], True),
        ([("started", 1, "2026-05-01"), ("ended", 1, "2026-05-01"), ("started", 2, "2026-05-01")], False),
        ([("started", 1, "2026-05-01"), ("started", 2, "2026-05-01"), ("ended", 2, "2026-05-01")], True),
        # the clock of the first build was ahead: its number says that it is the older one
        ([("started", 1, "2027-06-05"), ("ended", 1, "2027-06-05"), ("started", 2, "2026-05-01")], False),
        ([("started", 1, "2027-06-05"), ("started", 2, "2026-05-01"), ("ended", 2, "2026-05-01")], True),
    ],
)
def test_a_build_that_was_killed_is_told_from_one_that_ended(
    tmp_path: Path, events: list[tuple[str, int, str]], is_finished: bool
) -> None:
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        connection.execute("create table dim_runs (run_id varchar)")
        columns = "run_id varchar, event varchar, build_number bigint, logged_at timestamp"
        connection.execute(f"create table hcat_builds ({columns})")
        for event in events:
            connection.execute("insert into hcat_builds values ('r', ?, ?, ?)", event)
    with open_warehouse(tmp_path) as warehouse:
        if is_finished:
            check_finished(warehouse)
        else:
            with pytest.raises(WarehouseError, match="the last build, started at 2026-05-01 00:00 UTC, was killed"):
                check_finished(warehouse)
