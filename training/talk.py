"""Makes the head that tells talk from claims: `python -m training.talk`; with `--print` it only prints figures.

It reads embeddings of the packaged encoder. Talk are greetings, offers, lead-ins, closings and signatures. The made
sentences (`talk_frames.csv`) are ours. The public ones are the sentences of RAGTruth's answers (MIT), where the rules
of hcat.language.claims say which are talk. docs/model-card.md has the figures.
"""

from __future__ import annotations

import csv
import os
import random
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet

from hcat.encoders.classifier_heads import FOLDER, logistic
from hcat.engine.devices import check_packaged_weights
from hcat.language.claims import claims_nothing
from hcat.language.text import split_sentences
from training.head_fit import balance, fit_head, save_head
from training.heads import embed

HERE = Path(__file__).parent
SEED = 20260101
#: Chosen on one half of 54 written sentences and their look-alikes; the other half judged (docs/model-card.md).
RIDGE = 1e-4
#: How often a frame with a gap is filled, and how many sentences of RAGTruth are read.
COUNT_FILLINGS = 4
COUNT_PUBLIC = 4000
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


def read_made() -> list[tuple[str, float]]:
    """Return the filled frames, and 1 for talk; a refusal and a claim are 0."""
    draw = random.Random(SEED)
    rows: list[tuple[str, float]] = []
    with (HERE / "talk_frames.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            frame = row["frame"]
            for subject in draw.sample(SUBJECTS, COUNT_FILLINGS if "{" in frame else 1):
                capital = subject[0].upper() + subject[1:]
                rows.append((frame.format(n=subject, N=capital, p=draw.choice(PEOPLE)), float(row["kind"] == "talk")))
    return list(dict.fromkeys(rows))


def read_public(folder: Path) -> list[tuple[str, float]]:
    """Return sentences of RAGTruth's answers, and 1 where the rules find talk."""
    answers = parquet.read_table(folder / "ragtruth" / "ragtruth.parquet", columns=["answer"])["answer"].to_pylist()
    random.Random(SEED).shuffle(answers)
    sentences: dict[str, float] = {}
    for answer in answers:
        for start, end in split_sentences(answer):
            sentences.setdefault(answer[start:end], float(claims_nothing(answer[start:end])))
        if len(sentences) >= COUNT_PUBLIC:
            break
    return list(sentences.items())


def main(arguments: list[str]) -> None:
    """Fit the head and write it with its card."""
    sets = {"made": read_made(), "public": read_public(Path(os.environ["HCAT_BENCHMARK_DATA"]))}
    vectors = embed([text for rows in sets.values() for text, _ in rows])
    labels = np.array([label for rows in sets.values() for _, label in rows])
    weights = np.concatenate(
        [balance(np.array([label for _, label in rows]), WEIGHTS[name], 0.5) for name, rows in sets.items()]
    )
    coefficients, intercept = fit_head(vectors, labels, weights, RIDGE * np.eye(vectors.shape[1]))
    scores = logistic(vectors @ coefficients + intercept)
    print(f"talk {labels.sum():.0f} of {len(labels)}; right in the fit {np.mean((scores >= 0.5) == labels):.3f}")
    if "--print" in arguments:
        return
    card: dict[str, object] = {
        "name": "hcat-talk-head",
        "revision": "1",
        "encoder_sha256": check_packaged_weights(),
        "training": {name: len(rows) for name, rows in sets.items()},
    }
    save_head(FOLDER / "talk_head", coefficients, intercept, card)


if __name__ == "__main__":
    main(sys.argv[1:])
