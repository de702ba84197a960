"""Calibrated groundedness on answers with human labels: are its probabilities right, pooled and inside each task?

The raw score is the out-of-fold groundedness of the benchmark `out_of_fold` (rows `split = test`). Every cluster's
calibrator is chosen and fitted by `hcat.calibration.calibrators` on all other clusters, so that there is no split to be
lucky with. Two claims are kept apart: one calibrator for all rows, which knows nothing but the score, and one
calibrator per task, each fitted on that task's labels alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.accuracy import lexical_regression
from benchmarks.harness import Outcome, Table, argument_parser, data_folder, finish, verdict
from benchmarks.out_of_fold import read_scored
from hcat.calibration.calibrators import choose_calibrator, label_scores
from hcat.calibration.quality import Figure, Quality, measure_quality
from hcat.statistics.arrays import Flags, Floats
from hcat.statistics.clusters import folds_of_clusters

#: Range of the calibration slope.
LIMITS_SLOPE = (0.7, 1.4)

ALL = "all"
ONE_FOR_ALL, ONE_PER_TASK = "one calibrator", "a calibrator per task"
_QUICK_CLUSTERS = 40
_COUNT_FOLDS = (5, 10, 20)
_COUNT_SPLITS = 10
_DRAWS_OF_SPLIT = 300
_LINES = ("ECE", "slope", "intercept", "log loss")


@dataclass(frozen=True, slots=True)
class Answers:
    """Labelled answers with a raw probability; arrays of shape (n,).

    Attributes
    ----------
    scores : ndarray
        Raw P(grounded), in [0, 1], from a model that saw no label of the answer's cluster.
    labels : ndarray of int
        1 = grounded, 0 = hallucinated.
    clusters, tasks : ndarray of str
        What is left out as a whole, and the kind of query.
    rows : sequence of mapping
        The rows themselves.
    """

    scores: Floats
    labels: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.str_]
    tasks: npt.NDArray[np.str_]
    rows: Sequence[Mapping[str, Any]]

    def take(self, chosen: Flags) -> Answers:
        """Return the chosen rows."""
        rows = [row for row, is_chosen in zip(self.rows, chosen, strict=True) if is_chosen]
        return Answers(self.scores[chosen], self.labels[chosen], self.clusters[chosen], self.tasks[chosen], rows)


def read_answers(data: Path) -> Answers:
    """Return the rows `split = test` of RAGTruth with their out-of-fold groundedness."""
    return to_answers([row for row in read_scored(data)[0] if row.get("split") == "test"])


def to_answers(rows: Sequence[Mapping[str, Any]]) -> Answers:
    """Return rows with `score`, `hallucinated`, `task` and `source_id` as arrays."""
    return Answers(
        scores=np.array([row["score"] for row in rows], dtype=np.float64),
        labels=np.array([not row["hallucinated"] for row in rows]).astype(np.int64),
        clusters=np.array([f"{row['task']}|{row['source_id']}" for row in rows], dtype=np.str_),
        tasks=np.array([row["task"] for row in rows], dtype=np.str_),
        rows=rows,
    )


def calibrate_by_others(
    answers: Answers, candidates: Sequence[str] | None = None, left_out: npt.NDArray[np.str_] | None = None
) -> tuple[Floats, dict[str, int]]:
    """Return P(grounded) of each row by the calibrator of all other clusters, and how often each family was chosen.

    Where the other clusters allow no calibrator, it is their share of grounded answers. Candidates are all families
    that a single score can take, and each cluster is left out alone, by default; ``left_out`` names folds of whole
    clusters.
    """
    found = np.full(len(answers.labels), np.nan)
    families: dict[str, int] = {}
    keys = answers.clusters if left_out is None else left_out
    for key in np.unique(keys):
        own = keys == key
        others = label_scores(answers.scores[~own], answers.labels[~own], answers.clusters[~own], is_probability=True)
        fit = choose_calibrator(others, candidates).fit
        if fit is None or fit.calibrator is None:
            found[own] = (answers.labels[~own].sum() + 1) / ((~own).sum() + 2)
            family = "share of the others"
        else:
            found[own] = fit.calibrator.apply(answers.scores[own])
            family = fit.family
        families[family] = families.get(family, 0) + 1
    return found, families


def calibrate_by_task(answers: Answers, candidates: Sequence[str] | None = None) -> tuple[Floats, dict[str, int]]:
    """Return the same with one calibrator per task, fitted on the rows of that task alone."""
    found = np.full(len(answers.labels), np.nan)
    families: dict[str, int] = {}
    for task in np.unique(answers.tasks):
        own = answers.tasks == task
        found[own], of_task = calibrate_by_others(answers.take(own), candidates)
        for family, count in of_task.items():
            families[family] = families.get(family, 0) + count
    return found, families


def count_splits_within(answers: Answers, count_folds: int, count_splits: int) -> dict[tuple[str, str], int]:
    """Return in how many random splits into folds each line of each part holds for a calibrator per task.

    Logistic calibrators, which are all but always chosen; fewer folds mean fewer labels for each of them.
    """
    fractions = {str(fold): 1 / count_folds for fold in range(count_folds)}
    found: dict[tuple[str, str], int] = {}
    for split in range(count_splits):
        folds = folds_of_clusters(answers.clusters, fractions, salt=f"hcat benchmark calibration|{split}")
        probabilities = np.full(len(answers.labels), np.nan)
        for task in np.unique(answers.tasks):
            own = answers.tasks == task
            probabilities[own] = calibrate_by_others(answers.take(own), ["logistic"], folds[own])[0]
        for part, quality in measure(probabilities, answers, _DRAWS_OF_SPLIT).items():
            for line, holds in judge(quality).items():
                found[part, line] = found.get((part, line), 0) + holds
    return found


def split_by_task(answers: Answers) -> dict[str, Flags]:
    """Return the rows of each part: all, then each task."""
    parts: dict[str, Flags] = {ALL: np.ones(len(answers.labels), dtype=np.bool_)}
    return parts | {str(task): answers.tasks == task for task in np.unique(answers.tasks)}


def measure(probabilities: Floats, answers: Answers, count_draws: int = 1_000) -> dict[str, Quality]:
    """Return the quality of probabilities in each part, beside the best constant there is: the part's own share."""
    return {
        part: measure_quality(
            probabilities[rows],
            answers.labels[rows],
            answers.clusters[rows],
            base_rate=float(answers.labels[rows].mean()),
            count_draws=count_draws,
        )
        for part, rows in split_by_task(answers).items()
    }


def judge(quality: Quality) -> dict[str, bool]:
    """Return which lines hold: calibration error, slope, intercept, log loss; a figure without a number does not."""
    error = quality.calibration_error
    slope, intercept = quality.figure("calibration_slope"), quality.figure("calibration_intercept")
    difference = quality.figure("log_loss_difference")
    is_small = error.value is not None and error.limit_by_chance is not None and error.value <= error.limit_by_chance
    is_in_range = slope.value is not None and LIMITS_SLOPE[0] <= slope.value <= LIMITS_SLOPE[1]
    return {
        "ECE": is_small,
        "slope": is_in_range and _holds(slope, 1.0),
        "intercept": _holds(intercept, 0.0),
        "log loss": difference.value is not None and difference.value < 0,
    }


def _holds(figure: Figure, value: float) -> bool:
    return figure.low is not None and figure.high is not None and figure.low <= value <= figure.high


def tabulate(measured: Mapping[str, Mapping[str, Quality]]) -> Table:
    """Return one line per probability and part."""
    lines = []
    for name, parts in measured.items():
        for part, quality in parts.items():
            error, auroc = quality.calibration_error, quality.figure("auroc")
            loss = quality.figure("log_loss")
            difference = quality.figure("log_loss_difference")
            lines.append(
                (
                    f"{name}, {part}",
                    f"{quality.count_labels:,}",
                    _number(error.value),
                    f"{_number(error.limit_by_chance)} ({_number(error.limit_by_chance_of_clusters)})",
                    _figure(quality.figure("calibration_slope"), 2),
                    _figure(quality.figure("calibration_intercept"), 2),
                    _number(loss.value),
                    _figure(difference, 3),
                    _number(auroc.value),
                )
            )
    columns = (
        "probability, rows",
        "n",
        "ECE",
        "95 % limit by chance (by cluster)",
        "slope",
        "intercept",
        "log loss",
        "minus that of the share",
        "AUROC",
    )
    return Table("Calibration of P(grounded)", columns, lines)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _figure(figure: Figure, digits: int) -> str:
    if figure.value is None:
        return figure.status
    return f"{figure.value:.{digits}f} [{figure.low:.{digits}f}, {figure.high:.{digits}f}]"


def run(is_quick: bool = False) -> Outcome | None:
    """Return the outcome; None when the data are not there."""
    data = data_folder("ragtruth")
    if data is None:
        return None
    answers = read_answers(data)
    lexical = lexical_regression(answers.rows)
    if is_quick:
        chosen = np.isin(answers.clusters, np.unique(answers.clusters)[:: max(1, 200 // _QUICK_CLUSTERS)])
        answers, lexical = answers.take(chosen), lexical[chosen]
    pooled, families = calibrate_by_others(answers)
    by_task, families_by_task = calibrate_by_task(answers)
    constant = np.full(len(answers.labels), answers.labels.mean())
    probabilities = {
        "raw score": answers.scores,
        ONE_FOR_ALL: pooled,
        ONE_PER_TASK: by_task,
        "lexical LR": lexical,
        "share of all": constant,
    }
    measured = {name: measure(values, answers) for name, values in probabilities.items()}
    judged = {
        (name, part): judge(quality) for name in (ONE_FOR_ALL, ONE_PER_TASK) for part, quality in measured[name].items()
    }
    # what each claims: one calibrator the pooled lines, a calibrator per task all of them
    claimed = {key: lines for key, lines in judged.items() if key[0] == ONE_PER_TASK or key[1] == ALL}
    verdicts = Table(
        f"Lines: ECE within its limit by chance; slope within {LIMITS_SLOPE[0]} to {LIMITS_SLOPE[1]} and 1 in its "
        "interval; 0 in the intercept's; log loss below that of the share",
        ("probability, rows", *_LINES),
        [(f"{name}, {part}", *(verdict(lines[line]) for line in _LINES)) for (name, part), lines in judged.items()],
    )
    missed = [
        f"{part} {line}"
        for (name, part), lines in judged.items()
        if name == ONE_FOR_ALL and part != ALL
        for line in _LINES
        if not lines[line]
    ]
    notes = [
        f"{len(answers.labels):,} answers to {len(np.unique(answers.clusters)):,} clusters, rows `split = test`. Every "
        "cluster is left out once; calibrators are chosen among the families by the others' own cross-validation "
        f"({_count(families)}; per task {_count(families_by_task)}).",
        "Claimed are the pooled lines of one calibrator and all lines of a calibrator per task. One calibrator reads "
        "the score alone, and equal scores mean unequal shares of grounded answers in the tasks: inside them it misses "
        f"{', '.join(missed) or 'nothing'}. No monotone map of one score mends that. Tried beside and no better: "
        "answer length, the smallest and the mean sentence probability as further columns, boosted or logistic. Where "
        "kinds of queries differ, each needs labels and a calibrator of its own.",
        "With few folds each calibrator has fewer labels, and the result depends on which clusters fall together: "
        "the last table shows how often a line holds then. Leaving out one cluster at a time is closest to what a "
        "user gets, who fits on all labels, and does not depend on a split; the calibration error of a small task "
        "stays close to its limit.",
        "A calibrator per task claims less than one that is right everywhere: it knows the task, and is fitted on "
        "the rows of that task alone.",
        "The baseline `share` is the share of grounded answers of the same rows, the best constant there is. "
        "Intervals resample whole clusters; limits by chance redraw labels from the probabilities 1,000 times, those "
        "by cluster flip the errors of whole clusters.",
        "For scale, published calibration errors of such scores: NLI .29, MiniCheck-7B .27, a calibrated fusion .058.",
    ]
    met = all(all(lines.values()) for lines in claimed.values())
    count_splits = 2 if is_quick else _COUNT_SPLITS
    splits = {folds: count_splits_within(answers, folds, count_splits) for folds in _COUNT_FOLDS}
    sensitivity = Table(
        f"A calibrator per task, {count_splits} random splits into folds of clusters: splits in which a line holds",
        ("folds, rows", *_LINES),
        [
            (f"{folds} folds, {part}", *(str(found.get((part, line), 0)) for line in _LINES))
            for folds, found in splits.items()
            for part in split_by_task(answers)
        ],
    )
    tables = [tabulate(measured), verdicts, sensitivity]
    return Outcome("calibration", "Calibrated groundedness", tables, notes, is_quick, is_quick or met)


def _count(families: Mapping[str, int]) -> str:
    return ", ".join(f"{family} {count} times" for family, count in sorted(families.items()))


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a claimed line is missed."""
    parser = argument_parser("calibration", __doc__.splitlines()[0])
    options = parser.parse_args(arguments)
    outcome = run(options.quick)
    if outcome is None:
        parser.exit(2, "calibration: HCAT_BENCHMARK_DATA must name a folder that holds ragtruth\n")
    return finish(outcome, "python -m benchmarks.calibration")


if __name__ == "__main__":
    sys.exit(main())
