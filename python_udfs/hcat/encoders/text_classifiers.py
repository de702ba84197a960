"""Score the toxicity and the sentiment of single sentences with configurable classifiers, each with an identity.

`packaged` is a linear head on the packaged encoder (:mod:`hcat.encoders.classifier_heads`). If the build embeds its
texts with this encoder, the head reads the stored vectors at no further cost. With another encoder the head embeds the
texts itself. For sentiment, a text with names of people is embedded again with one stand-in for all of them. Any
sequence classifier (Hub id or folder) can be used instead; `none` switches a purpose off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.encoders.classifier_heads import FOLDER, Head, load_head
from hcat.encoders.embedding import DEFAULT_BATCH_TOKENS, Encoder, encode_texts, load_encoder, resolve_encoder
from hcat.encoders.tokens import start_fetch
from hcat.engine.batching import start_batches
from hcat.engine.devices import (
    MINILM,
    NAMES,
    ModelError,
    check_package,
    choose_device,
    choose_dtype,
    hash_model,
    require_gpu,
    silence_transformers,
    weight_options,
)
from hcat.engine.keys import hash_folder, hash_text
from hcat.engine.relations import read_rows
from hcat.language.given_names import replace_names
from hcat.statistics.arrays import Floats

PURPOSES: Final = ("toxicity", "sentiment")
"""Toxicity is 0 to 1, sentiment -1 (negative) to 1 (positive)."""

HEADS: Final = {"toxicity": "toxicity_head", "sentiment": "sentiment_head"}

TOXIC_STEMS: Final = ("toxic", "hate", "offens", "abus")
"""A class of a sequence classifier is toxic if its label starts with one of these, in upper or lower case."""

CLASSIFIED_SCHEMA: Final = pa.schema(
    [("text_id", pa.string()), ("scoring_key", pa.string()), ("toxicity", pa.float64()), ("sentiment", pa.float64())]
)

NAMES_REVISION: Final = 1
"""Part of the revision of the packaged sentiment classifier; raise it if :func:`neutralise` changes."""

STAND_IN: Final = "Michael"
"""Replacement of all names: among the names that trained the head, the one with the score nearest to their mean. A name
that is not recognised then scores nearly the same as one that was replaced."""

_MAXIMUM_TOKENS = 512
_HASH_BITS = 32
_load_lock = threading.Lock()
_loaded: dict[str, SentenceScorer] = {}


@dataclass(frozen=True, slots=True)
class TextClassifierIdentity:
    """Identity of a text classifier: everything that its scores depend on.

    Attributes
    ----------
    purpose : str
        One of :data:`PURPOSES`.
    scoring_key : str
        MD5 over both classifiers, which is part of the content key of a classified text.
    classifier_name, classifier_revision, classifier_sha256 : str
        Name, revision, and SHA-256 of the weights.
    device, dtype : str
        Device and precision of the classifier.
    location : str
        ``stored`` (packaged head on stored vectors), ``encoded`` (packaged head that embeds texts itself), ``hashing``
        (measures the pipeline without a model), ``none``, a folder or a Hub id.
    """

    purpose: str
    scoring_key: str
    classifier_name: str
    classifier_revision: str
    classifier_sha256: str
    device: str
    dtype: str
    location: str


COLUMNS = tuple(field.name for field in fields(TextClassifierIdentity))


class SentenceScorer(Protocol):
    """Interface of a classifier: scores texts and may use their stored vectors."""

    def score(self, texts: Sequence[str], embeddings: npt.NDArray[np.float32]) -> Floats:
        """Return one score per text, shape (n,)."""
        ...


def resolve_text_classifier(
    purpose: str, name: str, revision: str, encoder: Mapping[str, Any], device: str, dtype: str
) -> TextClassifierIdentity:
    """Return the identity of one configured classifier without loading it."""
    if purpose not in PURPOSES:
        raise ModelError(f"purpose must be one of {', '.join(PURPOSES)}, got {purpose!r}")
    device = choose_device(device)
    dtype = choose_dtype(dtype, device)
    files: tuple[str, ...] = ()
    if name == "packaged" and str(encoder["location"]).startswith("hashing:"):
        parts = ("hashing", "1", hash_text(f"hcat hashing {purpose} 1"), "cpu", "float32", "hashing")
    elif name == "packaged":
        head = load_head(HEADS[purpose])
        location = "stored" if encoder["encoder_sha256"] == head.encoder_sha256 else "encoded"
        revision = f"{head.revision}, names {NAMES_REVISION}" if purpose == "sentiment" else head.revision
        parts = (head.name, revision, head.sha256, device, dtype, location)
        # the sentiment head reads texts without names, and ordinary words are no names
        read = (MINILM, NAMES) if purpose == "sentiment" else (MINILM,)
        for package in read:
            check_package(package)
        files = (*(package.sha256 for package in read), hash_folder(FOLDER / HEADS[purpose]))
    elif name == "none":
        parts = (name, "1", hash_text("hcat no text classifier 1"), "cpu", "float32", name)
    elif Path(name).is_dir():
        parts = (Path(name).name, "local", hash_model(Path(name)), device, dtype, name)
    elif not revision:
        raise ModelError(
            f"{purpose} classifier {name!r} is no folder; as a Hub id it needs hcat_{purpose}_revision (a commit), "
            "got none"
        )
    else:
        parts = (name, revision, "of the pinned revision", device, dtype, name)
    classifier_name, classifier_revision, sha256, device, dtype, location = parts
    key = hash_text(purpose, classifier_name, classifier_revision, sha256, dtype, location, *files)
    return TextClassifierIdentity(purpose, key, classifier_name, classifier_revision, sha256, device, dtype, location)


def describe_text_classifiers(
    encoder: Mapping[str, Any], toxicity: Sequence[str], sentiment: Sequence[str], device: str, dtype: str
) -> pa.Table:
    """Return one row per purpose with the identity of its classifier; the column ``problem`` has an error, if any."""
    rows: list[dict[str, Any]] = []
    for purpose, (name, revision) in zip(PURPOSES, (toxicity, sentiment), strict=True):
        try:
            identity = resolve_text_classifier(purpose, name, revision, encoder, device, dtype)
            rows.append(asdict(identity) | {"problem": None})
        except ModelError as error:
            rows.append(dict.fromkeys(COLUMNS) | {"purpose": purpose, "problem": str(error)})
    both = hash_text(*[str(row["scoring_key"]) for row in rows])
    rows = [row | {"scoring_key": both} for row in rows]
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in (*COLUMNS, "problem")]))


class TextScores:
    """Score the toxicity and the sentiment of texts in batches, with the classifiers of the build."""

    def __init__(self, classifiers: Any) -> None:
        """Read the rows of int_models for texts."""
        rows = read_rows(classifiers).to_pylist()
        self._identities = {
            row["purpose"]: TextClassifierIdentity(**{name: row[name] for name in COLUMNS}) for row in rows
        }

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return one row per text (schema :data:`CLASSIFIED_SCHEMA`); the score of a purpose switched off is null."""
        texts = batch.column("encoded_text").to_pylist()
        vectors = batch.column("embedding")
        embeddings = np.asarray(vectors.flatten(), dtype=np.float32).reshape(len(texts), -1)
        columns: dict[str, Any] = {name: batch.column(name) for name in ("text_id", "scoring_key")}
        for purpose in PURPOSES:
            identity = self._identities[purpose]
            if identity.location == "none":
                columns[purpose] = pa.nulls(len(texts), pa.float64())
            else:
                columns[purpose] = pa.array(load_scorer(identity).score(texts, embeddings), pa.float64())
        return pa.RecordBatch.from_pydict(columns, schema=CLASSIFIED_SCHEMA)


def load_scorer(identity: TextClassifierIdentity) -> SentenceScorer:
    """Return the classifier of one purpose, which is loaded once per process."""
    key = f"{identity.purpose}|{identity.scoring_key}"
    with _load_lock:
        if key not in _loaded:
            if identity.location == "hashing":
                _loaded[key] = _HashingScorer(identity.purpose)
            elif identity.location in ("stored", "encoded"):
                _loaded[key] = _HeadScorer(identity, load_head(HEADS[identity.purpose]))
            else:
                _loaded[key] = _SequenceScorer(identity)
        return _loaded[key]


def neutralise(text: str) -> str:
    """Return a text as the packaged sentiment head reads it: one name in place of each name of a person."""
    return replace_names(text, STAND_IN)


def to_scale(purpose: str, probabilities: Floats) -> Floats:
    """Return probabilities on the scale of a purpose: unchanged for toxicity, 2 p - 1 for sentiment."""
    return 2 * probabilities - 1 if purpose == "sentiment" else probabilities


class _HeadScorer:
    """A packaged head on stored vectors or on vectors of its own; a text with names is embedded again."""

    def __init__(self, identity: TextClassifierIdentity, head: Head) -> None:
        self._identity, self._head = identity, head
        self._encoder: Encoder | None = None

    def score(self, texts: Sequence[str], embeddings: npt.NDArray[np.float32]) -> Floats:
        purpose = self._identity.purpose
        read = [neutralise(text) for text in texts] if purpose == "sentiment" else list(texts)
        if self._identity.location != "stored":
            budget = DEFAULT_BATCH_TOKENS[self._identity.device]
            return to_scale(purpose, self._head.score(encode_texts(self._load_encoder(), read, budget)[0]))
        vectors = embeddings.copy()
        for row, (text, own) in enumerate(zip(read, texts, strict=True)):
            if text != own:
                # Encoded alone: the last bits of a vector depend on its batch, and a rebuild must change nothing.
                vectors[row] = encode_texts(self._load_encoder(), [text], 1)[0][0]
        return to_scale(purpose, self._head.score(vectors))

    def _load_encoder(self) -> Encoder:
        if self._encoder is None:
            self._encoder = load_encoder(resolve_encoder("packaged", "", self._identity.device, self._identity.dtype))
        return self._encoder


class _HashingScorer:
    """Scores from a hash of the text, which measure the pipeline and say nothing about texts."""

    def __init__(self, purpose: str) -> None:
        self._purpose = purpose

    def score(self, texts: Sequence[str], embeddings: npt.NDArray[np.float32]) -> Floats:
        shares = [int(hash_text(self._purpose, text)[: _HASH_BITS // 4], 16) / 2**_HASH_BITS for text in texts]
        return to_scale(self._purpose, np.array(shares, dtype=np.float64))


class _SequenceScorer:
    """A sequence classifier of transformers with labels for toxic (or hate ...), or for positive and negative."""

    def __init__(self, identity: TextClassifierIdentity) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        silence_transformers()
        require_gpu(identity.device, torch)
        revision = "main" if identity.classifier_revision == "local" else identity.classifier_revision
        self._torch, self._identity = torch, identity
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(
                identity.location, revision=revision, trust_remote_code=False
            )
            model = AutoModelForSequenceClassification.from_pretrained(
                identity.location, revision=revision, trust_remote_code=False, **weight_options()
            )
        except (OSError, ValueError) as error:
            cause = str(error).splitlines()[0]
            raise ModelError(
                f"{identity.purpose} classifier {identity.location!r} cannot be loaded: {cause}"
            ) from error
        self._model = model.to(identity.device, getattr(torch, identity.dtype)).eval()
        self._signs = find_signs(identity.purpose, self._model.config.id2label)
        self._is_multi_label = self._model.config.problem_type == "multi_label_classification" or len(self._signs) == 1

    def score(self, texts: Sequence[str], embeddings: npt.NDArray[np.float32]) -> Floats:
        encoded = [self._tokenizer(text, truncation=True, max_length=_MAXIMUM_TOKENS) for text in texts]
        counts = np.array([len(each["input_ids"]) for each in encoded], dtype=np.int64)
        scores = np.zeros(len(texts))

        def start(rows: npt.NDArray[np.int64]) -> Callable[[], Floats]:
            batch = self._tokenizer.pad([encoded[row] for row in rows], return_tensors="pt").to(self._identity.device)
            with self._torch.inference_mode():
                logits = self._model(**batch).logits.double()
            return start_fetch(logits.sigmoid() if self._is_multi_label else logits.softmax(dim=1))

        for rows, fetch in list(start_batches(counts, DEFAULT_BATCH_TOKENS[self._identity.device], start)):
            scores[rows] = combine_shares(self._identity.purpose, fetch(), self._signs, self._is_multi_label)
        return scores


def find_signs(purpose: str, labels: Mapping[int, str]) -> Floats:
    """Return for each class 1 (toxic, positive), -1 (negative sentiment) or 0 (anything else), shape (n_classes,)."""
    words = [str(labels[index]).lower().strip() for index in sorted(labels)]
    if purpose == "toxicity":
        signs = np.array([float(word.startswith(TOXIC_STEMS)) for word in words])
        is_complete = bool(signs.any())
        needed = f"one label that starts with {', '.join(TOXIC_STEMS)}"
    else:
        signs = np.array([float(word.startswith("pos")) - float(word.startswith("neg")) for word in words])
        is_complete = bool((signs > 0).sum() == 1 and (signs < 0).sum() == 1)
        needed = "one label that starts with 'pos' and one that starts with 'neg'"
    if not is_complete:
        raise ModelError(f"{purpose} classifier needs {needed}, its config has: {', '.join(words)}")
    return signs


def combine_shares(purpose: str, shares: Floats, signs: Floats, is_multi_label: bool) -> Floats:
    """Return one score per text, shape (n,)."""
    if purpose == "toxicity" and is_multi_label:
        return np.asarray(shares[:, signs > 0].max(axis=1))
    return np.asarray(shares @ signs)
