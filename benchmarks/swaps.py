"""Made faults in faithful sentences: which share of each kind is caught at a fixed rate of false alarms.

Sentences that people marked nowhere, in answers of RAGTruth, get one fault each by the seeded rules of
`hcat.perturbation`; faithful and faulty sentences pass the product's own build as answers of one sentence. The cut-off
of each score is the one at which 5 % of the faithful sentences are flagged.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.accuracy import count_seen_in_training, score_rows
from benchmarks.discrimination import resample_rows
from benchmarks.harness import Outcome, Table, argument_parser, data_folder, finish, working_folder
from benchmarks.ragtruth import read_rows
from hcat.perturbation import KINDS, perturb
from hcat.verbalisation import verbalise_sentences

SEED = 20260101
SHARE_FALSE_ALARMS = 0.05
COUNT_SENTENCES = 1_500
COUNT_QUICK = 60

#: Shares that must be caught by the best of the shown scores.
LIMITS = {"number_outside": 0.95, "entity_outside": 0.95, "number_inside": 0.60, "entity_inside": 0.60}

#: Scores that are shown, in the product's names.
SCORES = ("groundedness", "groundedness_entailment__minimum", "support_numbers", "support_entities", "support_words")
_MINIMUM_CHARACTERS = 30


def take_faithful(rows: Sequence[Mapping[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return a seeded sample of unmarked answer sentences, each as a row whose answer is that sentence."""
    found: list[dict[str, Any]] = []
    for row in rows:
        spans = json.loads(row["spans"]) if isinstance(row["spans"], str) else row["spans"] or []
        for index, unit in enumerate(verbalise_sentences(str(row["answer"]))):
            is_marked = any(unit.start < span["end"] and span["start"] < unit.end for span in spans)
            if not is_marked and len(unit.text) >= _MINIMUM_CHARACTERS:
                name = f"{row['interaction_id']}-{index}"
                found.append(dict(row) | {"interaction_id": name, "answer": unit.text, "hallucinated": False})
    return random.Random(SEED).sample(found, min(count, len(found)))


def make_faults(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for every row one faulty copy of each kind that applies to its sentence."""
    pools: dict[str, list[str]] = {}
    for row in rows:
        pools.setdefault(str(row["task"]), []).append(str(row["answer"]))
    faults: list[dict[str, Any]] = []
    for row in rows:
        context = [unit.text for text in row["contexts"] for unit in verbalise_sentences(text)]
        context.append(str(row["query"] or ""))
        for kind in KINDS:
            stream = random.Random(f"{SEED}|{row['interaction_id']}|{kind}")
            pool = stream.sample(pools[str(row["task"])], min(20, len(pools[str(row["task"])])))
            fault = perturb(str(row["answer"]), kind, context, stream, pool)
            if fault is not None:
                faults.append(
                    dict(row)
                    | {"interaction_id": f"{row['interaction_id']}-{kind}", "answer": fault.text, "kind": kind}
                )
    return faults


def share_caught(
    scores: npt.NDArray[np.float64], faithful: npt.NDArray[np.bool_], chosen: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], float]:
    """Return which of the chosen faults lie below the cut-off of the score, and its rate of false alarms.

    The cut-off is the largest at which at most :data:`SHARE_FALSE_ALARMS` of the faithful sentences are flagged; a
    sentence without a score (no number in it) is never flagged.
    """
    known = np.nan_to_num(scores, nan=np.inf)
    reference = np.sort(known[faithful])
    allowed = int(np.floor(SHARE_FALSE_ALARMS * len(reference)))
    # at most `allowed` faithful scores lie strictly below this one
    cut_off = reference[allowed]
    flagged = known < cut_off
    return flagged[chosen], float(flagged[faithful].mean())


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome | None:
    """Return the shares caught; None when the data are not there."""
    data = data_folder("ragtruth")
    if data is None:
        return None
    faithful_rows = take_faithful(read_rows(data), COUNT_QUICK if is_quick else COUNT_SENTENCES)
    rows = faithful_rows + make_faults(faithful_rows)
    with working_folder(folder) as work:
        labelled = score_rows(rows, work)
    faithful = np.array(["kind" not in row for row in rows])
    sources = np.array([str(row["source_id"]) for row in rows])
    lines, met = [], True
    alarms: dict[str, float] = {}
    for kind in KINDS:
        chosen = np.array([row.get("kind") == kind for row in rows])
        if not chosen.any():
            continue
        cells, best = [], 0.0
        for score in SCORES:
            caught, alarms[score] = share_caught(labelled.scores[score], faithful, chosen)
            weights = resample_rows(np.unique(sources[chosen], return_inverse=True)[1].astype(np.int64), 1_000)
            low, high = np.quantile((weights @ caught) / weights.sum(axis=1), [0.025, 0.975])
            cells.append(f"{caught.mean():.3f} [{low:.3f}, {high:.3f}]")
            best = max(best, float(caught.mean()))
        limit = LIMITS.get(kind)
        met &= limit is None or best >= limit
        lines.append((kind, f"{chosen.sum():,}", *cells, "" if limit is None else f">= {limit}"))
    table = Table(
        f"Share of made faults caught, {faithful.sum():,} faithful sentences", ("kind", "n", *SCORES, "limit"), lines
    )
    seen = count_seen_in_training(rows)
    notes = [
        "False alarms on faithful sentences: "
        + ", ".join(f"{name} {share:.3f}" for name, share in alarms.items())
        + ".",
        f"Sentences of sources on which the shipped classifier was trained: {seen:,} of {len(rows):,}.",
    ]
    return Outcome("swaps", "Made faults", [table], notes, is_quick, is_quick or met)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("swaps", __doc__.splitlines()[0])
    options = parser.parse_args(arguments)
    outcome = run(options.quick, options.folder)
    if outcome is None:
        parser.exit(2, "swaps: HCAT_BENCHMARK_DATA must name a folder that holds ragtruth\n")
    return finish(outcome, "python -m benchmarks.swaps")


if __name__ == "__main__":
    sys.exit(main())
