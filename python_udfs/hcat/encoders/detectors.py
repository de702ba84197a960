"""Detectors of other makes, behind the protocol of a classifier: what their heads say becomes logits of entailment.

The head is read from the model's own config. Weights whose code is not part of transformers are not run.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hcat.encoders.distances import Head
from hcat.encoders.identities import ModelIdentity
from hcat.encoders.pair_classifiers import Classifier, SequenceClassifier, TransformersClassifier
from hcat.encoders.tokens import Padded, Prepared, Rows, copy_to, join_pairs, name_inputs, to_pair, truncate_pair
from hcat.engine.devices import ModelError, require_gpu, silence_transformers, weight_options
from hcat.statistics.arrays import Floats

#: Longest pair in tokens that a detector with a long window reads; a longer premise loses its end.
MAXIMUM_TOKENS: Final = 4096

#: Beginnings of a label that calls a word piece unsupported.
UNSUPPORTED_LABELS: Final = ("halluc", "unsupp", "not_supp", "wrong", "bad", "incorrect")

_TINY = 1e-6
_TOKENS = "AutoModelForTokenClassification"


def open_detector(identity: ModelIdentity) -> Classifier:
    """Return the classifier of a local folder or of the Hub, by the head that its config names."""
    kind, model, tokenizer = open_transformers(identity, "classifier", _kind_of)
    return (TokenClassifier if kind == _TOKENS else SequenceClassifier)(identity, model, tokenizer)


def open_transformers(identity: ModelIdentity, what: str, find_kind: Callable[[str, Any], str]) -> tuple[str, Any, Any]:
    """Return the class of transformers that ``find_kind`` names for a location and config, the model, its tokenizer."""
    is_local = Path(identity.location).is_dir()
    if is_local:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    import transformers

    silence_transformers()
    require_gpu(identity.device, torch)
    place, revision = identity.location, "main" if is_local else identity.revision
    try:
        config = transformers.AutoConfig.from_pretrained(place, revision=revision, trust_remote_code=False)
        kind = find_kind(place, config)
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, revision=revision, trust_remote_code=False)
        model = getattr(transformers, kind).from_pretrained(
            place, revision=revision, trust_remote_code=False, dtype=getattr(torch, identity.dtype), **weight_options()
        )
    except (OSError, ValueError) as error:
        raise ModelError(f"{what} {identity.location!r} cannot be loaded: {str(error).splitlines()[0]}") from error
    if not tokenizer.is_fast:
        raise ModelError(f"{what} {identity.location!r} needs a fast tokenizer (tokenizer.json), it has none")
    return kind, model, tokenizer


def _kind_of(location: str, config: Any) -> str:
    """Return the class of transformers that opens the head which the config names."""
    heads = [str(name) for name in config.architectures or ()]
    has_own_code = bool(getattr(config, "auto_map", None))
    for kind in ("AutoModelForSequenceClassification", _TOKENS):
        if heads and heads[0].endswith(kind.removeprefix("AutoModel")) and not has_own_code:
            return kind
    named = heads[0] if heads else "none"
    own = " with code of its own" if has_own_code else ""
    supported = "sequence classification and token classification"
    raise ModelError(f"classifier {location!r} has the head {named}{own}; supported are {supported}")


def find_unsupported(labels: Mapping[int, str]) -> int:
    """Return the class of a token classifier that means unsupported."""
    found = [index for index, name in labels.items() if str(name).lower().startswith(UNSUPPORTED_LABELS)]
    if len(found) == 1:
        return found[0]
    if not found and len(labels) == 2 and all(str(name).startswith("LABEL_") for name in labels.values()):
        return 1
    listed = ", ".join(map(str, labels.values()))
    raise ModelError(
        f"token classifier needs one label that means unsupported ({', '.join(UNSUPPORTED_LABELS)}): {listed}"
    )


class TokenClassifier(TransformersClassifier):
    """A token classifier, as LettuceDetect (Kovacs and Recski 2025): a sentence is as good as its worst word piece."""

    #: Logarithms of the shares supported and unsupported; no class for contradiction.
    head = Head(0, None, np.eye(2))

    def __init__(self, identity: ModelIdentity, model: Any, tokenizer: Any) -> None:
        super().__init__(identity, model, tokenizer)
        positions = getattr(model.config, "max_position_embeddings", None) or MAXIMUM_TOKENS
        self.limit = min(int(positions), MAXIMUM_TOKENS)
        self._unsupported = find_unsupported(self._labels)
        self._special = np.array(sorted(set(tokenizer.all_special_ids)), dtype=np.int64)

    def prepare(self, premises: Sequence[str], claims: Sequence[str]) -> Prepared:
        """Tokenize pairs; the outputs are the logarithms of the shares supported and unsupported, shape (n, 2)."""
        pairs = [to_pair(encoding) for encoding in self._encode(premises, claims)]
        tokens, counts = join_pairs(pairs, self.maximum_tokens)
        ends = np.array([truncate_pair(pair, self.maximum_tokens).premise_end for pair in pairs], dtype=np.int64)
        device = self._model.device

        def load(rows: Rows) -> tuple[Padded, npt.NDArray[np.bool_]]:
            batch = tokens.pad(rows, self._padding)
            is_behind = np.arange(batch.ids.shape[1]) >= ends[rows][:, None]
            return copy_to(batch, device), is_behind & ~batch.is_padding & ~np.isin(batch.ids, self._special)

        return Prepared(counts, load, self._classify)

    def _classify(self, loaded: tuple[Padded, npt.NDArray[np.bool_]]) -> Floats:
        batch, is_own = loaded
        with self._torch.inference_mode():
            logits = self._model(**name_inputs(batch, self._uses_segments)).logits
            shares = self._torch.softmax(logits.float(), dim=-1)[:, :, self._unsupported].cpu().numpy()
        worst = np.clip(np.where(is_own, shares, 0.0).max(axis=1).astype(np.float64), _TINY, 1 - _TINY)
        result: Floats = np.log(np.stack([1 - worst, worst], axis=1))
        return result
