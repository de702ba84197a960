"""Score the toxicity and the sentiment of single sentences with the classifiers of the build."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import expit, softmax

from hcat.encoders.classifier_heads import score_embeddings
from hcat.encoders.detectors import open_transformers
from hcat.encoders.embedding import encode_texts, load_encoder
from hcat.encoders.identities import HEADS, PURPOSES, ModelIdentity, load_once, resolve_encoder
from hcat.encoders.pair_classifiers import SequenceReader
from hcat.encoders.tokens import start_model
from hcat.engine.columns import schema
from hcat.engine.devices import ModelError
from hcat.engine.keys import hash_text
from hcat.engine.relations import read_rows
from hcat.engine.sizes import embedding_tokens
from hcat.language.given_names import replace_names
from hcat.statistics.arrays import Floats

TOXIC_STEMS: Final = ("toxic", "hate", "offens", "abus")
"""A class of a sequence classifier is toxic if its label starts with one of these, in upper or lower case."""

CLASSIFIED_SCHEMA: Final = schema("string: text_id scoring_key", "float64: toxicity sentiment")

STAND_IN: Final = "Michael"
"""Replacement of all names: among the names that trained the head, the one with the score nearest to their mean. A name
that is not recognised then scores nearly the same as one that was replaced."""

_HASH_BITS = 32


Scorer = Callable[[Sequence[str], npt.NDArray[np.float32]], Floats]
"""Returns one score per text, shape (n,), for texts and their stored vectors, which it may use."""


class TextScores:
    """Score the toxicity and the sentiment of texts in batches, with the classifiers of the build."""

    def __init__(self, classifiers: Any) -> None:
        """Read the rows of int_models for texts."""
        identities = map(ModelIdentity.from_row, read_rows(classifiers).to_pylist())
        self._identities = {identity.purpose: identity for identity in identities}

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
                columns[purpose] = pa.array(load_scorer(identity)(texts, embeddings), pa.float64())
        return pa.RecordBatch.from_pydict(columns, schema=CLASSIFIED_SCHEMA)


@load_once
def load_scorer(identity: ModelIdentity) -> Scorer:
    """Return the classifier of one purpose, which is loaded once per process."""
    if identity.location == "hashing":
        return partial(_score_by_hash, identity)
    return partial(_score_by_head, identity) if identity.location in ("stored", "encoded") else _open_sequence(identity)


def neutralise(text: str) -> str:
    """Return a text as the packaged sentiment head reads it: one name in place of each name of a person."""
    return replace_names(text, STAND_IN)


def to_scale(identity: ModelIdentity, probabilities: Floats) -> Floats:
    """Return probabilities on the scale of a purpose: unchanged for toxicity, 2 p - 1 for sentiment."""
    return 2 * probabilities - 1 if identity.purpose == "sentiment" else probabilities


def _score_by_head(identity: ModelIdentity, texts: Sequence[str], embeddings: npt.NDArray[np.float32]) -> Floats:
    """Score by a packaged head on stored vectors or on vectors of its own; a text with names is embedded again."""

    def encode(read: Sequence[str], batch_tokens: int) -> npt.NDArray[np.float32]:
        encoder = load_encoder(resolve_encoder("packaged", identity.device, identity.dtype))
        return encode_texts(encoder, read, batch_tokens)[0]

    read = [neutralise(text) for text in texts] if identity.purpose == "sentiment" else list(texts)
    if identity.location != "stored":
        vectors = encode(read, embedding_tokens(identity.device))
    else:
        vectors = embeddings.copy()
        for row, (text, own) in enumerate(zip(read, texts, strict=True)):
            if text != own:
                # Encoded alone: the last bits of a vector depend on its batch, and a rebuild must change nothing.
                vectors[row] = encode([text], 1)[0]
    return to_scale(identity, score_embeddings(HEADS[str(identity.purpose)], vectors))


def _score_by_hash(identity: ModelIdentity, texts: Sequence[str], embeddings: npt.NDArray[np.float32]) -> Floats:
    """Score by a hash of the text, which measures the pipeline and says nothing about texts."""
    hashes = [hash_text(str(identity.purpose), text) for text in texts]
    shares = [int(each[: _HASH_BITS // 4], 16) / 2**_HASH_BITS for each in hashes]
    return to_scale(identity, np.array(shares, dtype=np.float64))


def _open_sequence(identity: ModelIdentity) -> Scorer:
    """Open a sequence classifier of transformers with labels for toxic (or hate ...), or for positive and negative."""
    purpose = str(identity.purpose)
    _, model, tokenizer = open_transformers(
        identity, f"{purpose} classifier", lambda location, config: "AutoModelForSequenceClassification"
    )
    reader, signs = SequenceReader(identity, model, tokenizer), find_signs(purpose, model.config.id2label)
    is_multi_label = model.config.problem_type == "multi_label_classification" or len(signs) == 1

    def score(texts: Sequence[str], embeddings: npt.NDArray[np.float32]) -> Floats:
        logits = start_model(reader, embedding_tokens(identity.device), texts)()[0].astype(np.float64)
        shares = expit(logits) if is_multi_label else softmax(logits, axis=1)
        return combine_shares(purpose, shares, signs, is_multi_label)

    return score


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
