"""A night that is killed at twelve points, each time without warning: what the next build makes of it.

A warehouse holds four fifths of the logs, and a night brings the rest. It is killed (SIGKILL, with everything that it
has started) when so many of its nodes have ended, from the first to the last. The next build must end with the tables
of a night that nobody disturbed, checksum by checksum, and with those of a build from nothing. Its published copies
must hold the rows of their marts.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import scale
from benchmarks.contents import TABLES_OF_BUILDS, Content, find_stale_copies, read_contents
from benchmarks.growth import INTERACTIONS_PER_CHUNK
from benchmarks.harness import (
    BenchmarkError,
    Outcome,
    Table,
    argument_parser,
    build,
    command_of_build,
    finish,
    verdict,
    working_folder,
)
from benchmarks.nightly import add_interactions

COUNT_INTERACTIONS: Final = 500
COUNT_POINTS: Final = 12
_QUICK: Final = (100, 2)
_SHARE_FIRST: Final = 0.8
#: Share of the nodes that have ended at the last kill: data tests of the last tables run beside the publication.
_LAST: Final = 0.97
_ENVIRONMENT: Final = {"HCAT_ENCODER": scale.ENCODER, "HCAT_CLASSIFIER": "hashing", "HCAT_TAGGER": "none"}
_POLL_SECONDS: Final = 0.01
#: A review round stays as the first build drew it, because people have its sheets: a build from nothing draws another.
_DRAWN_ONCE: Final = frozenset({"int_interactions_sampled_for_review"})


class Kill(NamedTuple):
    """A night that was killed, and what became of it.

    Parameters
    ----------
    count_ended : int
        Nodes that had ended when the build was killed.
    running : str
        Names of the nodes that ran at that moment.
    is_passing : bool
        Whether the next build passed.
    differing : sequence of str
        Tables of the next build that differ from those of the undisturbed night.
    stale : sequence of str
        Published tables of the next build that do not hold the rows of their mart.
    """

    count_ended: int
    running: str
    is_passing: bool
    differing: Sequence[str]
    stale: Sequence[str]


class _Progress(NamedTuple):
    """Nodes of a build that have ended, and those that run."""

    count_ended: int
    running: tuple[str, ...]


def run(
    is_quick: bool = False,
    folder: Path | None = None,
    count_interactions: int = COUNT_INTERACTIONS,
    count_points: int = COUNT_POINTS,
) -> Outcome:
    """Return what became of a night that was killed at each of the points."""
    count, points = _QUICK if is_quick else (count_interactions, count_points)
    count_first = int(count * _SHARE_FIRST)
    with working_folder(folder) as work:
        # one place for every build: a warehouse elsewhere would be another setting
        raw_logs, warehouse, first = work / "raw", work / "warehouse", work / "first"
        shutil.rmtree(work, ignore_errors=True)
        sentences = max(scale.COUNT_SENTENCES * count // scale.COUNT_INTERACTIONS, 100)
        scale.write_raw_logs(raw_logs, count_first, sentences, max(count // INTERACTIONS_PER_CHUNK, 5))
        build(raw_logs, warehouse, environment=_ENVIRONMENT)
        shutil.copytree(warehouse, first)
        add_interactions(raw_logs, range(count_first, count), "night")
        count_nodes = len(build(raw_logs, warehouse, environment=_ENVIRONMENT).node_seconds)
        expected = read_contents(warehouse / "hcat.duckdb")
        shutil.rmtree(warehouse)
        build(raw_logs, warehouse, environment=_ENVIRONMENT)
        differences = _list_differences(expected, read_contents(warehouse / "hcat.duckdb"))
        from_nothing = [name for name in differences if name not in _DRAWN_ONCE]
        kills = []
        for point in range(points):
            # from the first node to the last ones, which publish
            after = 1 + int(_LAST * count_nodes) * point // max(points - 1, 1)
            kills.append(_kill_and_build(raw_logs, first, warehouse, after, expected))
            print(f"killed after {kills[-1].count_ended} nodes: {kills[-1]}", file=sys.stderr, flush=True)
    rows = [
        (
            str(kill.count_ended),
            kill.running,
            verdict(kill.is_passing),
            ", ".join(kill.differing) or "none",
            ", ".join(kill.stale) or "none",
        )
        for kill in kills
    ]
    is_kept = not from_nothing and all(kill.is_passing and not kill.differing and not kill.stale for kill in kills)
    table = Table(
        f"A night of {count - count_first} new interactions beside {count_first}",
        ("nodes that had ended", "nodes that ran", "the next build passes", "tables that differ", "copies that differ"),
        rows,
    )
    notes = (
        f"{count_nodes} nodes. Killed by SIGKILL with all processes of the build. The next build is compared with a "
        f"night that nobody disturbed, checksum by checksum: {len(expected.keys() - TABLES_OF_BUILDS)} tables. Copies "
        "are the Parquet files of the candidate and the tables of its DuckDB file. They are compared with the marts.",
        f"Left out, because they have a row for each build: {', '.join(sorted(TABLES_OF_BUILDS & expected.keys()))}.",
        "Tables in which the undisturbed night differs from a build of the same logs from nothing: "
        f"{', '.join(from_nothing) or 'none'}. A review round is left out: it stays as the first build drew it.",
    )
    return Outcome("killed", "Nights that are killed", (table,), notes, is_quick, is_kept)


def _kill_and_build(
    raw_logs: Path, first: Path, warehouse: Path, count_ended: int, expected: dict[str, Content]
) -> Kill:
    """Kill a night when so many nodes have ended, build again, and return what differs from the expected tables."""
    shutil.rmtree(warehouse, ignore_errors=True)
    shutil.copytree(first, warehouse)
    log = warehouse / "logs" / "dbt.log"
    log.unlink(missing_ok=True)
    # 0: one file, however long, so that no event is in a file that was set aside
    arguments = ("--log-format-file", "json", "--log-file-max-bytes", "0")
    words, variables = command_of_build(raw_logs, warehouse, arguments=arguments, environment=_ENVIRONMENT)
    with (warehouse / "output.txt").open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            words, env=variables, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        progress = _Progress(0, ())
        while process.poll() is None and progress.count_ended < count_ended:
            time.sleep(_POLL_SECONDS)
            progress = _read_progress(log)
        if process.poll() is not None:
            raise BenchmarkError(f"the build ended before {count_ended} of its nodes had")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    again = build(raw_logs, warehouse, environment=_ENVIRONMENT)
    return Kill(
        progress.count_ended,
        ", ".join(progress.running),
        again.exit_code == 0,
        _list_differences(expected, read_contents(warehouse / "hcat.duckdb")),
        find_stale_copies(warehouse),
    )


def _read_progress(log: Path) -> _Progress:
    """Return how far a build is, by the file that dbt writes; its last line may be half written."""
    if not log.exists():
        return _Progress(0, ())
    running: dict[str, None] = {}
    count_ended = 0
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if '"NodeStart"' not in line and '"NodeFinished"' not in line:
            continue
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            continue
        name = event["data"]["node_info"]["node_name"]
        if event["info"]["name"] == "NodeStart":
            running[name] = None
        else:
            running.pop(name, None)
            count_ended += 1
    return _Progress(count_ended, tuple(running))


def _list_differences(one: dict[str, Content], other: dict[str, Content]) -> list[str]:
    names: Iterable[str] = (one.keys() | other.keys()) - TABLES_OF_BUILDS
    return sorted(name for name in names if one.get(name) != other.get(name))


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark from the command line; exit code 1 when a table differs."""
    parser = argument_parser("killed", __doc__ or "")
    parser.add_argument("--interactions", type=int, default=COUNT_INTERACTIONS, help="interactions of the logs")
    parser.add_argument("--points", type=int, default=COUNT_POINTS, help="kills")
    options = parser.parse_args(arguments)
    outcome = run(options.quick, options.folder, options.interactions, options.points)
    return finish(outcome, "python -m benchmarks.killed")


if __name__ == "__main__":
    sys.exit(main())
