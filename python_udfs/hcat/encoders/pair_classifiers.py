"""Classifiers that give logits to pairs of premise and claim, each behind one protocol."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hcat.encoders import mpnet
from hcat.encoders.distances import Head, find_entailment, find_label
from hcat.encoders.identities import SHIPPED, ModelIdentity, read_card
from hcat.encoders.tokens import Padded, Prepared, copy_to, join_encodings, keep_whole, name_inputs
from hcat.engine.devices import ModelError, require_gpu, silence_transformers
from hcat.engine.keys import hash_text
from hcat.statistics.arrays import Floats

#: Longest pair in tokens, unless the limit of the model is lower.
MAXIMUM_TOKENS = 512


class Classifier(Protocol):
    """Gives logits to pairs; the premise of a pair of more than `maximum_tokens` loses its end, which is recorded."""

    @property
    def head(self) -> Head: ...

    @property
    def maximum_tokens(self) -> int: ...

    def prepare(self, premises: Sequence[str], claims: Sequence[str]) -> Prepared:
        """Tokenize pairs; the outputs of a batch are its logits, shape (n, n_classes)."""
        ...


def find_last_linear(model: Any, count_classes: int) -> Any:
    """Return the linear layer that gives the logits, for BERT, RoBERTa, DeBERTa, MPNet and similar models."""
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


class CompactClassifier:
    """The shipped model: packaged MiniLM plus the low-rank delta of this package, pooled from its first token."""

    #: The number of positions of the base model.
    maximum_tokens = MAXIMUM_TOKENS

    def __init__(self, identity: ModelIdentity) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch

        from hcat.encoders import minilm

        require_gpu(identity.device, torch)
        self._torch = torch
        self._tokenizer = minilm.load_tokenizer()
        self._device = torch.device(identity.device)
        dtype = getattr(torch, identity.dtype)
        shipped = SHIPPED["compact"]
        labels = dict(enumerate(read_card(shipped)["labels"]))
        weights = merge_delta(minilm.read_weights(), shipped.folder / "delta.safetensors")
        self._model = minilm.MiniLM(weights).to(self._device, dtype)
        self._pooler, self._last = (
            tuple(weights[f"{name}.{part}"].to(self._device, dtype) for part in ("weight", "bias"))
            for name in ("pooler.dense", "classifier")
        )
        weight = weights["classifier.weight"].numpy().astype(np.float64)
        self.head = Head(find_entailment(labels), find_label(labels, "contradiction"), weight)

    def prepare(self, premises: Sequence[str], claims: Sequence[str]) -> Prepared:
        """Tokenize pairs; one that is too long is cut by :func:`hcat.encoders.tokens.truncate_pair`."""
        encodings = self._tokenizer.encode_batch_fast(list(zip(premises, claims, strict=True)))
        tokens, counts = join_encodings(encodings, self.maximum_tokens)
        return Prepared(counts, lambda rows: copy_to(tokens.pad(rows), self._device), self._classify)

    def _classify(self, batch: Padded) -> Any:
        torch, linear = self._torch, self._torch.nn.functional.linear
        with torch.inference_mode():
            pooled = torch.tanh(linear(self._model(*batch)[:, 0], *self._pooler))
            return linear(pooled, *self._last).float()


def open_accurate(identity: ModelIdentity) -> Classifier:
    """Return the larger shipped classifier: packaged MPNet plus the delta of this package."""
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
    return SequenceClassifier(identity, model.to(getattr(torch, identity.dtype)), tokenizer)


class TransformersClassifier:
    """What classifiers on a model and a fast tokenizer of the library transformers share."""

    #: Longest pair in tokens, unless the limit of the tokenizer is lower.
    limit = MAXIMUM_TOKENS

    def __init__(self, identity: ModelIdentity, model: Any, tokenizer: Any) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch

        require_gpu(identity.device, torch)
        keep_whole(tokenizer.backend_tokenizer)
        self._torch, self._tokenizer = torch, tokenizer
        self._model = model.to(identity.device).eval()
        self._padding = int(tokenizer.pad_token_id or 0)
        self._uses_segments = "token_type_ids" in tokenizer.model_input_names
        self._labels = {int(index): str(label) for index, label in model.config.id2label.items()}

    @property
    def maximum_tokens(self) -> int:
        return min(int(self._tokenizer.model_max_length), self.limit)

    def _encode(self, *texts: Sequence[str]) -> list[Any]:
        rows: list[Any] = list(zip(*texts, strict=True)) if len(texts) > 1 else list(texts[0])
        encodings: list[Any] = self._tokenizer.backend_tokenizer.encode_batch_fast(rows)
        return encodings


class SequenceReader(TransformersClassifier):
    """A sequence classifier of transformers, of texts or of pairs."""

    def prepare(self, *texts: Sequence[str]) -> Prepared:
        """Tokenize texts or pairs; one that is too long is cut by :func:`hcat.encoders.tokens.truncate_pair`."""
        tokens, counts = join_encodings(self._encode(*texts), self.maximum_tokens)
        device = self._model.device
        return Prepared(counts, lambda rows: copy_to(tokens.pad(rows, self._padding), device), self._classify)

    def _classify(self, batch: Padded) -> Any:
        with self._torch.inference_mode():
            return self._model(**name_inputs(batch, self._uses_segments)).logits.float()


class SequenceClassifier(SequenceReader):
    """A sequence classifier of transformers with an entailment label."""

    def __init__(self, identity: ModelIdentity, model: Any, tokenizer: Any) -> None:
        super().__init__(identity, model, tokenizer)
        # A single logit has no class names: it is the logit of entailment.
        entailment = 0 if len(self._labels) == 1 else find_entailment(self._labels)
        weight = find_last_linear(model, len(self._labels)).weight.detach().float().cpu().numpy().astype(np.float64)
        self.head = Head(entailment, find_label(self._labels, "contradiction"), weight)


class HashingClassifier:
    """Logits from the hash of the pair, to measure the cost of the pipeline without a model; not for evaluation."""

    head = Head(0, 2, np.eye(3))
    maximum_tokens = 1 << 20

    def prepare(self, premises: Sequence[str], claims: Sequence[str]) -> Prepared:
        """Take the sixteen bytes of the hash of each pair as its tokens."""
        digests = [hash_text(premise, claim) for premise, claim in zip(premises, claims, strict=True)]
        ids = np.frombuffer(bytes.fromhex("".join(digests)), np.uint8).reshape(-1, 16)
        return Prepared(np.full(len(ids), 16), lambda rows: ids[rows], self._classify)

    def _classify(self, ids: npt.NDArray[np.uint8]) -> Floats:
        """Return three logits in [-2, 2] from the first bytes of the hash, shape (n, 3)."""
        return ids[:, :3] / 255.0 * 4.0 - 2.0


def merge_delta(weights: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the base weights with a low-rank delta added, plus the new head."""
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
