"""Run the parts and write docs/promises.md.

``--quick`` measures few runs and prints them; ``--part`` runs one part and prints it. A part that was measured is kept
in the working folder (``--folder``), so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.harness import ROOT, Outcome, Table, argument_parser, describe_machine, print_outcome, working_folder
from benchmarks.promises.common import Promise

#: Part -> heading of its section.
PARTS: Final = {
    "intervals": "Intervals",
    "failure_rates": "Failure rates",
    "versions": "Two versions",
    "drift": "Drift",
    "sets": "Prediction sets",
    "thresholds": "Thresholds",
    "cells": "Weak cells",
}
PAGE: Final = ROOT / "docs" / "promises.md"
COUNT_RUNS, COUNT_RUNS_QUICK = 2_000, 40
SEED: Final = 20260101

_INTRODUCTION: Final = """# Promises

hcat states intervals, error rates and coverages. This page shows how often each promise holds when the data are hard:
clusters of very uneven size, rare failures, documents that several queries share, weeks that differ by chance. All data
of this page are simulated, and the generators are in `benchmarks/promises/`. A promise counts as kept when the measured
value is inside its limits, give or take two Monte Carlo standard errors. A row has the median over the designs and the
design that comes closest to breaking the promise, or breaks it. `--json` prints every design.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a promise is not kept."""
    parser = argument_parser("promises", __doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="run one part; printed, not written to docs/promises.md")
    parser.add_argument("--runs", type=int, help=f"runs of each design (default: {COUNT_RUNS})")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print the promises as JSON, for other programs")
    options = parser.parse_args(arguments)
    count_runs = options.runs or (COUNT_RUNS_QUICK if options.quick else COUNT_RUNS)
    parts = [options.part] if options.part else list(PARTS)
    with working_folder(options.folder) as folder:
        found = {part: _measure(part, count_runs, options.seed, folder) for part in parts}
    is_kept = all(promise.is_kept for promises in found.values() for promise in promises)
    if options.json:
        print(json.dumps([asdict(row) | {"is_kept": row.is_kept} for rows in found.values() for row in rows]))
        return 0 if is_kept else 1
    for part, promises in found.items():
        print_outcome(Outcome("promises", PARTS[part], _tables(promises)))
    if not (options.quick or options.part):
        command = f"python -m benchmarks.promises --runs {count_runs} --seed {options.seed}"
        machine = f"{datetime.now(UTC):%Y-%m-%d} (UTC). Machine: {describe_machine()}"
        PAGE.write_text(_page(found, command, machine), encoding="utf-8")
    return 0 if is_kept else 1


def _measure(part: str, count_runs: int, seed: int, folder: Path) -> list[Promise]:
    kept = folder / f"promises_{part}_{count_runs}_{seed}.json"
    if kept.exists():
        return [Promise(**row) for row in json.loads(kept.read_text(encoding="utf-8"))]
    promises: list[Promise] = importlib.import_module(f"benchmarks.promises.{part}").measure(count_runs, seed)
    kept.write_text(json.dumps([asdict(promise) for promise in promises]), encoding="utf-8")
    return promises


def _tables(promises: Sequence[Promise]) -> list[Table]:
    """Return one table per promise, its designs in the order in which they were measured."""
    columns = ("design", "measured", "Monte Carlo error", "limit", "kept", "runs", "note")
    return [
        Table(
            text,
            columns,
            [
                (
                    row.design,
                    f"{row.measured:.3f}",
                    f"{row.error:.3f}",
                    _limit(row),
                    "-" if not _has_limit(row) else "yes" if row.is_kept else "**no**",
                    f"{row.count_runs:,}",
                    row.note,
                )
                for row in promises
                if row.promise == text
            ],
        )
        for text in dict.fromkeys(row.promise for row in promises)
    ]


def _has_limit(row: Promise) -> bool:
    return row.low is not None or row.high is not None


def _count_kept(limited: Sequence[Promise]) -> str:
    return f"{sum(row.is_kept for row in limited)} of {len(limited)}" if limited else "no limit"


def _limit(row: Promise) -> str:
    if row.low is not None and row.high is not None:
        return f"{row.low:g} to {row.high:g}"
    return f"at least {row.low:g}" if row.low is not None else f"at most {row.high:g}" if row.high is not None else "-"


def _page(found: dict[str, list[Promise]], command: str, machine: str) -> str:
    """Return docs/promises.md: one row per promise with its worst design, then the designs that break one."""
    parts = [_INTRODUCTION, f"Command: `{command}`, {machine}.\n"]
    for part, promises in found.items():
        rows = [
            (
                text,
                _count_kept([row for row in own if _has_limit(row)]),
                _limit(worst),
                f"{median(row.measured for row in own):.3f}",
                f"{worst.measured:.3f}",
                worst.design,
            )
            for text in dict.fromkeys(row.promise for row in promises)
            if (own := [row for row in promises if row.promise == text])
            for worst in [max(own, key=_distance)]
        ]
        columns = ("promise", "designs kept", "limit", "median", "worst", "worst design")
        parts.append(Table(PARTS[part], columns, rows).to_markdown() + "\n")
    broken = [row for promises in found.values() for row in promises if not row.is_kept]
    parts.append("## Not kept\n")
    parts += [table.to_markdown() + "\n" for table in _tables(broken)] or ["Every promise is kept.\n"]
    return "\n".join(parts)


def _distance(row: Promise) -> tuple[bool, float]:
    """Return what sorts designs from the best to the worst: how far the value lies beyond or inside its limits."""
    sides = [row.measured - row.high] if row.high is not None else []
    sides += [row.low - row.measured] if row.low is not None else []
    return bool(sides), max(sides, default=-row.measured)


if __name__ == "__main__":
    sys.exit(main())
