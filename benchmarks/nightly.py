"""Time and memory of a build: from nothing, and of the nights after it, at several sizes.

Models are off (`hashing` vectors, no classifier, no tagger), so that the pipeline is measured. Each night starts from a
copy of what the build from nothing left. Every finished build is kept in `nightly.json` of the working folder: with
`--folder`, a run that was cut off goes on where it stopped. With `--paired CHECKOUT` the code of another checkout makes
the same builds in turn, on warehouses of its own.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from benchmarks.harness import ROOT, Build, Outcome, Table, argument_parser, build, finish, working_folder
from benchmarks.made_logs import SEED, add_interactions, write_raw_logs

SIZES: Final = (1_000, 10_000, 100_000)
SIZES_QUICK: Final = (500,)
COUNT_REPEATS: Final = 3
SHARE_NEW: Final = 0.01
#: Labels in the logs of the build from nothing, so that calibrators are fitted, and those of a night.
COUNT_LABELS_BEFORE: Final = 300
COUNT_LABELS: Final = 100
SHARE_ACCEPTED: Final = 0.8
_ENVIRONMENT: Final = {"HCAT_ENCODER": "hashing:384", "HCAT_CLASSIFIER": "none", "HCAT_TAGGER": "none"}
#: What of the project a build reads; a copy lets a night change a seed.
_PARTS: Final = (
    "models", "macros", "seeds", "decisions", "demo/seeds", "tests", "analyses", "dbt_project.yml", "profiles.yml",
)  # fmt: skip
_RATINGS_SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("interaction_id", "criterion", "rater", "rater_kind", "rated_at")]
    + [("scale_point", pa.int64())]
)
_NOW, _PAIRED = "now", "paired"


class Night:
    """What comes before a build: a folder of logs and a copy of the project, which it may change."""

    def __init__(self, folder: Path, count: int) -> None:
        self.raw_logs, self.project, self.count = folder / "raw", folder / "project", count

    def change_nothing(self) -> None:
        """Leave everything as it is."""

    def add_new(self) -> None:
        """Add 1 % of interactions, asked after all others, with chunks that the logs already hold."""
        new = max(int(self.count * SHARE_NEW), 1)
        add_interactions(self.raw_logs, range(self.count, self.count + new), "night")

    def add_late(self) -> None:
        """Add one interaction of the first week, which arrives now."""
        add_interactions(self.raw_logs, range(2 * self.count, 2 * self.count + 1), "late", asked_number=1)

    def add_labels(self) -> None:
        """Add labels to those that the logs hold, as a sheet that was filled in."""
        places = range(COUNT_LABELS_BEFORE, COUNT_LABELS_BEFORE + COUNT_LABELS)
        write_labels(self.raw_logs / "ratings_new.parquet", places, self.count)

    def change_decision(self) -> None:
        """Move one decided threshold."""
        _move_threshold(self.project / "decisions" / "threshold_decisions.csv")

    def change_gate(self) -> None:
        """Move the threshold of one gate of the demo."""
        _move_threshold(self.project / "demo" / "seeds" / "threshold_gates.csv")


NIGHTS: Final[Mapping[str, Callable[[Night], None]]] = {
    "nothing new": Night.change_nothing,
    "1 % new in the last week": Night.add_new,
    "100 new labels": Night.add_labels,
    "one changed threshold": Night.change_decision,
    "one changed gate": Night.change_gate,
    "one late record": Night.add_late,
}
FROM_NOTHING: Final = "from nothing"


def write_labels(path: Path, places: range, count: int) -> None:
    """Write labels of one criterion, drawn at random; which interactions they are of is the same in every run."""
    random = np.random.default_rng(SEED)
    numbers, points = random.permutation(count), np.where(random.random(count) < SHARE_ACCEPTED, 2, 0)
    # a rater of unknown kind gives a label; a rule would give none
    label = {"criterion": "faithfulness", "rater": "simulated", "rater_kind": "unknown"}
    label["rated_at"] = "2026-06-01T00:00:00Z"
    rows = [
        label | {"interaction_id": f"interaction-{numbers[place]:07d}", "scale_point": int(points[place])}
        for place in places
        if place < count
    ]
    parquet.write_table(pa.Table.from_pylist(rows, schema=_RATINGS_SCHEMA), path)


def _move_threshold(path: Path) -> None:
    """Raise the first threshold of a seed by .05."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    moved = next(row for row in rows if row["threshold"])
    moved["threshold"] = f"{float(moved['threshold']) + 0.05:.2f}"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


class Record:
    """The finished builds of a run, kept in a file: what is in it is not built again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._builds: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._builds = json.loads(path.read_text(encoding="utf-8"))

    def __contains__(self, key: tuple[str, int, str, int]) -> bool:
        return self._name(key) in self._builds

    def add(self, key: tuple[str, int, str, int], measured: Build, stages: Mapping[str, float]) -> None:
        """Keep one build: code, interactions, night and number of the repeat are its key."""
        self._builds[self._name(key)] = {**asdict(measured), "stages": stages}
        fresh = self._path.with_suffix(".part")
        fresh.write_text(json.dumps(self._builds, indent=1), encoding="utf-8")
        fresh.replace(self._path)

    def find(self, code: str, count: int, night: str) -> list[dict[str, Any]]:
        """Return the repeats of one night."""
        start = self._name((code, count, night, 0))[:-1]
        return [each for name, each in self._builds.items() if name.startswith(start)]

    @staticmethod
    def _name(key: tuple[str, int, str, int]) -> str:
        return "|".join(map(str, key))


def measure(record: Record, work: Path, code: str, checkout: Path, count: int, night: str, repeat: int) -> None:
    """Make one build of one size by the code of a checkout, unless the record holds it.

    The build from nothing stays in the folder `kept`; each night works on a copy, always in the same place, because
    paths of logs and warehouse are part of what a build knows.
    """
    key = (code, count, night, repeat)
    if key in record:
        return
    folder = work / f"{code}_{count}"
    here, kept = folder / "build", folder / "kept"
    shutil.rmtree(here, ignore_errors=True)
    if night == FROM_NOTHING:
        write_raw_logs(here / "raw", count)
        write_labels(here / "raw" / "ratings.parquet", range(COUNT_LABELS_BEFORE), count)
        for part in _PARTS:
            (here / "project" / part).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (checkout / part).is_dir() else shutil.copy2
            copy(checkout / part, here / "project" / part)
    else:
        shutil.copytree(kept, here)
        NIGHTS[night](Night(here, count))
    paths = os.pathsep.join((str(checkout / "python_udfs"), str(ROOT)))
    environment = {**_ENVIRONMENT, "DBT_PROFILES_DIR": str(here / "project"), "PYTHONPATH": paths}
    measured = build(here / "raw", here / "warehouse", environment=environment, project=here / "project")
    if night == FROM_NOTHING:
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(here, kept)
    record.add(key, measured, stage_seconds(here / "warehouse" / "target" / "manifest.json", measured.node_seconds))
    print(f"{code}, {count:,}, {night}: {measured.cpu_seconds:,.1f} processor s", file=sys.stderr, flush=True)


def stage_seconds(manifest: Path, node_seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of nodes by the folder that holds them, slowest first; data tests are one stage."""
    stages: defaultdict[str, float] = defaultdict(float)
    for unique_id, node in json.loads(manifest.read_text(encoding="utf-8"))["nodes"].items():
        kind, _, name = unique_id.split(".")[:3]
        if name in node_seconds:
            folder = "/".join(Path(node["original_file_path"]).parts[1:-1][:2])
            stages[folder if kind == "model" else {"test": "data tests", "seed": "seeds"}.get(kind, kind)] += (
                node_seconds[name]
            )
    return dict(sorted(stages.items(), key=lambda item: (-item[1], item[0])))


def run(
    is_quick: bool = False,
    folder: Path | None = None,
    sizes: Sequence[int] = SIZES,
    names: Sequence[str] = tuple(NIGHTS),
    paired: Path | None = None,
    repeats: int = COUNT_REPEATS,
) -> Outcome:
    """Return the cost of the build from nothing and of each night by size, beside those of another code."""
    sizes, repeats = (SIZES_QUICK, 1) if is_quick else (sizes, repeats)
    checkouts = {_NOW: ROOT} | ({_PAIRED: paired} if paired else {})
    with working_folder(folder) as work:
        record = Record(work / "nightly.json")
        for count in sizes:
            for night, repeat in [(FROM_NOTHING, 0), *((name, one) for name in names for one in range(repeats))]:
                for code, checkout in checkouts.items():
                    measure(record, work, code, checkout, count, night, repeat)
    tables = [_table_of_nights(record, count, (FROM_NOTHING, *names), paired is not None) for count in sizes]
    tables += [_table_of_growth(record, sizes)] if len(sizes) > 1 else []
    tables.append(_table_of_stages(record, sizes[-1], (FROM_NOTHING, *names)))
    failed = {
        test
        for count in sizes
        for name in (FROM_NOTHING, *names)
        for each in record.find(_NOW, count, name)
        for test in each["failed_tests"]
    }
    notes = [
        "Each night starts from a copy of the warehouse that the build from nothing left. New interactions are 1 % of "
        f"the logs, asked after all others. The logs hold {COUNT_LABELS_BEFORE} labels, drawn at random.",
        f"Seconds are wall time of the whole `dbt build`, medians of {repeats}; the build from nothing runs once.",
        f"Memory limit of DuckDB: {os.environ.get('HCAT_MEMORY_LIMIT', 'as in profiles.yml')}.",
        f"Data tests and gates that failed: {', '.join(sorted(failed)) or 'none'}.",
    ]
    if paired is not None:
        words = ["git", "-C", str(paired), "log", "-1", "--format=commit %h of %cs, %s", "--"]
        commit = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        notes.append(f"Before: {commit}. The two codes took turns, build by build.")
    return Outcome("nightly", "What a night costs", tables, notes, is_quick)


def _median(builds: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(median(each[name] for each in builds))


def _table_of_nights(record: Record, count: int, names: Sequence[str], is_paired: bool) -> Table:
    columns = ["build", "seconds", "processor s", "share of the build from nothing", "peak memory, MiB"]
    columns += ["processor s before", "share of those before"] if is_paired else []
    whole = _median(record.find(_NOW, count, FROM_NOTHING), "cpu_seconds")
    rows = []
    for name in names:
        builds = record.find(_NOW, count, name)
        seconds, spent = (_median(builds, each) for each in ("seconds", "cpu_seconds"))
        peak = max(each["peak_mebibytes"] for each in builds)
        rows.append([name, f"{seconds:,.1f}", f"{spent:,.1f}", f"{spent / whole:.1%}", f"{peak:,.0f}"])
        if is_paired:
            before = _median(record.find(_PAIRED, count, name), "cpu_seconds")
            rows[-1] += [f"{before:,.1f}", f"{spent / before:.0%}"]
    return Table(f"{count:,} interactions", columns, rows)


def _table_of_growth(record: Record, sizes: Sequence[int]) -> Table:
    """Return what each step of size costs beside a linear pipeline: at most 1 is linear or better."""
    builds = [record.find(_NOW, count, FROM_NOTHING)[0] for count in sizes]
    rows = []
    for place in range(1, len(sizes)):
        linear = sizes[place] / sizes[place - 1]
        spent, peak = (builds[place][name] / builds[place - 1][name] for name in ("cpu_seconds", "peak_mebibytes"))
        rows.append((f"{sizes[place - 1]:,} to {sizes[place]:,}", f"{spent / linear:.3f}", f"{peak / linear:.3f}"))
    return Table("Growth of the build from nothing, times linear", ("interactions", "processor s", "peak memory"), rows)


def _table_of_stages(record: Record, count: int, names: Sequence[str]) -> Table:
    stages = {name: record.find(_NOW, count, name)[-1]["stages"] for name in names}
    rows = [(stage, *(f"{stages[name].get(stage, 0):.1f}" for name in names)) for stage in stages[FROM_NOTHING]]
    return Table(f"Seconds of nodes by folder, {count:,} interactions", ("folder", *names), rows)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argument_parser("nightly", __doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="interactions of the first build")
    parser.add_argument("--nights", nargs="+", choices=list(NIGHTS), default=list(NIGHTS), help="which nights")
    parser.add_argument("--paired", type=Path, help="checkout of other code that makes the same builds in turn")
    parser.add_argument("--repeats", type=int, default=COUNT_REPEATS, help="builds of each night")
    options = parser.parse_args(arguments)
    if options.paired and not (options.paired / ".git").exists():
        parser.error(f"--paired: {options.paired} is no checkout")
    outcome = run(options.quick, options.folder, options.sizes, options.nights, options.paired, options.repeats)
    words = ["--sizes", *map(str, options.sizes), "--repeats", str(options.repeats)]
    words += ["--paired", "CHECKOUT"] if options.paired else []
    if options.nights != list(NIGHTS):
        words += ["--nights", *(f"'{name}'" for name in options.nights)]
    return finish(outcome, " ".join(["python -m benchmarks.nightly", *words]))


if __name__ == "__main__":
    sys.exit(main())
