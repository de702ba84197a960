"""Groundedness on a folder of answers that people labelled, through the product's own contract and build.

The rows become raw logs and pass one `dbt build`, which never sees the labels. Only baselines are fitted on the folder,
and those out of fold. It writes no page: whether the folder is a test depends on what the classifier was trained on.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import verdicts
from benchmarks.discrimination import COUNT_DRAWS, Estimate, auroc, average_precision, number_values, tell
from benchmarks.harness import (
    BenchmarkError,
    Outcome,
    Table,
    argument_parser,
    build,
    data_folder,
    print_outcome,
    working_folder,
)
from hcat.encoders.identities import CASCADE_NAME, SHIPPED, read_card
from training.ragtruth import read_rows, write_raw_logs

#: Named before any result was seen: the score that a reader should judge the product by.
HEADLINE_METRIC = "groundedness"

#: Families that say nothing about one answer and its context: no labels for them here.
_OTHER_FAMILIES = ("behaviour", "reference", "retrieval")

_QUICK_SOURCES_PER_TASK = 10
_WORD = re.compile(r"\w+")

THRESHOLDS = "the shipped decision of each metric (seed threshold_decisions); none was fitted on this folder"

#: Cut-off of the baselines that are probabilities: a failure is more likely than not.
BASELINE_CUT_OFF = 0.5

_COUNT_FOLDS = 5
_PROBABLE_BASELINES = ("task x generator", "lexical LR")


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labelled rows and the scores of the build, in one order."""

    #: Rows of the benchmark with ``interaction_id``.
    rows: Sequence[Mapping[str, Any]]
    #: Metric -> score, higher = better grounded, NaN = none; shape (n,).
    scores: Mapping[str, npt.NDArray[np.float64]]
    #: Metric -> number of rows per score status; ``not_staged`` = the contract rejected the row.
    statuses: Mapping[str, Counter[str]]
    #: Name and SHA-256 of the encoder, and name and revision of the entailment classifier.
    encoder: str
    #: Metric -> score below which the shipped decision calls an answer failing.
    thresholds: Mapping[str, float] = field(default_factory=dict)
    #: Metrics that are the probability of a grounded answer.
    probabilities: frozenset[str] = frozenset()
    #: Name of the entailment classifier.
    classifier_name: str = ""

    def take(self, positions: Sequence[int]) -> Labelled:
        """Return the rows at ``positions``; statuses stay those of all rows."""
        rows = [self.rows[position] for position in positions]
        scores = {name: values[list(positions)] for name, values in self.scores.items()}
        return replace(self, rows=rows, scores=scores)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Figures of one score over one set of rows; ``tasks`` holds the same inside each task.

    F1 and balanced accuracy are None without a cut-off, calibration error and slope for scores that are no probability;
    ``error_by_chance`` is the 95 % limit of the calibration error of a perfect model.
    """

    n: int
    n_positive: int
    n_scored: int
    pooled: Estimate
    within: Estimate
    precision: Estimate
    tasks: Mapping[str, Accuracy]
    f1: Estimate | None = None
    balanced_accuracy: Estimate | None = None
    calibration_error: Estimate | None = None
    error_by_chance: float | None = None
    calibration_slope: Estimate | None = None


def score_rows(rows: list[dict[str, Any]], work: Path) -> Labelled:
    """Return the scores that one `dbt build` in the folder ``work`` gives to ``rows``."""
    raw_logs = work / "raw"
    shutil.rmtree(raw_logs, ignore_errors=True)
    write_raw_logs(rows, raw_logs)
    built = build(raw_logs, work / "warehouse")
    if "fct_evaluations" in built.skipped:
        raise BenchmarkError(f"a failed test kept fct_evaluations from being built: {', '.join(built.failed_tests)}")
    return read_scores(rows, work / "warehouse" / "hcat.duckdb")


def read_scores(rows: list[dict[str, Any]], database: Path) -> Labelled:
    """Return the scores of ``rows`` in a finished warehouse, every metric turned so that higher = better grounded."""
    import duckdb

    with duckdb.connect(str(database), read_only=True) as connection:
        evaluations = connection.sql(
            f"""
            select evaluations.metric_name, evaluations.interaction_id, evaluations.score_status,
                case when metrics.direction = 'higher_is_better' then 1 else -1 end * evaluations.raw_score as score,
                case when metrics.direction = 'higher_is_better' then 1 else -1 end * evaluations.threshold
                    as threshold,
                metrics.unit = 'probability' as is_probability
            from fct_evaluations as evaluations
            inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
            where metrics.family not in {_OTHER_FAMILIES!r}
            """
        ).fetchall()
        encoder, classifier_name = connection.sql(
            """
            select encoder.model_name || ' (SHA-256 ' || encoder.model_sha256[1:12] || '...), classifier '
                || classifier.model_name || ' revision ' || classifier.model_revision, classifier.model_name
            from (from int_models where part = 'encoder') as encoder
            cross join (from int_models where part = 'classifier') as classifier
            """
        ).fetchall()[0]
    positions = {str(row["interaction_id"]): position for position, row in enumerate(rows)}
    scores: dict[str, npt.NDArray[np.float64]] = {}
    statuses: dict[str, Counter[str]] = {}
    thresholds: dict[str, float] = {}
    probabilities: set[str] = set()
    for metric_name, interaction_id, status, score, threshold, is_probability in evaluations:
        if interaction_id not in positions:
            continue
        values = scores.setdefault(metric_name, np.full(len(rows), np.nan))
        if threshold is not None:
            thresholds[metric_name] = threshold
        if is_probability:
            probabilities.add(metric_name)
        statuses.setdefault(metric_name, Counter())[status] += 1
        if score is not None:
            values[positions[interaction_id]] = score
    for counts in statuses.values():
        if counts.total() < len(rows):
            counts["not_staged"] = len(rows) - counts.total()
    scored = {name: scores[name] for name in sorted(scores) if not np.isnan(scores[name]).all()}
    return Labelled(rows, scored, statuses, encoder, thresholds, frozenset(probabilities), classifier_name)


def baselines(rows: Sequence[Mapping[str, Any]]) -> dict[str, npt.NDArray[np.float64]]:
    """Return the scores that any method must beat, each shape (n,), higher = better grounded.

    - ``constant``: 0 for every answer.
    - ``task x generator``: 1 minus the share of hallucinated answers of the row's (task, model) among all other
      sources; it reads no text. A cell that no other source has gets the share of all other sources.
    - ``lexical LR``: probability of a logistic regression on nine word, number and length counts, fitted on the other
      folds of sources: what labels of this very folder buy without any model.
    - ``unsupported words``: minus the share of the answer's words (lower-cased runs of letters and digits, each
      occurrence) that no context holds; 0 for an answer without words.
    - ``answer length``: minus the number of the answer's words.
    """
    words = [_WORD.findall(str(row["answer"] or "").lower()) for row in rows]
    held = [set(_WORD.findall(" ".join(map(str, row["contexts"] or ())).lower())) for row in rows]
    unsupported = [
        sum(word not in known for word in answer) / len(answer) if answer else 0.0
        for answer, known in zip(words, held, strict=True)
    ]
    return {
        "constant": np.zeros(len(rows)),
        "task x generator": 1 - _rates_of_other_clusters(rows),
        "lexical LR": lexical_regression(rows),
        "unsupported words": -np.array(unsupported),
        "answer length": -np.array([float(len(answer)) for answer in words]),
    }


def lexical_regression(rows: Sequence[Mapping[str, Any]]) -> npt.NDArray[np.float64]:
    """Return the out-of-fold probability of a grounded answer, shape (n,), from nine counts; folds hold whole sources.

    The counts: words, unsupported words and their share; numbers, unsupported numbers and their share; unsupported
    pairs of neighbouring words as a share; sentences; words of the context. A folder with one class only, or with fewer
    sources than folds, gets one half for every row.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features = np.array([_count_words(row) for row in rows])
    grounded = np.array([not row["hallucinated"] for row in rows])
    sources = np.array([f"{row['task']}|{row['source_id']}" for row in rows])
    result = np.full(len(rows), BASELINE_CUT_OFF)
    if len(np.unique(sources)) < _COUNT_FOLDS:
        return result
    for fitted, held in GroupKFold(_COUNT_FOLDS).split(features, groups=sources):
        if len(np.unique(grounded[fitted])) == 2:
            model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            result[held] = model.fit(features[fitted], grounded[fitted]).predict_proba(features[held])[:, 1]
    return result


def _count_words(row: Mapping[str, Any]) -> tuple[float, ...]:
    answer = _WORD.findall(str(row["answer"] or "").lower())
    context = _WORD.findall(" ".join(map(str, row["contexts"] or ())).lower())
    known, known_pairs = set(context), set(pairwise(context))
    numbers = [word for word in answer if word.isdigit()]
    pairs = list(pairwise(answer))
    lost_words = sum(word not in known for word in answer)
    lost_numbers = sum(word not in known for word in numbers)
    return (
        len(answer),
        lost_words,
        lost_words / max(len(answer), 1),
        len(numbers),
        lost_numbers,
        lost_numbers / max(len(numbers), 1),
        sum(pair not in known_pairs for pair in pairs) / max(len(pairs), 1),
        len(re.findall(r"[.!?]+(?:\s|$)", str(row["answer"] or ""))),
        len(context),
    )


def _rates_of_other_clusters(rows: Sequence[Mapping[str, Any]]) -> npt.NDArray[np.float64]:
    def key(row: Mapping[str, Any]) -> tuple[str, str]:
        return str(row["task"]), str(row["model"])

    cells: dict[tuple[str, str], list[int]] = {}
    sources: dict[str, list[int]] = {}
    both: dict[tuple[tuple[str, str], str], list[int]] = {}
    everything = [0, 0]
    for row in rows:
        source = str(row["source_id"])
        places = (
            everything,
            cells.setdefault(key(row), [0, 0]),
            sources.setdefault(source, [0, 0]),
            both.setdefault((key(row), source), [0, 0]),
        )
        for place in places:
            place[0] += bool(row["hallucinated"])
            place[1] += 1
    rates = []
    for row in rows:
        source = str(row["source_id"])
        whole, own = cells[key(row)], both[key(row), source]
        if whole[1] == own[1]:
            whole, own = everything, sources[source]
        rest = whole[1] - own[1]
        rates.append((whole[0] - own[0]) / rest if rest else 0.0)
    return np.array(rates)


def measure(
    scores: npt.NDArray[np.float64],
    rows: Sequence[Mapping[str, Any]],
    count_draws: int = COUNT_DRAWS,
    by_task: bool = True,
    threshold: float | npt.NDArray[np.float64] | None = None,
    is_probability: bool = False,
) -> Accuracy:
    """Return the accuracy of one score (NaN = none) over ``rows``, and inside each task.

    An answer is flagged when its score lies below ``threshold`` (one for all rows, or shape (n,)); one without a score
    is not. Calibration is measured on the rows that have a score.
    """
    is_positive = np.array([bool(row["hallucinated"]) for row in rows])
    sources = number_values([str(row["source_id"]) for row in rows])
    # scores of two fold models are not on one scale
    cells = number_values([f"{row['task']}\x1f{row['model']}\x1f{row.get('fold', '')}" for row in rows])
    tasks: dict[str, Accuracy] = {}
    if by_task:
        for task in sorted({str(row["task"]) for row in rows}):
            chosen = [position for position, row in enumerate(rows) if str(row["task"]) == task]
            own = [rows[position] for position in chosen]
            own_threshold = threshold[chosen] if isinstance(threshold, np.ndarray) else threshold
            tasks[task] = measure(scores[chosen], own, count_draws, False, own_threshold, is_probability)
    result = Accuracy(
        n=len(rows),
        n_positive=int(is_positive.sum()),
        n_scored=int((~np.isnan(scores)).sum()),
        pooled=auroc(scores, is_positive, sources, count_draws=count_draws),
        within=auroc(scores, is_positive, sources, cells, count_draws),
        precision=average_precision(scores, is_positive, sources, count_draws),
        tasks=tasks,
    )
    if threshold is not None:
        is_flagged = np.nan_to_num(scores, nan=np.inf) < threshold
        result = replace(
            result,
            f1=verdicts.f1(is_flagged, is_positive, sources, count_draws),
            balanced_accuracy=verdicts.balanced_accuracy(is_flagged, is_positive, sources, count_draws),
        )
    has_score = ~np.isnan(scores)
    if is_probability and has_score.any():
        known = (scores[has_score], is_positive[has_score], sources[has_score])
        result = replace(
            result,
            calibration_error=verdicts.expected_calibration_error(*known, count_draws),
            error_by_chance=verdicts.calibration_error_by_chance(scores[has_score], count_draws),
            calibration_slope=verdicts.calibration_slope(*known, count_draws),
        )
    return result


def measure_all(labelled: Labelled, count_draws: int = COUNT_DRAWS) -> dict[str, Accuracy]:
    """Return the accuracy of every baseline and every score of the build over the same rows."""
    measured = {}
    for name, values in baselines(labelled.rows).items():
        is_probability = name in _PROBABLE_BASELINES
        cut_off = BASELINE_CUT_OFF if is_probability else None
        measured[name] = measure(values, labelled.rows, count_draws, True, cut_off, is_probability)
    for name, values in labelled.scores.items():
        cut_off, is_probability = labelled.thresholds.get(name), name in labelled.probabilities
        measured[name] = measure(values, labelled.rows, count_draws, True, cut_off, is_probability)
    # inside a cell the identity is one value; the out-of-fold rate of a row's own source only mirrors its label
    identity, constant = measured["task x generator"], measured["constant"]
    tasks = {task: replace(of_task, within=constant.tasks[task].within) for task, of_task in identity.tasks.items()}
    measured["task x generator"] = replace(identity, within=constant.within, tasks=tasks)
    return measured


def split_rows(labelled: Labelled) -> dict[str, Labelled]:
    """Return the sets of rows to report, headline first: ``split = test`` where the folder has that, then all rows.

    Rows of other splits are selected in RAGTruth (only sources with a hallucination), so that they stay out of the
    headline.
    """
    test = [position for position, row in enumerate(labelled.rows) if row.get("split") == "test"]
    if not test or len(test) == len(labelled.rows):
        return {"all rows": labelled}
    return {"test rows": labelled.take(test), "all rows": labelled}


def to_json(labelled: Labelled, measured: Mapping[str, Mapping[str, Accuracy]], metric: str) -> dict[str, Any]:
    """Return one JSON object: the headline metric at the top, everything else under ``metrics`` by set of rows."""
    headline_rows = next(iter(measured))
    headline = measured[headline_rows][metric]
    names = set(baselines(labelled.rows[:1]))
    first = _accuracy_to_json(headline)
    qa = next((value for task, value in first["tasks"].items() if task.upper() == "QA"), None)
    return {
        "metric": metric,
        "rows": headline_rows,
        **{key: value for key, value in first.items() if key != "tasks"},
        "qa_auroc": qa["pooled_auroc"] if qa else None,
        "qa_balanced_accuracy": qa["balanced_accuracy"] if qa else None,
        **_contradiction_to_json(labelled),
        "count_answers_seen_in_training": count_seen_in_training(labelled),
        "tasks": first["tasks"],
        "thresholds": THRESHOLDS,
        "encoder": labelled.encoder,
        "bootstrap_draws": len(headline.within.draws),
        "metrics": {
            title: {name: _accuracy_to_json(value) for name, value in figures.items() if name not in names}
            for title, figures in measured.items()
        },
        "baselines": {
            title: {name: _accuracy_to_json(value) for name, value in figures.items() if name in names}
            for title, figures in measured.items()
        },
        "score_statuses": {name: dict(sorted(counts.items())) for name, counts in sorted(labelled.statuses.items())},
    }


def _contradiction_to_json(labelled: Labelled) -> dict[str, Any]:
    """Return the AUROC of the metric `contradiction` where the folder says which answers are contradicted.

    The column ``conflict`` is true for a contradicted answer, false for any other, and null where nobody said; those
    rows are left out.
    """
    known = [position for position, row in enumerate(labelled.rows) if row.get("conflict") is not None]
    if not known or "contradiction" not in labelled.scores:
        return {}
    part = labelled.take(known)
    is_contradicted = np.array([bool(row["conflict"]) for row in part.rows])
    sources = number_values([str(row["source_id"]) for row in part.rows])
    found = auroc(part.scores["contradiction"], is_contradicted, sources)
    figures = {"contradiction_auroc": found.value, "contradiction_auroc_low": found.low}
    figures |= {"contradiction_auroc_high": found.high}
    return {name: None if math.isnan(value) else round(value, 4) for name, value in figures.items()}


def _accuracy_to_json(accuracy: Accuracy) -> dict[str, Any]:
    result: dict[str, Any] = {"n": accuracy.n, "n_hallucinated": accuracy.n_positive, "n_scored": accuracy.n_scored}
    for name, estimate in (
        ("within_auroc", accuracy.within),
        ("pooled_auroc", accuracy.pooled),
        ("average_precision", accuracy.precision),
        ("pooled_f1", accuracy.f1),
        ("balanced_accuracy", accuracy.balanced_accuracy),
        ("ece", accuracy.calibration_error),
        ("calibration_slope", accuracy.calibration_slope),
    ):
        for suffix in ("", "_low", "_high"):
            value = math.nan if estimate is None else getattr(estimate, suffix.removeprefix("_") or "value")
            result[name + suffix] = None if math.isnan(value) else round(value, 4)
    result["ece_by_chance"] = None if accuracy.error_by_chance is None else round(accuracy.error_by_chance, 4)
    if accuracy.tasks:
        result["tasks"] = {task: _accuracy_to_json(of_task) for task, of_task in accuracy.tasks.items()}
    return result


def count_seen_in_training(labelled: Labelled) -> int:
    """Return how many answers belong to a source on which their classifier was trained here: no test of it.

    What a classifier from elsewhere was trained on is not known: 0.
    """
    own = [shipped for shipped in SHIPPED.values() if labelled.classifier_name in (shipped.name, CASCADE_NAME)]
    seen = {source for shipped in own for source in read_card(shipped)["trained_sources"]}
    names = [f"{row['task']}-{row['source_id']}" for row in labelled.rows]
    return sum(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()[:12] in seen for name in names)


def to_outcome(labelled: Labelled, measured: Mapping[str, Mapping[str, Accuracy]], metric: str, name: str) -> Outcome:
    """Return tables and notes for the screen."""
    headline = next(iter(measured.values()))
    seen = count_seen_in_training(labelled)
    differences = "; ".join(
        f"{baseline} {tell(difference, '+')}"
        for baseline in ("unsupported words", "lexical LR")
        for difference in [headline[metric].within.minus(headline[baseline].within)]
    )
    notes = [
        f"Data: {name}, {len(labelled.rows):,} answers from {len({row['source_id'] for row in labelled.rows}):,} "
        f"sources; encoder {labelled.encoder}. Positive = hallucinated; a good score is low there.",
        "`within`: of all pairs of a hallucinated and a clean answer to the same task by the same generator, the "
        "share that the score orders rightly. `pooled` compares all pairs, and so rewards knowing task and generator.",
        f"`within` of {metric} minus that of a baseline, paired by source: {differences} ({next(iter(measured))}).",
        f"Intervals: 95 %, {len(headline[metric].within.draws):,} seeded bootstrap draws of whole sources. A missing "
        "score counts one half in each of its pairs.",
        f"Thresholds: {THRESHOLDS}.",
        f"Answers to sources on which the shipped classifier was trained: {seen:,} of {len(labelled.rows):,}. "
        + ("For them groundedness and entailment are not tested here." if seen else "The figures are a test."),
    ]
    tables = [table for title, figures in measured.items() for table in tabulate(title, figures, metric)]
    return Outcome("accuracy", "Groundedness accuracy", tables, notes)


def tabulate(title: str, figures: Mapping[str, Accuracy], metric: str) -> list[Table]:
    """Return the tables of one set of rows: how scores rank, and what cut-offs and probabilities are worth."""
    ranks, verdicts_shown = [], []
    for name, figure in figures.items():
        marked = f"{name} (headline)" if name == metric else name
        for part, own in (("all", figure), *figure.tasks.items()):
            shown = f"{marked}, {part}"
            estimates = (own.within, own.pooled, own.precision)
            ranks.append((shown, f"{own.n_scored:,}", *map(_format, estimates)))
            if own.f1 is not None or own.calibration_error is not None:
                chance = "" if own.error_by_chance is None else f" (chance {own.error_by_chance:.3f})"
                cells = map(_format, (own.f1, own.balanced_accuracy, own.calibration_error, own.calibration_slope))
                verdicts_shown.append((shown, *cells, chance))
    sizes = next(iter(figures.values()))
    heading = f"{title}: n = {sizes.n:,}, {sizes.n_positive:,} hallucinated"
    columns = ("score, task", "F1", "balanced accuracy", "calibration error", "calibration slope", "error by chance")
    return [
        Table(heading, ("score, task", "scored", "AUROC within", "AUROC pooled", "average precision"), ranks),
        Table(f"{title}: cut-offs and probabilities", columns, verdicts_shown),
    ]


def _format(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if math.isnan(estimate.value):
        return "no pairs"
    return tell(estimate)


def take_quick(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a few sources per task, chosen by the hash of their id."""
    chosen: set[tuple[str, str]] = set()
    for task in {str(row["task"]) for row in rows}:
        sources = {str(row["source_id"]) for row in rows if str(row["task"]) == task}
        by_hash = sorted(sources, key=lambda source: hashlib.md5(source.encode(), usedforsecurity=False).hexdigest())
        chosen.update((task, source) for source in by_hash[:_QUICK_SOURCES_PER_TASK])
    return [row for row in rows if (str(row["task"]), str(row["source_id"])) in chosen]


def run(
    data: Path, is_quick: bool = False, folder: Path | None = None, metric: str = HEADLINE_METRIC
) -> tuple[Outcome, dict[str, Any]]:
    """Return the outcome and its JSON form for one folder of labelled rows."""
    rows = read_rows(data)
    if is_quick:
        rows = take_quick(rows)
    with working_folder(folder) as work:
        labelled = score_rows(rows, work)
    if metric not in labelled.scores:
        raise BenchmarkError(f"the build scored {', '.join(labelled.scores) or 'nothing'}, not {metric}")
    measured = {title: measure_all(part) for title, part in split_rows(labelled).items()}
    return to_outcome(labelled, measured, metric, data.name), to_json(labelled, measured, metric)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; --json prints one JSON object and nothing else on standard output."""
    parser = argument_parser("accuracy", __doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of parquet files (default: $HCAT_BENCHMARK_DATA/ragtruth)")
    parser.add_argument("--warehouse", type=Path, dest="folder", help="same as --folder")
    parser.add_argument("--metric", default=HEADLINE_METRIC, help=f"headline metric (default: {HEADLINE_METRIC})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    data = options.data or data_folder("ragtruth")
    if data is None:
        parser.exit(2, "accuracy: give --data FOLDER, or set HCAT_BENCHMARK_DATA to a folder that holds ragtruth\n")
    try:
        outcome, figures = run(data, options.quick, options.folder, options.metric)
    except (BenchmarkError, OSError, ValueError) as error:
        parser.exit(1, f"accuracy: {error}\n")
    if options.json:
        print(json.dumps(figures, indent=2, sort_keys=True))
    else:
        print_outcome(outcome)
    return 0


if __name__ == "__main__":
    sys.exit(main())
