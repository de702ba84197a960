"""From trained folders to what ships: the fused prior as a seed, the delta and its card as package data."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet
from safetensors.torch import load_file, save_file
from scipy.special import expit

from benchmarks import out_of_fold, swaps
from hcat.encoders.identities import SHIPPED
from hcat.engine.keys import hash_file
from hcat.metrics.fusion import FEATURES, Fusion, fit_fusion, join_answers
from training.bases import BASES, CLASSES
from training.fit import Settings, make_adapted
from training.lora import average_deltas, write_back

ROOT = Path(__file__).resolve().parents[1]
PRIOR = ROOT / "seeds" / "groundedness_prior.csv"
#: Base -> what is kept of its fold models: scores of labelled answers, and of made faults.
OUT_OF_FOLD = out_of_fold.OUT_OF_FOLD
FAULTS = swaps.OUT_OF_FOLD

#: Half the weight of the squared coefficients: chosen once, by hand, so that no feature of a thousand answers runs off.
PENALTY = 2.0

#: Made faults that are wrong for certain.
CERTAIN_FAULTS = ("number_outside", "entity_outside")


@dataclass(frozen=True, slots=True)
class PriorPlan:
    """What the fusion of a classifier is fitted on.

    Attributes
    ----------
    takes_sentences : bool
        Labels are those of sentences (spans marked by people), each an answer of its own, and not those of answers.
    fault_weight : float
        Weight of a made fault beside a label as 1: the smallest at which the fused score alone catches 95 % of
        :data:`CERTAIN_FAULTS` out of fold. The models that people labelled seldom invent a lone figure; an answer with
        a figure that is nowhere in its context must not pass for that.
    """

    takes_sentences: bool
    fault_weight: float


#: Base -> plan. The compact model is not sharp enough for single sentences: it gains nothing from their labels.
PRIOR_PLANS = {"compact": PriorPlan(False, 0.07), "accurate": PriorPlan(True, 0.05)}


@dataclass(frozen=True, slots=True)
class Scored:
    """Sentences that no fold model had seen, and the answers they stand in.

    Attributes
    ----------
    sentences : Table
        Rows of ``predictions.parquet`` of all folds.
    features : ndarray, shape (n, n_features)
        Of the sentences.
    answers : ndarray of int, shape (n,)
        Answer of each sentence.
    answer_rows : list of dict
        One row per answer: answer_id, source_id, task, model, split, is_grounded, fold.
    """

    sentences: pa.Table
    features: npt.NDArray[np.float64]
    answers: npt.NDArray[np.int64]
    answer_rows: list[dict[str, Any]]


def read_predictions(folders: Sequence[Path]) -> Scored:
    """Return the out-of-fold sentences of several fold models."""
    tables = [parquet.read_table(folder / "predictions.parquet") for folder in folders]
    parts = [
        table.append_column("fold", pa.array([fold] * table.num_rows, pa.int64())) for fold, table in enumerate(tables)
    ]
    sentences = pa.concat_tables(parts).combine_chunks()
    names = ("answer_id", "source_id", "task", "model", "split", "is_grounded", "fold")
    rows = sentences.select(names).to_pylist()
    positions: dict[str, int] = {}
    answer_rows: list[dict[str, Any]] = []
    for row in rows:
        if row["answer_id"] not in positions:
            positions[row["answer_id"]] = len(answer_rows)
            answer_rows.append(row)
    answers = np.array([positions[row["answer_id"]] for row in rows], dtype=np.int64)
    features = np.array(sentences["features"].to_pylist(), dtype=np.float64)
    return Scored(sentences, features, answers, answer_rows)


def fit_prior(scored: Scored, faults: Faults, plan: PriorPlan, held_out: int | None = None) -> Fusion:
    """Return the fusion fitted on labels of answers or sentences and on made faults, without the fold ``held_out``.

    Of the labels only rows of the publishers' split `test` enter: the others come from sources with a hallucination
    only, and would shift every probability. Of the made ones :data:`CERTAIN_FAULTS`, each of the planned weight, beside
    as much weight of the faithful sentences that they were made of.
    """
    keep = is_unselected(scored) & np.array([row["fold"] != held_out for row in scored.answer_rows])
    rows = keep[scored.answers]
    if plan.takes_sentences:
        labels = np.array(scored.sentences["is_supported"].to_pylist(), dtype=bool)[rows]
        numbers = np.arange(len(labels))
    else:
        labels = np.array([row["is_grounded"] for row in scored.answer_rows])[keep]
        numbers = (np.cumsum(keep) - 1)[scored.answers[rows]]
    is_faithful = np.array([row["kind"] is None for row in faults.answer_rows])
    is_faulty = np.array([row["kind"] in CERTAIN_FAULTS for row in faults.answer_rows])
    made = (is_faithful | is_faulty) & np.array([row["fold"] != held_out for row in faults.answer_rows])
    made_numbers = len(labels) + np.cumsum(made) - 1
    made_rows = made[faults.answers]
    balance = is_faulty[made].sum() / is_faithful[made].sum()
    weights = np.where(is_faithful[made], plan.fault_weight * balance, plan.fault_weight)
    return fit_fusion(
        np.concatenate([scored.features[rows], faults.features[made_rows]]),
        np.concatenate([numbers, made_numbers[faults.answers[made_rows]]]),
        np.concatenate([labels, is_faithful[made]]),
        weights=np.concatenate([np.ones(len(labels)), weights]),
        penalty=PENALTY,
    )


def is_unselected(scored: Scored) -> npt.NDArray[np.bool_]:
    """Return which answers come from sources that were not chosen for their hallucinations."""
    return np.array([row["split"] == "test" for row in scored.answer_rows])


@dataclass(frozen=True, slots=True)
class Faults:
    """Faithful and faulty sentences of held-out sources, as answers of one sentence (few where a fault splits it).

    Attributes
    ----------
    features : ndarray, shape (n, n_features)
        Of the sentences.
    answers : ndarray of int, shape (n,)
        Answer of each sentence.
    answer_rows : list of dict
        One row per answer: source_id, kind (None = faithful), fold.
    """

    features: npt.NDArray[np.float64]
    answers: npt.NDArray[np.int64]
    answer_rows: list[dict[str, Any]]


def read_faults(folders: Sequence[Path]) -> Faults:
    """Return what the fold models were asked about made faults (``faults.parquet``)."""
    features: list[list[float]] = []
    answers: list[int] = []
    positions: dict[tuple[int, str], int] = {}
    answer_rows: list[dict[str, Any]] = []
    for fold, folder in enumerate(folders):
        for row in parquet.read_table(folder / "faults.parquet").to_pylist():
            key = (fold, row["answer_id"])
            if key not in positions:
                positions[key] = len(answer_rows)
                answer_rows.append({"source_id": row["source_id"], "kind": row["kind"], "fold": fold})
            features.append(row["features"])
            answers.append(positions[key])
    return Faults(np.array(features, dtype=np.float64), np.array(answers, dtype=np.int64), answer_rows)


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """What was said of rows by models, fusions and cut-offs that had not seen their sources.

    Attributes
    ----------
    sentences : ndarray, shape (n,)
        Probability that each sentence is supported.
    answers : ndarray, shape (n_answers,)
        Probability that each answer is grounded.
    sentence_cut_offs, answer_cut_offs : ndarray, shape (n_answers,)
        Below it a sentence of the answer, or the answer, is flagged.
    """

    sentences: npt.NDArray[np.float64]
    answers: npt.NDArray[np.float64]
    sentence_cut_offs: npt.NDArray[np.float64]
    answer_cut_offs: npt.NDArray[np.float64]


def score_out_of_fold(scored: Scored, faults: Faults, plan: PriorPlan) -> OutOfFold:
    """Return scores and cut-offs of every fold, each from a fusion fitted on the other folds."""
    folds = np.array([row["fold"] for row in scored.answer_rows])
    count = len(scored.answer_rows)
    log_odds = np.empty(len(scored.answers))
    sentence_cut_offs, answer_cut_offs = np.empty(count), np.empty(count)
    for fold in np.unique(folds):
        everything = fit_prior(scored, faults, plan, int(fold)).sentence_log_odds(scored.features)
        held = folds == fold
        log_odds[held[scored.answers]] = everything[held[scored.answers]]
        sentence_cut_offs[held], answer_cut_offs[held] = choose_cut_offs(scored, everything, ~held)
    answers = expit(join_answers(log_odds, scored.answers, count))
    return OutOfFold(1.0 / (1.0 + np.exp(-log_odds)), answers, sentence_cut_offs, answer_cut_offs)


def choose_cut_offs(
    scored: Scored, log_odds: npt.NDArray[np.float64], chosen: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the cut-offs (for sentences, for answers) of highest F1 on the chosen answers of the split `test`."""
    keep = chosen & is_unselected(scored)
    rows = keep[scored.answers]
    is_failure = np.array([not row["is_grounded"] for row in scored.answer_rows])
    is_wrong = ~np.array(scored.sentences["is_supported"].to_pylist(), dtype=bool)
    answers = expit(join_answers(log_odds, scored.answers, len(keep)))
    sentences = 1.0 / (1.0 + np.exp(-log_odds))
    return best_cut_off(sentences[rows], is_wrong[rows]), best_cut_off(answers[keep], is_failure[keep])


def best_cut_off(scores: npt.NDArray[np.float64], is_positive: npt.NDArray[np.bool_]) -> float:
    """Return the cut-off below which flagging has the highest F1: midway between two neighbouring scores."""
    order = np.argsort(scores, kind="stable")
    hits, taken = np.cumsum(is_positive[order]), np.arange(1, len(order) + 1)
    values = 2 * hits / (taken + is_positive.sum())
    ordered = scores[order]
    # equal scores are flagged together
    values[:-1][ordered[1:] == ordered[:-1]] = -1.0
    best = int(values.argmax())
    following = ordered[best + 1] if best + 1 < len(ordered) else 1.0
    return float((ordered[best] + following) / 2)


def write_faults(scored: Scored, faults: Faults, plan: PriorPlan, path: Path) -> None:
    """Write one row per faithful or faulty sentence: digests, kind (null = faithful), fold, scores; no text.

    ``groundedness`` is the probability of the fusion that was fitted on the other folds.
    """
    folds = np.array([row["fold"] for row in faults.answer_rows])
    joined = np.empty(len(folds))
    for fold in np.unique(folds):
        log_odds = fit_prior(scored, faults, plan, int(fold)).sentence_log_odds(faults.features)
        joined = np.where(folds == fold, expit(join_answers(log_odds, faults.answers, len(folds))), joined)
    entailment = np.full(len(folds), np.inf)
    np.minimum.at(entailment, faults.answers, faults.features[:, list(FEATURES).index("entailment_logit")])
    table = pa.table(
        {
            "fold": pa.array(folds, pa.int64()),
            "source_id": [_digest(row["source_id"]) for row in faults.answer_rows],
            "kind": pa.array([row["kind"] for row in faults.answer_rows], pa.string()),
            "groundedness": joined.astype(np.float32),
            "entailment_logit": entailment.astype(np.float32),
        }
    )
    parquet.write_table(table, path, compression="zstd", compression_level=19)


def _digest(source: str) -> str:
    return hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()[:12]


def write_out_of_fold(scored: Scored, found: OutOfFold, path: Path) -> None:
    """Write one row per sentence: answer, fold, span, probability, cut-offs and logit of entailment; no text."""
    rows = scored.sentences.select(["answer_id", "fold", "sentence_index", "start", "end"])
    by_answer = {"answer_probability": found.answers, "answer_cut_off": found.answer_cut_offs}
    by_answer["sentence_cut_off"] = found.sentence_cut_offs
    table = rows.append_column("probability", pa.array(found.sentences.astype(np.float32)))
    for name, values in by_answer.items():
        table = table.append_column(name, pa.array(values[scored.answers].astype(np.float32)))
    entailment = scored.features[:, list(FEATURES).index("entailment_logit")]
    table = table.append_column("entailment_logit", pa.array(entailment.astype(np.float32)))
    parquet.write_table(table, path, compression="zstd", compression_level=19)


def write_prior(fusion: Fusion, classifier_name: str, path: Path = PRIOR) -> None:
    """Write the rows of a classifier into the seed, its intercept first; those of other classifiers stay."""
    columns = ("classifier_name", "feature", "coefficient", "center", "scale")
    others: list[list[str]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as handle:
            others = [[row[column] for column in columns] for row in csv.DictReader(handle)]
    own = [[classifier_name, "intercept", f"{fusion.intercept:.6f}", "", ""]]
    for name, values in zip(
        FEATURES, zip(fusion.coefficients, fusion.centers, fusion.scales, strict=True), strict=True
    ):
        own.append([classifier_name, name, *(f"{value:.6f}" for value in values)])
    rows = [row for row in others if row[0] != classifier_name] + own
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(columns)
        # the order of the file is that of the names, whichever was fitted last; the rows of one keep theirs
        writer.writerows(sorted(rows, key=lambda row: row[0]))


def interpolate(start: Path, trained: Path, share_of_start: float) -> Any:
    """Return the classifier on the line between two folders: that share of the first, the rest of the second.

    Both must have one rank; the mean of the updates is cut to it (:func:`training.lora.average_deltas`).
    """
    facts = read_facts(trained)
    rank = int(facts["rank"])
    deltas = [load_file(folder / "delta.safetensors") for folder in (start, trained)]
    model = make_adapted(BASES[facts["base"]], rank)
    write_back(model, average_deltas(deltas, rank, (share_of_start, 1 - share_of_start)))
    return model.eval()


def average(folders: Sequence[Path], output: Path) -> None:
    """Write the average of fold models to ``output``: one model that every source has taught, without another training.

    ``training.json`` holds the recipe of the folds and all their sources.
    """
    facts = [read_facts(folder) for folder in folders]
    deltas = [load_file(folder / "delta.safetensors") for folder in folders]
    output.mkdir(parents=True, exist_ok=True)
    save_file(average_deltas(deltas, int(facts[0]["rank"])), output / "delta.safetensors")
    own = {key: facts[0][key] for key in (*asdict(Settings()), "share_of_start")} | {
        "averaged": [
            {key: each[key] for key in ("held_out", "count_folds", "count_pairs", "loss", "mnli_dev_matched")}
            for each in facts
        ],
        "sources": sorted({source for each in facts for source in each["sources"]}),
    }
    (output / "training.json").write_text(json.dumps(own, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def read_facts(folder: Path) -> dict[str, Any]:
    """Return what a stage of training wrote of itself; a folder of shipped weights says it in its card."""
    if not (folder / "training.json").exists():
        facts: dict[str, Any] = json.loads((folder / "card.json").read_text(encoding="utf-8"))["training"]
        # the cards of the compact classifier name no base
        return {"base": Settings().base} | facts | {"rank": facts.get("shipped_rank", facts["rank"])}
    facts = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    return facts


def export(trained: Path, revision: str, folder: Path | None = None) -> None:
    """Write the delta in half precision and its card: labels, digests, recipe, and digests of the sources it has seen.

    The digests let a benchmark say that it scores answers to sources from training; they tell nothing else. A base with
    a rank of its own for what ships is cut to it (:func:`training.lora.average_deltas`).
    """
    facts = read_facts(trained)
    shipped, base = SHIPPED[facts["base"]], BASES[facts["base"]]
    folder = shipped.folder if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    delta = load_file(trained / "delta.safetensors")
    if base.shipped_rank is not None:
        delta, facts["shipped_rank"] = average_deltas([delta], base.shipped_rank), base.shipped_rank
    delta = {name: value.half().contiguous() for name, value in delta.items()}
    save_file(delta, folder / "delta.safetensors")
    # the library writes files for their owner alone
    (folder / "delta.safetensors").chmod(0o644)
    sources = facts.pop("sources", [])
    card = {
        "name": shipped.name,
        "revision": revision,
        "labels": list(CLASSES),
        "base_sha256": shipped.check_base(),
        "delta_sha256": hash_file(folder / "delta.safetensors"),
        "training": facts,
        "trained_sources": sorted(map(_digest, sources)),
    }
    (folder / "card.json").write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf-8")
