"""Score pairs of evidence and answer sentence: the classifier of the build reads each distinct pair once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.encoders import cascade
from hcat.encoders.detectors import open_detector
from hcat.encoders.distances import Distances, measure_distances
from hcat.encoders.identities import CASCADE, SHIPPED, ModelIdentity, load_once, resolve_part
from hcat.encoders.pair_classifiers import Classifier, CompactClassifier, HashingClassifier, open_accurate
from hcat.encoders.tokens import start_model
from hcat.engine.batching import SLICES_AHEAD, map_slices
from hcat.engine.columns import schema
from hcat.engine.sizes import SLICE_ROWS, pair_tokens
from hcat.statistics.arrays import Flags, Floats

#: Device -> how many slices of pairs are read as one (decision 49).
SLICES_JOINED = {"cpu": 1, "cuda": 2}

#: What decides a pair that no classifier reads.
STATED = "word for word"

#: What :func:`entail_pending` reads of a pair.
PAIR_COLUMNS = ("pair_id", "classifier_key", "premise", "claim", "is_elliptic", "count_characters")

ENTAILED_SCHEMA = schema(
    "string: pair_id classifier_key classifier_name classifier_revision classifier_sha256",
    "list<float64>: logits",
    "float64: probability_entailment probability_contradiction logit_entailment weight_norm distance score margin",
    "int32: count_tokens",
    "bool: was_truncated",
    "string: deciding_classifier",
    "float64: first_probability_entailment first_probability_contradiction",
)


@load_once
def load_classifier(identity: ModelIdentity) -> Classifier:
    """Return the classifier, which is loaded once per process."""
    if identity.location == "hashing":
        return HashingClassifier()
    if identity.location == "compact":
        return CompactClassifier(identity)
    return open_accurate(identity) if identity.location == "accurate" else open_detector(identity)


def entail_pending(pending: Any, identity: ModelIdentity, warehouse: str) -> pa.RecordBatchReader:
    """Return the entailment of all pending pairs as a stream (:func:`hcat.engine.batching.map_slices`).

    Parameters
    ----------
    pending : relation
        Columns :data:`PAIR_COLUMNS`, each pair once; ordered by length.
    identity : ModelIdentity
        Classifier of this build; it is loaded only if a pair is pending.
    warehouse : str
        As for :func:`hcat.encoders.embedding.embed_pending`.
    """
    folder = Path(warehouse) / "slices" / identity.key

    def entail(batch: pa.RecordBatch) -> Callable[[], pa.RecordBatch]:
        premises, claims = batch.column("premise").to_pylist(), batch.column("claim").to_pylist()
        wait = start_reading(identity, premises, claims, batch.column("is_elliptic").to_numpy(zero_copy_only=False))
        return lambda: _to_entailed(batch, identity, wait())

    ahead = SLICES_AHEAD.get(identity.device, 0)
    rows = SLICE_ROWS * SLICES_JOINED.get(identity.device, 1)
    return map_slices(pending, "pair_id", ENTAILED_SCHEMA, rows, folder, entail, "entailment pairs", ahead)


class Reading(NamedTuple):
    """What a classifier, or a cascade of two, says of n pairs; `first` is what the first one of a cascade says."""

    logits: list[Floats]
    distances: Distances
    counts: npt.NDArray[np.int64]
    was_truncated: npt.NDArray[np.bool_]
    deciding: list[str]
    first: Distances | None


def start_reading(
    identity: ModelIdentity, premises: Sequence[str], claims: Sequence[str], is_elliptic: Flags | None = None
) -> Callable[[], Reading]:
    """Return a function that waits for what the classifier of the build says; a cascade reads short answers twice."""
    if identity.location != CASCADE:
        return _start_once(identity, premises, claims)
    wait = _start_once(resolve_part(identity, cascade.FIRST), premises, claims)
    return lambda: _read_unsettled(wait(), identity, premises, claims, is_elliptic)


def _read_unsettled(
    reading: Reading, identity: ModelIdentity, premises: Sequence[str], claims: Sequence[str], is_elliptic: Flags | None
) -> Reading:
    """Return the reading of a cascade, given that of its first classifier."""
    first = reading.distances
    is_unsettled = cascade.find_unsettled(premises, claims, first)
    unsettled = np.flatnonzero(is_unsettled if is_elliptic is None else is_unsettled | is_elliptic)
    if not len(unsettled):
        return reading._replace(first=first)
    chosen = unsettled.tolist()
    both = [premises[row] for row in chosen], [claims[row] for row in chosen]
    second = _start_once(resolve_part(identity, cascade.SECOND), *both)()
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


def _start_once(identity: ModelIdentity, premises: Sequence[str], claims: Sequence[str]) -> Callable[[], Reading]:
    classifier = load_classifier(identity)
    # a classifier of your own reads every pair
    is_own = identity.location not in SHIPPED
    is_read = [is_own or not cascade.is_stated(*pair) for pair in zip(premises, claims, strict=True)]
    rows, budget = np.flatnonzero(is_read), pair_tokens(identity.device)
    texts = [[column[row] for row in rows.tolist()] for column in (premises, claims)]
    wait = start_model(classifier, budget, *texts) if len(rows) else None

    def finish() -> Reading:
        logits, counts = np.zeros((len(is_read), len(classifier.head.weight))), np.zeros(len(is_read), np.int64)
        logits[:, classifier.head.entailment] = cascade.STATED_LOGIT
        if wait is not None:
            logits[rows], counts[rows] = wait()
        return Reading(
            list(logits),
            measure_distances(logits, classifier.head),
            counts,
            counts > classifier.maximum_tokens,
            [identity.name if own else STATED for own in is_read],
            None,
        )

    return finish


def _to_entailed(batch: pa.RecordBatch, identity: ModelIdentity, reading: Reading) -> pa.RecordBatch:
    """Return what was read as rows of :data:`ENTAILED_SCHEMA`; a class that a classifier lacks is null."""
    first, count = reading.first, batch.num_rows
    columns: dict[str, Any] = {
        "pair_id": batch.column("pair_id").cast(pa.string()),
        "classifier_key": batch.column("classifier_key").cast(pa.string()),
        "classifier_name": [identity.name] * count,
        "classifier_revision": [identity.revision] * count,
        "classifier_sha256": [identity.sha256] * count,
        "logits": reading.logits,
        "count_tokens": reading.counts,
        "was_truncated": reading.was_truncated,
        "deciding_classifier": reading.deciding,
        "first_probability_entailment": first.probability_entailment if first else None,
        "first_probability_contradiction": first.probability_contradiction if first else None,
        **reading.distances._asdict(),
    }
    arrays = [
        pa.nulls(count, field.type) if columns[field.name] is None else pa.array(columns[field.name], field.type)
        for field in ENTAILED_SCHEMA
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=ENTAILED_SCHEMA)
