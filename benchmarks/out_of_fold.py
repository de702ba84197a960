"""The shipped recipes on sources that the scoring model had not seen: RAGTruth out of fold, whole sources per fold.

The shipped weights are fitted on all shared sources, so that a build over them is no test. `python -m training fuse`
keeps what the fold models said (out_of_fold.parquet and out_of_fold_accurate.parquet: digests, spans and
probabilities, no text); entailment model, fusion and cut-offs of a fold come from the other folds. Here those scores
stand beside the baselines of the accuracy benchmark, those of the accurate classifier beside those of the default.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as parquet

from benchmarks.accuracy import Accuracy, Labelled, measure, measure_all, split_rows, tabulate
from benchmarks.discrimination import COUNT_DRAWS, Estimate, estimate_from_draws, resample_rows
from benchmarks.harness import Outcome, Table, argument_parser, data_folder, finish
from benchmarks.ragtruth import read_rows, read_spans

#: Setting HCAT_CLASSIFIER -> what its fold models said.
OUT_OF_FOLD = {
    "compact": Path(__file__).with_name("out_of_fold.parquet"),
    "accurate": Path(__file__).with_name("out_of_fold_accurate.parquet"),
}
METRIC = "groundedness"
#: What the fold models say without the other signals: the lowest logit of entailment of an answer's sentences.
ENTAILMENT = "entailment alone"

#: Limits on the rows of the publishers' split `test`: name -> (what, lowest value).
LIMITS = {
    "within": 0.72,
    "QA": 0.86,
    "QA within": 0.80,
    "Summary": 0.72,
    "Data2txt": 0.66,
    "F1": 0.68,
    "balanced accuracy": 0.74,
}


def read_scored(data: Path, classifier: str = "compact") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return (scored rows of RAGTruth with `fold`, `score`, `cut_off` and `entailment`; sentences), in their order.

    Raises
    ------
    ValueError
        If a score has no row: the file is of other data.
    """
    kept = OUT_OF_FOLD[classifier]
    sentences = parquet.read_table(kept).to_pylist()
    by_answer = {each["answer_id"]: each for each in sentences}
    lowest: dict[str, float] = {}
    for each in sentences:
        logit = each["entailment_logit"]
        lowest[each["answer_id"]] = min(lowest.get(each["answer_id"], logit), logit)
    rows = [row for row in read_rows(data) if row["interaction_id"] in by_answer]
    if len(rows) < len(by_answer):
        raise ValueError(f"{kept.name} holds scores of other rows than {data}: run python -m training fuse again")
    for row in rows:
        found = by_answer[row["interaction_id"]]
        row |= {"fold": found["fold"], "score": found["answer_probability"], "cut_off": found["answer_cut_off"]}
        row["entailment"] = lowest[row["interaction_id"]]
    return rows, sentences


def measure_rows(rows: Sequence[Mapping[str, Any]], count_draws: int = COUNT_DRAWS) -> dict[str, Accuracy]:
    """Return the accuracy of the baselines, of entailment alone and of the out-of-fold score over ``rows``."""
    entailment = np.array([row["entailment"] for row in rows], dtype=np.float64)
    figures = measure_all(Labelled(rows, {ENTAILMENT: entailment}, {}, ""), count_draws)
    scores = np.array([row["score"] for row in rows], dtype=np.float64)
    cut_offs = np.array([row["cut_off"] for row in rows], dtype=np.float64)
    return {**figures, METRIC: measure(scores, rows, count_draws, True, cut_offs, True)}


def span_f1(
    rows: Sequence[Mapping[str, Any]], sentences: Sequence[Mapping[str, Any]], flagged: npt.NDArray[np.bool_]
) -> Estimate:
    """Return the character F1 of flagged sentences against marked spans, pooled over ``rows``, by source."""
    positions = {row["interaction_id"]: position for position, row in enumerate(rows)}
    marks = [np.zeros(len(row["answer"]), dtype=bool) for row in rows]
    for row, mark in zip(rows, marks, strict=True):
        for span in read_spans(row):
            mark[int(span["start"]) : int(span["end"])] = True
    said = [np.zeros_like(mark) for mark in marks]
    for sentence, is_flagged in zip(sentences, flagged, strict=True):
        if is_flagged and sentence["answer_id"] in positions:
            said[positions[sentence["answer_id"]]][sentence["start"] : sentence["end"]] = True
    both = np.array([float((mark & own).sum()) for mark, own in zip(marks, said, strict=True)])
    either = np.array([float(mark.sum() + own.sum()) for mark, own in zip(marks, said, strict=True)])
    sources = np.unique([str(row["source_id"]) for row in rows], return_inverse=True)[1].astype(np.int64)
    weights = resample_rows(sources, COUNT_DRAWS)
    return estimate_from_draws(float(2 * both.sum() / either.sum()), 2 * (weights @ both) / (weights @ either))


def run(is_quick: bool = False) -> Outcome | None:
    """Return the outcome; None when the data are not there."""
    data = data_folder("ragtruth")
    if data is None:
        return None
    rows, sentences = read_scored(data)
    measured = {title: measure_rows(part.rows) for title, part in split_rows(Labelled(rows, {}, {}, "")).items()}
    tables = [table for title, figures in measured.items() for table in tabulate(title, figures, METRIC)]
    headline = next(iter(measured.values()))
    limits, met, difference = _check(headline)
    tables += [_spans(_take_test(rows), sentences), limits]
    accurate_rows, accurate_sentences = read_scored(data, "accurate")
    accurate = measure_rows(_take_test(accurate_rows))
    accurate_limits, accurate_met, accurate_difference = _check(accurate)
    added = [*tabulate("test rows", accurate, METRIC), _spans(_take_test(accurate_rows), accurate_sentences)]
    added += [accurate_limits, _compare(accurate[METRIC], headline[METRIC])]
    tables += [replace(table, title=f"Accurate classifier: {table.title}") for table in added]
    folds = len({row["fold"] for row in rows})
    notes = [
        f"{len(rows):,} of {len(read_rows(data)):,} rows, in {folds} folds of whole sources, each with models of its "
        "own. Entailment model, fusion and cut-offs of a fold were fitted without it. The rules of support and the "
        "features were made with these data in view, so that these are development figures.",
        f"`within` of {METRIC} minus that of lexical LR, paired by source: {_tell(difference)}, "
        f"with the accurate classifier {_tell(accurate_difference)}; pairs of one fold only.",
        "Each cut-off is the one with the highest F1 on the test rows of the other folds. The score uses neither "
        "task nor generator nor length.",
    ]
    return Outcome("out_of_fold", "Groundedness out of fold", tables, notes, is_quick, met and accurate_met)


def _take_test(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row.get("split") == "test"]


def _tell(estimate: Estimate) -> str:
    return f"{estimate.value:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]"


def _check(figures: Mapping[str, Accuracy]) -> tuple[Table, bool, Estimate]:
    """Return the limits beside what was reached, whether all hold, and `within` minus that of lexical LR."""
    reached = _reached(figures[METRIC])
    difference = figures[METRIC].within.minus(figures["lexical LR"].within)
    lines = [
        (name, f"{value:.3f}", f">= {LIMITS[name]}", "yes" if value >= LIMITS[name] else "NO")
        for name, value in reached.items()
    ]
    is_above = difference.low > 0
    lines.append(("within minus lexical LR, lower bound", f"{difference.low:+.3f}", "> 0", "yes" if is_above else "NO"))
    table = Table("Limits, test rows", ("figure", "measured", "limit", "reached"), lines)
    return table, is_above and all(value >= LIMITS[name] for name, value in reached.items()), difference


def _compare(accurate: Accuracy, default: Accuracy) -> Table:
    """Return what the accurate classifier adds to the default one over the same rows, paired by source."""
    lines = [("all", _tell(accurate.within.minus(default.within)), _tell(accurate.pooled.minus(default.pooled)))]
    for task, own in accurate.tasks.items():
        other = default.tasks[task]
        lines.append((task, _tell(own.within.minus(other.within)), _tell(own.pooled.minus(other.pooled))))
    return Table(f"{METRIC} minus that of the default classifier, test rows", ("task", "within", "pooled"), lines)


def _reached(own: Accuracy) -> dict[str, float]:
    f1, balanced = own.f1, own.balanced_accuracy
    return {
        "within": own.within.value,
        "QA": own.tasks["QA"].pooled.value,
        "QA within": own.tasks["QA"].within.value,
        "Summary": own.tasks["Summary"].pooled.value,
        "Data2txt": own.tasks["Data2txt"].pooled.value,
        "F1": float("nan") if f1 is None else f1.value,
        "balanced accuracy": float("nan") if balanced is None else balanced.value,
    }


def _spans(rows: Sequence[Mapping[str, Any]], sentences: Sequence[Mapping[str, Any]]) -> Table:
    """Return the span figures: the flags of the product, and all sentences flagged."""
    shown = {row["interaction_id"] for row in rows}
    own = [each for each in sentences if each["answer_id"] in shown]
    flagged = np.array([each["probability"] < each["sentence_cut_off"] for each in own])
    lines = []
    for task in ("all", *sorted({str(row["task"]) for row in rows})):
        part = [row for row in rows if task in ("all", row["task"])]
        estimates = (span_f1(part, own, flagged), span_f1(part, own, np.ones_like(flagged)))
        lines.append(
            (task, f"{len(part):,}", *(f"{each.value:.3f} [{each.low:.3f}, {each.high:.3f}]" for each in estimates))
        )
    return Table(
        "Characters of flagged sentences against marked spans, F1, test rows",
        ("task", "answers", "flagged sentences", "all sentences flagged"),
        lines,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("out_of_fold", __doc__.splitlines()[0])
    options = parser.parse_args(arguments)
    outcome = run(options.quick)
    if outcome is None:
        parser.exit(2, "out_of_fold: HCAT_BENCHMARK_DATA must name a folder that holds ragtruth\n")
    return finish(outcome, "python -m benchmarks.out_of_fold")


if __name__ == "__main__":
    sys.exit(main())
