"""What it costs to read logs: the fold of 100,000 spans, `hcat check` on 10,000 calls, and one answer of 10 MB.

The encoder is `hashing:384` and the models of classes and names are switched off: what is measured is the work of the
pipeline and of its rules over texts.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as parquet

from benchmarks import scale
from benchmarks.harness import (
    BenchmarkError,
    Build,
    Outcome,
    Table,
    argument_parser,
    build,
    finish,
    verdict,
    working_folder,
)

COUNT_TRACES = 20_000
COUNT_TRACES_QUICK = 200
COUNT_CALLS = 10_000
COUNT_CALLS_QUICK = 200
#: Characters of the long answer.
LENGTH_LONG = 10_000_000
LENGTH_LONG_QUICK = 100_000
#: Seconds and MiB of the fold, and seconds of the check, that are promised on two cores.
LIMIT_FOLD_SECONDS = 20.0
LIMIT_FOLD_MEBIBYTES = 1536.0
LIMIT_CHECK_SECONDS = 5.0

_SPANS_OF_A_TRACE = 5
_COUNT_SLOWEST = 8
_FIRST = datetime(2026, 1, 5, tzinfo=UTC)
_ENVIRONMENT = {"HCAT_ENCODER": scale.ENCODER, "HCAT_CLASSIFIER": "none", "HCAT_TAGGER": "none"}
_SENTENCE = "A transfer number {number} of {amount} euros arrives within {days} working days."


def write_spans(folder: Path, count: int) -> None:
    """Write ``count`` traces of an OpenInference chain, a line per request: chain, retriever, reranker, two models."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "spans.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(count):
            lines.write(json.dumps(_trace(number + 1), separators=(",", ":")) + "\n")


def _trace(number: int) -> dict[str, Any]:
    query = f"How long does transfer {number} take?"
    texts = [_SENTENCE.format(number=number * 3 + place, amount=number % 97, days=place + 1) for place in range(3)]
    found = [(f"chunk-{(number * 7 + place) % 5_000}", text, 0.9 - place / 10) for place, text in enumerate(texts)]
    parts = [
        ("CHAIN", {"input.value": query, "output.value": texts[0]}),
        ("RETRIEVER", {"input.value": query, **_documents("retrieval.documents", found)}),
        ("RERANKER", _documents("reranker.output_documents", found[:2])),
        ("LLM", {"llm.model_name": "model-1", "output.value": query}),
        ("LLM", {"llm.model_name": "model-1", "output.value": texts[0]}),
    ]
    started = _FIRST + timedelta(minutes=number)
    spans = [
        {
            "traceId": f"{number:032x}",
            "spanId": f"{number * _SPANS_OF_A_TRACE + place + 1:016x}",
            "parentSpanId": f"{number * _SPANS_OF_A_TRACE + 1:016x}" if place else "",
            "name": kind.lower(),
            "kind": 1,
            "startTimeUnixNano": str(int((started + timedelta(seconds=place)).timestamp()) * 10**9),
            "endTimeUnixNano": str(int((started + timedelta(seconds=place + 1)).timestamp()) * 10**9),
            "attributes": [_attribute(name, value) for name, value in {"openinference.span.kind": kind, **own}.items()],
            "status": {},
        }
        for place, (kind, own) in enumerate(parts)
    ]
    resource = {"attributes": [_attribute("service.name", "assistant"), _attribute("service.version", "2.3")]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "app"}, "spans": spans}]}]}


def _documents(prefix: str, found: list[tuple[str, str, float]]) -> dict[str, Any]:
    return {
        f"{prefix}.{place}.document.{name}": value
        for place, document in enumerate(found)
        for name, value in zip(("id", "content", "score"), document, strict=True)
    }


def _attribute(name: str, value: str | float) -> dict[str, Any]:
    return {"key": name, "value": {"stringValue" if isinstance(value, str) else "doubleValue": value}}


def write_calls(folder: Path, count: int) -> None:
    """Write ``count`` calls in one file, each with its query, answer and three contexts."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "calls.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(count):
            texts = [_SENTENCE.format(number=number * 3 + place, amount=number % 97, days=2) for place in range(3)]
            call = {"user_input": f"How long does transfer {number} take?", "response": texts[0]}
            lines.write(json.dumps(call | {"retrieved_contexts": texts}) + "\n")


def lengthen_an_answer(folder: Path, length: int) -> None:
    """Replace the first answer of written logs by one of ``length`` characters in sentences that are all different."""

    def sentences() -> Iterator[str]:
        random, written = np.random.default_rng(scale.SEED), 0
        while written < length:
            amount, days = random.integers(2, 9_000, size=2)
            text = _SENTENCE.format(number=written, amount=amount, days=days)
            written += len(text) + 1
            yield text

    path = folder / "interactions.parquet"
    table = parquet.read_table(path)
    answers = table["answer"].to_pylist()
    answers[0] = " ".join(sentences())
    place = table.schema.get_field_index("answer")
    parquet.write_table(table.set_column(place, table.schema.field(place), [answers]), path)


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome:
    """Return seconds and memory of the fold, the check and the long answer, beside what each stands on.

    Raises
    ------
    BenchmarkError
        If a trace was not staged, or the check found no call.
    """
    with working_folder(folder) as work:
        landed, folded = _fold(work, COUNT_TRACES_QUICK if is_quick else COUNT_TRACES)
        checked = _check(work, COUNT_CALLS_QUICK if is_quick else COUNT_CALLS)
        short, long = _long_answer(work, LENGTH_LONG_QUICK if is_quick else LENGTH_LONG)
    seconds = sum(folded.node_seconds.values())
    is_fast = seconds <= LIMIT_FOLD_SECONDS and folded.peak_mebibytes <= LIMIT_FOLD_MEBIBYTES
    is_quick_check = checked <= LIMIT_CHECK_SECONDS
    figures = [
        ("landing of the spans", landed.seconds, sum(landed.node_seconds.values()), landed.peak_mebibytes),
        ("fold of the spans", folded.seconds, seconds, folded.peak_mebibytes),
        ("build of 200 interactions", short.seconds, sum(short.node_seconds.values()), short.peak_mebibytes),
        ("the same, one answer of them long", long.seconds, sum(long.node_seconds.values()), long.peak_mebibytes),
    ]
    rows = [(name, *(f"{value:,.1f}" for value in values)) for name, *values in figures]
    longer = sorted(
        ((long.node_seconds[name] - short.node_seconds.get(name, 0.0), name) for name in long.node_seconds),
        reverse=True,
    )[:_COUNT_SLOWEST]
    tables = [
        Table("Commands of dbt", ("what", "seconds", "seconds of its nodes", "peak memory, MiB"), rows),
        Table(
            "Seconds that the long answer adds", ("node", "seconds"), [(name, f"{more:,.1f}") for more, name in longer]
        ),
    ]
    count = COUNT_TRACES_QUICK if is_quick else COUNT_TRACES
    notes = [
        f"{count * _SPANS_OF_A_TRACE:,} spans in {count:,} traces fold in {seconds:.1f} s of their nodes and "
        f"{folded.peak_mebibytes:,.0f} MiB (limits {LIMIT_FOLD_SECONDS:.0f} s, {LIMIT_FOLD_MEBIBYTES:,.0f} MiB: "
        f"{'quick' if is_quick else verdict(is_fast)}); the command as a whole also parses the project.",
        f"`hcat check` on {COUNT_CALLS_QUICK if is_quick else COUNT_CALLS:,} calls: {checked:.1f} s (limit "
        f"{LIMIT_CHECK_SECONDS:.0f} s: {'quick' if is_quick else verdict(is_quick_check)}).",
        f"The long answer has {LENGTH_LONG_QUICK if is_quick else LENGTH_LONG:,} characters. Classifier and tagger are "
        "off here; each reads every sentence of it, at the pace that [throughput](throughput.md) gives.",
    ]
    within = is_quick or (is_fast and is_quick_check)
    return Outcome("logs_read", "What it costs to read logs", tables, notes, is_quick, within)


def _fold(work: Path, count: int) -> tuple[Build, Build]:
    raw, warehouse = work / "spans", work / "warehouse_spans"
    shutil.rmtree(warehouse, ignore_errors=True)
    write_spans(raw, count)
    untested = ("--exclude-resource-type", "test", "--exclude-resource-type", "unit_test", "--select")
    select_landing = ("+path:models/staging/spans,path:models/landing", "resource_type:seed")
    landed = build(raw, warehouse, arguments=(*untested, *select_landing), environment=_ENVIRONMENT)
    folded = build(raw, warehouse, arguments=(*untested, "path:models/staging/spans"), environment=_ENVIRONMENT)
    with duckdb.connect(str(warehouse / "hcat.duckdb"), read_only=True) as connection:
        staged = connection.execute("select count(*) from base_folded_traces where entity = 'interactions'").fetchone()
    if staged != (count,):
        raise BenchmarkError(f"{count:,} traces were written and {staged} are folded")
    return landed, folded


def _check(work: Path, count: int) -> float:
    raw = work / "calls"
    write_calls(raw, count)
    command = [str(Path(sys.executable).parent / "hcat"), "check", str(raw)]
    started = time.perf_counter()
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if f"{count:,}" not in checked.stdout:
        raise BenchmarkError(f"hcat check did not find {count:,} calls: {checked.stdout}{checked.stderr}")
    return seconds


def _long_answer(work: Path, length: int) -> tuple[Build, Build]:
    built = []
    for name in ("short", "long"):
        raw, warehouse = work / name, work / f"warehouse_{name}"
        shutil.rmtree(warehouse, ignore_errors=True)
        scale.write_raw_logs(raw, 200, 1_000)
        if name == "long":
            lengthen_an_answer(raw, length)
        arguments = ("--exclude-resource-type", "unit_test")
        built.append(build(raw, warehouse, arguments=arguments, environment=_ENVIRONMENT))
    return built[0], built[1]


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    options = argument_parser("logs_read", (__doc__ or "").splitlines()[0]).parse_args(arguments)
    return finish(run(options.quick, options.folder), "python -m benchmarks.logs_read")


if __name__ == "__main__":
    sys.exit(main())
