"""Makes the head that reads wordings: `python -m training.wordings`. With `--print` it only prints the fit, and with
`--leave-out` what it finds in the answers of authors that were left out.

The made sentences are frames of our own (`wordings.txt` in six languages, `talk_frames.csv` in English), and answers
that a language model wrote in nineteen manners, each without sight of the others (`wordings_by_author.tsv`). Claims are
also the sentences of RAGTruth (MIT, :mod:`training.talk`) and, in five languages, the message catalogues of Django,
django-oscar (BSD) and django-allauth (MIT), unpacked into the folder HCAT_CATALOGUES. Figures: docs/model-card.md.
"""

import json
import logging
import os
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from babel.messages.pofile import read_po
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from hcat.encoders import wordings
from hcat.encoders.classifier_heads import FOLDER
from hcat.encoders.wordings import BUCKETS, NAME, Wording, hash_wording
from hcat.engine.keys import hash_file
from hcat.language.text import split_sentences
from hcat.metrics import refusal
from training.talk import HERE, SEED, read_made, read_public

#: Kinds of frames, in the order of the classes.
KINDS = ("claim", "talk", "refusal", "refers")
LANGUAGES = ("de", "fr", "es", "it", "nl")
COUNT_FILLINGS = 20
COUNT_PUBLIC = 12_000
#: Inverse strength of the ridge, and the total weight of a set of sentences. The model card says how they were chosen.
STRENGTH = 60
WEIGHTS = {"made": 2.0, "authors": 1.0, "english": 0.5, "ragtruth": 3.0, "catalogues": 0.5, "denials": 0.15}
#: Authors are left out in so many groups.
COUNT_FOLDS = 5
#: A sentence of fewer words is an apology, and one that begins so asks for something and claims nothing.
SHORTEST = 4
ASKS = ("please", "bitte", "veuillez", "por favor", "si prega")
#: Slots of the matter, in which so many fillers have words of public sentences: what is asked about decides nothing.
MATTERS = ("T", "W", "N", "WHO")
SHARE_EXCHANGED = 0.7
#: A message of a catalogue that denies something.
DENIES = re.compile(
    r"\b(?:kein\w*|nicht|ne|n'\w+|aucune?|no|ningun\w*|ningún|non|nessun\w*|niet|geen)\b", re.IGNORECASE
)
_CHOICE = re.compile(r"\{([^{}]*)\}")
#: A slot that a filler names inside its own words.
_SLOT = re.compile(r"\b[A-Z]{2,}\b|\b[NTW]\b(?![./])")

Sentences = dict[str, tuple[str, str]]


def fill(frame: str, slots: dict[str, list[str]], words: list[str], draw: random.Random) -> str:
    """Return a frame with each choice made: one of the words in braces, or a filler of the slot that they name."""
    while (gap := _CHOICE.search(frame)) is not None:
        word = draw.choice(slots.get(gap[1]) or gap[1].split("|"))
        if gap[1] in MATTERS and draw.random() < SHARE_EXCHANGED:
            word = re.sub(r"\w{5,}", lambda _: draw.choice(words), word)
        if word in slots:
            word = f"{{{word}}}"
        else:
            word = _SLOT.sub(lambda slot: f"{{{slot[0]}}}" if slot[0] in slots else slot[0], word)
        frame = frame[: gap.start()] + word + frame[gap.end() :]
    frame = " ".join(frame.split())
    first = next(place for place, letter in enumerate(frame) if letter.isalpha())
    return frame[:first] + frame[first].upper() + frame[first + 1 :]


def list_words(found: Sentences) -> dict[str, list[str]]:
    """Return by language the words of five letters and more of sentences."""
    words: dict[str, set[str]] = defaultdict(set)
    for text, (language, _) in found.items():
        words[language].update(re.findall(r"[^\W\d_]{5,}", text.lower()))
    return {language: sorted(each) for language, each in words.items()}


def read_frames(words: dict[str, list[str]]) -> Sentences:
    """Return the filled frames of all languages, each with language and kind."""
    slots: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    frames = []
    language, kind, slot = "", "", ""
    for line in (HERE / "wordings.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language, kind, slot = (*line.strip("[]").split(), "")[:3]
        elif slot:
            slots[language][slot].append(line)
        else:
            frames.append((language, kind, line))
    draw = random.Random(SEED)
    return {
        fill(frame, slots[of], words[of], draw): (of, kind) for of, kind, frame in frames for _ in range(COUNT_FILLINGS)
    }


def read_authors() -> list[tuple[int, str, str, str]]:
    """Return the author, language, kind (refusal, fact, claim or partial) and text of each answer of the authors."""
    lines = (HERE / "wordings_by_author.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [(int(author), *rest) for author, *rest in (line.split("\t") for line in lines)]


def take_sentences(answers: Iterable[tuple[int, str, str, str]]) -> Sentences:
    """Return one sentence of each refusal, and those of other answers that claim something, if only in a part."""
    found: Sentences = {}
    for _, language, kind, text in answers:
        sentences = [text[start:end] for start, end in split_sentences(text)]
        if kind == "partial" and len(sentences) > 1:
            continue  # nobody said which of them declines
        if kind == "refusal":
            found[next((each for each in sentences if len(each.split()) >= SHORTEST), sentences[0])] = (language, kind)
        else:
            found |= {each: (language, "claim") for each in sentences if not each.lower().startswith(ASKS)}
    return found


def read_catalogues(folder: Path) -> Sentences:
    """Return the messages of the catalogues as claims."""
    logging.getLogger("babel").setLevel(logging.ERROR)
    found: Sentences = {}
    for path in sorted(folder.rglob("django.po")):
        language = path.parts[-3]
        if language in LANGUAGES:
            with path.open("rb") as file:
                messages = [message.string for message in read_po(file, locale=language)]
            for text in (
                each for message in messages for each in ([message] if isinstance(message, str) else message or ())
            ):
                plain = re.sub(r"%\(\w+\)s|%s|\{\w*\}", "X", re.sub(r"<[^>]*>", "", text)).strip()
                if len(plain.split()) >= 3 and len(plain) < 200 and "\n" not in plain:
                    found[plain] = (language, "claim")
    return found


def fit(sets: dict[str, Sentences]) -> npt.NDArray[np.float16]:
    """Return the coefficients of each bucket, and below them those of no bucket, by class."""
    texts = [text for found in sets.values() for text in found]
    labels = np.array([KINDS.index(kind) for found in sets.values() for _, kind in found.values()])
    weights = []
    for name, found in sets.items():
        counts = Counter(found.values())
        weights += [WEIGHTS[name] / len(counts) / counts[group] for group in found.values()]
    parts = [hash_wording(text) for text in texts]
    matrix = csr_matrix(
        (
            np.concatenate([np.full(len(part), len(part) ** -0.5) for each in parts for part in each]),
            np.concatenate([part for each in parts for part in each]),
            np.cumsum([0, *(sum(map(len, each)) for each in parts)]),
        ),
        shape=(len(texts), BUCKETS),
    )
    matrix.sum_duplicates()
    model = LogisticRegression(C=STRENGTH, max_iter=1000, tol=1e-4)
    model.fit(matrix, labels, sample_weight=np.array(weights) * len(texts) / sum(weights))
    print(f"{len(texts)} sentences; right in the fit {model.score(matrix, labels):.3f}")
    return np.vstack([model.coef_.T, model.intercept_]).astype(np.float16)


def leave_out(sets: dict[str, Sentences], answers: list[tuple[int, str, str, str]]) -> None:
    """Print how many refusals of authors that the fit has not seen are found, and how many found are refusals."""
    counts: Counter[tuple[str | int, bool, bool]] = Counter()
    for fold in range(COUNT_FOLDS):
        seen = [answer for answer in answers if answer[0] % COUNT_FOLDS != fold]
        weights = fit({**sets, "authors": take_sentences(seen)})
        wordings.load_card = lambda _, weights=weights: (None, None, weights)  # type: ignore[assignment,misc]
        for cached in (wordings.read_wording, refusal.only_declines, refusal._declines):
            cached.cache_clear()
        left = [answer for answer in answers if answer[0] % COUNT_FOLDS == fold]
        for author, language, kind, text in left:
            found = refusal.explain_refusal(text) is not None or refusal.declines_by_wording(text)
            counts.update((each, kind == "refusal", found) for each in (author, language, "all"))
    for group in ("all", "en", *LANGUAGES, *sorted({author for author, *_ in answers})):
        right, missed, wrong = (counts[group, *each] for each in ((True, True), (True, False), (False, True)))
        print(f"{group}: {right} of {right + missed} found, {right} of {right + wrong} are refusals")


def main(arguments: list[str]) -> None:
    """Fit the head and write it with its card."""
    messages = read_catalogues(Path(os.environ["HCAT_CATALOGUES"]))
    public = read_public(Path(os.environ["HCAT_BENCHMARK_DATA"]), COUNT_PUBLIC)
    sets: dict[str, Sentences] = {
        "english": {text: ("en", kind) for text, kind in read_made().items()},
        "ragtruth": {text: ("en", kind) for text, kind in public.items() if kind == "claim"},
        "catalogues": {text: group for text, group in messages.items() if not DENIES.search(text)},
        "denials": {text: group for text, group in messages.items() if DENIES.search(text)},
    }
    sets["made"] = read_frames(list_words(sets["ragtruth"] | messages))
    authors = read_authors()
    if "--leave-out" in arguments:
        leave_out(sets, authors)
        return
    sets["authors"] = take_sentences(authors)
    weights = fit(sets)
    if "--print" in arguments:
        return
    folder = FOLDER / NAME
    folder.mkdir(exist_ok=True)
    np.save(folder / "head.npy", weights)
    card = {
        "name": "hcat-wording-head",
        "revision": "3",
        "classes": Wording._fields,
        "training": {name: len(found) for name, found in sets.items()},
        "frames_sha256": hash_file(HERE / "wordings.txt"),
        "authors_sha256": hash_file(HERE / "wordings_by_author.tsv"),
        "words_sha256": hash_file(Path(wordings.__file__).with_suffix(".yml")),
        "weights_sha256": hash_file(folder / "head.npy"),
    }
    (folder / "card.json").write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
