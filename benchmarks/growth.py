"""How the cost of a build grows from a thousand to a million interactions, stage by stage.

The encoder is `hashing:384` and the models of classes and names are switched off, so that what is measured is the work
of the pipeline: landing, splitting, joins, statistics, gates, publication, and every data test. A slice of the logs is
built with the packaged models beside it, because their cost comes on top.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import scale
from benchmarks.harness import (
    Build,
    Outcome,
    Table,
    argument_parser,
    build,
    finish,
    has_spark,
    verdict,
    working_folder,
)

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SIZES_QUICK = (200, 1_000)
#: Times the cost of a linear pipeline that the last step of growth may reach, from this size on.
LIMIT_GROWTH = 1.15
SIZE_BASE = 10_000
#: How many interactions an honest projection is made for.
SIZE_PROJECTED = 100_000_000
#: The corpus grows with the logs: interactions per chunk of it, five of which each interaction retrieves.
INTERACTIONS_PER_CHUNK = 5
#: In one process of Apache Spark, measured with 8 GB for Java (`HCAT_SPARK_MEMORY=8g`). A million asks for some two
#: hours, 10 GB and `HCAT_SPARK_PARTITIONS=16`: only when `--sizes` says so.
SIZES_ON_SPARK = (1_000, 10_000, 100_000)
#: Interactions of the slice that is built with the packaged encoder, classifier and tagger too.
SIZE_WITH_MODELS = 1_000
ENGINES = {"duckdb": "DuckDB", "spark": "Apache Spark, one process with two cores"}
_COUNT_SLOWEST = 25
_COUNT_SLOWEST_WITH_MODELS = 8
_LAYERS = 2
_ENVIRONMENT = {
    "HCAT_ENCODER": scale.ENCODER,
    "HCAT_CLASSIFIER": "none",
    "HCAT_TAGGER": "none",
}


@dataclass(frozen=True, slots=True)
class Grown:
    """One size and what its build cost.

    Parameters
    ----------
    count : int
        Interactions.
    measured : Build
        Of a build from nothing.
    stages : mapping of str to float
        Seconds of the nodes by folder of the models, data tests together.
    mebibytes : float
        Warehouse, published copy and slices on disk, MiB.
    """

    count: int
    measured: Build
    stages: Mapping[str, float]
    mebibytes: float


def measure(work: Path, count: int, engine: str = "duckdb", *, has_models: bool = False) -> Grown:
    """Return the cost of a build of ``count`` synthetic interactions in an empty warehouse."""
    raw_logs, warehouse = work / f"raw_{count}", work / f"warehouse_{count}"
    shutil.rmtree(raw_logs, ignore_errors=True)
    shutil.rmtree(warehouse, ignore_errors=True)
    sentences = max(scale.COUNT_SENTENCES * count // scale.COUNT_INTERACTIONS, 100)
    scale.write_raw_logs(raw_logs, count, sentences, count // INTERACTIONS_PER_CHUNK)
    arguments = ("--exclude-resource-type", "unit_test")
    environment = {"HCAT_TARGET": engine} | ({} if has_models else _ENVIRONMENT)
    measured = build(raw_logs, warehouse, arguments=arguments, environment=environment)
    stages = stage_seconds(warehouse / "target" / "manifest.json", measured.node_seconds)
    mebibytes = sum(path.stat().st_size for path in warehouse.rglob("*") if path.is_file()) / 2**20
    shutil.rmtree(raw_logs)
    shutil.rmtree(warehouse)
    return Grown(count, measured, stages, mebibytes)


def stage_seconds(manifest: Path, node_seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of nodes by the folder that holds them, slowest first."""
    nodes = json.loads(manifest.read_text(encoding="utf-8"))["nodes"]
    stages: defaultdict[str, float] = defaultdict(float)
    for unique_id, node in nodes.items():
        kind, _, name = unique_id.split(".")[:3]
        if name not in node_seconds:
            continue
        if kind == "model":
            stage = "/".join(Path(node["original_file_path"]).parts[1:-1][:_LAYERS])
        else:
            stage = {"test": "data tests", "seed": "seeds"}.get(kind, kind)
        stages[stage] += node_seconds[name]
    return dict(sorted(stages.items(), key=lambda item: (-item[1], item[0])))


def growth(smaller: Grown, larger: Grown) -> float:
    """Return the cost of the larger build over that of a linear one from the smaller: at most 1 is linear or better."""
    return larger.measured.cpu_seconds / smaller.measured.cpu_seconds / (larger.count / smaller.count)


def marginal(smaller: Grown, larger: Grown) -> float:
    """Return the seconds that each further thousand interactions cost between two sizes."""
    return 1_000 * (larger.measured.cpu_seconds - smaller.measured.cpu_seconds) / (larger.count - smaller.count)


def run(
    is_quick: bool = False, folder: Path | None = None, sizes: tuple[int, ...] = SIZES, engine: str = "duckdb"
) -> Outcome:
    """Return cost by size and stage, its growth and a projection; the limit holds from :data:`SIZE_BASE` on."""
    sizes = SIZES_QUICK if is_quick else sizes
    grown: list[Grown] = []
    with working_folder(folder) as work:
        tables_of_models = [] if is_quick or engine != "duckdb" else [_table_of_models(work)]
        for count in sizes:
            grown.append(measure(work, count, engine))
            print(f"{count:,} interactions: {grown[-1].measured.seconds:,.0f} s", file=sys.stderr, flush=True)
    last = grown[-1]
    base = next((each for each in grown[:-1] if each.count >= SIZE_BASE), grown[0])
    is_linear = growth(base, last) <= LIMIT_GROWTH
    lines = []
    for place, each in enumerate(grown):
        before = grown[place - 1] if place else None
        lines.append(
            (
                f"{each.count:,}",
                f"{each.measured.seconds:,.0f}",
                f"{each.measured.cpu_seconds:,.0f}",
                f"{1_000 * each.measured.cpu_seconds / each.count:.2f}",
                "" if before is None else f"{marginal(before, each):.2f}",
                f"{growth(base, each):.2f}" if each.count > base.count else "",
                f"{each.measured.peak_mebibytes:,.0f}" if engine == "duckdb" else "not told",
                f"{each.mebibytes:,.0f}",
            )
        )
    columns = (
        "interactions", "seconds", "processor s", "per 1,000", "each further 1,000",
        f"times linear from {base.count:,}", "peak memory, MiB", "disk, MiB",
    )  # fmt: skip
    tables = [
        Table(f"Whole builds from nothing, {ENGINES[engine]}, encoder {scale.ENCODER}", columns, lines),
        Table(
            "Seconds by stage",
            ("stage", *(f"{each.count:,}" for each in grown), f"times linear, {base.count:,} to {last.count:,}"),
            [_stage_line(stage, grown, base, last) for stage in last.stages],
        ),
        Table(
            f"Slowest nodes at {last.count:,}",
            ("node", *(f"{each.count:,}" for each in grown), "times linear"),
            [_node_line(name, grown, base, last) for name, _ in last.measured.slowest(_COUNT_SLOWEST)],
        ),
        *tables_of_models,
    ]
    projected = marginal(grown[-2], last) * SIZE_PROJECTED / 1_000 / 3_600
    failed = sorted({name for each in grown for name in (*each.measured.failed_tests, *each.measured.skipped)})
    notes = [
        f"Growth of processor time from {base.count:,} to {last.count:,}: {growth(base, last):.3f} times linear "
        f"(limit {LIMIT_GROWTH}: {'quick' if is_quick else verdict(is_linear)}). The fixed cost of a start lowers "
        "this ratio; the cost of each further thousand shows whether anything grows faster than the logs.",
        "Each build lands, splits, measures, tests, gates and publishes everything; a nightly build does so for new "
        "interactions alone. Models of classes (except the sentiment heads) and of names are off: their cost is per "
        "text and linear.",
        f"{SIZE_PROJECTED:,} interactions in one build at the last marginal cost: {projected:,.0f} hours of processor "
        f"time and {last.mebibytes / last.count * SIZE_PROJECTED / 2**20:,.1f} TiB of disk, the encoder apart.",
        f"Each interaction retrieves {scale.COUNT_CHUNKS} chunks of a corpus that grows with the logs, one chunk for "
        f"{INTERACTIONS_PER_CHUNK} interactions; half a distinct sentence per interaction.",
        f"Memory limit of DuckDB: {os.environ.get('HCAT_MEMORY_LIMIT', 'as in profiles.yml')}."
        if engine == "duckdb"
        else f"Memory of Java: {os.environ.get('HCAT_SPARK_MEMORY', 'as in profiles.yml')}. Memory of the Python "
        "workers is not included: they are forked and share memory, which a sum over processes would count once "
        "for each.",
        f"Data tests and gates that failed, models skipped: {', '.join(failed) or 'none'}.",
    ]
    name, title = ("growth", "") if engine == "duckdb" else (f"growth_{engine}", ", Apache Spark")
    within = is_quick or is_linear
    return Outcome(name, f"Growth with the logs{title}", tables, notes, is_quick, within, page="growth")


def run_on_spark(is_quick: bool) -> Outcome | None:
    """Return the same on Apache Spark; None where it cannot run."""
    return run(is_quick, sizes=SIZES_ON_SPARK, engine="spark") if has_spark() else None


def _table_of_models(work: Path) -> Table:
    """Return what the packaged models add to a build of :data:`SIZE_WITH_MODELS` interactions, by node."""
    without = measure(work, SIZE_WITH_MODELS)
    with_models = measure(work, SIZE_WITH_MODELS, has_models=True)
    print(f"{SIZE_WITH_MODELS:,} with models: {with_models.measured.seconds:,.0f} s", file=sys.stderr, flush=True)
    lines = [
        ("whole build, elapsed", f"{without.measured.seconds:,.1f}", f"{with_models.measured.seconds:,.1f}"),
        ("whole build, processor", f"{without.measured.cpu_seconds:,.1f}", f"{with_models.measured.cpu_seconds:,.1f}"),
    ]
    for name, seconds in with_models.measured.slowest(_COUNT_SLOWEST_WITH_MODELS):
        lines.append((name, f"{without.measured.node_seconds.get(name, 0.0):,.1f}", f"{seconds:,.1f}"))
    title = f"Seconds of {SIZE_WITH_MODELS:,} interactions without and with the packaged models"
    return Table(title, ("build or node", "without", "with"), lines)


def _stage_line(stage: str, grown: list[Grown], base: Grown, last: Grown) -> tuple[str, ...]:
    return _line(stage, [each.stages.get(stage, 0.0) for each in grown], base.stages.get(stage, 0.0), base, last)


def _node_line(name: str, grown: list[Grown], base: Grown, last: Grown) -> tuple[str, ...]:
    seconds = [each.measured.node_seconds.get(name, 0.0) for each in grown]
    return _line(name, seconds, base.measured.node_seconds.get(name, 0.0), base, last)


def _line(name: str, seconds: list[float], first: float, base: Grown, last: Grown) -> tuple[str, ...]:
    times = f"{seconds[-1] / first / (last.count / base.count):.2f}" if first and last.count > base.count else ""
    return (name, *(f"{value:,.1f}" for value in seconds), times)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when the growth is more than linear."""
    parser = argument_parser("growth", (__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", help="interactions of each build")
    parser.add_argument("--engine", choices=list(ENGINES), default="duckdb")
    options = parser.parse_args(arguments)
    if options.sizes and len(options.sizes) < 2:
        parser.error("growth needs two sizes at least")
    sizes = options.sizes or (SIZES if options.engine == "duckdb" else SIZES_ON_SPARK)
    outcome = run(options.quick, options.folder, tuple(sizes), options.engine)
    command = "python -m benchmarks.growth"
    if options.engine != "duckdb":
        command += f" --engine {options.engine}"
    if options.sizes:
        command += f" --sizes {' '.join(map(str, options.sizes))}"
    return finish(outcome, command)


if __name__ == "__main__":
    sys.exit(main())
