"""How the fused groundedness ranks answers of sets that it was not fitted on: leave one family of sets out.

The answers of all labelled sets, and faults made in their supported sentences, pass one `dbt build`. The fusion is then
fitted on all families but one and judged on the one left out. Each family has the same weight, and so has each kind of
fault. Sets that the classifier itself was trained on take part in the fit, are shown, and are never counted.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks import verdicts
from benchmarks.accuracy import measure, tabulate
from benchmarks.discrimination import COUNT_DRAWS, Estimate, auroc, estimate_from_draws, number_values, share, tell
from benchmarks.harness import Outcome, Table, argument_parser, build, finish, working_folder
from hcat.statistics.arrays import Floats
from training.labelled_sets import RECORD_SETS, LabelledAnswer, family_of, read_sets, to_log_row
from training.made_faults import KINDS, make_faults
from training.prior import RAG_FAMILIES, TRAINED_SETS, choose_cut_off, fit, fit_left_out, is_untrained
from training.ragtruth import write_raw_logs
from training.signals import CLASSIFIERS, LEFT_OUT, NAMES, Signals, read_stored

OF_FAMILIES: Final = "mean over families"
#: Signals that the models of RAGTruth's folds did not leave behind.
_NOT_LEFT = ("contradiction_logit", "similarity", "evidence_overlap")

#: Share of faithful sentences that may be flagged where faults are counted.
FALSE_ALARMS: Final = 0.05

ROWS_PER_SET: Final = 60
FAULTS_PER_KIND: Final = 3
SEED: Final = 20260101
_QUICK = (20, 2)

#: Fewest faithful sentences of a family for a cut-off of its own.
_FEWEST_FAITHFUL: Final = 20
#: Fewest answers of either kind for a calibration slope.
_FEWEST_OF_A_CLASS: Final = 8
_SLOPE_DRAWS: Final = 300
#: Mean number of sentences from which the answers of a set count as long.
_SENTENCES_OF_LONG_SETS: Final = 1.7


def collect(data: Path, work: Path, classifier: str, rows_per_set: int, faults_per_kind: int) -> Signals:
    """Return the signals that one build with the setting HCAT_CLASSIFIER gives to labelled answers and made faults."""
    labelled = read_sets(data, rows_per_set)
    made = make_faults(labelled, faults_per_kind, SEED)
    answers = [*labelled, *(each.answer for each in made)]
    kinds = [*(None for _ in labelled), *(each.kind or "faithful" for each in made)]
    write_raw_logs([to_log_row(answer) for answer in answers], work / "raw")
    build(
        work / "raw",
        work / "warehouse",
        arguments=["--select", "+int_sentences_fused", "--exclude-resource-type", "test", "unit_test"],
        environment={"HCAT_CLASSIFIER": classifier},
    )
    return read_signals(answers, kinds, work / "warehouse" / "hcat.duckdb")


def read_signals(answers: Sequence[LabelledAnswer], kinds: Sequence[str | None], database: Path) -> Signals:
    """Return the signals of a finished build; an answer without any sentence in it is left out."""
    import duckdb

    # a classifier without a class for contradiction gives none
    statement = f"""
        select interaction_id, signals.claims_nothing, count_words - count_words_supported as words_missing,
            {", ".join(f"coalesce(signals.{name}, 0)::double as {name}" for name in NAMES)}
        from int_sentences_fused as signals
        inner join int_sentences_supported using (interaction_id, sentence_index)
        order by interaction_id, sentence_index
    """
    with duckdb.connect(str(database), read_only=True) as connection:
        table = connection.sql(statement).to_arrow_table()
    found = table["interaction_id"].to_pylist()
    known = set(found)
    kept = [position for position, answer in enumerate(answers) if answer.answer_id in known]
    numbers = {answers[position].answer_id: number for number, position in enumerate(kept)}
    return Signals(
        answers=[answers[position] for position in kept],
        kinds=[kinds[position] for position in kept],
        owners=np.array([numbers[each] for each in found], dtype=np.int64),
        features=np.stack([table[name].to_numpy() for name in NAMES], axis=1),
        claims_nothing=np.array(table["claims_nothing"].to_pylist(), dtype=bool),
        words_missing=np.array(table["words_missing"].to_pylist(), dtype=np.float64),
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """AUROC of one score on every set, and its means."""

    #: AUROC of each set that has both kinds of answers.
    sets: Mapping[str, Estimate]
    #: Mean over families, each with the mean of its sets; over the sets of :data:`RAG_FAMILIES`; over the other
    #: families; over :data:`RECORD_SETS`. Sets in :data:`TRAINED_SETS` are left out.
    means: Mapping[str, Estimate]
    #: The set with the lowest value, trained ones left out.
    worst: str


def rank(signals: Signals, scores: Floats) -> Ranking:
    """Return how well a score (higher = better grounded) ranks the labelled answers of each set."""
    by_set: dict[str, list[int]] = {}
    for position in np.flatnonzero(signals.is_labelled):
        by_set.setdefault(signals.answers[position].set_name, []).append(int(position))
    found: dict[str, Estimate] = {}
    for name, positions in sorted(by_set.items()):
        is_bad = signals.is_bad[positions]
        if is_bad.any() and not is_bad.all():
            clusters = number_values([signals.answers[position].cluster for position in positions])
            found[name] = auroc(scores[positions], is_bad, clusters)
    counted = [name for name in found if name not in TRAINED_SETS]
    families: dict[str, list[Estimate]] = {}
    for name in counted:
        families.setdefault(family_of(name), []).append(found[name])
    by_family = {family: _mean(estimates) for family, estimates in sorted(families.items())}
    means = {
        OF_FAMILIES: _mean(list(by_family.values())),
        "answers of RAG systems": _mean([found[name] for name in counted if family_of(name) in RAG_FAMILIES]),
        "mean over other families": _mean([by_family[name] for name in by_family if name not in RAG_FAMILIES]),
        "records, tables, numbers": _mean([found[name] for name in counted if name in RECORD_SETS]),
    }
    return Ranking(found, means, min(counted, key=lambda name: found[name].value))


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of figures of different sets, whose draws are independent; NaN of none."""
    if not estimates:
        return estimate_from_draws(float("nan"), np.full(COUNT_DRAWS, np.nan))
    draws = np.nanmean([estimate.draws for estimate in estimates], axis=0)
    return estimate_from_draws(float(np.mean([estimate.value for estimate in estimates])), draws)


def catch(signals: Signals, scores: Floats) -> dict[str, tuple[int, Estimate, Estimate]]:
    """Return for each kind of fault its count, AUROC against faithful sentences, and the share that is caught.

    Faithful sentences and faults are compared inside a family. The cut-off of a family flags :data:`FALSE_ALARMS` of
    its faithful sentences; a family with fewer than twenty of them takes no part in the share.
    """
    kinds = np.array([kind or "" for kind in signals.kinds])
    families = number_values([answer.family for answer in signals.answers])
    clusters = number_values([answer.cluster for answer in signals.answers])
    is_usable = is_untrained(signals) & (kinds != "")
    cut_offs = np.full(len(scores), np.nan)
    for family in np.unique(families):
        faithful = scores[is_usable & (families == family) & (kinds == "faithful")]
        if len(faithful) >= _FEWEST_FAITHFUL:
            cut_offs[families == family] = np.quantile(faithful, FALSE_ALARMS)
    found: dict[str, tuple[int, Estimate, Estimate]] = {}
    for kind in KINDS:
        own = np.flatnonzero(is_usable & (kinds == kind) & np.isfinite(cut_offs))
        if not len(own):
            continue
        taken = np.flatnonzero(is_usable & np.isin(kinds, (kind, "faithful")))
        ranked = auroc(scores[taken], kinds[taken] == kind, clusters[taken], families[taken])
        caught = share(scores[own] < cut_offs[own], clusters[own])
        found[kind] = (int((is_usable & (kinds == kind)).sum()), ranked, caught)
    return found


def thirds_of_length(signals: Signals, scores: Floats, cut_off: float) -> list[tuple[str, int, Estimate]]:
    """Return the share of good answers below the cut-off by third of their number of sentences inside their set.

    Only sets whose answers have several sentences take part.
    """
    counts = np.bincount(signals.owners, minlength=len(signals.answers))
    names = np.array([answer.set_name for answer in signals.answers])
    is_good = signals.is_labelled & ~signals.is_bad
    third = np.full(len(names), -1)
    for name in np.unique(names[is_good]):
        own = np.flatnonzero(is_good & (names == name))
        if counts[own].mean() >= _SENTENCES_OF_LONG_SETS:
            ranks = (np.searchsorted(np.sort(counts[own]), counts[own]) + 0.5) / len(own)
            third[own] = np.minimum((3 * ranks).astype(int), 2)
    found = []
    for place, name in enumerate(("shortest third", "middle third", "longest third")):
        own = np.flatnonzero(third == place)
        clusters = number_values([signals.answers[position].cluster for position in own])
        found.append((name, len(own), share(scores[own] < cut_off, clusters)))
    return found


def slopes(signals: Signals, log_odds: Floats) -> dict[str, Estimate]:
    """Return the calibration slope of each set: 1 = the log odds are as sure as they should be."""
    found = {}
    names = np.array([answer.set_name for answer in signals.answers])
    for name in sorted(set(names) - TRAINED_SETS):
        own = np.flatnonzero(signals.is_labelled & (names == name))
        if min(signals.is_bad[own].sum(), (~signals.is_bad[own]).sum()) >= _FEWEST_OF_A_CLASS:
            clusters = number_values([signals.answers[position].cluster for position in own])
            probabilities = 1 / (1 + np.exp(-log_odds[own]))
            found[name] = verdicts.calibration_slope(probabilities, signals.is_bad[own], clusters, _SLOPE_DRAWS)
    return found


def read_ragtruth(signals: Signals, classifier: str, cut_off: float) -> list[Table]:
    """Return the figures of RAGTruth, whose sources and family no model and no fusion has seen."""
    left = read_stored(classifier, LEFT_OUT)
    kept = np.array([name not in _NOT_LEFT for name in NAMES])
    fusion = fit(replace(signals, features=signals.features * kept), signals.families != "ragtruth")
    fused = 1 / (1 + np.exp(-left.join(fusion.sentence_log_odds(left.features))))
    rows = [{"hallucinated": answer.is_bad, "source_id": answer.cluster, "task": answer.task, "model": answer.model}
            for answer in left.answers]  # fmt: skip
    figures = {
        "entailment": measure(left.worst("entailment_logit"), rows),
        "words counted": measure(left.count_words_missing(), rows),
        "fused": measure(fused, rows, threshold=1 / (1 + np.exp(-cut_off)), is_probability=True),
    }
    return tabulate("RAGTruth, sources left out", figures, "fused")


def describe(signals: Signals, classifier: str, is_quick: bool = False) -> Outcome:
    """Return the tables of one classifier."""
    left_out = fit_left_out(signals)
    fused = signals.join(left_out)
    scores: dict[str, Floats] = {
        "entailment": signals.worst("entailment_logit"),
        "contradiction": signals.worst("contradiction_logit"),
        "supported words": signals.worst("share_words_supported"),
        "fused, left out": fused,
        "words counted": signals.count_words_missing(),
    }
    rankings = {name: rank(signals, values) for name, values in scores.items()}
    new = rankings["fused, left out"]
    labelled = [answer for answer, is_own in zip(signals.answers, signals.is_labelled, strict=True) if is_own]
    rows = []
    # the sets one by one stand once on the page
    for name in new.sets if classifier == "cascade" else ():
        own = [answer.is_bad for answer in labelled if answer.set_name == name]
        shown = f"{name} (trained on)" if name in TRAINED_SETS else name
        figures = (tell(each.sets[name]) for each in rankings.values())
        rows.append((shown, str(len(own)), str(sum(own)), *figures))
    rows += [(name, "", "", *(tell(each.means[name]) for each in rankings.values())) for name in new.means]
    tables = [Table("AUROC of each set, left out of the fit", ("set", "n", "bad", *rankings), rows)]
    caught = {name: catch(signals, values) for name, values in scores.items()}
    tables.append(
        Table(
            f"Made faults: AUROC, and share caught at {FALSE_ALARMS:.0%} false alarms, inside each family",
            ("fault", "n", *(f"{name}: {figure}" for name in caught for figure in ("AUROC", "caught"))),
            [
                (kind, str(count), *(tell(figure) for each in caught.values() for figure in each[kind][1:]))
                for kind, (count, _, _) in caught["fused, left out"].items()
            ],
        )
    )
    is_chosen = signals.is_labelled & is_untrained(signals)
    cut_off = choose_cut_off(signals, fused, is_chosen & np.isin(signals.families, RAG_FAMILIES))
    lengths = thirds_of_length(signals, fused, cut_off)
    tables.append(
        Table(
            f"Good answers that fail at probability {1 / (1 + np.exp(-cut_off)):.2f}, by number of sentences",
            ("answers", "n", "share failing"),
            [(name, str(count), tell(failing)) for name, count, failing in lengths],
        )
    )
    tables += read_ragtruth(signals, classifier, cut_off)
    sloped = slopes(signals, fused)
    holding = sum(estimate.low <= 1 <= estimate.high for estimate in sloped.values())
    differences = {
        mean: "; ".join(f"minus {name} {tell(own.minus(each.means[mean]), '+')}"
                        for name, each in rankings.items() if each is not new)
        for mean, own in new.means.items()
    }  # fmt: skip
    notes = [
        f"Classifier: {CLASSIFIERS[classifier]}; {is_chosen.sum():,} answers count in the means. "
        f"Worst set: {new.worst} ({tell(new.sets[new.worst])}).",
        *(f"Fused, {mean}: {told}." for mean, told in differences.items()),
        "RAGTruth: models of three folds, each without its sources, read the words; what they said of contradiction, "
        "and the windows of evidence, were not kept, so that a fusion without them stands here.",
        f"The interval of the calibration slope holds 1 on {holding} of {len(sloped)} sets.",
        "Intervals: bootstrap of whole clusters (documents or premises) inside each set. Sets marked as trained on are "
        "in the training data of the classifier and count in no mean.",
    ]
    name = "generalisation" if classifier == "cascade" else f"generalisation_{classifier}"
    title = f"Groundedness on sets that were left out, {classifier} classifier"
    return Outcome(name, title, tables, notes, is_quick, True, page="generalisation")


def run(
    is_quick: bool = False,
    folder: Path | None = None,
    classifier: str = "cascade",
    rows_per_set: int = ROWS_PER_SET,
    faults_per_kind: int = FAULTS_PER_KIND,
) -> Outcome | None:
    """Return the outcome of the setting HCAT_CLASSIFIER; None when the data are not there."""
    root = os.environ.get("HCAT_BENCHMARK_DATA")
    if not root or not (Path(root) / "more").is_dir():
        return None
    if is_quick:
        rows_per_set, faults_per_kind = _QUICK
    with working_folder(folder) as work:
        signals = collect(Path(root), work, classifier, rows_per_set, faults_per_kind)
    return describe(signals, classifier, is_quick)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 2 without data."""
    parser = argument_parser("generalisation", __doc__.splitlines()[0])
    parser.add_argument("--classifier", choices=tuple(CLASSIFIERS), default="cascade")
    parser.add_argument("--stored", action="store_true", help="signals that are kept in the tree, no build and no data")
    parser.add_argument("--rows", type=int, default=ROWS_PER_SET, help="answers of each set")
    parser.add_argument("--faults", type=int, default=FAULTS_PER_KIND, help="made faults of each kind and set")
    options = parser.parse_args(arguments)
    if options.stored:
        outcome: Outcome | None = describe(read_stored(options.classifier), options.classifier)
    else:
        outcome = run(options.quick, options.folder, options.classifier, options.rows, options.faults)
    if outcome is None:
        parser.exit(2, "generalisation: HCAT_BENCHMARK_DATA must name a folder that holds more\n")
    is_stored = " --stored" if options.stored else f" --rows {options.rows} --faults {options.faults}"
    return finish(outcome, f"python -m benchmarks.generalisation --classifier {options.classifier}{is_stored}")


if __name__ == "__main__":
    sys.exit(main())
