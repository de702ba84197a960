"""Run the parts and write docs/promises.md.

``--quick`` measures few runs and prints them; ``--part`` runs one part and prints it. A design that was measured is
kept in the working folder (``--folder``), so that an interrupted run goes on where it stopped; ``--runs 0`` writes the
page from what the folder holds.
"""

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
from benchmarks.promises.common import MARGIN, Designs, Promise

#: Part -> heading of its section.
PARTS: Final = {
    "intervals": "Intervals",
    "failure_rates": "Failure rates",
    "versions": "Two versions",
    "drift": "Drift",
    "sets": "Prediction sets",
    "thresholds": "Thresholds",
    "cells": "Weak cells",
    "looks": "Repeated looks and raters",
}
PAGE: Final = ROOT / "docs" / "promises.md"
COUNT_RUNS, COUNT_RUNS_QUICK = 2_000, 40
SEED: Final = 20260101

_INTRODUCTION: Final = """# Promises

hcat states intervals, error rates and coverages. This page shows how often each promise holds when the data are hard:
clusters of very uneven size, rare failures, shared documents, weeks that differ by chance. All data are simulated.

A row has the worst design and the median over all designs. **Kept** means more than a value inside the limit: two
Monte Carlo errors further it still lies within .01 of the limit. **No** means that it lies beyond even with two errors
less, and *not shown* that the runs are too few to say either. A slow design has fewer runs than the command asks for,
and a row says the fewest. [Why some fail](decisions/0028-one-interval-of-clustered-rates.md#what-is-out-of-reach).
"""


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a promise is not kept."""
    parser = argument_parser("promises", __doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="run one part; printed, not written to docs/promises.md")
    parser.add_argument("--runs", type=int, help=f"runs of each design (default: {COUNT_RUNS}); 0 = only the page")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print the promises as JSON, for other programs")
    options = parser.parse_args(arguments)
    standard = COUNT_RUNS_QUICK if options.quick else COUNT_RUNS
    count_runs = standard if options.runs is None else options.runs
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
        most = max(row.count_runs for promises in found.values() for row in promises)
        command = f"python -m benchmarks.promises --runs {most} --seed {options.seed}"
        machine = f"{datetime.now(UTC):%Y-%m-%d} (UTC). Machine: {describe_machine()}"
        PAGE.write_text(_page(found, command, machine), encoding="utf-8")
    return 0 if is_kept else 1


def _measure(part: str, count_runs: int, seed: int, folder: Path) -> list[Promise]:
    """Return the promises of a part; a design that the folder holds of as many runs is not measured again."""
    kept = folder / f"promises_{part}_{seed}.json"
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    designs: Designs = importlib.import_module(f"benchmarks.promises.{part}").designs(seed)
    for name, measure in designs.items():
        if found.get(name, {"runs": 0})["runs"] < count_runs:
            found[name] = {"runs": count_runs, "rows": [asdict(promise) for promise in measure(count_runs)]}
            kept.write_text(json.dumps(found), encoding="utf-8")
    return [Promise(**row) for name in designs if name in found for row in found[name]["rows"]]


def _verdict(row: Promise) -> str:
    if not row.has_limit:
        return "-"
    return "yes" if row.is_kept else "**no**" if row.excess(-2 * row.error) > MARGIN else "not shown"


def _tables(promises: Sequence[Promise]) -> list[Table]:
    """Return one table per promise, its designs in the order in which they were measured."""
    columns = ("design", "measured", "Monte Carlo error", "limit", "kept", "runs", "note")
    return [
        Table(text, columns, [_cells(row) for row in promises if row.promise == text])
        for text in dict.fromkeys(row.promise for row in promises)
    ]


def _cells(row: Promise) -> tuple[str, ...]:
    measured, error = f"{row.measured:.3f}", f"{row.error:.3f}"
    return row.design, measured, error, _limit(row), _verdict(row), f"{row.count_runs:,}", row.note


def _limit(row: Promise) -> str:
    if row.low is not None and row.high is not None:
        return f"{row.low:g} to {row.high:g}"
    return f"at least {row.low:g}" if row.low is not None else f"at most {row.high:g}" if row.high is not None else "-"


def _page(found: dict[str, list[Promise]], command: str, machine: str) -> str:
    """Return docs/promises.md: one row per promise with its worst design, then the designs that do not keep it."""
    parts = [_INTRODUCTION, f"Command: `{command}`, {machine}.\n"]
    columns = ("promise", "kept", "designs kept", "limit", "median", "worst", "runs", "worst design")
    for part, promises in found.items():
        rows = [
            (
                text,
                _verdict(worst),
                f"{sum(row.is_kept for row in limited)} of {len(limited)}" if limited else "no limit",
                _limit(worst),
                f"{median(row.measured for row in own):.3f}",
                f"{worst.measured:.3f} ± {worst.error:.3f}",
                f"{min(row.count_runs for row in own):,}",
                worst.design,
            )
            for text in dict.fromkeys(row.promise for row in promises)
            if (own := [row for row in promises if row.promise == text])
            for limited in [[row for row in own if row.has_limit]]
            for worst in [max(own, key=_badness)]
        ]
        parts.append(Table(PARTS[part], columns, rows).to_markdown() + "\n")
    missed = [row for promises in found.values() for row in promises if row.has_limit and not row.is_kept]
    parts.append("## Not kept, or not shown\n")
    parts += [table.to_markdown() + "\n" for table in _tables(missed)] or ["Every promise is kept.\n"]
    return "\n".join(parts)


def _badness(row: Promise) -> tuple[bool, bool, float]:
    """Return what sorts designs from the best to the worst."""
    return row.has_limit, not row.is_kept, row.excess(0) if row.has_limit else -row.measured


if __name__ == "__main__":
    sys.exit(main())
