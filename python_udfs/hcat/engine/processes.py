"""Rules over texts, divided among processes, because threads of one Python cannot run them side by side."""

import gc
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import current_process, get_context, parent_process
from typing import Any, Final, TypeVar

Result = TypeVar("Result")

PROCESSES_VARIABLE: Final = "HCAT_PROCESSES"
DEFAULT_MAXIMUM: Final = 8
"""Most processes without a setting, since each keeps what it read, up to 1 GiB."""

ROWS_WORTH_PROCESSES: Final = 10_000
"""Fewer rows are finished before a process has started."""

_CALLS_AHEAD: Final = 2

_OBJECTS_BETWEEN_COLLECTIONS: Final = (100_000, 50, 1_000)
"""What rules keep of texts has no cycles. With Python's own numbers (700, 10, 10) a sixth of the time goes to finding
none."""


class ProcessError(RuntimeError):
    """Processes cannot be started or have died; the message says what to set."""


def count_processes() -> int:
    """Return the number of processes that divide the work: HCAT_PROCESSES, or one per core and at most 8."""
    setting = os.environ.get(PROCESSES_VARIABLE, "auto")
    if setting == "auto":
        if current_process().daemon:  # of a scheduler's pool: it may start none
            return 1
        # macOS does not tell which cores a process may use
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, DEFAULT_MAXIMUM)
    if not setting.isascii() or not setting.isdigit() or int(setting) < 1:
        raise ProcessError(f"{PROCESSES_VARIABLE} must be auto or a whole number from 1, got {setting!r}")
    return int(setting)


def map_in_processes(
    function: Callable[..., Result], calls: Iterator[tuple[Any, ...]], processes: int
) -> Iterator[Result]:
    """Yield ``function(*call)`` for each call, in the order of the calls."""
    # spawned, not forked: the build has threads, and a fork may wait for a lock that no thread holds any more
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _start_process, (function,))
    try:
        yield from finish_in_order(pool, _call, calls, _CALLS_AHEAD * processes - 1)
    except BrokenProcessPool as error:
        raise ProcessError(
            f"a process that read texts ended without an answer, for want of memory most likely; "
            f"{PROCESSES_VARIABLE}=1 reads them in the build's own process"
        ) from error


def finish_in_order(
    pool: Executor, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]], ahead: int
) -> Iterator[Result]:
    """Yield ``function(*call)`` in the order of the calls, each after ``ahead`` more calls were given to a pool."""
    waiting: deque[Future[Result]] = deque()
    try:
        for call in calls:
            waiting.append(pool.submit(function, *call))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # behind an error, what has not begun is not begun
        pool.shutdown(cancel_futures=True)


_function: Callable[..., Any]


def _start_process(function: Callable[..., Any]) -> None:
    global _function
    _function = function
    gc.set_threshold(*_OBJECTS_BETWEEN_COLLECTIONS)
    # a build that is killed does not say so, and its processes would wait for it forever
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _call(*arguments: Any) -> Any:
    return _function(*arguments)
