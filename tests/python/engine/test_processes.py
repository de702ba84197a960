"""Work shared out to processes: the same rows in the same order, clear errors, and no process that stays behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hcat.engine import relations
from hcat.engine.processes import PROCESSES_VARIABLE, ProcessError, count_processes, map_in_processes
from hcat.engine.relations import map_batches
from hcat.metrics.batches import SPLIT_SCHEMA, split_passages

COUNT_ROWS = 60
BATCH_ROWS = 7


@pytest.fixture(autouse=True)
def two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROCESSES_VARIABLE, "2")
    monkeypatch.setattr(relations, "ROWS_WORTH_PROCESSES", COUNT_ROWS)


@pytest.fixture
def session() -> Iterator[duckdb.DuckDBPyConnection]:
    """Passages of two sentences each."""
    with duckdb.connect() as connection:
        connection.execute(
            "create table work as select 'passage_' || n as passage_id,"
            f" 'Call us on day ' || n || '. It costs nothing.' as passage_text from range({COUNT_ROWS}) as numbers (n)"
        )
        yield connection


def refuse_to_start(*arguments: Any) -> Any:
    raise AssertionError("processes were started")


def test_batches_give_the_same_rows_in_the_same_order(session: duckdb.DuckDBPyConnection) -> None:
    passages = session.table("work")
    alone = map_batches(passages, split_passages, SPLIT_SCHEMA, BATCH_ROWS).read_all()
    shared = map_batches(passages, split_passages, SPLIT_SCHEMA, BATCH_ROWS, in_processes=True).read_all()
    assert alone.num_rows == 2 * COUNT_ROWS
    assert shared.equals(alone)


@pytest.mark.parametrize(("rows", "setting"), [(COUNT_ROWS - 1, "2"), (COUNT_ROWS, "1")])
def test_little_work_and_one_process_start_none(
    session: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, rows: int, setting: str
) -> None:
    monkeypatch.setenv(PROCESSES_VARIABLE, setting)
    monkeypatch.setattr(relations, "map_in_processes", refuse_to_start)
    passages = session.table("work").limit(rows)
    read = map_batches(passages, split_passages, SPLIT_SCHEMA, BATCH_ROWS, in_processes=True).read_all()
    assert read.num_rows == 2 * rows


def test_one_process_for_each_core_up_to_eight(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count_processes() == 2
    monkeypatch.delenv(PROCESSES_VARIABLE)
    for cores, expected in ((1, 1), (3, 3), (64, 8)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        assert count_processes() == expected
    # where the system knows no affinity
    monkeypatch.delattr(os, "sched_getaffinity")
    for cores, expected in ((None, 1), (4, 4)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert count_processes() == expected


def test_a_process_that_may_start_none_starts_none() -> None:
    daemon = get_context("spawn").Pool(1)
    with daemon:
        assert daemon.apply(count_without_setting) == 1


def count_without_setting() -> int:
    del os.environ[PROCESSES_VARIABLE]
    return count_processes()


@pytest.mark.parametrize("setting", ["0", "-1", "two", "", "1.5", "²"])
def test_a_setting_that_is_no_number_is_named(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv(PROCESSES_VARIABLE, setting)
    with pytest.raises(ProcessError, match=PROCESSES_VARIABLE):
        count_processes()


def negate(number: int) -> int:
    # later calls are done sooner
    time.sleep(0.02 / (1 + number))
    return -number


def divide(number: int) -> float:
    return 1 / number


def die(number: int) -> int:
    os._exit(number)


class Counter:
    """Counts its own calls."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, number: int) -> int:
        self.count += 1
        return self.count


def call(function: Callable[[int], Any], numbers: Iterator[int], count: int = 2) -> list[Any]:
    return list(map_in_processes(function, ((number,) for number in numbers), count))


def test_a_process_keeps_its_function_and_the_caller_its_own() -> None:
    counter = Counter()
    assert call(counter, iter(range(5)), count=1) == [1, 2, 3, 4, 5]
    assert counter.count == 0


def test_calls_are_read_a_few_ahead() -> None:
    read: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            read.append(number)
            yield number

    results = map_in_processes(negate, ((number,) for number in numbers()), 2)
    next(results)
    assert len(read) < 10
    results.close()  # type: ignore[attr-defined]


def test_an_error_of_the_function_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        call(divide, iter((1, 0, 2)))


def test_a_process_that_dies_is_an_error_that_says_what_to_set() -> None:
    with pytest.raises(ProcessError, match=f"{PROCESSES_VARIABLE}=1"):
        call(die, iter((3,)))


PARENT = """
import os, sys, time
from hcat.engine.processes import map_in_processes
sys.path.insert(0, sys.argv[1])
from test_processes import tell_and_wait
list(map_in_processes(tell_and_wait, ((sys.argv[2],) for _ in range(2)), 2))
"""


def tell_and_wait(folder: str) -> None:
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(120)


def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", PARENT, str(Path(__file__).parent), str(tmp_path)]
    parent = subprocess.Popen(arguments)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
        assert parent.poll() is None
        time.sleep(0.05)
    numbers = [int(path.name) for path in tmp_path.iterdir()]
    assert len(numbers) == 2
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while any(map(is_alive, numbers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, numbers))


def is_alive(number: int) -> bool:
    """Return whether a process runs; one that nobody has waited for is dead."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
