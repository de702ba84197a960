"""Made faults in faithful sentences: which share of each kind is caught at a fixed rate of false alarms.

Sentences that people marked nowhere, in answers of RAGTruth, get one fault each by the seeded rules of
`hcat.test_set.perturbation`; faithful and faulty sentences pass the product's own build as answers of one sentence. The
cut-off of each score is the one at which 5 % of the faithful sentences are flagged.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as parquet

from benchmarks.accuracy import count_seen_in_training, score_rows
from benchmarks.discrimination import resample_rows
from benchmarks.harness import Outcome, Table, argument_parser, data_folder, finish, verdict, working_folder
from benchmarks.ragtruth import read_rows, read_spans
from hcat.language.verbalisation import verbalise_sentences
from hcat.test_set.perturbation.faults import KINDS, perturb

SEED = 20260101
SHARE_FALSE_ALARMS = 0.05
COUNT_SENTENCES = 1_500
COUNT_QUICK = 60

#: Shares that the check of the kind must catch. The checks of numbers and of names are rules, with nothing fitted.
LIMITS = {"number_outside": 0.95, "entity_outside": 0.95, "number_inside": 0.60, "entity_inside": 0.60}
CHECKS = {"number": "numbers", "entity": "names"}

#: Scores that are shown: a check is the lower one of support and placement; the others in the product's names.
COMBINED = {
    "numbers": ("support_numbers", "placement_numbers"),
    "names": ("support_entities", "placement_entities"),
    "numbers and names": ("support_numbers", "placement_numbers", "support_entities", "placement_entities"),
}
SCORES = ("groundedness", "groundedness_entailment__minimum", "support_words")
_MINIMUM_CHARACTERS = 30

#: Setting HCAT_CLASSIFIER -> what its fold models said.
OUT_OF_FOLD = {
    "compact": Path(__file__).with_name("out_of_fold_faults.parquet"),
    "accurate": Path(__file__).with_name("out_of_fold_faults_accurate.parquet"),
}
OUT_OF_FOLD_SCORES = ("groundedness", "entailment_logit")


def take_faithful(rows: Sequence[Mapping[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return a seeded sample of unmarked answer sentences, each as a row whose answer is that sentence."""
    found: list[dict[str, Any]] = []
    for row in rows:
        spans = read_spans(row)
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


class Shown(NamedTuple):
    """Kinds (None = faithful), sources and folds of sentences, and the scores they got, each in one order."""

    kinds: Sequence[str | None]
    sources: Sequence[str]
    folds: npt.NDArray[np.int64]
    scores: Mapping[str, npt.NDArray[np.float64]]


def flag(
    scores: npt.NDArray[np.float64], faithful: npt.NDArray[np.bool_], folds: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return which sentences lie below the cut-off of their fold.

    The cut-off is the largest at which at most :data:`SHARE_FALSE_ALARMS` of the faithful sentences are flagged; a
    sentence without a score (no number in it) is never flagged.
    """
    known = np.nan_to_num(scores, nan=np.inf)
    flagged = np.zeros(len(scores), dtype=bool)
    for fold in np.unique(folds):
        own = folds == fold
        reference = np.sort(known[own & faithful])
        # at most so many faithful scores lie strictly below this one
        cut_off = reference[int(np.floor(SHARE_FALSE_ALARMS * len(reference)))]
        flagged[own] = known[own] < cut_off
    return flagged


def read_faults(classifier: str) -> Shown:
    """Return what the fold models of a classifier said of faults in sources that they had not seen."""
    rows = parquet.read_table(OUT_OF_FOLD[classifier]).to_pylist()
    return Shown(
        kinds=[row["kind"] for row in rows],
        sources=[row["source_id"] for row in rows],
        folds=np.array([row["fold"] for row in rows]),
        scores={name: np.array([row[name] for row in rows], dtype=np.float64) for name in OUT_OF_FOLD_SCORES},
    )


def score_faults(data: Path, work: Path, count: int) -> tuple[Shown, int]:
    """Return what a build with the shipped weights says of faults, and how many rows are of sources it has seen."""
    faithful = take_faithful(read_rows(data), count)
    rows = faithful + make_faults(faithful)
    labelled = score_rows(rows, work)
    shown = Shown(
        kinds=[row.get("kind") for row in rows],
        sources=[str(row["source_id"]) for row in rows],
        folds=np.zeros(len(rows), dtype=np.int64),
        scores={
            **{name: np.fmin.reduce([labelled.scores[part] for part in parts]) for name, parts in COMBINED.items()},
            **{name: labelled.scores[name] for name in SCORES},
        },
    )
    return shown, count_seen_in_training(labelled)


def tabulate(title: str, shown: Shown, limits: Mapping[str, float]) -> tuple[Table, str, bool]:
    """Return the shares caught per kind, the rates of false alarms in words, and whether the limits are met.

    The limit of a kind holds for the check of that kind.
    """
    faithful = np.array([kind is None for kind in shown.kinds])
    lines, met = [], True
    alarms: dict[str, float] = {}
    for kind in KINDS:
        chosen = np.array([each == kind for each in shown.kinds])
        if not chosen.any():
            continue
        sources = np.unique(np.array(shown.sources)[chosen], return_inverse=True)[1].astype(np.int64)
        weights = resample_rows(sources, 1_000)
        cells: list[str] = []
        shares: dict[str, float] = {}
        for name, scores in shown.scores.items():
            flagged = flag(scores, faithful, shown.folds)
            alarms[name] = float(flagged[faithful].mean())
            caught = flagged[chosen]
            low, high = np.quantile((weights @ caught) / weights.sum(axis=1), [0.025, 0.975])
            cells.append(f"{caught.mean():.3f} [{low:.3f}, {high:.3f}]")
            shares[name] = float(caught.mean())
        limit, reached = limits.get(kind), ""
        if limit is not None:
            check = CHECKS[kind.partition("_")[0]]
            is_met = shares[check] >= limit
            met &= is_met
            reached = f"{check} >= {limit}: {verdict(is_met)}"
        lines.append((kind, f"{chosen.sum():,}", *cells, reached))
    heading = f"{title}: share of made faults caught, {faithful.sum():,} faithful sentences"
    table = Table(heading, ("kind", "n", *shown.scores, "limit"), lines)
    return table, ", ".join(f"{name} {share:.3f}" for name, share in alarms.items()), met


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome | None:
    """Return the shares caught; None when the data are not there."""
    data = data_folder("ragtruth")
    if data is None:
        return None
    unseen, unseen_alarms, _ = tabulate("Out of fold", read_faults("compact"), {})
    accurate, accurate_alarms, _ = tabulate("Accurate classifier, out of fold", read_faults("accurate"), {})
    with working_folder(folder) as work:
        shown, seen = score_faults(data, work, COUNT_QUICK if is_quick else COUNT_SENTENCES)
    shipped, shipped_alarms, met = tabulate("Through a build, shipped weights", shown, LIMITS)
    notes = [
        "Numbers and names are checked by rules without fitted weights, so that the build is a fair test of them. "
        "The rules and their four constants were made with other sentences of the same sources in view: these are "
        "development figures.",
        "Out of fold: entailment model and fusion had not seen the source, and the cut-off is that of the fold (scores "
        f"kept by `python -m training fuse`). False alarms on faithful sentences: {unseen_alarms}; with the accurate "
        f"classifier {accurate_alarms}.",
        f"Shipped weights: {seen:,} of {len(shown.kinds):,} sentences come from sources on which they were fitted, "
        "so that the build is no test of groundedness and entailment. False alarms: " + shipped_alarms + ".",
    ]
    return Outcome("swaps", "Made faults", [unseen, accurate, shipped], notes, is_quick, is_quick or met)


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
