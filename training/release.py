"""From trained folders to what ships: the fused prior as a seed, the delta and its card as package data."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet
from safetensors.torch import load_file, save_file

from hcat.devices import check_packaged_weights, hash_file
from hcat.entailment import COMPACT_FOLDER, COMPACT_NAME
from hcat.fusion import FEATURES, Fusion, fit_fusion, join_answers
from training.fit import CLASSES

ROOT = Path(__file__).resolve().parents[1]
PRIOR = ROOT / "seeds" / "groundedness_prior.csv"

#: Half the weight of the squared coefficients: chosen once, by hand, so that no feature of a thousand answers runs off.
PENALTY = 2.0


@dataclass(frozen=True, slots=True)
class Scored:
    """Sentences that no fold model had seen, and the answers they stand in.

    Attributes
    ----------
    sentences : Table
        Rows of ``predictions.parquet`` of all folds.
    features : ndarray, shape (n, n_features)
        Of the sentences.
    answers : ndarray of int, shape (n,)
        Answer of each sentence.
    answer_rows : list of dict
        One row per answer: answer_id, source_id, task, model, split, is_grounded, fold.
    """

    sentences: pa.Table
    features: npt.NDArray[np.float64]
    answers: npt.NDArray[np.int64]
    answer_rows: list[dict[str, Any]]


def read_predictions(folders: Sequence[Path]) -> Scored:
    """Return the out-of-fold sentences of several fold models."""
    tables = [parquet.read_table(folder / "predictions.parquet") for folder in folders]
    parts = [
        table.append_column("fold", pa.array([fold] * table.num_rows, pa.int64())) for fold, table in enumerate(tables)
    ]
    sentences = pa.concat_tables(parts).combine_chunks()
    names = ("answer_id", "source_id", "task", "model", "split", "is_grounded", "fold")
    rows = sentences.select(names).to_pylist()
    positions: dict[str, int] = {}
    answer_rows: list[dict[str, Any]] = []
    for row in rows:
        if row["answer_id"] not in positions:
            positions[row["answer_id"]] = len(answer_rows)
            answer_rows.append(row)
    answers = np.array([positions[row["answer_id"]] for row in rows], dtype=np.int64)
    features = np.array(sentences["features"].to_pylist(), dtype=np.float64)
    return Scored(sentences, features, answers, answer_rows)


def fit_prior(scored: Scored, chosen: npt.NDArray[np.bool_] | None = None) -> Fusion:
    """Return the fusion fitted on the answers that ``chosen`` marks (all by default)."""
    keep = np.ones(len(scored.answer_rows), dtype=bool) if chosen is None else chosen
    numbers = np.cumsum(keep) - 1
    rows = keep[scored.answers]
    labels = np.array([row["is_grounded"] for row in scored.answer_rows])[keep]
    return fit_fusion(scored.features[rows], numbers[scored.answers[rows]], labels, penalty=PENALTY)


def score_out_of_fold(scored: Scored) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return (probability of each sentence, of each answer), each from a fusion fitted on the other folds."""
    folds = np.array([row["fold"] for row in scored.answer_rows])
    by_sentence = np.empty(len(scored.answers))
    for fold in np.unique(folds):
        fusion = fit_prior(scored, folds != fold)
        rows = (folds == fold)[scored.answers]
        by_sentence[rows] = fusion.sentence_log_odds(scored.features[rows])
    by_answer = join_answers(by_sentence, scored.answers, len(scored.answer_rows))
    return 1.0 / (1.0 + np.exp(-by_sentence)), by_answer


def write_prior(fusion: Fusion, path: Path = PRIOR) -> None:
    """Write the seed: one row per feature, the intercept first."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(("feature", "coefficient", "center", "scale"))
        writer.writerow(("intercept", f"{fusion.intercept:.6f}", "", ""))
        for name, values in zip(
            FEATURES, zip(fusion.coefficients, fusion.centers, fusion.scales, strict=True), strict=True
        ):
            writer.writerow((name, *(f"{value:.6f}" for value in values)))


def export(trained: Path, revision: str, folder: Path = COMPACT_FOLDER) -> None:
    """Write the delta in half precision and its card: labels, digests, recipe, and digests of the sources it has seen.

    The digests let a benchmark say that it scores answers to sources from training; they tell nothing else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    delta = {name: value.half().contiguous() for name, value in load_file(trained / "delta.safetensors").items()}
    save_file(delta, folder / "delta.safetensors")
    # the library writes files for their owner alone
    (folder / "delta.safetensors").chmod(0o644)
    facts = json.loads((trained / "training.json").read_text(encoding="utf-8"))
    sources = facts.pop("sources", [])
    card = {
        "name": COMPACT_NAME,
        "revision": revision,
        "labels": list(CLASSES),
        "base_sha256": check_packaged_weights(),
        "delta_sha256": hash_file(folder / "delta.safetensors"),
        "training": facts,
        "trained_sources": sorted(
            hashlib.md5(each.encode(), usedforsecurity=False).hexdigest()[:12] for each in sources
        ),
    }
    (folder / "card.json").write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf-8")
