"""What a night costs: the build again with nothing new, a little new, new labels, a changed decision, a late record.

Each night starts from the warehouse that a build from nothing left, so that the nights do not depend on each other.
Models are off as in :mod:`benchmarks.scale`: what is measured is the pipeline. With `--paired FOLDER` every build is
also made by the code of another checkout, in turn, on a warehouse of its own. With `--engine spark` Apache Spark
builds, in one process with two cores.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from benchmarks import query_log, scale
from benchmarks.growth import ENGINES, INTERACTIONS_PER_CHUNK, stage_seconds
from benchmarks.harness import ROOT, Build, Outcome, Table, argument_parser, build, finish, working_folder

SIZES: Final = (10_000, 100_000, 1_000_000)
SIZES_QUICK: Final = (500,)
#: Up to this size each night is built three times, and the median stands in the table.
SIZE_REPEATED: Final = 100_000
#: Up to this size ten nights follow one another, and the disk is measured after them.
SIZE_GROWN: Final = 10_000
#: Above this size a copy of the warehouse for each night asks for too much disk: the nights follow one another.
SIZE_COPIED: Final = 300_000
COUNT_REPEATS: Final = 3
SHARE_NEW: Final = 0.01
COUNT_LABELS: Final = 100
#: Labels in the logs of the build from nothing: calibrators are fitted, and new labels change them.
COUNT_LABELS_BEFORE: Final = 300
SHARE_ACCEPTED: Final = 0.8
COUNT_NIGHTS: Final = 10
_DUCKDB: Final = "duckdb"
_COUNT_SLOWEST: Final = 20
#: Nights whose slowest nodes are listed: the first ones that run a node.
_COUNT_NIGHTS_SHOWN: Final = 2
_ENVIRONMENT: Final = {"HCAT_ENCODER": scale.ENCODER, "HCAT_CLASSIFIER": "none", "HCAT_TAGGER": "none"}
#: What of the project a build reads; a copy lets a night change a seed.
_PARTS: Final = ("models", "macros", "seeds", "tests", "analyses", "demo/seeds", "dbt_project.yml", "profiles.yml")
_RATINGS_SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("interaction_id", "criterion", "rater", "rater_kind", "rated_at")]
    + [("scale_point", pa.int64())]
)


@dataclass(frozen=True, slots=True)
class Nights:
    """One size: the build from nothing and the nights after it.

    Parameters
    ----------
    count : int
        Interactions of the build from nothing.
    builds : mapping of str to sequence of Build
        Name of the build -> its repeats.
    mebibytes : mapping of str to float
        Disk after the build from nothing, after the nights of growth, and after a rebuild of the same logs, MiB.
    stages : mapping of str to mapping of str to float
        Name of the build -> seconds of nodes by folder.
    works : mapping of str to mapping of str to Work
        Name of the build -> what each node read, wrote and used; empty on Spark, which says none of it.
    engine : str
        Key of :data:`benchmarks.growth.ENGINES`.
    """

    count: int
    builds: dict[str, list[Build]] = field(default_factory=dict)
    mebibytes: dict[str, float] = field(default_factory=dict)
    stages: dict[str, dict[str, float]] = field(default_factory=dict)
    works: dict[str, dict[str, query_log.Work]] = field(default_factory=dict)
    engine: str = _DUCKDB

    def seconds(self, name: str) -> float:
        """Return the median seconds of a build."""
        return median(each.seconds for each in self.builds[name])

    def cpu_seconds(self, name: str) -> float:
        """Return the median processor seconds of a build."""
        return median(each.cpu_seconds for each in self.builds[name])


def add_new(project: Path, raw_logs: Path, count: int, night: int = 1) -> None:
    """Add 1 % of interactions, asked after all others, with chunks that the logs already hold."""
    del project
    new = max(int(count * SHARE_NEW), 1)
    add_interactions(raw_logs, range(count + (night - 1) * new, count + night * new), f"night_{night}")


def add_late(project: Path, raw_logs: Path, count: int) -> None:
    """Add one interaction of the first week, which arrives now."""
    del project
    add_interactions(raw_logs, range(2 * count, 2 * count + 1), "late", asked_number=1)


def add_labels(project: Path, raw_logs: Path, count: int) -> None:
    """Add 100 labels to those that the logs hold, as a sheet that was filled in."""
    del project
    write_labels(
        raw_logs / "ratings_new.parquet", range(COUNT_LABELS_BEFORE, COUNT_LABELS_BEFORE + COUNT_LABELS), count
    )


def write_labels(path: Path, places: range, count: int) -> None:
    """Write labels of one criterion, drawn at random; which interactions they are of is the same in every run.

    The kind of the rater is unknown, which gives a label. A label by a rule would give none.
    """
    random = np.random.default_rng(scale.SEED)
    numbers, points = random.permutation(count), np.where(random.random(count) < SHARE_ACCEPTED, 2, 0)
    rows = [
        {
            "interaction_id": f"interaction-{numbers[place]:07d}",
            "criterion": "faithfulness",
            "rater": "simulated",
            "rater_kind": "unknown",
            "rated_at": "2026-06-01T00:00:00Z",
            "scale_point": int(points[place]),
        }
        for place in places
        if place < count
    ]
    parquet.write_table(pa.Table.from_pylist(rows, schema=_RATINGS_SCHEMA), path)


def change_decision(project: Path, raw_logs: Path, count: int) -> None:
    """Move one decided threshold."""
    del raw_logs, count
    _move_threshold(project / "seeds" / "threshold_decisions.csv")


def change_gate(project: Path, raw_logs: Path, count: int) -> None:
    """Move the threshold of one gate of the demo."""
    del raw_logs, count
    _move_threshold(project / "demo" / "seeds" / "threshold_gates.csv")


def _move_threshold(path: Path) -> None:
    """Lower the first threshold of a seed by .05."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    moved = next(row for row in rows if row["threshold"])
    moved["threshold"] = f"{float(moved['threshold']) + 0.05:.2f}"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def send_again(project: Path, raw_logs: Path, count: int) -> None:
    """Send the queries once more under another name."""
    del project, count
    shutil.copyfile(raw_logs / "queries.parquet", raw_logs / "queries_again.parquet")


def change_nothing(project: Path, raw_logs: Path, count: int) -> None:
    """Leave everything as it is."""
    del project, raw_logs, count


NOTHING_NEW: Final = "nothing new"
#: Name of a night -> what comes before it.
NIGHTS: Final[Mapping[str, Callable[[Path, Path, int], None]]] = {
    NOTHING_NEW: change_nothing,
    "1 % new in the last week": add_new,
    "100 new labels": add_labels,
    "one changed threshold": change_decision,
    "one changed gate": change_gate,
    "one late record": add_late,
    "a file sent again": send_again,
}
FROM_NOTHING: Final = "from nothing"


def measure(
    result: Nights,
    work: Path,
    names: Sequence[str],
    code: Path = ROOT,
    *,
    repeats: int = 1,
    nights: int = 0,
) -> Iterator[None]:
    """Make the builds of one size by the code of a checkout, and yield after each, so that two codes take turns.

    Parameters
    ----------
    result : Nights
        Which size and engine; takes what was measured.
    work : path
        Folder for logs and warehouses.
    names : sequence of str
        Keys of :data:`NIGHTS`.
    code : path
        Checkout whose models and Python code build.
    repeats : int
        Builds of each night.
    nights : int
        Nights of 1 % new interactions, one after the other, whose disk is compared with a rebuild; 0 = none.
    """
    count = result.count
    raw_logs, project, first = work / "raw", work / "project", work / "first"
    for folder in (raw_logs, project, first):
        shutil.rmtree(folder, ignore_errors=True)
    sentences = max(scale.COUNT_SENTENCES * count // scale.COUNT_INTERACTIONS, 100)
    scale.write_raw_logs(raw_logs, count, sentences, max(count // INTERACTIONS_PER_CHUNK, 5))
    write_labels(raw_logs / "ratings.parquet", range(COUNT_LABELS_BEFORE), count)
    _copy_project(code, project)
    _build(result, FROM_NOTHING, raw_logs, first, project, code)
    result.mebibytes[FROM_NOTHING] = _mebibytes(first)
    yield
    if count > SIZE_COPIED:
        for name in names:
            NIGHTS[name](project, raw_logs, count)
            _build(result, name, raw_logs, first, project, code)
            yield
        return
    for name in names:
        for _ in range(repeats):
            logs, warehouse, seeds = work / "night_raw", work / "night", work / "night_project"
            for folder in (logs, warehouse, seeds):
                shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(raw_logs, logs, copy_function=shutil.copy2)
            shutil.copytree(first, warehouse, copy_function=shutil.copy2)
            shutil.copytree(project, seeds, copy_function=shutil.copy2)
            NIGHTS[name](seeds, logs, count)
            # the folder of the logs keeps its name, which is part of the key of a landed file
            _swap(raw_logs, logs)
            _swap(first, warehouse)
            _swap(project, seeds)
            try:
                _build(result, name, raw_logs, first, project, code)
            finally:
                _swap(raw_logs, logs)
                _swap(first, warehouse)
                _swap(project, seeds)
            yield
    if nights:
        for night in range(1, nights + 1):
            add_new(project, raw_logs, count, night)
            _build(result, "growth", raw_logs, first, project, code)
            yield
        result.mebibytes[f"after {nights} nights"] = _mebibytes(first)
        shutil.rmtree(first)
        _build(result, "rebuild", raw_logs, first, project, code)
        result.mebibytes["rebuilt"] = _mebibytes(first)
        yield


def add_interactions(raw_logs: Path, numbers: range, name: str, asked_number: int | None = None) -> None:
    """Write interactions beside those that are there; their chunks are taken from the logs."""
    random = np.random.default_rng([scale.SEED, numbers.start])
    chunks = parquet.ParquetFile(raw_logs / "retrievals.parquet").read_row_group(0)["text"].to_pylist()
    contexts = np.array([chunk.split(". ") for chunk in dict.fromkeys(chunks) if chunk.count(". ") == 3], dtype=object)
    statements = np.array([f"{text.rstrip('.')}." for context in contexts for text in context], dtype=object)
    corpus = statements.reshape(-1, scale.SENTENCES_PER_CHUNK)
    query_ids = parquet.read_table(raw_logs / "queries.parquet")["query_id"].to_pylist()
    interactions, retrievals = scale.draw_interactions(numbers, statements, corpus, query_ids, random)
    if asked_number is not None:
        asked = (scale.FIRST_ASKED + timedelta(minutes=asked_number)).isoformat()
        position = interactions.schema.get_field_index("asked_at")
        interactions = interactions.set_column(position, "asked_at", pa.array([asked] * len(numbers), pa.string()))
    parquet.write_table(interactions, raw_logs / f"interactions_{name}.parquet")
    parquet.write_table(retrievals, raw_logs / f"retrievals_{name}.parquet")


def _build(result: Nights, name: str, raw_logs: Path, warehouse: Path, project: Path, code: Path) -> None:
    log = warehouse / "query_log"
    shutil.rmtree(log, ignore_errors=True)
    environment = _ENVIRONMENT | {
        "DBT_PROFILES_DIR": str(project),
        "PYTHONPATH": os.pathsep.join((str(code / "python_udfs"), str(ROOT))),
        query_log.VARIABLE: str(log),
        "HCAT_TARGET": result.engine,
    }
    rows_before = query_log.count_rows(warehouse / "hcat.duckdb")
    measured = build(raw_logs, warehouse, environment=environment, project=project)
    result.builds.setdefault(name, []).append(measured)
    manifest = warehouse / "target" / "manifest.json"
    result.stages[name] = stage_seconds(manifest, measured.node_seconds)
    if result.engine == _DUCKDB:
        result.works[name] = query_log.read(
            log, manifest, measured.node_seconds, warehouse / "hcat.duckdb", rows_before
        )
    told = f"{result.count:,}, {name}, {code}: {measured.seconds:,.1f} s, {measured.cpu_seconds:,.1f} processor s"
    print(told, file=sys.stderr, flush=True)


def _copy_project(code: Path, project: Path) -> None:
    for part in _PARTS:
        source = code / part
        (project / part).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, project / part, copy_function=shutil.copy2)
        else:
            shutil.copy2(source, project / part)
    query_log.switch_on(project / "profiles.yml")


def _swap(one: Path, other: Path) -> None:
    spare = one.with_name(f"{one.name}.spare")
    one.rename(spare)
    other.rename(one)
    spare.rename(other)


def _mebibytes(folder: Path) -> float:
    """Return what a warehouse holds on disk; hard links count once, dbt's own files not at all."""
    sizes = {}
    for path in folder.rglob("*"):
        if path.is_file() and not {"target", "logs"} & set(path.relative_to(folder).parts):
            status = path.stat()
            sizes[status.st_ino] = status.st_size
    return sum(sizes.values()) / 2**20


def run(
    is_quick: bool = False,
    folder: Path | None = None,
    sizes: Sequence[int] = SIZES,
    names: Sequence[str] = tuple(NIGHTS),
    paired: Path | None = None,
    repeats: int = COUNT_REPEATS,
    count_nights: int = COUNT_NIGHTS,
    engine: str = _DUCKDB,
) -> Outcome:
    """Return the cost of each night by size, beside that of the build from nothing and of another code."""
    sizes = SIZES_QUICK if is_quick else sizes
    other_code = _tell_code(paired) if paired else ""
    measured: list[tuple[Nights, Nights | None]] = []
    with working_folder(folder) as work:
        for count in sizes:
            often = repeats if count <= SIZE_REPEATED and not is_quick else 1
            nights = count_nights if count <= SIZE_GROWN and not is_quick else 0
            now, before = Nights(count, engine=engine), Nights(count, engine=engine) if paired else None
            turns = [measure(now, work / "now", names, repeats=often, nights=nights)]
            if before and paired:
                turns.append(measure(before, work / "paired", names, paired, repeats=often, nights=nights))
            measured.append((now, before))
            for _ in zip(*turns, strict=True):
                _write_checkpoint(work, measured)
    tables = [_table_of_nights(now, before, names) for now, before in measured]
    last = measured[-1][0]
    tables += [_table_of_rows(last, names)] if last.works else []
    tables += [_table_of_stages(last, names)]
    ran = [name for name in names if last.stages[name]]
    tables += [_table_of_slowest(last, name) for name in ran[:_COUNT_NIGHTS_SHOWN]]
    notes = [
        "Each night starts from a copy of the warehouse that the build from nothing left; above "
        f"{SIZE_COPIED:,} interactions it starts from what the night before it left. New interactions are 1 % of "
        "the logs, asked after all others. Seconds are wall time of the whole process. The command is `dbt build`.",
        "Single runs."
        if repeats == 1 or is_quick
        else f"Medians of {repeats} up to {SIZE_REPEATED:,} interactions, single runs above.",
        f"The logs hold {COUNT_LABELS_BEFORE} labels of one criterion. Labels are drawn at random.",
        f"Memory limit of DuckDB: {os.environ.get('HCAT_MEMORY_LIMIT', 'as in profiles.yml')}."
        if engine == _DUCKDB
        else f"{ENGINES[engine]}. The memory of Java is not told.",
    ]
    for now, _ in measured:
        if "rebuilt" in now.mebibytes:
            grown = now.mebibytes[f"after {count_nights} nights"]
            notes.append(
                f"{now.count:,} interactions: {grown:,.0f} MiB after {count_nights} nights of 1 %, "
                f"{now.mebibytes['rebuilt']:,.0f} MiB rebuilt from the same logs "
                f"({grown / now.mebibytes['rebuilt']:.2f} times)."
            )
    if last.works:
        notes.append(
            "Rows read are those that scans went through, whether or not a filter kept them. Rows written are the "
            "rows of a table that is made anew, and the growth of one that is added to. Statements inside Python "
            "models are not in them."
        )
    if paired is not None:
        notes.append(f"Before: {other_code}. The two codes took turns, build by build.")
    failed = sorted({name for now, _ in measured for each in now.builds.values() for name in each[0].failed_tests})
    notes.append(f"Data tests and gates that failed: {', '.join(failed) or 'none'}.")
    name, title = ("nightly", "") if engine == _DUCKDB else (f"nightly_{engine}", ", Apache Spark")
    return Outcome(name, f"What a night costs{title}", tables, notes, is_quick, page="nightly")


def _tell_code(code: Path) -> str:
    """Return which commit a checkout holds, in words."""
    words = ["git", "-C", str(code), "log", "-1", "--format=commit %h of %cs, %s", "--"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def _table_of_nights(now: Nights, before: Nights | None, names: Sequence[str]) -> Table:
    columns = ["build", "seconds", "processor s", "share of the build from nothing", "peak memory, MiB"]
    if before is not None:
        columns += ["seconds before", "processor s before", "seconds, share of those before"]
    rows = []
    for name in (FROM_NOTHING, *names):
        cells = [
            name,
            f"{now.seconds(name):,.1f}",
            f"{now.cpu_seconds(name):,.1f}",
            f"{now.seconds(name) / now.seconds(FROM_NOTHING):.1%}",
            f"{max(each.peak_mebibytes for each in now.builds[name]):,.0f}" if now.engine == _DUCKDB else "not told",
        ]
        if before is not None:
            cells += [
                f"{before.seconds(name):,.1f}",
                f"{before.cpu_seconds(name):,.1f}",
                f"{now.seconds(name) / before.seconds(name):.0%}",
            ]
        rows.append(cells)
    return Table(f"{now.count:,} interactions", columns, rows)


def _table_of_stages(nights: Nights, names: Sequence[str]) -> Table:
    stages = nights.stages[FROM_NOTHING]
    rows = [
        (stage, *(f"{nights.stages[name].get(stage, 0.0):.1f}" for name in (FROM_NOTHING, *names))) for stage in stages
    ]
    return Table(f"Seconds of nodes by stage, {nights.count:,} interactions", ("stage", FROM_NOTHING, *names), rows)


def _table_of_slowest(nights: Nights, name: str) -> Table:
    works = nights.works.get(name, {})
    rows = [
        (node, f"{seconds:.2f}", *_figures(works.get(node)))
        for node, seconds in nights.builds[name][-1].slowest(_COUNT_SLOWEST)
    ]
    columns = ("node", "seconds", "processor s in DuckDB", "rows read", "rows written")
    return Table(f"Slowest nodes, {name}, {nights.count:,} interactions", columns, rows)


def _table_of_rows(nights: Nights, names: Sequence[str]) -> Table:
    """Return what each build read and wrote altogether."""
    rows = [(name, *_figures(query_log.add(nights.works[name].values()))) for name in (FROM_NOTHING, *names)]
    columns = ("build", "processor s in DuckDB", "rows read", "rows written")
    return Table(f"Rows that the nodes read and wrote, {nights.count:,} interactions", columns, rows)


def _figures(work: query_log.Work | None) -> tuple[str, str, str]:
    if work is None:
        return "", "", ""
    return f"{work.cpu_seconds:,.2f}", f"{work.rows_read:,}", f"{work.rows_written:,}"


def _write_checkpoint(work: Path, measured: Sequence[tuple[Nights, Nights | None]]) -> None:
    """Keep seconds, processor seconds and peaks in MiB, so that a run that is cut off leaves its figures."""
    seen = [
        {
            name: [(round(each.seconds, 1), round(each.cpu_seconds, 1), round(each.peak_mebibytes)) for each in builds]
            for name, builds in nights.builds.items()
        }
        | {"count": nights.count, "is_paired": place == 1, "mebibytes": nights.mebibytes}
        for pair in measured
        for place, nights in enumerate(pair)
        if nights is not None
    ]
    (work / "nightly.json").write_text(json.dumps(seen, indent=1), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argument_parser("nightly", __doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="interactions of the first build")
    parser.add_argument("--nights", nargs="+", choices=list(NIGHTS), default=list(NIGHTS), help="which nights")
    parser.add_argument("--paired", type=Path, help="checkout of other code that makes the same builds in turn")
    parser.add_argument(
        "--repeats", type=int, default=COUNT_REPEATS, help=f"builds of each night up to {SIZE_REPEATED:,}"
    )
    parser.add_argument(
        "--growth", type=int, default=COUNT_NIGHTS, help="nights of which the disk is measured; 0: none"
    )
    parser.add_argument("--engine", choices=list(ENGINES), default=_DUCKDB)
    options = parser.parse_args(arguments)
    if options.paired and not (options.paired / ".git").exists():
        parser.error(f"--paired: {options.paired} is no checkout")
    outcome = run(
        options.quick,
        options.folder,
        options.sizes,
        options.nights,
        options.paired,
        options.repeats,
        options.growth,
        options.engine,
    )
    words = ["--sizes", *map(str, options.sizes), "--repeats", str(options.repeats), "--growth", str(options.growth)]
    if options.paired:
        words += ["--paired", "FOLDER"]
    if options.engine != _DUCKDB:
        words += ["--engine", options.engine]
    if options.nights != list(NIGHTS):
        words += ["--nights", *(f"'{name}'" for name in options.nights)]
    return finish(outcome, " ".join(["python -m benchmarks.nightly", *words]))


if __name__ == "__main__":
    sys.exit(main())
