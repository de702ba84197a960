"""Makes the heads of the safety section: `python -m training.heads toxicity`, then `... sentiment`.

Both read embeddings of the packaged encoder. Data come from the folder named by HCAT_BENCHMARK_DATA; docs/model-card.md
lists them with licences and figures. The made sentences (`head_frames.csv` filled with `head_identities.csv`) are ours:
they say what must not matter.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet
from scipy.special import expit

from hcat.encoders.classifier_heads import FOLDER
from hcat.encoders.embedding import encode_texts, load_encoder
from hcat.encoders.identities import resolve_encoder
from hcat.engine.devices import check_packaged_weights
from hcat.engine.keys import hash_text
from hcat.engine.sizes import embedding_tokens
from hcat.language.given_names import all_given_names
from hcat.language.text import split_sentences
from hcat.statistics.arrays import Floats
from training.head_fit import balance, fit_head, save_head, swap_directions

HERE = Path(__file__).parent

#: Ridge, charge on identity directions, and share of the class 0 in the weights of every set: two thirds, because a
#: bank reads false alarms about people as a fault of its own. Chosen on HateCheck, leaving functionalities out.
RIDGE = 3e-4
SWAP_PENALTY = 0.1
NEGATIVE_SHARE = 2 / 3

#: Total weight of a set in the fit of toxicity.
WEIGHTS = {"hatecheck": 0.5, "toxigen": 0.5, "davidson": 0.5, "made": 2.0, "feelings": 0.3}

#: The same charges for sentiment: a heavy charge on who is mentioned, heavier on names, which are harder to foresee.
SENTIMENT_RIDGE = 3e-4
SENTIMENT_SWAP_PENALTY = 20.0
SENTIMENT_NAME_PENALTY = 40.0
SENTIMENT_MADE_WEIGHT = 0.5

#: One in so many listed names stands in each frame of head_names.csv, and so many names of the US census in two.
NAME_SHARE = 3
COUNT_CENSUS_NAMES = 2600


@dataclass(frozen=True, slots=True)
class Examples:
    """Labelled texts: vectors (n, d), labels 0 or 1 (a share is a soft label), and what makes rows siblings."""

    texts: tuple[str, ...]
    embeddings: npt.NDArray[np.float32]
    labels: Floats
    groups: tuple[str, ...]

    def select(self, keep: npt.NDArray[np.bool_]) -> Examples:
        """Return the rows that ``keep`` marks."""
        rows = np.flatnonzero(keep)
        return Examples(
            tuple(self.texts[row] for row in rows),
            self.embeddings[rows],
            self.labels[rows],
            tuple(self.groups[row] for row in rows),
        )


_kept: dict[str, npt.NDArray[np.float32]] = {}
_kept_file: Path | None = None


def keep_embeddings(folder: Path) -> None:
    """Read the vectors that an earlier run left in a folder, and leave there what :func:`embed` computes from now on.

    The file is named by the encoder's digest, so that vectors of another encoder are never taken.
    """
    global _kept_file
    folder.mkdir(parents=True, exist_ok=True)
    _kept_file = folder / f"embeddings_{check_packaged_weights()[:16]}.parquet"
    if _kept_file.exists():
        table = parquet.read_table(_kept_file)
        vectors = np.asarray(table["embedding"].combine_chunks().flatten(), dtype=np.float32).reshape(len(table), -1)
        _kept.update(zip(table["text_id"].to_pylist(), vectors, strict=True))


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return vectors of the packaged encoder, shape (n, 384); those that are kept are not computed again."""
    if _kept_file is None:
        return _compute_embeddings(texts)
    hashes = [hash_text(text) for text in texts]
    missing = {each: text for each, text in zip(hashes, texts, strict=True) if each not in _kept}
    if missing:
        _kept.update(zip(missing, _compute_embeddings(list(missing.values())), strict=True))
        vectors = pa.array([vector.tolist() for vector in _kept.values()], pa.list_(pa.float32()))
        parquet.write_table(pa.table({"text_id": list(_kept), "embedding": vectors}), _kept_file)
    return np.stack([_kept[each] for each in hashes])


def _compute_embeddings(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return vectors of the packaged encoder, shape (n, 384)."""
    encoder = load_encoder(resolve_encoder("packaged", "cpu", "float32"))
    return encode_texts(encoder, texts, embedding_tokens("cpu"))[0]


def template_code(template: str) -> str:
    """Return twelve hexadecimal digits that stand for a template or source in a card."""
    return hashlib.sha256(f"hcat head\x1f{template}".encode()).hexdigest()[:12]


def read_hatecheck(folder: Path) -> tuple[Examples, list[dict[str, str]]]:
    """Return HateCheck (groups = templates) and its rows with functionality and target."""
    columns = ["test_case", "label_gold", "functionality", "target_ident", "case_templ"]
    rows = parquet.read_table(folder / "hatecheck.parquet", columns=columns).to_pylist()
    texts = [row["test_case"] for row in rows]
    labels = np.array([float(row["label_gold"] == "hateful") for row in rows])
    return Examples(tuple(texts), embed(texts), labels, tuple(row["case_templ"] for row in rows)), rows


def read_toxigen(folder: Path) -> Examples:
    """Return the demonstrations of ToxiGen (groups = the target groups)."""
    rows = parquet.read_table(folder / "toxigen_demonstrations.parquet").to_pylist()
    texts = [row["text"] for row in rows]
    labels = np.array([float(row["label"] == "hate") for row in rows])
    return Examples(tuple(texts), embed(texts), labels, tuple(row["group"] for row in rows))


def read_davidson(folder: Path, part: int) -> Examples:
    """Return every second tweet of the classes hate and neither, part 0 (to learn from) or 1 (to score).

    The class `offensive` stays out: three quarters of it are single swear words, about whose target the votes say
    nothing.
    """
    rows = parquet.read_table(folder / "davidson_tweets.parquet", columns=["tweet", "label"]).to_pylist()
    texts = [row["tweet"] for row in rows if row["label"] != "offensive"][part::2]
    labels = [float(row["label"] != "neither") for row in rows if row["label"] != "offensive"][part::2]
    return Examples(tuple(texts), embed(texts), np.array(labels), tuple(texts))


def read_made() -> Examples:
    """Return the made sentences: every frame with every identity (groups = frames)."""
    with (HERE / "head_identities.csv").open(encoding="utf-8", newline="") as lines:
        identities = list(csv.DictReader(lines))
    with (HERE / "head_frames.csv").open(encoding="utf-8", newline="") as lines:
        frames = list(csv.DictReader(lines))
    texts, labels, groups = [], [], []
    for frame in frames:
        for identity in identities:
            text = frame["frame"].replace("{P}", identity["plural"]).replace("{S}", identity["predicate"])
            text = text.replace("{S0}", identity["singular"])
            texts.append(text[0].upper() + text[1:])
            labels.append(float(frame["label"]))
            groups.append(frame["frame"])
    return Examples(tuple(texts), embed(texts), np.array(labels), tuple(groups))


def leave_shared_frames_out(made: Examples, scored: Examples) -> Examples:
    """Return the made sentences without every frame of which a sentence stands among the scored texts.

    Case, punctuation and white space do not count: what is scored must not have been learned from.
    """

    def fold(text: str) -> str:
        return " ".join(re.findall(r"\w+", text.lower()))

    known = {fold(text) for text in scored.texts}
    shared = {group for text, group in zip(made.texts, made.groups, strict=True) if fold(text) in known}
    return made.select(np.array([group not in shared for group in made.groups]))


def read_calm() -> Examples:
    """Return the made sentences about money and service as texts that are not toxic, however annoyed."""
    feelings = read_feelings()
    return Examples(feelings.texts, feelings.embeddings, np.zeros(len(feelings.texts)), feelings.groups)


def fit_toxicity(sets: dict[str, Examples]) -> tuple[Floats, float]:
    """Return coefficients and intercept fitted on the given sets (names of :data:`WEIGHTS`; ``made`` is required)."""
    made = sets["made"]
    penalty = RIDGE * np.eye(made.embeddings.shape[1]) + SWAP_PENALTY * _charge(made)
    names = sorted(sets)
    return fit_head(
        np.concatenate([sets[name].embeddings for name in names]),
        np.concatenate([sets[name].labels for name in names]),
        np.concatenate([balance(sets[name].labels, WEIGHTS[name], NEGATIVE_SHARE) for name in names]),
        penalty,
    )


def apply(head: tuple[Floats, float], embeddings: npt.NDArray[np.float32]) -> Floats:
    """Return probabilities of a fitted pair of coefficients and intercept, shape (n,)."""
    return expit(np.asarray(embeddings, dtype=np.float64) @ head[0] + head[1])


def leave_functionalities_out(sets: dict[str, Examples], hatecheck: Examples, functionalities: Sequence[str]) -> Floats:
    """Return a probability for every row of HateCheck from a head that saw no row of its functionality.

    Templates belong to one functionality each, so that none is on both sides; a row of another functionality with the
    same template would be left out too.
    """
    names = np.array(functionalities)
    scores = np.zeros(len(names))
    for name in sorted(set(functionalities)):
        left_out = names == name
        templates = {group for group, is_out in zip(hatecheck.groups, left_out, strict=True) if is_out}
        keep = ~left_out & np.array([group not in templates for group in hatecheck.groups])
        scores[left_out] = apply(
            fit_toxicity(sets | {"hatecheck": hatecheck.select(keep)}), hatecheck.embeddings[left_out]
        )
    return scores


def read_reviews(folder: Path) -> Examples:
    """Return the sentences of the restaurant reviews inside RAGTruth's structured contexts (groups = businesses).

    The label of a sentence is that of its review: (stars - 1) / 4.
    """
    rows = parquet.read_table(folder / "ragtruth.parquet", columns=["source_id", "task", "contexts"]).to_pylist()
    texts, labels, groups = [], [], []
    seen = set()
    for row in rows:
        if row["task"] != "Data2txt" or row["source_id"] in seen:
            continue
        seen.add(row["source_id"])
        for number, review in enumerate(json.loads(row["contexts"][0]).get("review_info") or []):
            for start, end in split_sentences(review["review_text"]):
                texts.append(review["review_text"][start:end])
                labels.append((float(review["review_stars"]) - 1) / 4)
                groups.append(f"{row['source_id']}|{number}")
    return Examples(tuple(texts), embed(texts), np.array(labels), tuple(groups))


def read_feelings() -> Examples:
    """Return the made sentences about money and service with a feeling or none (label 0, 0.5 or 1)."""
    with (HERE / "head_feelings.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    texts = [row["sentence"] for row in rows]
    return Examples(tuple(texts), embed(texts), np.array([float(row["label"]) for row in rows]), tuple(texts))


def read_name_list(kind: str) -> list[str]:
    """Return the texts of one kind of head_names.csv: name, frame, or held_out (names that no fit may see)."""
    with (HERE / "head_names.csv").open(encoding="utf-8", newline="") as lines:
        return [row["text"] for row in csv.DictReader(lines) if row["kind"] == kind]


def read_named() -> Examples:
    """Return made sentences with names in them (groups = frames): no labels, they say what must not move a score.

    A third of the listed names, which come from many languages, stands in each frame, and each of
    :data:`COUNT_CENSUS_NAMES` names of the US census in two frames: a direction that the fit has not seen named is
    not charged. Names that are held out for measuring are left out.
    """
    names, frames = read_name_list("name"), read_name_list("frame")
    taken = {name.lower() for name in (*names, *read_name_list("held_out"))}
    census = sorted(all_given_names() - taken, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    pairs = [
        (frame, name)
        for position, frame in enumerate(frames)
        for number, name in enumerate(names)
        if (position + number) % NAME_SHARE == 0
    ]
    for number, name in enumerate(census[:COUNT_CENSUS_NAMES]):
        for position in (number, 7 * number + 3):
            pairs.append((frames[position % len(frames)], name.capitalize()))
    texts = [frame.replace("{N}", name) for frame, name in pairs]
    groups = [frame for frame, _ in pairs]
    return Examples(tuple(texts), embed(texts), np.full(len(texts), 0.5), tuple(groups))


def _charge(examples: Examples) -> Floats:
    return swap_directions(examples.embeddings, np.unique(np.array(examples.groups), return_inverse=True)[1])


def fit_sentiment(reviews: Examples, feelings: Examples, made: Examples, named: Examples) -> tuple[Floats, float]:
    """Return coefficients and intercept: soft labels of reviews, made feelings, and the charge on who is mentioned."""
    penalty = SENTIMENT_RIDGE * np.eye(made.embeddings.shape[1])
    penalty += SENTIMENT_SWAP_PENALTY * _charge(made) + SENTIMENT_NAME_PENALTY * _charge(named)
    weights = np.concatenate(
        [balance(reviews.labels, 1.0, 0.5), np.full(len(feelings.labels), SENTIMENT_MADE_WEIGHT / len(feelings.labels))]
    )
    return fit_head(
        np.concatenate([reviews.embeddings, feelings.embeddings]),
        np.concatenate([reviews.labels, feelings.labels]),
        weights,
        penalty,
    )


def run_toxicity(data: Path) -> None:
    """Fit on all sets and write the shipped head with its card."""
    hatecheck, _ = read_hatecheck(data / "toxicity")
    sets = {
        "hatecheck": hatecheck,
        "toxigen": read_toxigen(data / "toxicity"),
        "davidson": read_davidson(data / "toxicity", 0),
        "made": read_made(),
        "feelings": read_calm(),
    }
    coefficients, intercept = fit_toxicity(sets)
    card: dict[str, object] = {
        "name": "hcat-toxicity-head",
        "revision": "1",
        "encoder_sha256": check_packaged_weights(),
        "training": {name: len(each.labels) for name, each in sets.items()},
        "trained_templates": sorted({template_code(group) for group in hatecheck.groups}),
    }
    save_head(FOLDER / "toxicity_head", coefficients, intercept, card)


def run_sentiment(data: Path) -> None:
    """Fit on all reviews and write the shipped head with its card."""
    reviews, feelings, named = read_reviews(data / "ragtruth"), read_feelings(), read_named()
    coefficients, intercept = fit_sentiment(reviews, feelings, read_made(), named)
    card: dict[str, object] = {
        "name": "hcat-sentiment-head",
        "revision": "2",
        "encoder_sha256": check_packaged_weights(),
        "training": {
            "review_sentences": len(reviews.labels),
            "made": len(feelings.labels),
            "sentences_with_names": len(named.labels),
        },
        "trained_sources": sorted({template_code(group.split("|")[0]) for group in reviews.groups}),
    }
    save_head(FOLDER / "sentiment_head", coefficients, intercept, card)


def main(arguments: list[str] | None = None) -> int:
    """Fit one head from the command line."""
    names = sys.argv[1:] if arguments is None else arguments
    runs = {"toxicity": run_toxicity, "sentiment": run_sentiment}
    root = os.environ.get("HCAT_BENCHMARK_DATA")
    if len(names) != 1 or names[0] not in runs or not root:
        print(
            f"usage: HCAT_BENCHMARK_DATA=... python -m training.heads {{{','.join(runs)}}}, got {names}",
            file=sys.stderr,
        )
        return 2
    runs[names[0]](Path(root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
