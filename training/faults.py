"""Made faults in faithful sentences of held-out sources, scored by the fold model that has not seen them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from safetensors.torch import load_file

from benchmarks.ragtruth import read_rows
from benchmarks.swaps import COUNT_SENTENCES, make_faults, take_faithful
from training import fit, grounded
from training.bases import BASES
from training.lora import write_back


def score_faults(data: Path, folder: Path) -> None:
    """Write ``faults.parquet`` beside the fold model in ``folder``: features of faithful and faulty sentences."""
    facts = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    count_folds = int(facts["count_folds"])
    own = [
        row
        for row in read_rows(data / "ragtruth")
        if grounded.fold_of(f"{row['task']}-{row['source_id']}", count_folds) == facts["held_out"]
    ]
    faithful = take_faithful(own, COUNT_SENTENCES // count_folds)
    rows = faithful + make_faults(faithful)
    kinds = {row["interaction_id"]: row.get("kind") for row in rows}
    sentences = grounded.read_sentences([_to_answer(row) for row in rows], grounded.EvidenceReader())
    pairs = [replace(grounded.to_pair(each), wrong=None) for each in sentences]
    model = fit.make_adapted(BASES[facts["base"]], int(facts["rank"]))
    write_back(model, load_file(folder / "delta.safetensors"))
    shares = fit.predict(model.eval(), pairs, int(facts["maximum_tokens"]))
    features = grounded.read_features(sentences, shares)
    parquet.write_table(_to_table(sentences, kinds, features), folder / "faults.parquet")


def _to_answer(row: Mapping[str, Any]) -> grounded.Answer:
    return grounded.Answer(
        answer_id=row["interaction_id"],
        source_id=f"{row['task']}-{row['source_id']}",
        task=str(row["task"]),
        model=str(row["model"]),
        split=str(row.get("split") or ""),
        query=row["query"] or "",
        answer=row["answer"],
        contexts=tuple(row["contexts"]),
        spans=(),
    )


def _to_table(
    sentences: Sequence[grounded.AnswerSentence], kinds: Mapping[str, str | None], features: np.ndarray[Any, Any]
) -> pa.Table:
    return pa.table(
        {
            "answer_id": [each.answer.answer_id for each in sentences],
            "source_id": [each.answer.source_id for each in sentences],
            "kind": pa.array([kinds[each.answer.answer_id] for each in sentences], pa.string()),
            "features": features.tolist(),
        }
    )
