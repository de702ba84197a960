"""Pairs of premise and claim to learn from: which data, which rows, and why each may be used.

A target is a class of natural language inference, or `not_entailment` where people said only that.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as parquet

TARGETS = ("entailment", "neutral", "contradiction", "not_entailment")

#: (file, dataset) -> licence; every other data set of those files stays out. MultiNLI dev matched is the test set.
NLI_SOURCES = {
    ("nli_3way", "snli"): "CC BY-SA 4.0",
    ("nli_3way", "taxinli_mnli"): "MultiNLI terms (OANC and others)",
    ("nli_3way", "conjnli"): "MIT",
    ("nli_3way", "med"): "CC BY-SA 4.0",
    ("lingnli", "lingnli_1"): "public research release without a licence text",
    ("lingnli", "lingnli_2"): "public research release without a licence text",
    ("lingnli", "lingnli_3"): "public research release without a licence text",
    ("claim_evidence", "fool_me_twice"): "Apache-2.0, data CC BY-SA 3.0",
}

#: The automatic part of ConjNLI is labelled by a rule; people labelled the rest.
_MACHINE_LABELLED = {("conjnli", "train")}

NLI_TEST = ("nli_3way", "mnli_dev_matched")


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of texts and what is known of it."""

    #: Evidence, and the sentence that it may entail.
    premise: str
    claim: str
    #: Index in :data:`TARGETS`.
    target: int
    #: Data set or kind, for counting.
    source: str
    #: Character spans of the claim that are not supported; empty = all of it is, None = nobody said where.
    wrong: tuple[tuple[int, int], ...] | None = None


def read_nli(data: Path) -> list[Pair]:
    """Return the distinct training pairs of inference, none of which shares a premise with the test set."""
    tested = {pair.premise for pair in read_nli_test(data)}
    found: dict[tuple[str, str], Pair] = {}
    for file in sorted({file for file, _ in NLI_SOURCES}):
        for row in parquet.read_table(data / "nli" / f"{file}.parquet").to_pylist():
            is_allowed = (file, row["dataset"]) in NLI_SOURCES and (
                row["dataset"],
                row["split"],
            ) not in _MACHINE_LABELLED
            premise, claim = row["premise"].strip(), row["hypothesis"].strip()
            if is_allowed and premise and claim and premise not in tested:
                pair = Pair(premise, claim, TARGETS.index(row["label"]), row["dataset"])
                found.setdefault((premise, claim), pair)
    return list(found.values())


def read_nli_test(data: Path) -> list[Pair]:
    """Return MultiNLI dev matched, which no weights of the project have seen."""
    file, dataset = NLI_TEST
    rows = parquet.read_table(data / "nli" / f"{file}.parquet").to_pylist()
    return [
        Pair(row["premise"].strip(), row["hypothesis"].strip(), TARGETS.index(row["label"]), dataset)
        for row in rows
        if row["dataset"] == dataset
    ]


def count_by_cluster(pairs: Iterable[Pair]) -> dict[str, int]:
    """Return the number of pairs of each source."""
    counts: dict[str, int] = {}
    for pair in pairs:
        counts[pair.source] = counts.get(pair.source, 0) + 1
    return dict(sorted(counts.items()))
