"""What windows of evidence buy: speed and accuracy against reading the whole context, and memory at ten thousand.

Both sides read the same answer sentences with the same classifier and the same batches; one reads the chosen window,
the other the whole context up to the model's length.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.discrimination import auroc
from benchmarks.harness import (
    Outcome,
    Table,
    argument_parser,
    build,
    data_folder,
    finish,
    verdict,
    working_folder,
)
from benchmarks.scale import COUNT_INTERACTIONS, COUNT_SENTENCES, ENCODER, write_raw_logs
from hcat.encoders.distances import measure_distances
from hcat.encoders.entailment import load_classifier
from hcat.encoders.identities import resolve_classifier
from hcat.encoders.pair_classifiers import classify_pairs
from hcat.engine.sizes import pair_tokens
from training.grounded import AnswerSentence, EvidenceReader, read_ragtruth, read_sentences

SEED = 20260101
COUNT_ANSWERS = 150
COUNT_QUICK = 20

LIMIT_SPEED_UP = 3.0
SIZES_OF_MEMORY = (2_500, 10_000)
LIMIT_MEBIBYTES = 3 * 1024.0


def _score(premises: Sequence[str], sentences: Sequence[AnswerSentence]) -> tuple[npt.NDArray[np.float64], float]:
    """Return log P(entailment) of each pair and the seconds that it took, model load not counted."""
    identity = resolve_classifier("compact", "auto", "auto")
    classifier = load_classifier(identity)
    budget = pair_tokens(identity.device)
    classify_pairs(classifier, ["warm up"], ["warm up"], budget)
    started = time.perf_counter()
    logits, _ = classify_pairs(classifier, premises, [sentence.text for sentence in sentences], budget)
    seconds = time.perf_counter() - started
    probabilities = measure_distances(logits, classifier.head).probability_entailment
    return np.log(np.maximum(probabilities, 1e-12)), seconds


def measure_windows(data: Path, count: int) -> tuple[Table, list[str], bool]:
    """Return speed and AUROC of windows beside whole contexts on a seeded sample of answers."""
    answers = [answer for answer in read_ragtruth(data) if answer.split in ("", "test")]
    answers = random.Random(SEED).sample(answers, min(count, len(answers)))
    reader = EvidenceReader()
    reader.split([text for answer in answers for text in (answer.answer, *answer.contexts)])
    started = time.perf_counter()
    sentences = read_sentences(answers, reader)
    choice = time.perf_counter() - started
    numbers = {answer.answer_id: position for position, answer in enumerate(answers)}
    owners = np.array([numbers[sentence.answer.answer_id] for sentence in sentences])
    is_failure = np.array([bool(answer.spans) for answer in answers])
    sources = np.unique([answer.source_id for answer in answers], return_inverse=True)[1].astype(np.int64)
    sides = {
        "windows of evidence": [sentence.premise for sentence in sentences],
        "whole context": [" ".join(sentence.context) for sentence in sentences],
    }
    rows, speeds, values = [], {}, {}
    for name, premises in sides.items():
        scores, seconds = _score(premises, sentences)
        seconds += choice if name == "windows of evidence" else 0.0
        joined = np.bincount(owners, weights=scores, minlength=len(answers))
        estimate = auroc(joined, is_failure, sources)
        speeds[name], values[name] = len(answers) / seconds, estimate
        rows.append(
            (
                name,
                f"{seconds:.1f}",
                f"{speeds[name]:.2f}",
                f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]",
            )
        )
    ratio = speeds["windows of evidence"] / speeds["whole context"]
    met = ratio >= LIMIT_SPEED_UP and values["windows of evidence"].value >= values["whole context"].value
    table = Table(
        f"{len(answers)} answers, {len(sentences):,} answer sentences",
        ("premise", "seconds", "interactions a second", "AUROC of the product of P(entailment)"),
        rows,
    )
    notes = [
        f"Windows are {ratio:.1f} x as fast (limit {LIMIT_SPEED_UP:.0f} x, at no smaller AUROC): {verdict(met)}. "
        f"Choosing them took {choice:.1f} s and is counted; the embeddings exist in every build and are not.",
        "The classifier has seen some of these sources in training; this holds for both sides alike.",
    ]
    return table, notes, met


def measure_memory(work: Path) -> tuple[Table, bool]:
    """Return time and peak memory of builds with the real classifier at two sizes, random vectors as embeddings."""
    rows, met = [], True
    for count in SIZES_OF_MEMORY:
        raw_logs, warehouse = work / f"raw_{count}", work / f"warehouse_{count}"
        shutil.rmtree(warehouse, ignore_errors=True)
        write_raw_logs(raw_logs, count, COUNT_SENTENCES * count // COUNT_INTERACTIONS)
        measured = build(raw_logs, warehouse, environment={"HCAT_ENCODER": ENCODER, "HCAT_CLASSIFIER": "compact"})
        met &= measured.peak_mebibytes <= LIMIT_MEBIBYTES
        rows.append(
            (
                f"{count:,}",
                f"{measured.seconds:.0f}",
                f"{measured.node_seconds.get('int_pairs_entailed', 0.0):.0f}",
                f"{measured.peak_mebibytes:,.0f}",
                f"<= {LIMIT_MEBIBYTES:,.0f}",
            )
        )
    columns = ("interactions", "seconds of the build", "of them entailment", "peak memory, MiB", "limit")
    return Table("Memory with the packaged classifier, 4 answer sentences each", columns, rows), met


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome | None:
    """Return the outcome; None when the data are not there."""
    data = data_folder("ragtruth")
    if data is None:
        return None
    table, notes, met = measure_windows(data, COUNT_QUICK if is_quick else COUNT_ANSWERS)
    tables = [table]
    if not is_quick:
        with working_folder(folder) as work:
            memory, is_small = measure_memory(work)
        tables.append(memory)
        met &= is_small
    return Outcome("evidence", "Windows of evidence", tables, notes, is_quick, is_quick or met)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("evidence", __doc__.splitlines()[0])
    options = parser.parse_args(arguments)
    outcome = run(options.quick, options.folder)
    if outcome is None:
        parser.exit(2, "evidence: HCAT_BENCHMARK_DATA must name a folder that holds ragtruth\n")
    return finish(outcome, "python -m benchmarks.evidence")


if __name__ == "__main__":
    sys.exit(main())
