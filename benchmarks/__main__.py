"""Runs every benchmark, each writing its page in docs/benchmarks; exit code 1 when a limit is missed."""

import argparse
import importlib
import sys
import time
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.harness import MISSING, BenchmarkError, Outcome, print_outcome, write_outcome

#: The short ones first. A benchmark whose data are not there returns None.
BENCHMARKS: Final = (
    "bias",
    "privacy",
    "safety",
    "topics",
    "sampling",
    "retrieval",
    "robustness_groups",
    "generalisation",
    "robustness",
    "explorer",
    "planted",
    "determinism",
    "gpu",
    "nightly",
)


def run(name: str, is_quick: bool) -> Outcome | None:
    """Return the outcome of a benchmark."""
    outcome: Outcome | None = importlib.import_module(f"benchmarks.{name}").run(is_quick)
    return outcome


def main(arguments: list[str] | None = None) -> int:
    """Run the named benchmarks, or all; if one breaks, the others still run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="small inputs; printed, not written to docs/benchmarks")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"names must be among {', '.join(BENCHMARKS)}, got {', '.join(unknown)}")
    chosen = [name for name in BENCHMARKS if not options.names or name in options.names]
    console = Console()
    missed: list[str] = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        for number, name in enumerate(chosen, start=1):
            task = progress.add_task(f"{number} of {len(chosen)}: {name}", total=None)
            console.print(f"{number} of {len(chosen)}: {name} started")
            started = time.perf_counter()
            try:
                outcome = run(name, options.quick)
            except (BenchmarkError, OSError, ValueError) as error:
                missed.append(name)
                console.print(f"{name} broke: {escape(str(error))}")
                continue
            finally:
                progress.remove_task(task)
            if outcome is None:
                console.print(f"{name} skipped: {MISSING}")
                continue
            print_outcome(outcome)
            if not outcome.is_quick:
                write_outcome(outcome, f"python -m benchmarks.{name}")
            if not outcome.is_within_limits:
                missed.append(name)
            console.print(f"{name} took {time.perf_counter() - started:,.0f} s")
    console.print(f"Limits missed or broken: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
