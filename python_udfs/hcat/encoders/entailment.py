"""Measure entailment: whether a premise (evidence) supports a hypothesis (answer sentence), and by what distance.

The score is geometric (Sudjianto et al. 2024, section 3.2.2). With x the input of the last linear layer, D is the
signed distance of x from the hyperplane between entailment and its closest rival. A single-logit head has z = w'x + b
and D = z / ||w||. A softmax head has D = min over k of (z_entailment - z_k) / ||w_entailment - w_k||. There z / ||w||
would be wrong: it changes if one vector is added to every class row, and the model does not. D > 0 exactly if
entailment is the most probable class. score = 1 / (1 + exp(-D)) is no probability; calibration turns it into one.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.encoders import mpnet
from hcat.engine.batching import map_slices, run_batches
from hcat.engine.devices import (
    ModelError,
    check_packaged_weights,
    choose_device,
    choose_dtype,
    hash_weights,
    require_gpu,
    silence_transformers,
)
from hcat.engine.keys import hash_file, hash_text
from hcat.statistics.arrays import Floats

_WEIGHTS = Path(__file__).parent / "weights"

#: Device -> padded tokens (longest x count) of one batch.
DEFAULT_BATCH_TOKENS = {"cpu": 4096, "cuda": 131072}

#: Longest pair in tokens, unless the limit of the model is lower.
MAXIMUM_TOKENS = 512

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
    ]
)

_load_lock = threading.Lock()
_loaded: dict[str, Classifier] = {}


@dataclass(frozen=True, slots=True)
class ClassifierIdentity:
    """Identity of a classifier: everything that an entailment score depends on.

    The attributes correspond to those of :class:`hcat.encoders.embedding.EncoderIdentity`. ``location`` is
    ``packaged``, ``accurate``, ``none`` (entailment is switched off), ``hashing``, a local path or a Hub id.
    """

    classifier_key: str
    classifier_name: str
    classifier_revision: str
    classifier_sha256: str
    device: str
    dtype: str
    location: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ClassifierIdentity:
        """Return the identity that a row of the model int_classifier holds."""
        return cls(**{name: row[name] for name in CLASSIFIER_COLUMNS})


CLASSIFIER_COLUMNS = tuple(field.name for field in fields(ClassifierIdentity))


class Shipped(NamedTuple):
    """A classifier of the project: a base model from a package, and a low-rank delta in this package.

    Attributes
    ----------
    name : str
        Name in rows and cards.
    folder : Path
        Folder of delta.safetensors and card.json.
    check_base : callable
        Returns the SHA-256 of the base weights; raises a :class:`ModelError` if they are missing or not the pinned
        ones.
    """

    name: str
    folder: Path
    check_base: Callable[[], str]


#: Setting -> classifier trained by training/ (docs/model-card.md): the offline default, and the larger one, whose base
#: is installed separately.
SHIPPED = {
    "packaged": Shipped("hcat-entailment-compact", _WEIGHTS / "entailment_compact", check_packaged_weights),
    "accurate": Shipped("hcat-entailment-accurate", _WEIGHTS / "entailment_accurate", mpnet.check_archive),
}


class Head(NamedTuple):
    """What the distances need of the last linear layer.

    Attributes
    ----------
    entailment : int
        Row of entailment.
    contradiction : int or None
        Row of contradiction, if the model has one.
    weight : ndarray, shape (n_classes, n_features)
        Weights; one row for a single-logit head.
    """

    entailment: int
    contradiction: int | None
    weight: Floats


class TokenizedPair(NamedTuple):
    """One pair before truncation.

    Attributes
    ----------
    ids, segments : list of int
        Token ids and segment (token type) of each token.
    premise_start, premise_end : int
        Tokens [premise_start, premise_end) belong to the premise, which is cut if the pair is too long.
    """

    ids: list[int]
    segments: list[int]
    premise_start: int
    premise_end: int


class Classifier(Protocol):
    """Interface of a classifier: gives logits to pairs of premise and hypothesis."""

    @property
    def head(self) -> Head:
        """The last linear layer."""
        ...

    @property
    def maximum_tokens(self) -> int:
        """Longest pair in tokens; a longer premise loses its end, which is recorded."""
        ...

    def tokenize(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[TokenizedPair]:
        """Return the tokens of each pair before truncation."""
        ...

    def classify_batch(self, pairs: Sequence[TokenizedPair]) -> Floats:
        """Return the logits of one batch of tokenized pairs, shape (n, n_classes)."""
        ...


class Distances(NamedTuple):
    """Probabilities, distances and scores of pairs; every array has shape (n,)."""

    probability_entailment: Floats
    probability_contradiction: Floats | None
    logit_entailment: Floats
    weight_norm: Floats
    distance: Floats
    score: Floats
    margin: Floats


def measure_distances(logits: Floats, head: Head) -> Distances:
    """Return probabilities, margin and signed distance of each pair.

    Parameters
    ----------
    logits : ndarray, shape (n, n_classes)
        Outputs of the last linear layer; n_classes = 1 for a single-logit head.
    head : Head
        Weights of that layer.

    Returns
    -------
    Distances
        ``margin`` = z_entailment - largest other logit (z itself for one logit); ``weight_norm`` = norm that divides
        the deciding difference.

    Examples
    --------
    >>> found = measure_distances(np.array([[6.0]]), Head(0, None, np.array([[0.0, 2.0]])))
    >>> found.distance.tolist(), found.weight_norm.tolist()
    ([3.0], [2.0])
    """
    entailed = logits[:, head.entailment]
    if logits.shape[1] == 1:
        norm = np.full(len(logits), np.linalg.norm(head.weight[0]))
        distance = entailed / norm
        probability = _sigmoid(entailed)
        return Distances(probability, None, entailed, norm, distance, _sigmoid(distance), entailed)
    others = [index for index in range(logits.shape[1]) if index != head.entailment]
    norms = np.linalg.norm(head.weight[head.entailment] - head.weight[others], axis=1)
    differences = entailed[:, None] - logits[:, others]
    distances = differences / norms
    closest = distances.argmin(axis=1)
    rows = np.arange(len(logits))
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = shifted / shifted.sum(axis=1, keepdims=True)
    distance = distances[rows, closest]
    return Distances(
        probabilities[:, head.entailment],
        None if head.contradiction is None else probabilities[:, head.contradiction],
        entailed,
        norms[closest],
        distance,
        _sigmoid(distance),
        differences.min(axis=1),
    )


def find_label(labels: Mapping[int, str], wanted: str) -> int | None:
    """Return the one class whose label starts like ``wanted`` in any case (ENTAILMENT, entail), else None.

    ``not_entailment`` is no entailment.

    Examples
    --------
    >>> find_label({0: "CONTRADICTION", 1: "Entail"}, "entailment")
    1
    """
    stem = wanted.lower()[:6]
    found = [index for index, label in labels.items() if str(label).lower().strip().startswith(stem)]
    return found[0] if len(found) == 1 else None


def find_entailment(labels: Mapping[int, str]) -> int:
    """Return the entailment class by the label names of a model; no order of classes is assumed.

    Raises
    ------
    ModelError
        If not exactly one label means entailment; the message lists the labels.
    """
    index = find_label(labels, "entailment")
    if index is None:
        listed = ", ".join(str(label) for label in labels.values())
        raise ModelError(f"classifier needs exactly one label that starts with 'entail', its config has: {listed}")
    return index


def find_last_linear(model: Any, count_classes: int) -> Any:
    """Return the linear layer that gives the logits, for BERT, RoBERTa, DeBERTa, MPNet and similar models.

    Raises
    ------
    ModelError
        If there is not exactly one linear layer with an output per class outside the base model.
    """
    import torch

    base = getattr(model, model.base_model_prefix, None)
    inside = set() if base is None or base is model else set(base.modules())
    found = [
        module
        for module in model.modules()
        if isinstance(module, torch.nn.Linear) and module.out_features == count_classes and module not in inside
    ]
    if len(found) != 1:
        raise ModelError(
            f"classifier {type(model).__name__} must have exactly one last linear layer with {count_classes} outputs, "
            f"got {len(found)}"
        )
    return found[0]


def resolve_classifier(name: str, revision: str, device: str, dtype: str) -> ClassifierIdentity:
    """Return the identity of the configured classifier without loading it.

    Parameters
    ----------
    name : str
        ``packaged``, ``accurate``, ``none``, ``hashing``, a local folder or a Hub id.
    revision : str
        Commit of a Hub model; required for a Hub id, because the weights behind a name may change.
    device, dtype : str
        As for :func:`hcat.encoders.embedding.resolve_encoder`.

    Raises
    ------
    ModelError
        If shipped weights are not installed or do not have the pinned SHA-256, a Hub id comes without revision, or a
        folder has no weights.
    """
    device = choose_device(device)
    dtype = choose_dtype(dtype, device)
    if name in SHIPPED:
        shipped = SHIPPED[name]
        card = read_card(shipped)
        base, delta = shipped.check_base(), hash_file(shipped.folder / "delta.safetensors")
        if delta != card["delta_sha256"]:
            raise ModelError(f"{shipped.name}: delta must have SHA-256 {card['delta_sha256']}, got {delta}")
        both = hashlib.sha256(f"{base}{delta}".encode()).hexdigest()
        parts = (shipped.name, str(card["revision"]), both, device, dtype, name)
    elif name in ("none", "hashing"):
        parts = (name, "1", hash_text(f"hcat {name} classifier 1"), "cpu", "float32", name)
    elif Path(name).is_dir():
        parts = (Path(name).name, "local", hash_weights(Path(name)), device, dtype, name)
    elif not revision:
        raise ModelError(
            f"classifier {name!r} is no folder; as a Hub id it needs hcat_classifier_revision (a commit), got none"
        )
    else:
        parts = (name, revision, "of the pinned revision", device, dtype, name)
    classifier_name, classifier_revision, sha256, device, dtype, location = parts
    key = hash_text(classifier_name, classifier_revision, sha256, dtype)
    return ClassifierIdentity(key, classifier_name, classifier_revision, sha256, device, dtype, location)


def describe_classifier(name: str, revision: str, device: str, dtype: str) -> pa.Table:
    """Return the identity of the configured classifier as one row; the column ``problem`` has an error, if any."""
    try:
        row = asdict(resolve_classifier(name, revision, device, dtype)) | {"problem": None}
    except ModelError as error:
        row = dict.fromkeys(CLASSIFIER_COLUMNS) | {"problem": str(error)}
    schema = pa.schema([(column, pa.string()) for column in (*CLASSIFIER_COLUMNS, "problem")])
    return pa.Table.from_pylist([row], schema=schema)


def load_classifier(identity: ClassifierIdentity) -> Classifier:
    """Return the classifier, which is loaded once per process."""
    with _load_lock:
        if identity.classifier_key not in _loaded:
            if identity.location == "hashing":
                _loaded[identity.classifier_key] = HashingClassifier()
            elif identity.location == "packaged":
                _loaded[identity.classifier_key] = CompactClassifier(identity)
            elif identity.location == "accurate":
                _loaded[identity.classifier_key] = SequenceClassifier(identity, *open_accurate(identity))
            else:
                _loaded[identity.classifier_key] = SequenceClassifier(identity, *open_pretrained(identity))
        return _loaded[identity.classifier_key]


class CompactClassifier:
    """The shipped model: packaged MiniLM plus the low-rank delta of this package, pooled from its first token."""

    def __init__(self, identity: ClassifierIdentity) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch

        from hcat.encoders import minilm

        require_gpu(identity.device, torch)
        self._torch, self._minilm = torch, minilm
        self._tokenizer = minilm.load_tokenizer()
        self._device = torch.device(identity.device)
        dtype = getattr(torch, identity.dtype)
        shipped = SHIPPED["packaged"]
        labels = dict(enumerate(read_card(shipped)["labels"]))
        weights = merge_delta(minilm.read_weights(), shipped.folder / "delta.safetensors")
        self._model = minilm.MiniLM(weights).to(self._device, dtype)
        self._pooler, self._last = (
            tuple(weights[f"{name}.{part}"].to(self._device, dtype) for part in ("weight", "bias"))
            for name in ("pooler.dense", "classifier")
        )
        weight = weights["classifier.weight"].numpy().astype(np.float64)
        self._head = Head(find_entailment(labels), find_label(labels, "contradiction"), weight)

    @property
    def head(self) -> Head:
        """The last linear layer."""
        return self._head

    @property
    def maximum_tokens(self) -> int:
        """Longest pair in tokens: the number of positions of the base model."""
        return MAXIMUM_TOKENS

    def tokenize(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[TokenizedPair]:
        """Return the tokens of each pair before truncation."""
        return [
            _to_pair(encoding)
            for encoding in self._tokenizer.encode_batch(list(zip(premises, hypotheses, strict=True)))
        ]

    def classify_batch(self, pairs: Sequence[TokenizedPair]) -> Floats:
        """Return the logits of one batch, shape (n, n_classes)."""
        torch, linear = self._torch, self._torch.nn.functional.linear
        inputs = self._minilm.pad([pair.ids for pair in pairs], [pair.segments for pair in pairs], self._device)
        with torch.inference_mode():
            pooled = torch.tanh(linear(self._model(*inputs)[:, 0], *self._pooler))
            return np.asarray(linear(pooled, *self._last).float().cpu().numpy(), dtype=np.float64)


def open_pretrained(identity: ClassifierIdentity) -> tuple[Any, Any]:
    """Return model and tokenizer of a local folder, or of a Hub id at a pinned revision.

    Raises
    ------
    ModelError
        If the model cannot be loaded, or has no fast tokenizer.
    """
    is_local = Path(identity.location).is_dir()
    if is_local:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    silence_transformers()
    revision = "main" if is_local else identity.classifier_revision
    try:
        tokenizer = AutoTokenizer.from_pretrained(identity.location, revision=revision)
        model = AutoModelForSequenceClassification.from_pretrained(
            identity.location, revision=revision, dtype=getattr(torch, identity.dtype)
        )
    except (OSError, ValueError) as error:
        raise ModelError(f"classifier {identity.location!r} cannot be loaded: {str(error).splitlines()[0]}") from error
    if not tokenizer.is_fast:
        raise ModelError(f"classifier {identity.location!r} needs a fast tokenizer (tokenizer.json), it has none")
    return model, tokenizer


def open_accurate(identity: ClassifierIdentity) -> tuple[Any, Any]:
    """Return model and tokenizer of the larger shipped classifier: packaged MPNet plus the delta of this package."""
    import torch
    from transformers import MPNetForSequenceClassification, PreTrainedTokenizerFast

    silence_transformers()
    shipped = SHIPPED["accurate"]
    model = MPNetForSequenceClassification(mpnet.make_config(read_card(shipped)["labels"]))
    weights = merge_delta(mpnet.read_weights(), shipped.folder / "delta.safetensors")
    named = {name if name.startswith("classifier.") else f"mpnet.{name}": value for name, value in weights.items()}
    # Position numbers are not learned, but some versions of the library keep them among the weights.
    missing = model.load_state_dict(named, strict=False).missing_keys
    if missing:
        raise ModelError(f"{shipped.name}: weights lack {', '.join(missing)}")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=mpnet.load_tokenizer(),
        pad_token="<pad>",
        model_max_length=MAXIMUM_TOKENS,
        model_input_names=["input_ids", "attention_mask"],
    )
    return model.to(getattr(torch, identity.dtype)), tokenizer


class SequenceClassifier:
    """A sequence classifier of transformers with an entailment label.

    Parameters
    ----------
    identity : ClassifierIdentity
        Identity with the device.
    model, tokenizer : objects
        Objects of the library transformers; the tokenizer is a fast one.
    """

    def __init__(self, identity: ClassifierIdentity, model: Any, tokenizer: Any) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch

        self._torch = torch
        require_gpu(identity.device, torch)
        self._tokenizer = tokenizer
        self._model = model.to(identity.device).eval()
        self._uses_segments = "token_type_ids" in self._tokenizer.model_input_names
        labels = {int(index): str(label) for index, label in model.config.id2label.items()}
        # A single logit has no class names: it is the logit of entailment.
        entailment = 0 if len(labels) == 1 else find_entailment(labels)
        weight = find_last_linear(model, len(labels)).weight.detach().float().cpu().numpy().astype(np.float64)
        self._head = Head(entailment, find_label(labels, "contradiction"), weight)

    @property
    def head(self) -> Head:
        """The last linear layer."""
        return self._head

    @property
    def maximum_tokens(self) -> int:
        """Longest pair in tokens: the tokenizer's limit, at most :data:`MAXIMUM_TOKENS`."""
        return min(int(self._tokenizer.model_max_length), MAXIMUM_TOKENS)

    def tokenize(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[TokenizedPair]:
        """Return the tokens of each pair before truncation."""
        encoded = self._tokenizer(list(premises), list(hypotheses), truncation=False, verbose=False)
        return [_to_pair(encoding) for encoding in encoded.encodings]

    def classify_batch(self, pairs: Sequence[TokenizedPair]) -> Floats:
        """Return the logits of one batch, shape (n, n_classes)."""
        torch, device = self._torch, self._model.device
        longest = max(len(pair.ids) for pair in pairs)
        tokens = np.full((len(pairs), longest), int(self._tokenizer.pad_token_id or 0), np.int64)
        segments, mask = np.zeros_like(tokens), np.zeros_like(tokens)
        for row, pair in enumerate(pairs):
            tokens[row, : len(pair.ids)] = pair.ids
            segments[row, : len(pair.ids)] = pair.segments
            mask[row, : len(pair.ids)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask}
        if self._uses_segments:
            inputs["token_type_ids"] = segments
        with torch.inference_mode():
            logits = self._model(**{name: torch.from_numpy(value).to(device) for name, value in inputs.items()}).logits
        return np.asarray(logits.float().cpu().numpy(), dtype=np.float64)


class HashingClassifier:
    """Logits from the hash of the pair, to measure the cost of the pipeline without a model; not for evaluation."""

    head = Head(0, 2, np.eye(3))
    maximum_tokens = 1 << 20

    def tokenize(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[TokenizedPair]:
        """Return the sixteen bytes of the hash of each pair as its tokens."""
        digests = [hash_text(premise, hypothesis) for premise, hypothesis in zip(premises, hypotheses, strict=True)]
        return [TokenizedPair(list(bytes.fromhex(digest)), [0] * 16, 0, 0) for digest in digests]

    def classify_batch(self, pairs: Sequence[TokenizedPair]) -> Floats:
        """Return three logits in [-2, 2] from the first bytes of the hash, shape (n, 3)."""
        return np.array([pair.ids[:3] for pair in pairs], dtype=np.float64) / 255.0 * 4.0 - 2.0


def merge_delta(weights: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the base weights with a low-rank delta added, plus the new head.

    Parameters
    ----------
    weights : dict of str to Tensor
        Base weights under the names of a BERT or MPNet checkpoint.
    path : Path
        Safetensors under the names of a sequence classifier: ``<name>.first`` (rank, in) and ``<name>.second``
        (out, rank) are added as second @ first to the weight of that name; every other tensor replaces its namesake.
    """
    from safetensors.torch import load_file

    # The names of the base model, without the prefix that a classifier adds.
    delta = {
        name.removeprefix("bert.").removeprefix("mpnet."): value.float() for name, value in load_file(path).items()
    }
    merged = dict(weights)
    for name, value in delta.items():
        if name.endswith(".first"):
            layer = name.removesuffix(".first")
            merged[layer] = merged[layer] + delta[f"{layer}.second"] @ value
        elif not name.endswith(".second"):
            merged[name] = value
    return merged


def classify_pairs(
    classifier: Classifier, premises: Sequence[str], hypotheses: Sequence[str], batch_tokens: int
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return logits, shape (n, n_classes), and token counts before truncation, shape (n,), in the order of the pairs.

    A pair that is too long is cut by :func:`truncate_pair`.

    Parameters
    ----------
    classifier : Classifier
    premises, hypotheses : sequence of str, length n
    batch_tokens : int
        Padded tokens per batch.
    """
    tokenized = classifier.tokenize(premises, hypotheses)
    counts = np.array([len(pair.ids) for pair in tokenized], dtype=np.int64)
    cut = [truncate_pair(pair, classifier.maximum_tokens) for pair in tokenized]
    logits: Floats | None = None
    clipped = np.minimum(counts, classifier.maximum_tokens)
    for indices, batch in run_batches(
        clipped, batch_tokens, lambda chosen: classifier.classify_batch([cut[index] for index in chosen])
    ):
        if logits is None:
            logits = np.empty((len(cut), batch.shape[1]))
        logits[indices] = batch
    return (np.empty((0, 1)) if logits is None else logits), counts


def truncate_pair(pair: TokenizedPair, maximum: int) -> TokenizedPair:
    """Return the pair cut to at most ``maximum`` tokens.

    The end of the premise is cut first, down to half of ``maximum``, and then the end of the hypothesis. The last token
    of the hypothesis, the closing separator, stays.
    """
    excess = len(pair.ids) - maximum
    if excess <= 0:
        return pair
    count_premise = pair.premise_end - pair.premise_start
    dropped = min(excess, max(count_premise - maximum // 2, 0))
    first, last = pair.premise_end - dropped, pair.premise_end
    ids, segments = pair.ids[:first] + pair.ids[last:], pair.segments[:first] + pair.segments[last:]
    if len(ids) > maximum:
        ids, segments = [*ids[: maximum - 1], ids[-1]], [*segments[: maximum - 1], segments[-1]]
    return TokenizedPair(ids, segments, pair.premise_start, first)


def _to_pair(encoding: Any) -> TokenizedPair:
    """Return the tokens of an encoding of a fast tokenizer, which marks those of the premise."""
    own = [position for position, sequence in enumerate(encoding.sequence_ids) if sequence == 0]
    start, end = (own[0], own[-1] + 1) if own else (0, 0)
    return TokenizedPair(encoding.ids, encoding.type_ids, start, end)


def entail_pending(
    pending: Any, identity: ClassifierIdentity, slice_pairs: int, batch_tokens: int, warehouse: str
) -> pa.RecordBatchReader:
    """Return the entailment of all pending pairs as a stream (:func:`hcat.engine.batching.map_slices`).

    Parameters
    ----------
    pending : relation
        Columns pair_id, classifier_key, premise, hypothesis, count_characters; ordered by length.
    identity : ClassifierIdentity
        Classifier of this build; it is loaded only if a pair is pending.
    slice_pairs : int
        Pairs per slice; the slices are in ``<warehouse>/slices``.
    batch_tokens : int
        Padded tokens per batch; 0 = :data:`DEFAULT_BATCH_TOKENS` of the device.
    warehouse : str
        Folder of the warehouse.
    """
    budget = batch_tokens or DEFAULT_BATCH_TOKENS.get(identity.device, DEFAULT_BATCH_TOKENS["cpu"])
    folder = Path(warehouse) / "slices" / identity.classifier_key

    def entail(batch: pa.RecordBatch) -> pa.RecordBatch:
        return _entail_slice(batch, identity, budget)

    return map_slices(pending, "pair_id", ENTAILED_SCHEMA, slice_pairs, folder, entail, "entailment pairs")


def _entail_slice(batch: pa.RecordBatch, identity: ClassifierIdentity, budget: int) -> pa.RecordBatch:
    classifier = load_classifier(identity)
    premises, hypotheses = batch.column("premise").to_pylist(), batch.column("hypothesis").to_pylist()
    logits, counts = classify_pairs(classifier, premises, hypotheses, budget)
    found = measure_distances(logits, classifier.head)
    count = batch.num_rows
    contradiction = found.probability_contradiction
    columns: dict[str, Any] = {
        "pair_id": batch.column("pair_id").cast(pa.string()),
        "classifier_key": batch.column("classifier_key").cast(pa.string()),
        "classifier_name": [identity.classifier_name] * count,
        "classifier_revision": [identity.classifier_revision] * count,
        "classifier_sha256": [identity.classifier_sha256] * count,
        "logits": list(logits),
        "probability_entailment": found.probability_entailment,
        "probability_contradiction": [None] * count if contradiction is None else contradiction,
        "logit_entailment": found.logit_entailment,
        "weight_norm": found.weight_norm,
        "distance": found.distance,
        "score": found.score,
        "margin": found.margin,
        "count_tokens": counts,
        "was_truncated": counts > classifier.maximum_tokens,
    }
    arrays = [pa.array(columns[field.name], field.type) for field in ENTAILED_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=ENTAILED_SCHEMA)


def read_card(shipped: Shipped) -> dict[str, Any]:
    """Return the card of a shipped classifier: labels, SHA-256 digests, recipe, digests of its training sources.

    Raises
    ------
    ModelError
        If the package has no card.
    """
    path = shipped.folder / "card.json"
    if not path.exists():
        raise ModelError(f"{shipped.name}: {path.name} is missing from the package")
    card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return card


def _sigmoid(values: Floats) -> Floats:
    # Two formulas, so that exp does not overflow.
    negative = np.exp(-np.abs(values))
    result: Floats = np.where(values >= 0, 1.0 / (1.0 + negative), negative / (1.0 + negative))
    return result
