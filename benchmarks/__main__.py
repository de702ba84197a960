"""Runs every benchmark, each writing its page in docs/benchmarks; exit code 1 when a limit is missed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks import (
    accuracy,
    agreement,
    bias,
    calibration,
    coverage,
    cut_offs,
    determinism,
    drift,
    engines,
    evidence,
    explorer,
    gpu,
    growth,
    judges,
    killed,
    logs_read,
    nightly,
    out_of_fold,
    planted,
    privacy,
    query_generation,
    rates,
    reseeded,
    retrieval,
    robustness,
    robustness_groups,
    safety,
    sampling,
    scale,
    scored_million,
    support_claims,
    swaps,
    throughput,
    topics,
    transfer,
    weaknesses,
)
from benchmarks.harness import BenchmarkError, Outcome, data_folder, print_outcome, write_outcome


def _run_accuracy(is_quick: bool) -> Outcome | None:
    data = data_folder("ragtruth")
    return None if data is None else accuracy.run(data, is_quick)[0]


#: The short ones first. A benchmark whose data are not there returns None.
BENCHMARKS: dict[str, Callable[[bool], Outcome | None]] = {
    "agreement": agreement.run,
    "coverage": coverage.run,
    "bias": bias.run,
    "rates": rates.run,
    "cut_offs": cut_offs.run,
    "calibration": calibration.run,
    "weaknesses": weaknesses.run,
    "scored_million": scored_million.run,
    "support_claims": support_claims.run,
    "drift": drift.run,
    "privacy": privacy.run,
    "safety": safety.run,
    "topics": topics.run,
    "sampling": sampling.run,
    "retrieval": retrieval.run,
    "robustness_groups": robustness_groups.run,
    "query_generation": query_generation.run,
    "judges": judges.run,
    "killed": killed.run,
    "robustness": robustness.run,
    "explorer": explorer.run,
    "planted": planted.run,
    "logs_read": logs_read.run,
    "determinism": determinism.run,
    "engines": engines.run,
    "throughput": throughput.run,
    "gpu": gpu.run,
    "accuracy": _run_accuracy,
    "out_of_fold": out_of_fold.run,
    "transfer": transfer.run,
    "transfer_accurate": transfer.run_accurate,
    "swaps": swaps.run,
    "evidence": evidence.run,
    "scale": scale.run,
    "reseeded": reseeded.run,
    "nightly": nightly.run,
    "growth": growth.run,
    "growth_spark": growth.run_on_spark,
}


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
                outcome = BENCHMARKS[name](options.quick)
            except (BenchmarkError, OSError, ValueError) as error:
                missed.append(name)
                console.print(f"{name} broke: {escape(str(error))}")
                continue
            finally:
                progress.remove_task(task)
            if outcome is None:
                console.print(
                    f"{name} skipped: HCAT_BENCHMARK_DATA is not set or lacks its folder, or a package or GPU is "
                    "missing"
                )
                continue
            print_outcome(outcome)
            if not outcome.is_quick:
                # a variant is no module: its name goes to this one
                variant = outcome.page not in (None, outcome.name)
                write_outcome(outcome, f"python -m benchmarks{' ' if variant else '.'}{name}")
            if not outcome.is_within_limits:
                missed.append(name)
            console.print(f"{name} took {time.perf_counter() - started:,.0f} s")
    console.print(f"Limits missed or broken: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
