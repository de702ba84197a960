"""What a build costs: the demo, scoring against the bare encoder, and adding one percent."""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.accuracy import take_quick
from benchmarks.contents import changed_tables, count_inserted, incremental_tables, read_contents
from benchmarks.harness import (
    ROOT,
    BenchmarkError,
    Build,
    Outcome,
    Table,
    argument_parser,
    build,
    data_folder,
    finish,
    verdict,
    working_folder,
)
from benchmarks.ragtruth import read_rows, write_raw_logs
from hcat.engine.devices import packaged_folder

SEED = 20260101
COUNT_REPEATS = 3
BATCH_SIZE = 32
COUNT_SAMPLED = 100

#: Whole build against one bare encode of the same distinct texts: at most this factor plus a fixed allowance.
LIMIT_FACTOR = 1.25
LIMIT_ALLOWANCE_SECONDS = 20.0

#: Row by row must take at least this many times as long as the whole build.
LIMIT_SPEED_UP = 4.0

#: One percent new interactions may cost this share of a full build beyond the fixed start.
SHARE_ADDED = 0.01
LIMIT_SHARE_OF_FULL = 0.05

#: The limits of scoring and growth are those of the pipeline around the encoder; entailment is shown beside them.
_WITHOUT_ENTAILMENT = {"HCAT_CLASSIFIER": "none"}

_COUNT_SLOWEST = 12


@dataclass(frozen=True, slots=True)
class _Part:
    """Tables and notes of one question, and whether its limits are met."""

    tables: Sequence[Table]
    notes: Sequence[str]
    is_within_limits: bool


def measure_demo(work: Path, count_repeats: int) -> _Part:
    """Return cold and warm build times of the bundled demo."""
    raw_logs = ROOT / "demo" / "logs"
    cold: list[Build] = []
    warm: list[Build] = []
    lean: list[Build] = []
    inserted = 0
    for repeat in range(count_repeats):
        warehouse = work / f"demo_{repeat}"
        shutil.rmtree(warehouse, ignore_errors=True)
        lean.append(build(raw_logs, warehouse, environment=_WITHOUT_ENTAILMENT))
        shutil.rmtree(warehouse)
        cold.append(build(raw_logs, warehouse))
        before = read_contents(warehouse / "hcat.duckdb")
        warm.append(build(raw_logs, warehouse))
        after = read_contents(warehouse / "hcat.duckdb")
        inserted += count_inserted(before, after, incremental_tables(warehouse / "target"))
    rows = [
        (name, f"{statistics.median(seconds):.1f}", f"{min(seconds):.1f} to {max(seconds):.1f}", f"{memory:,.0f}")
        for name, builds in (
            ("cold", cold),
            ("second run, nothing new", warm),
            ("cold, entailment switched off", lean),
        )
        for seconds in [[measured.seconds for measured in builds]]
        for memory in [max(measured.peak_mebibytes for measured in builds)]
    ]
    tables = (
        Table(
            f"Bundled demo, median of {count_repeats}",
            ("build", "seconds", "range", "peak memory, MiB"),
            rows,
        ),
    )
    notes = (
        f"Rows that incremental models of the demo gained in the second runs: {inserted} (limit 0; ledger and gate "
        "history grow by design).",
    )
    return _Part(tables, notes, inserted == 0)


def measure_scoring(rows: list[dict[str, Any]], work: Path, count_repeats: int) -> tuple[_Part, Build]:
    """Return the cost of a whole build against the bare encoder and against scoring row by row, and the median build.

    Builds and bare encodes take turns, so that a slow minute of the machine falls on both.
    """
    raw_logs, warehouse = work / "ragtruth_raw", work / "ragtruth"
    shutil.rmtree(raw_logs, ignore_errors=True)
    write_raw_logs(rows, raw_logs)
    encoder = _load_encoder()
    builds: list[Build] = []
    encodes: list[float] = []
    samples: list[float] = []
    for _ in range(count_repeats):
        shutil.rmtree(warehouse, ignore_errors=True)
        builds.append(build(raw_logs, warehouse, environment=_WITHOUT_ENTAILMENT))
        texts, units = _read_units(warehouse / "hcat.duckdb")
        encoder.encode(list(texts.values())[:BATCH_SIZE], batch_size=BATCH_SIZE, show_progress_bar=False)  # warm-up
        ordered = sorted(texts.values(), key=lambda text: (len(text), text))
        encodes.append(_time_encode(encoder, [ordered]))
        chosen = random.Random(SEED).sample(sorted(units), min(COUNT_SAMPLED, len(units)))
        sampled = [[texts[text_id] for text_id in units[interaction_id]] for interaction_id in chosen]
        samples.append(_time_encode(encoder, sampled))
    whole = _median_build(builds)
    bare_seconds, sampled_seconds = statistics.median(encodes), statistics.median(samples)
    count_all, count_sampled = sum(map(len, units.values())), sum(map(len, sampled))
    row_seconds = sampled_seconds * count_all / count_sampled
    limit = LIMIT_FACTOR * bare_seconds + LIMIT_ALLOWANCE_SECONDS
    is_lean = whole.seconds <= limit
    is_faster = row_seconds >= LIMIT_SPEED_UP * whole.seconds
    costs = Table(
        f"Scoring {len(units):,} interactions: {count_all:,} sentences, {len(texts):,} distinct texts",
        ("what", "seconds", "against the whole build", "limit", "verdict"),
        (
            (f"whole `dbt build`, cold, median of {count_repeats}", f"{whole.seconds:.1f}", "1.00", "", ""),
            (
                f"bare encode of the distinct texts, median of {count_repeats}",
                f"{bare_seconds:.1f}",
                f"build = {whole.seconds / bare_seconds:.2f} x",
                f"build <= {LIMIT_FACTOR} x + {LIMIT_ALLOWANCE_SECONDS:.0f} s = {limit:.1f}",
                verdict(is_lean),
            ),
            (
                f"row by row, extrapolated from {len(chosen)} interactions, median of {count_repeats}",
                f"{row_seconds:.1f}",
                f"{row_seconds / whole.seconds:.1f} x as long",
                f">= {LIMIT_SPEED_UP:.0f} x",
                verdict(is_faster),
            ),
        ),
    )
    slowest = Table(
        "Slowest nodes of that build",
        ("node", "seconds"),
        [(name, f"{s:.2f}") for name, s in whole.slowest(_COUNT_SLOWEST)],
    )
    notes = (
        "Builds: "
        + _list_seconds([each.seconds for each in builds])
        + " s; bare encodes, taken in turn with them: "
        + _list_seconds(encodes)
        + " s; row by row samples: "
        + _list_seconds(samples)
        + " s.",
        f"Bare encode: SentenceTransformer.encode of the packaged all-MiniLM-L6-v2, CPU, float32, "
        f"batch_size {BATCH_SIZE}, texts of int_texts sorted by length, model load and warm-up not counted.",
        f"Row by row: one encode per interaction on its query, answer and context sentences, repeats included; "
        f"{sampled_seconds:.1f} s for {count_sampled:,} sentences of a seeded sample, times {count_all:,} / "
        f"{count_sampled:,}. It is encoding alone, without any metric.",
        "The limits apply to the pipeline around the encoder: entailment is switched off here.",
        f"Failed data tests and gates of that build: {', '.join(whole.failed_tests) or 'none'}.",
    )
    return _Part((costs, slowest), notes, is_lean and is_faster), whole


def measure_addition(rows: list[dict[str, Any]], work: Path, full: Build, count_repeats: int) -> _Part:
    """Return the time of adding one percent new interactions to a built warehouse, each time from the same state."""
    count_added = max(round(SHARE_ADDED * len(rows)), 1)
    added = {row["interaction_id"] for row in random.Random(SEED).sample(rows, count_added)}
    raw_logs, warehouse = work / "growing_raw", work / "growing"
    shutil.rmtree(raw_logs, ignore_errors=True)
    shutil.rmtree(warehouse, ignore_errors=True)
    write_raw_logs([row for row in rows if row["interaction_id"] not in added], raw_logs, "_2025-06-01")
    build(raw_logs, warehouse, environment=_WITHOUT_ENTAILMENT)
    kept = work / "growing_kept"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(warehouse, kept)
    database, target = warehouse / "hcat.duckdb", warehouse / "target"
    starts: list[Build] = []
    additions: list[Build] = []
    inserted, changed = 0, set[str]()
    for _ in range(count_repeats):
        shutil.rmtree(warehouse)
        shutil.copytree(kept, warehouse)
        before = read_contents(database)
        starts.append(build(raw_logs, warehouse, environment=_WITHOUT_ENTAILMENT))
        after = read_contents(database)
        inserted += count_inserted(before, after, incremental_tables(target))
        changed |= set(changed_tables(before, after))
        write_raw_logs([row for row in rows if row["interaction_id"] in added], raw_logs, "_2025-06-02")
        additions.append(build(raw_logs, warehouse, environment=_WITHOUT_ENTAILMENT))
        for path in raw_logs.glob("*_2025-06-02.jsonl"):
            path.unlink()
        scored = read_contents(database)["fct_interactions"].count_rows - after["fct_interactions"].count_rows
        if scored != count_added:
            raise BenchmarkError(f"{count_added} interactions were added, {scored} arrived in fct_interactions")
    unchanged, grown = _median_build(starts), _median_build(additions)
    limit = LIMIT_SHARE_OF_FULL * full.seconds + unchanged.seconds
    is_within = grown.seconds <= limit
    table = Table(
        f"Adding {count_added:,} interactions to {len(rows) - count_added:,}",
        ("build", "seconds", "limit", "verdict"),
        (
            ("full, cold", f"{full.seconds:.1f}", "", ""),
            (
                f"second run, nothing new (fixed start), median of {count_repeats}",
                f"{unchanged.seconds:.1f}",
                "",
                "",
            ),
            (
                f"one percent new, median of {count_repeats}",
                f"{grown.seconds:.1f}",
                f"{100 * LIMIT_SHARE_OF_FULL:.0f} % of full + fixed start = {limit:.1f}",
                verdict(is_within),
            ),
        ),
    )
    moved = sorted(name for name in changed if not name.startswith("published_"))
    notes = (
        f"With nothing new: {_list_seconds([each.seconds for each in starts])} s; with one percent: "
        f"{_list_seconds([each.seconds for each in additions])} s.",
        f"Rows that incremental models gained in the run with nothing new: {inserted} (limit 0; ledger and gate "
        f"history grow by design). Tables whose content changed in it: {', '.join(moved) or 'none'}.",
    )
    return _Part((table,), notes, is_within and inserted == 0)


def _median_build(builds: Sequence[Build]) -> Build:
    """Return the build of median time, the slower one of an even number."""
    return sorted(builds, key=lambda each: each.seconds)[len(builds) // 2]


def _list_seconds(seconds: Sequence[float]) -> str:
    return ", ".join(f"{each:.1f}" for each in seconds)


def _read_units(database: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return text_id -> text of all distinct texts, and interaction_id -> ids of its sentences, repeats included."""
    import duckdb

    connection = duckdb.connect(str(database), read_only=True)
    try:
        texts = dict(connection.sql("select text_id, encoded_text from int_texts").fetchall())
        units = connection.sql(
            """
            select
                interaction_id,
                coalesce(query_text_ids, []) || coalesce(answer_text_ids, []) || coalesce(context_text_ids, [])
            from int_interaction_units
            """
        ).fetchall()
    finally:
        connection.close()
    return texts, {interaction_id: list(ids) for interaction_id, ids in units}


def _load_encoder() -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(packaged_folder()), device="cpu")


def _time_encode(encoder: Any, groups: Sequence[Sequence[str]]) -> float:
    started = time.perf_counter()
    for texts in groups:
        encoder.encode(list(texts), batch_size=BATCH_SIZE, show_progress_bar=False, normalize_embeddings=True)
    return time.perf_counter() - started


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome:
    """Return demo times, and with HCAT_BENCHMARK_DATA set the cost of scoring and of adding one percent."""
    data = data_folder("ragtruth")
    with working_folder(folder) as work:
        count_repeats = 1 if is_quick else COUNT_REPEATS
        parts = [measure_demo(work, count_repeats)]
        if data is not None:
            rows = read_rows(data)
            if is_quick:
                rows = take_quick(rows)
            scoring, full = measure_scoring(rows, work, count_repeats)
            parts += [scoring, measure_addition(rows, work, full, count_repeats)]
    notes = [note for part in parts for note in part.notes]
    if data is None:
        notes.append(
            "Scoring cost and growth were skipped: HCAT_BENCHMARK_DATA is not set or holds no ragtruth folder."
        )
    tables = [table for part in parts for table in part.tables]
    if is_quick:
        notes.append("A quick run: the limits are meant for the full size and do not decide the exit code.")
    is_within = is_quick or all(part.is_within_limits for part in parts)
    return Outcome("throughput", "Throughput", tables, notes, is_quick, is_within)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    options = argument_parser("throughput", __doc__.splitlines()[0]).parse_args(arguments)
    return finish(run(options.quick, options.folder), "python -m benchmarks.throughput")


if __name__ == "__main__":
    sys.exit(main())
