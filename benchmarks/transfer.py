"""The shipped entailment on data that it was never fitted on: inference (MultiNLI) and attribution (BEGIN, Q2).

Attribution rows pass the product's own contract and build; a negative is a reply that its knowledge fully supports.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as parquet

from benchmarks.accuracy import Labelled, baselines, score_rows
from benchmarks.discrimination import Estimate, auroc, estimate_from_draws, resample_rows
from benchmarks.harness import BenchmarkError, Outcome, Table, argument_parser, data_folder, finish, working_folder
from hcat.encoders.distances import measure_distances
from hcat.encoders.entailment import load_classifier
from hcat.encoders.identities import resolve_classifier
from hcat.encoders.mpnet import find_parts
from hcat.encoders.pair_classifiers import classify_pairs
from hcat.engine.devices import ModelError

#: Setting HCAT_CLASSIFIER -> lowest accuracy on MultiNLI dev matched.
LIMITS_MNLI = {"compact": 0.68, "accurate": 0.76}
LIMIT_Q2 = 0.65

#: What word support and the headline are called in the tables.
_SCORES = (
    "groundedness",
    "groundedness_entailment__minimum",
    "groundedness_similarity__minimum",
    "support_words",
    "unsupported words",
)
_HEADLINE, _WORD_SUPPORT, _BASELINE = "groundedness", "support_words", "unsupported words"
_QUICK_ROWS = 200
_BATCH_TOKENS = 8192
_CLASSES = ("entailment", "neutral", "contradiction")
_SECTIONS = {
    "compact": ("transfer", "Data that was never trained on"),
    "accurate": ("transfer_accurate", "Data that was never trained on, accurate classifier"),
}


def read_begin(folder: Path) -> list[dict[str, Any]]:
    """Return BEGIN rows in the shape of RAGTruth; replies that claim nothing (`Generic`) are left out."""
    return list(
        _to_rows(
            row | {"is_failure": row["begin_label"] != "Fully attributable", "task": row["data_source"]}
            for row in read_folder(folder)
            if row["begin_label"] != "Generic"
        )
    )


def read_q2(folder: Path) -> list[dict[str, Any]]:
    """Return Q2 rows in the shape of RAGTruth; label 1 means inconsistent."""
    rows = read_folder(folder)
    return list(
        _to_rows(
            row | {"is_failure": int(row["label"]) == 1, "model_name": row["model"], "task": "wow"} for row in rows
        )
    )


def read_folder(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of every parquet file in a folder."""
    return [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def _to_rows(rows: Iterator[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    seen: dict[str, int] = {}
    for row in rows:
        knowledge = str(row["knowledge"])
        source = hashlib.md5(knowledge.encode(), usedforsecurity=False).hexdigest()[:16]
        content = f"{source}|{row['model_name']}|{row['message']}|{row['response']}"
        key = hashlib.md5(content.encode(), usedforsecurity=False).hexdigest()[:16]
        seen[key] = seen.get(key, 0) + 1
        yield {
            "interaction_id": f"{key}-{seen[key]}",
            "query": row["message"],
            "contexts": [knowledge],
            "answer": row["response"],
            "hallucinated": bool(row["is_failure"]),
            "task": row["task"],
            "model": row["model_name"],
            "source_id": source,
        }


def measure_attribution(labelled: Labelled) -> dict[str, Estimate]:
    """Return the pooled AUROC of every score and of the word baseline, by source."""
    is_positive = np.array([row["hallucinated"] for row in labelled.rows])
    sources = np.unique([row["source_id"] for row in labelled.rows], return_inverse=True)[1].astype(np.int64)
    scores = {**labelled.scores, "unsupported words": baselines(labelled.rows)["unsupported words"]}
    return {name: auroc(scores[name], is_positive, sources) for name in _SCORES if name in scores}


class Inference(NamedTuple):
    """What one classifier says of MultiNLI dev matched: accuracy with an interval by premise, its name, its time."""

    accuracy: Estimate
    name: str
    seconds: float


def measure_inference(folder: Path, setting: str, is_quick: bool) -> Inference:
    """Return what a shipped classifier says of MultiNLI dev matched."""
    rows = [
        row
        for row in parquet.read_table(folder / "nli_3way.parquet").to_pylist()
        if row["dataset"] == "mnli_dev_matched"
    ][: _QUICK_ROWS if is_quick else None]
    identity = resolve_classifier(setting, "auto", "auto")
    classifier = load_classifier(identity)
    premises, hypotheses = [row["premise"] for row in rows], [row["hypothesis"] for row in rows]
    started = time.perf_counter()
    logits, _ = classify_pairs(classifier, premises, hypotheses, _BATCH_TOKENS)
    seconds = time.perf_counter() - started
    found = measure_distances(logits, classifier.head)
    if found.probability_contradiction is None:
        raise BenchmarkError(f"the classifier {setting} has no class contradiction")
    shares = np.stack(
        [
            found.probability_entailment,
            1 - found.probability_entailment - found.probability_contradiction,
            found.probability_contradiction,
        ],
        axis=1,
    )
    is_right = shares.argmax(axis=1) == np.array([_CLASSES.index(row["label"]) for row in rows])
    sources = np.unique(premises, return_inverse=True)[1].astype(np.int64)
    weights = resample_rows(sources, 1_000)
    accuracy = estimate_from_draws(float(is_right.mean()), (weights @ is_right) / weights.sum(axis=1))
    name = f"{identity.name} revision {identity.classifier_revision}, n = {len(rows):,}"
    return Inference(accuracy, name, seconds)


def run_accurate(is_quick: bool = False, folder: Path | None = None) -> Outcome | None:
    """Return the outcome of the accurate classifier; None when the data or its packages are not there."""
    try:
        find_parts()
    except ModelError:
        return None
    return run(is_quick, folder, "accurate")


def run(is_quick: bool = False, folder: Path | None = None, classifier: str = "compact") -> Outcome | None:
    """Return the outcome of the setting HCAT_CLASSIFIER; None when the data are not there."""
    folders = {name: data_folder(name) for name in ("begin", "q2_wow", "nli")}
    if any(path is None for path in folders.values()):
        return None
    rows: dict[str, Sequence[dict[str, Any]]] = {
        "BEGIN": read_begin(folders["begin"]),  # type: ignore[arg-type]
        "Q2 (WoW)": read_q2(folders["q2_wow"]),  # type: ignore[arg-type]
    }
    tables, notes, met = [], [], True
    with working_folder(folder) as work:
        for name, own in rows.items():
            chosen = list(own[:_QUICK_ROWS] if is_quick else own)
            labelled = score_rows(chosen, work / name.split()[0].lower(), {"HCAT_CLASSIFIER": classifier})
            figures = measure_attribution(labelled)
            differences = {rival: figures[_HEADLINE].minus(figures[rival]) for rival in (_WORD_SUPPORT, _BASELINE)}
            difference = differences[_WORD_SUPPORT]
            met &= difference.low > 0 and (name == "BEGIN" or figures[_HEADLINE].value >= LIMIT_Q2)
            failures = sum(row["hallucinated"] for row in chosen)
            tables.append(
                Table(
                    f"{name}: n = {len(chosen):,}, {failures:,} not fully supported",
                    ("score", "AUROC"),
                    [(score, _tell(each)) for score, each in figures.items()],
                )
            )
            told = "; ".join(f"{rival} {_tell(each, '+')}" for rival, each in differences.items())
            notes.append(f"{name}: {_HEADLINE} minus each word count, paired by knowledge: {told}.")
    own = measure_inference(folders["nli"], classifier, is_quick)  # type: ignore[arg-type]
    limit = LIMITS_MNLI[classifier]
    met &= own.accuracy.value >= limit
    lines = [(own.name, _tell(own.accuracy), f">= {limit}")]
    if classifier != "compact":
        default = measure_inference(folders["nli"], "compact", is_quick)  # type: ignore[arg-type]
        lines.append((default.name, _tell(default.accuracy), ""))
        notes.append(
            f"MultiNLI, difference of the two, paired by premise: {_tell(own.accuracy.minus(default.accuracy), '+')}. "
            f"The {classifier} classifier took {own.seconds / default.seconds:.1f} times as long over the same pairs."
        )
    head = "MultiNLI dev matched, accuracy over three classes (chance .35)"
    tables.append(Table(head, ("classifier", "accuracy", "limit"), lines))
    notes.append(
        "No model was trained on these sets; sets and licences of the training data are in docs/model-card.md."
    )
    section, title = _SECTIONS[classifier]
    return Outcome(section, title, tables, notes, is_quick, is_quick or met, page="transfer")


def _tell(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.value:{sign}.3f} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}]"


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("transfer", __doc__.splitlines()[0])
    parser.add_argument("--classifier", choices=tuple(_SECTIONS), default="compact")
    options = parser.parse_args(arguments)
    outcome = run(options.quick, options.folder, options.classifier)
    if outcome is None:
        parser.exit(2, "transfer: HCAT_BENCHMARK_DATA must name a folder that holds begin, q2_wow and nli\n")
    option = "" if options.classifier == "compact" else f" --classifier {options.classifier}"
    return finish(outcome, f"python -m benchmarks.transfer{option}")


if __name__ == "__main__":
    sys.exit(main())
