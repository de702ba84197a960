"""What every benchmark needs: a measured `dbt build`, the machine described, tables on screen and on a page."""

import argparse
import contextlib
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from hcat.engine.devices import choose_device

#: The project whose build is measured.
ROOT = Path(__file__).resolve().parents[1]

#: One result page per benchmark module, written by its run; docs/benchmarks.md sums them up and is kept by hand.
PAGES = ROOT / "docs" / "benchmarks"

#: Libraries whose version can move a time or a number.
LIBRARIES = ("dbt-core", "dbt-duckdb", "duckdb", "numpy", "pyarrow", "sentence-transformers", "torch", "transformers")

_POLL_SECONDS = 0.05
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_TAIL_CHARACTERS = 3000
_LOG_COLUMNS = 200

#: Why a benchmark has no outcome.
MISSING = "HCAT_BENCHMARK_DATA is not set or lacks its folder, or a package, browser or GPU is missing"

_LINK_BACK = "[All benchmarks](../benchmarks.md)"
_SECTION = re.compile(r"<!-- benchmark:(\w+) -->\n(.*?)\n<!-- /benchmark:\1 -->", re.DOTALL)


class BenchmarkError(RuntimeError):
    """A benchmark that cannot be run or whose build broke; the message says which."""


@dataclass(frozen=True, slots=True)
class Build:
    """One measured run of dbt."""

    #: Wall time from start to end of the process, interpreter start included.
    seconds: float
    #: Processor time of the process and its children: what other work on the machine takes is not in it.
    cpu_seconds: float
    #: Largest resident memory of the dbt process and those that it started, MiB.
    peak_mebibytes: float
    #: 0 = all passed; 1 = models were built and at least one data test or gate failed.
    exit_code: int
    #: Execution time of each model, seed and data test, seconds.
    node_seconds: Mapping[str, float]
    #: Names of the data tests, unit tests and gates that failed; none of them stops a benchmark.
    failed_tests: Sequence[str]
    #: Names of the models that were not built because of them.
    skipped: Sequence[str]


def build(
    raw_logs: Path,
    warehouse: Path,
    *,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    project: Path = ROOT,
) -> Build:
    """Return the measurements of one `dbt build` of ``raw_logs`` into ``warehouse`` (created when missing).

    The models are those of ``project``, a folder of hcat's own dbt project.

    dbt runs in a process of its own, because that is what a user starts and because memory can be told apart only so.
    Target and log folders lie beside the warehouse file, so that two builds never share a parse cache.
    """
    results = warehouse / "target" / "run_results.json"
    results.unlink(missing_ok=True)
    warehouse.mkdir(parents=True, exist_ok=True)
    words = [str(Path(sys.executable).parent / "dbt"), "build", "--quiet"]
    words += ["--target-path", str(warehouse / "target"), "--log-path", str(warehouse / "logs"), *arguments]
    variables = dict(os.environ) | {
        "HCAT_RAW_LOGS": str(raw_logs.resolve()),
        # the decisions and tables of the demo, whatever the logs
        "HCAT_DEMO": "1",
        "HCAT_WAREHOUSE": str(warehouse.resolve()),
        "DBT_PROFILES_DIR": str(ROOT),
        "PYTHONHASHSEED": "0",
    }
    variables |= environment or {}
    with (warehouse / "output.txt").open("w+", encoding="utf-8") as output:
        started, spent = time.perf_counter(), _children_seconds()
        process = subprocess.Popen(words, cwd=project, env=variables, stdout=output, stderr=subprocess.STDOUT)
        seen = _Usage(0.0, 0.0)
        while process.poll() is None:
            now = _use_of(process.pid)
            seen = _Usage(max(seen.cpu_seconds, now.cpu_seconds), max(seen.peak_mebibytes, now.peak_mebibytes))
            time.sleep(_POLL_SECONDS)
        seconds = time.perf_counter() - started
        # Spark's Java process is killed at the end and waited for by nobody: its time is what was last seen of it
        cpu_seconds = max(_children_seconds() - spent, seen.cpu_seconds)
        output.seek(0)
        tail = output.read()[-_TAIL_CHARACTERS:]
    if not results.exists():
        raise BenchmarkError(f"dbt wrote no results (exit code {process.returncode}):\n{tail}")
    return _read_results(results, seconds, cpu_seconds, seen.peak_mebibytes, process.returncode, tail)


def _children_seconds() -> float:
    """Return the processor time of all child processes that have ended and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read_results(path: Path, seconds: float, cpu_seconds: float, peak: float, exit_code: int, tail: str) -> Build:
    node_seconds: dict[str, float] = {}
    failed_tests: list[str] = []
    skipped: list[str] = []
    for result in json.loads(path.read_text(encoding="utf-8"))["results"]:
        kind, _, name = result["unique_id"].split(".")[:3]
        status = result["status"]
        node_seconds[name] = float(result["execution_time"])
        if kind in ("model", "seed"):
            if status == "skipped":
                skipped.append(name)
            if status == "error":
                raise BenchmarkError(f"{kind} {name} broke: {result['message']}\n{tail}")
        elif status in ("fail", "error"):
            failed_tests.append(name)
    return Build(seconds, cpu_seconds, peak, exit_code, node_seconds, sorted(failed_tests), sorted(skipped))


class _Usage(NamedTuple):
    """What a process and all that it has started have used: processor time, high-water mark of memory (MiB)."""

    cpu_seconds: float
    peak_mebibytes: float


def _use_of(process_id: int) -> _Usage:
    """Return what a running process and those that it has started have used so far, 0 where there is no /proc.

    The kernel keeps the mark of resident memory since the process's program started, so that polling misses growth of
    the last moment only. `getrusage` would not do: its value survives exec and starts at the size of the process that
    forked.
    """
    folder = Path(f"/proc/{process_id}")
    try:
        status = (folder / "status").read_text(encoding="ascii", errors="replace")
        # after the name in parentheses: user and system time of the process, and of its children that have ended
        times = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[11:15]
        children = [number for path in folder.glob("task/*/children") for number in path.read_text().split()]
    except OSError:
        return _Usage(0.0, 0.0)  # it has ended meanwhile
    match = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    used = [_use_of(int(number)) for number in children]
    return _Usage(
        sum(map(int, times)) / _TICKS_PER_SECOND + sum(each.cpu_seconds for each in used),
        (int(match.group(1)) / 1024 if match else 0.0) + sum(each.peak_mebibytes for each in used),
    )


@contextlib.contextmanager
def working_folder(given: Path | None) -> Iterator[Path]:
    """Yield ``given``, created when missing and kept, or a temporary folder that is deleted at the end."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="hcat-benchmark-") as folder:
        yield Path(folder)


def data_folder(name: str) -> Path | None:
    """Return ``$HCAT_BENCHMARK_DATA/<name>`` when the variable is set and the folder exists, else None."""
    root = os.environ.get("HCAT_BENCHMARK_DATA")
    if not root:
        return None
    folder = Path(root) / name
    return folder if folder.is_dir() else None


def describe_machine() -> str:
    """Return processor, memory, system, Python and library versions in one line, without names of the host."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES if _is_installed(name))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"{usable} CPU cores ({_processor()}), {memory:.0f} GiB memory, {_gpu()}{platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}, {versions}"
    )


def _processor() -> str:
    with contextlib.suppress(OSError):
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
        if match:
            return " ".join(match.group(1).split())
    return platform.processor() or "unnamed processor"


def _gpu() -> str:
    """Return the name of the GPU that the models of a build use, with a comma behind it, or nothing."""
    if choose_device("auto") != "cuda":
        return ""
    import torch

    return f"{torch.cuda.get_device_name()} ({torch.cuda.mem_get_info()[1] / 2**30:.0f} GiB), "


def _is_installed(name: str) -> bool:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return bool(metadata.version(name))
    return False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts with a title; the same rows go to the screen and to the page."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_markdown(self) -> str:
        """Return the table in Markdown, pipes inside cells escaped."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

        ruler = "|" + "|".join("---" if index == 0 else "---:" for index in range(len(self.columns))) + "|"
        return "\n".join([f"**{self.title}**", "", line(self.columns), ruler, *(line(row) for row in self.rows)])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a benchmark found."""

    #: Name of its section: that of the module, or another one for a variant (another engine, another classifier).
    name: str
    #: Heading of the section.
    title: str
    #: Results.
    tables: Sequence[Table]
    #: What a reader must know to judge them.
    notes: Sequence[str] = field(default_factory=tuple)
    #: A quick run tries the benchmark on a small input: it is printed and never written to the page.
    is_quick: bool = False
    #: False when a stated limit is missed; the process then ends with exit code 1.
    is_within_limits: bool = True
    #: Module name of a variant, whose section stands below that of the module on the same page.
    page: str | None = None


def print_outcome(outcome: Outcome) -> None:
    """Print tables and notes of an outcome."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as ScreenTable

    console = Console()
    if not console.is_terminal:
        # a log has no edge: rows stay whole
        console = Console(width=_LOG_COLUMNS)
    console.rule(escape(outcome.title))
    for table in outcome.tables:
        screen = ScreenTable(title=escape(table.title), title_justify="left")
        for index, column in enumerate(table.columns):
            screen.add_column(escape(column), justify="left" if index == 0 else "right", overflow="fold")
        for row in table.rows:
            screen.add_row(*map(escape, row))
        console.print(screen)
    for note in outcome.notes:
        console.print(f"- {escape(note)}")


def write_outcome(outcome: Outcome, command: str, pages: Path = PAGES) -> Path:
    """Overwrite the section of ``outcome`` on the page of its module and return the page's path.

    A page holds one section per variant, the module's own first; the sections of other variants stay as they are.
    """
    module = outcome.page or outcome.name
    page = pages / f"{module}.md"
    parts = [f"{'#' if outcome.name == module else '##'} {outcome.title}", ""]
    parts += [f"Command: `{command}`, {datetime.now(UTC):%Y-%m-%d} (UTC). Machine: {describe_machine()}.", ""]
    for table in outcome.tables:
        parts += [table.to_markdown(), ""]
    parts += [f"- {note}" for note in outcome.notes]
    sections = read_sections(page.read_text(encoding="utf-8")) if page.exists() else {}
    pages.mkdir(parents=True, exist_ok=True)
    page.write_text(to_page(module, sections | {outcome.name: "\n".join(parts)}), encoding="utf-8")
    return page


def read_sections(page: str) -> dict[str, str]:
    """Return the sections of a page by name, without their markers."""
    return dict(_SECTION.findall(page))


def to_page(module: str, sections: Mapping[str, str]) -> str:
    """Return the page of a benchmark module: a link to the summary, the module's own section, those of its variants."""
    parts = [_LINK_BACK]
    for name in sorted(sections, key=lambda name: (name != module, name)):
        parts.append(f"<!-- benchmark:{name} -->\n{sections[name]}\n<!-- /benchmark:{name} -->")
    return "\n\n".join(parts) + "\n"


def argument_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks share."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument("--quick", action="store_true", help="a small input; printed, not written to docs/benchmarks")
    parser.add_argument("--folder", type=Path, help="working folder that is kept (default: a temporary one)")
    return parser


def finish(outcome: Outcome, command: str) -> int:
    """Print an outcome, write it to its page unless the run was quick, and return the exit code."""
    print_outcome(outcome)
    if not outcome.is_quick:
        write_outcome(outcome, command)
    return 0 if outcome.is_within_limits else 1


def run_alone(name: str, description: str | None, run: Callable[[bool, Path | None], Outcome | None]) -> int:
    """Run one benchmark from the command line; exit code 1 when a limit is missed, 2 without what it needs."""
    options = argument_parser(name, (description or "").splitlines()[0]).parse_args()
    outcome = run(options.quick, options.folder)
    if outcome is None:
        print(f"{name}: {MISSING}", file=sys.stderr)
        return 2
    return finish(outcome, f"python -m benchmarks.{name}")


def show_share(value: float) -> str:
    """Return a share as tables show it: .913, or a dash where there is none."""
    return "-" if value != value else f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.2f}"


def verdict(is_within: bool) -> str:
    """Return the word that stands beside a limit."""
    return "met" if is_within else "MISSED"
