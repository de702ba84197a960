"""Sentences of talk, refusals and claims in English, for the head of wordings (:mod:`training.wordings`).

The made ones are ours (`talk_frames.csv`). The public ones are the sentences of RAGTruth's answers (MIT), where the
rules say which are talk or decline, and the sentences of its passages that deny something.
"""

import csv
import random
import re
from pathlib import Path

import pyarrow.parquet as parquet

from hcat.language.claims import claims_nothing
from hcat.language.text import split_sentences
from hcat.metrics.refusal import explain_refusal

_DENIES = re.compile(r"n't|\b(?:not|no|cannot|unable|nothing|never)\b", re.IGNORECASE)
HERE = Path(__file__).parent
SEED = 20260101
#: How often a frame with a gap is filled, and how many sentences of RAGTruth are read.
COUNT_FILLINGS = 4
COUNT_PUBLIC = 4000
LONGEST_DENIAL = 200
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
