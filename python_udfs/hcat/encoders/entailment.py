"""Score pairs of evidence and answer sentence: the classifier of the build reads each distinct pair once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.encoders import cascade
from hcat.encoders.classifier_identities import CASCADE, ClassifierIdentity, resolve_part
from hcat.encoders.detectors import open_detector
from hcat.encoders.distances import Distances, measure_distances
from hcat.encoders.pair_classifiers import (
    Classifier,
    CompactClassifier,
    HashingClassifier,
    SequenceClassifier,
    open_accurate,
    start_classifying,
)
from hcat.engine.batching import SLICES_AHEAD, map_slices
from hcat.statistics.arrays import Floats

#: Device -> padded tokens (longest x count) of one batch.
DEFAULT_BATCH_TOKENS = {"cpu": 4096, "cuda": 32768}

#: Device -> how many slices of pairs are read as one (decision 49).
SLICES_JOINED = {"cpu": 1, "cuda": 2}

#: What :func:`entail_pending` reads of a pair.
PAIR_COLUMNS = ("pair_id", "classifier_key", "premise", "hypothesis", "count_characters")

ENTAILED_SCHEMA = pa.schema(
    [
        ("pair_id", pa.string()),
        ("classifier_key", pa.string()),
        ("classifier_name", pa.string()),
        ("classifier_revision", pa.string()),
        ("classifier_sha256", pa.string()),
        ("logits", pa.list_(pa.float64())),
        ("probability_entailment", pa.float64()),
        ("probability_contradiction", pa.float64()),
        ("logit_entailment", pa.float64()),
        ("weight_norm", pa.float64()),
        ("distance", pa.float64()),
        ("score", pa.float64()),
        ("margin", pa.float64()),
        ("count_tokens", pa.int32()),
        ("was_truncated", pa.bool_()),
        ("deciding_classifier", pa.string()),
        ("first_probability_entailment", pa.float64()),
        ("first_probability_contradiction", pa.float64()),
    ]
)


_load_lock = threading.Lock()


_loaded: dict[str, Classifier] = {}


def load_classifier(identity: ClassifierIdentity) -> Classifier:
    """Return the classifier, which is loaded once per process."""
    with _load_lock:
        if identity.classifier_key not in _loaded:
            if identity.location == "hashing":
                _loaded[identity.classifier_key] = HashingClassifier()
            elif identity.location == "compact":
                _loaded[identity.classifier_key] = CompactClassifier(identity)
            elif identity.location == "accurate":
                _loaded[identity.classifier_key] = SequenceClassifier(identity, *open_accurate(identity))
            else:
                _loaded[identity.classifier_key] = open_detector(identity)
        return _loaded[identity.classifier_key]


def entail_pending(
    pending: Any, identity: ClassifierIdentity, slice_pairs: int, batch_tokens: int, warehouse: str
) -> pa.RecordBatchReader:
    """Return the entailment of all pending pairs as a stream (:func:`hcat.engine.batching.map_slices`).

    Parameters
    ----------
    pending : relation
        Columns :data:`PAIR_COLUMNS`, each pair once; ordered by length.
    identity : ClassifierIdentity
        Classifier of this build; it is loaded only if a pair is pending.
    slice_pairs : int
        Pairs per slice, times :data:`SLICES_JOINED` of the device; the slices are in ``<warehouse>/slices``.
    batch_tokens : int
        Padded tokens per batch; 0 = :data:`DEFAULT_BATCH_TOKENS` of the device.
    warehouse : str
        Folder of the warehouse.
    """
    budget = batch_tokens or DEFAULT_BATCH_TOKENS.get(identity.device, DEFAULT_BATCH_TOKENS["cpu"])
    folder = Path(warehouse) / "slices" / identity.classifier_key

    def entail(batch: pa.RecordBatch) -> Callable[[], pa.RecordBatch]:
        return _entail_slice(batch, identity, budget)

    ahead = SLICES_AHEAD.get(identity.device, 0)
    rows = slice_pairs * SLICES_JOINED.get(identity.device, 1)
    return map_slices(pending, "pair_id", ENTAILED_SCHEMA, rows, folder, entail, "entailment pairs", ahead)


class Reading(NamedTuple):
    """What a classifier, or a cascade of two, says of n pairs.

    Attributes
    ----------
    logits : list of ndarray
        Outputs of the last linear layer of the classifier that decides.
    distances : Distances
        Probabilities, distances and scores from them.
    counts : ndarray of int, shape (n,)
        Tokens before truncation.
    was_truncated : ndarray of bool, shape (n,)
        Whether the deciding classifier read a part of the pair only.
    deciding : list of str
        Name of the classifier that decides.
    first : Distances or None
        What the first classifier of a cascade says; None for a single classifier.
    """

    logits: list[Floats]
    distances: Distances
    counts: npt.NDArray[np.int64]
    was_truncated: npt.NDArray[np.bool_]
    deciding: list[str]
    first: Distances | None


def start_reading(
    identity: ClassifierIdentity, premises: Sequence[str], hypotheses: Sequence[str], budget: int
) -> Callable[[], Reading]:
    """Return a function that waits for what the classifier of the build says of the pairs."""
    if identity.location != CASCADE:
        return _start_once(identity, premises, hypotheses, budget)
    wait = _start_once(resolve_part(identity, cascade.FIRST), premises, hypotheses, budget)
    return lambda: _read_unsettled(wait(), identity, premises, hypotheses, budget)


def _read_unsettled(
    reading: Reading, identity: ClassifierIdentity, premises: Sequence[str], hypotheses: Sequence[str], budget: int
) -> Reading:
    """Return the reading of a cascade, given that of its first classifier."""
    first = reading.distances
    unsettled = np.flatnonzero(cascade.find_unsettled(premises, hypotheses, first))
    if not len(unsettled):
        return reading._replace(first=first)
    chosen = unsettled.tolist()
    second = _start_once(
        resolve_part(identity, cascade.SECOND),
        [premises[row] for row in chosen],
        [hypotheses[row] for row in chosen],
        budget,
    )()
    for position, row in enumerate(chosen):
        reading.logits[row], reading.deciding[row] = second.logits[position], second.deciding[position]
    distances = Distances(*(_put(whole, unsettled, own) for whole, own in zip(first, second.distances, strict=True)))
    counts, was_truncated = reading.counts.copy(), reading.was_truncated.copy()
    counts[unsettled], was_truncated[unsettled] = second.counts, second.was_truncated
    return Reading(reading.logits, distances, counts, was_truncated, reading.deciding, first)


def _put(whole: Any, rows: npt.NDArray[np.int64], values: Any) -> Any:
    """Return a copy with other values in some rows; None stays None."""
    if whole is None or values is None:
        return None
    copied = whole.copy()
    copied[rows] = values
    return copied


def _start_once(
    identity: ClassifierIdentity, premises: Sequence[str], hypotheses: Sequence[str], budget: int
) -> Callable[[], Reading]:
    classifier = load_classifier(identity)
    wait = start_classifying(classifier, premises, hypotheses, budget)

    def finish() -> Reading:
        logits, counts = wait()
        return Reading(
            list(logits),
            measure_distances(logits, classifier.head),
            counts,
            counts > classifier.maximum_tokens,
            [identity.classifier_name] * len(premises),
            None,
        )

    return finish


def _entail_slice(batch: pa.RecordBatch, identity: ClassifierIdentity, budget: int) -> Callable[[], pa.RecordBatch]:
    premises, hypotheses = batch.column("premise").to_pylist(), batch.column("hypothesis").to_pylist()
    wait = start_reading(identity, premises, hypotheses, budget)
    return lambda: _to_entailed(batch, identity, wait())


def _to_entailed(batch: pa.RecordBatch, identity: ClassifierIdentity, reading: Reading) -> pa.RecordBatch:
    """Return what was read as rows of :data:`ENTAILED_SCHEMA`."""
    found, first, count = reading.distances, reading.first, batch.num_rows
    unknown = [None] * count
    columns: dict[str, Any] = {
        "pair_id": batch.column("pair_id").cast(pa.string()),
        "classifier_key": batch.column("classifier_key").cast(pa.string()),
        "classifier_name": [identity.classifier_name] * count,
        "classifier_revision": [identity.classifier_revision] * count,
        "classifier_sha256": [identity.classifier_sha256] * count,
        "logits": reading.logits,
        "probability_entailment": found.probability_entailment,
        "probability_contradiction": _or_null(found.probability_contradiction, count),
        "logit_entailment": found.logit_entailment,
        "weight_norm": found.weight_norm,
        "distance": found.distance,
        "score": found.score,
        "margin": found.margin,
        "count_tokens": reading.counts,
        "was_truncated": reading.was_truncated,
        "deciding_classifier": reading.deciding,
        "first_probability_entailment": unknown if first is None else first.probability_entailment,
        "first_probability_contradiction": unknown
        if first is None
        else _or_null(first.probability_contradiction, count),
    }
    arrays = [pa.array(columns[field.name], field.type) for field in ENTAILED_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=ENTAILED_SCHEMA)


def _or_null(values: Floats | None, count: int) -> Any:
    """Return the values, or as many nulls where the classifier has no class for contradiction."""
    return [None] * count if values is None else values
