"""Makes the head that tells talk from claims: `python -m training.talk`; with `--print` it only prints.

It reads embeddings of the packaged encoder. Talk are greetings, offers, lead-ins, closings and signatures. The made
sentences (`talk_frames.csv`) are ours. The public ones are the sentences of RAGTruth's answers (MIT), where the rules
say which are talk or decline, and the sentences of its passages that deny something. Figures: docs/model-card.md.
"""

from __future__ import annotations

import csv
import os
import random
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet

from hcat.encoders.classifier_heads import FOLDER, logistic
from hcat.engine.devices import check_packaged_weights
from hcat.language.claims import claims_nothing
from hcat.language.text import split_sentences
from hcat.metrics.refusal import explain_refusal
from training.head_fit import balance, fit_head, save_head
from training.heads import embed

_DENIES = re.compile(r"n't|\b(?:not|no|cannot|unable|nothing|never)\b", re.IGNORECASE)
HERE = Path(__file__).parent
SEED = 20260101
#: Chosen on one half of the written sentences; the other half judged (docs/model-card.md).
RIDGE = 1e-4
#: How often a frame with a gap is filled, and how many sentences of RAGTruth are read.
COUNT_FILLINGS = 4
COUNT_PUBLIC = 4000
LONGEST_DENIAL = 200
#: Total weight of the made and of the public sentences in the fit.
WEIGHTS = {"made": 1.0, "public": 0.5}
# fmt: off
SUBJECTS = (
    "mortgage rates", "the overdraft fee", "parental leave", "the warranty period", "side effects", "the merger",
    "battery life", "gluten", "the opening hours", "the delivery time", "the exam date", "the recipe",
    "the password policy", "a travel allowance", "tuition",
)
# fmt: on
PEOPLE = ("Ms Smith", "John", "Dr Patel", "team", "Sir or Madam", "Priya", "neighbours")


def read_made() -> dict[str, str]:
    """Return the filled frames, each with its kind."""
    draw = random.Random(SEED)
    kinds: dict[str, str] = {}
    with (HERE / "talk_frames.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for subject in draw.sample(SUBJECTS, COUNT_FILLINGS if "{" in row["frame"] else 1):
                capital = subject[0].upper() + subject[1:]
                kinds[row["frame"].format(n=subject, N=capital, p=draw.choice(PEOPLE))] = row["kind"]
    return kinds


def read_public(folder: Path, count: int = COUNT_PUBLIC) -> dict[str, str]:
    """Return sentences of RAGTruth, each with its kind: of answers by the rules, and denials of passages as claims."""
    rows = parquet.read_table(folder / "ragtruth" / "ragtruth.parquet", columns=["answer", "contexts"]).to_pylist()
    random.Random(SEED).shuffle(rows)
    kinds: dict[str, str] = {}
    for answer in (row["answer"] for row in rows):
        for start, end in split_sentences(answer):
            sentence = answer[start:end]
            declines = explain_refusal(sentence) is not None
            kinds[sentence] = "talk" if claims_nothing(sentence) else "refusal" if declines else "claim"
        if len(kinds) >= count:
            break
    for passage in dict.fromkeys(passage for row in rows for passage in row["contexts"]):
        for start, end in split_sentences(passage):
            if end - start < LONGEST_DENIAL and _DENIES.search(passage[start:end]):
                kinds.setdefault(passage[start:end], "claim")
    return kinds


def main(arguments: list[str]) -> None:
    """Fit the head and write it with its card."""
    sets = {"made": read_made(), "public": read_public(Path(os.environ["HCAT_BENCHMARK_DATA"]))}
    vectors = embed([sentence for kinds in sets.values() for sentence in kinds])
    labels = {part: np.array([float(kind == "talk") for kind in kinds.values()]) for part, kinds in sets.items()}
    weights = np.concatenate([balance(labels[part], WEIGHTS[part], 0.5) for part in sets])
    wanted = np.concatenate(list(labels.values()))
    coefficients, intercept = fit_head(vectors, wanted, weights, RIDGE * np.eye(vectors.shape[1]))
    scores = logistic(vectors @ coefficients + intercept)
    right = np.mean((scores >= 0.5) == wanted)
    print(f"{wanted.sum():.0f} of {len(wanted)} sentences are talk; right in the fit {right:.3f}")
    if "--print" not in arguments:
        card: dict[str, object] = {
            "name": "hcat-talk-head",
            "revision": "1",
            "encoder_sha256": check_packaged_weights(),
            "training": {part: len(kinds) for part, kinds in sets.items()},
        }
        save_head(FOLDER / "talk_head", coefficients, intercept, card)


if __name__ == "__main__":
    main(sys.argv[1:])
