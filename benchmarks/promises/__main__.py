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
value is inside its limits, give or take two Monte Carlo standard errors.
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
        PAGE.write_text(_page(found, count_runs, options.seed), encoding="utf-8")
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


def _page(found: dict[str, list[Promise]], count_runs: int, seed: int) -> str:
    """Return docs/promises.md: a summary by promise, then every design."""
    all_rows = [row for promises in found.values() for row in promises]
    summary = Table(
        "Kept designs by promise",
        ("promise", "designs kept", "lowest", "highest"),
        [
            (
                text,
                _count_kept([row for row in rows if _has_limit(row)]),
                f"{min(row.measured for row in rows):.3f}",
                f"{max(row.measured for row in rows):.3f}",
            )
            for text in dict.fromkeys(row.promise for row in all_rows)
            if (rows := [row for row in all_rows if row.promise == text])
        ],
    )
    command = f"python -m benchmarks.promises --runs {count_runs} --seed {seed}"
    parts = [
        _INTRODUCTION,
        f"Command: `{command}`, {datetime.now(UTC):%Y-%m-%d} (UTC). Machine: {describe_machine()}.\n",
        summary.to_markdown() + "\n",
    ]
    for part, promises in found.items():
        parts.append(f"## {PARTS[part]}\n")
        parts += [table.to_markdown() + "\n" for table in _tables(promises)]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
