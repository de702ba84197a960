"""BI reads the published copy from a process of its own while a build writes, and finds one build or the other."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from builds import COUNT_SMALL, Build, Dbt, copy_build, query, write_lines

COUNT_FIRST = COUNT_SMALL
COUNT_MORE = 5

#: Answers every line on standard input with what it reads; it knows neither dbt nor hcat.
READER = """
import fcntl, json, os, struct, sys
import duckdb

def is_locked(path):
    # asks for the lock and takes none: a reader that opened the warehouse itself could shut the build out
    handle = os.open(path, os.O_RDONLY)
    question = struct.pack("hhqqi0q", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
    answer = struct.unpack("hhqqi0q", fcntl.fcntl(handle, fcntl.F_GETLK, question))
    os.close(handle)
    return answer[0] != fcntl.F_UNLCK

published, warehouse = sys.argv[1:]
for line in sys.stdin:
    seen = {}
    with duckdb.connect(published, read_only=True) as connection:
        seen["runs"] = connection.execute("select run_id from dim_runs order by started_at").fetchall()
        seen["gate_runs"] = connection.execute("select count(distinct run_id) from fct_threshold_gates").fetchone()[0]
        seen["interactions"] = connection.execute("select count(*) from fct_interactions").fetchone()[0]
        seen["evaluations"] = connection.execute("select count(*) from fct_evaluations").fetchone()[0]
        seen["metrics"] = connection.execute("select count(*) from dim_metrics where family <> 'verdict'").fetchone()[0]
        seen["orphans"] = connection.execute(
            "select count(*) from fct_evaluations anti join fct_interactions using (interaction_id)"
        ).fetchone()[0]
    seen["parquet"] = duckdb.read_parquet(sys.argv[1].replace("hcat.duckdb", "fct_evaluations.parquet")).count(
        "*"
    ).fetchone()[0]
    seen["is_warehouse_locked"] = is_locked(warehouse)
    print(json.dumps(seen), flush=True)
"""


@dataclass(frozen=True)
class Watched:
    """A build and what a second process read: before it, while it ran, and after it."""

    exit_code: int
    output: str
    before: dict[str, Any]
    meanwhile: list[dict[str, Any]]
    after: dict[str, Any]
    warehouse: Path


@pytest.fixture(scope="module")
def first(small: Build, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The build before."""
    assert small.exit_code == 0, small.output
    return copy_build(small, tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def watched(dbt: Dbt, first: Build, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """The next build of the same warehouse with more logs, watched by a reader from its start to its end."""
    more = [
        {"interaction_id": f"i_{number}", "query_text": f"What is rate {number}?", "answer": f"It is {number} dollars."}
        for number in range(COUNT_MORE)
    ]
    write_lines(first.raw / "interactions_later.jsonl", more)
    published, warehouse = first.warehouse / "published" / "hcat.duckdb", first.warehouse / "hcat.duckdb"
    log = tmp_path_factory.mktemp("bi_output") / "build.log"
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(published), str(warehouse)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as reader:

        def read() -> dict[str, Any]:
            assert reader.stdin is not None
            assert reader.stdout is not None
            try:
                reader.stdin.write("read\n")
                reader.stdin.flush()
                line = reader.stdout.readline()
            except BrokenPipeError:
                line = ""
            if not line:
                assert reader.stderr is not None
                pytest.fail(f"the reader died: {reader.stderr.read()}")
            return dict(json.loads(line))

        before, meanwhile = read(), []
        build = dbt.start("build", first.raw, first.warehouse, log)
        try:
            while build.poll() is None:
                seen = read()
                # only what was read from its first to its last query while the build ran
                if build.poll() is None:
                    meanwhile.append(seen)
                time.sleep(0.2)
        finally:
            if build.poll() is None:
                build.kill()
            exit_code = build.wait()
        after = read()
        reader.stdin.close()
        assert reader.wait() == 0
    return Watched(exit_code, log.read_text(errors="replace"), before, meanwhile, after, first.warehouse)


def test_the_build_passes_although_somebody_reads(watched: Watched) -> None:
    assert watched.exit_code == 0, watched.output
    assert "Traceback" not in watched.output


def test_a_second_process_reads_while_the_build_writes(watched: Watched) -> None:
    assert watched.meanwhile
    # the warehouse itself is closed to it meanwhile, which is why there is a copy
    assert any(seen["is_warehouse_locked"] for seen in watched.meanwhile)
    assert not watched.before["is_warehouse_locked"]
    assert not watched.after["is_warehouse_locked"]


def test_every_reading_is_of_one_build(watched: Watched) -> None:
    for seen in (watched.before, *watched.meanwhile, watched.after):
        assert seen["orphans"] == 0
        assert seen["evaluations"] == seen["interactions"] * seen["metrics"]
        # ledger and gates come together
        assert seen["gate_runs"] == len(seen["runs"])
        # gates and ledger first, scores when they pass
        assert (seen["interactions"], len(seen["runs"])) in {
            (COUNT_FIRST, 1),
            (COUNT_FIRST, 2),
            (COUNT_FIRST + COUNT_MORE, 2),
        }
        assert seen["parquet"] in {count * seen["metrics"] for count in (COUNT_FIRST, COUNT_FIRST + COUNT_MORE)}


def test_readings_move_from_the_old_build_to_the_new_and_never_back(watched: Watched) -> None:
    readings = [watched.before, *watched.meanwhile, watched.after]
    states = [(len(seen["runs"]), seen["interactions"], seen["parquet"]) for seen in readings]
    assert states == sorted(states)
    assert states[0][:2] == (1, COUNT_FIRST)
    assert states[-1][:2] == (2, COUNT_FIRST + COUNT_MORE)
    assert watched.before["runs"] == watched.after["runs"][:1]


def test_the_semantic_views_are_made_on_a_copy_of_the_published_file(
    dbt: Dbt, watched: Watched, first: Build, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("semantic")
    (folder / "hcat.duckdb").write_bytes((watched.warehouse / "published" / "hcat.duckdb").read_bytes())
    build = dbt("run --select path:models/semantic", first.raw, folder)
    assert build.exit_code == 0, build.output
    count = (COUNT_FIRST + COUNT_MORE) * watched.after["metrics"]
    assert query(folder / "hcat.duckdb", "select count(*) from semantic_evaluations") == [(count,)]
    assert query(folder / "hcat.duckdb", "select count(*) from time_spine_days") == [(1,)]


def test_alerts_read_the_copy_too(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    from hcat.monitoring.alerts.delivery import WEBHOOK_VARIABLE
    from hcat.monitoring.alerts.sending import send_alerts

    monkeypatch.delenv(WEBHOOK_VARIABLE, raising=False)
    said = dict(send_alerts(watched.warehouse, is_dry_run=True).lines)
    (run_id,) = watched.after["runs"][-1]
    failing = query(
        watched.warehouse / "published" / "hcat.duckdb",
        "select count(*) filter (where not is_passing), count(*) from fct_threshold_gates where run_id = ?",
        run_id,
    )
    assert f"of build {run_id}" in said["gates"]
    assert said["gates"].startswith(f"{failing[0][1]} ")
    assert said["gates"].endswith(f"{failing[0][0]} do not pass")
    assert "not looked at" not in said["drift"] + said["findings"]
