"""Two builds of one input agree table by table; other batch borders and an incremental build agree within rounding."""

import json
import shutil
import sys
from pathlib import Path

from benchmarks.contents import RUN_COLUMNS, Content, read_contents
from benchmarks.harness import ROOT, Outcome, Table, build, run_alone, verdict, working_folder

#: Largest difference of a score that rounding may make when texts meet in other batches.
TOLERANCE = 1e-5

#: What moves batch borders (hcat.engine.sizes) and must move nothing else.
_OTHER_BORDERS = {"HCAT_CUT_SMALLER": "buckets"}

_QUICK_INTERACTIONS = 60


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome:
    """Return the comparison of four builds of the bundled demo: twice the same, other batch borders, in two steps."""
    with working_folder(folder) as work:
        shutil.rmtree(work, ignore_errors=True)
        raw_logs, first_part = work / "raw", work / "raw_first_part"
        count = _copy_demo(raw_logs, _QUICK_INTERACTIONS if is_quick else None)
        _copy_demo(first_part, count // 2)
        for name in ("first", "second"):
            build(raw_logs, work / name)
        build(raw_logs, work / "borders", environment=_OTHER_BORDERS)
        build(first_part, work / "steps")
        for path in raw_logs.glob("*.jsonl"):
            shutil.copy(path, first_part / path.name)
        build(first_part, work / "steps")
        databases = {name: work / name / "hcat.duckdb" for name in ("first", "second", "borders", "steps")}
        first, second = read_contents(databases["first"]), read_contents(databases["second"])
        differences = {
            "other batch borders": _largest_difference(databases["first"], databases["borders"]),
            "half of the interactions first, then all": _largest_difference(databases["first"], databases["steps"]),
        }
    rows = _compare(first, second)
    is_close = all(unmatched == 0 and largest <= TOLERANCE for unmatched, largest in differences.values())
    tables = (
        Table(
            f"Tables in which two builds of the demo ({count} interactions) in two folders differ",
            ("table", "rows", "verdict"),
            rows or [(f"none of {len(first)}", "", verdict(True))],
        ),
        Table(
            "Scores of fct_evaluations against build 1",
            ("build", "rows without partner", "largest difference", "limit", "verdict"),
            [
                (
                    name,
                    str(unmatched),
                    f"{largest:.1e}",
                    f"{TOLERANCE:.0e}",
                    verdict(unmatched == 0 and largest <= TOLERANCE),
                )
                for name, (unmatched, largest) in differences.items()
            ],
        ),
    )
    borders = ", ".join(f"{name} = {value}" for name, value in _OTHER_BORDERS.items())
    notes = (
        f"Columns that name a build, left out of the checksums: {', '.join(sorted(RUN_COLUMNS))}; and in the "
        "published_* tables the file checksums of tables that have one.",
        f"{sum(first[table] == second.get(table) for table in first)} of {len(first)} tables are equal; a checksum is "
        "the sum of the rows' hashes, floating point to the last bit.",
        f"Other batch borders: {borders}. In two steps, the second build adds the other half of the interactions file.",
    )
    return Outcome("determinism", "Determinism", tables, notes, is_quick, not rows and is_close)


def _compare(first: dict[str, Content], second: dict[str, Content]) -> list[tuple[str, str, str]]:
    """Return name, rows and verdict of each table that differs."""
    return [
        (table, " and ".join("missing" if one is None else f"{one.count_rows:,}" for one in pair), verdict(False))
        for table in sorted({*first, *second})
        for pair in [(first.get(table), second.get(table))]
        if pair[0] != pair[1]
    ]


def _largest_difference(first: Path, second: Path) -> tuple[int, float]:
    """Return how many scores have no partner of equal status, and the largest difference of two partners."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"attach '{first}' as first_build (read_only)")
        connection.execute(f"attach '{second}' as second_build (read_only)")
        unmatched, largest = connection.sql(
            """
            select
                count(*) filter (
                    where first_scores.score_status is distinct from second_scores.score_status
                    or (first_scores.raw_score is null) <> (second_scores.raw_score is null)
                ),
                coalesce(max(abs(first_scores.raw_score - second_scores.raw_score)), 0)
            from first_build.fct_evaluations as first_scores
            full join second_build.fct_evaluations as second_scores
                on first_scores.evaluation_id = second_scores.evaluation_id
            """
        ).fetchall()[0]
    return int(unmatched), float(largest)


def _copy_demo(folder: Path, count_interactions: int | None) -> int:
    """Copy the bundled raw logs, of the first interactions alone when a count is given, and return their number."""
    shutil.copytree(ROOT / "demo" / "logs", folder, dirs_exist_ok=True)
    interactions = _read_lines(folder / "interactions.jsonl")[:count_interactions]
    kept = {json.loads(line)["interaction_id"] for line in interactions}
    (folder / "interactions.jsonl").write_text("".join(interactions), encoding="utf-8")
    for name in ("retrievals.jsonl", "ratings.jsonl"):
        lines = [line for line in _read_lines(folder / name) if json.loads(line)["interaction_id"] in kept]
        (folder / name).write_text("".join(lines), encoding="utf-8")
    return len(interactions)


def _read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


if __name__ == "__main__":
    sys.exit(run_alone("determinism", __doc__, run))
