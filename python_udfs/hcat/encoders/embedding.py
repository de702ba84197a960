"""Embed texts with sentence encoders, in batches and slices; no text is embedded twice by one encoder."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.encoders.identities import ModelIdentity, load_once
from hcat.encoders.tokens import (
    Padded,
    Prepared,
    copy_to,
    join_encodings,
    join_pairs,
    keep_whole,
    name_inputs,
    start_model,
    to_text,
)
from hcat.engine.batching import SLICES_AHEAD, map_slices
from hcat.engine.columns import schema
from hcat.engine.devices import ModelError, require_gpu, silence_transformers, weight_options
from hcat.engine.keys import hash_text
from hcat.engine.sizes import SLICE_ROWS, embedding_tokens
from hcat.statistics.arrays import Vectors

#: Device -> how many slices of texts are read as one: a GPU idles between small ones (decision 49).
SLICES_JOINED = {"cpu": 1, "cuda": 4}

EMBEDDED_SCHEMA = schema(
    "string: text_id encoder_key encoder_name encoder_revision encoder_sha256",
    "list<float32>: embedding",
    "int32: count_tokens",
    "bool: was_truncated",
)


class PackagedEncoder:
    """The packaged all-MiniLM-L6-v2 without sentence-transformers: its import takes longer than a night's new texts."""

    #: The published max_seq_length.
    maximum_tokens = 256

    def __init__(self, identity: ModelIdentity) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch

        from hcat.encoders import minilm

        require_gpu(identity.device, torch)
        self._torch = torch
        self._tokenizer = minilm.load_tokenizer()
        self._device = torch.device(identity.device)
        self._model = minilm.MiniLM(minilm.read_weights()).to(self._device, getattr(torch, identity.dtype))

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Tokenize texts; truncation keeps the closing [SEP]."""
        tokens, counts = join_encodings(self._tokenizer.encode_batch_fast(list(texts)), self.maximum_tokens)
        return Prepared(counts, lambda rows: copy_to(tokens.pad(rows), self._device), self._encode)

    def _encode(self, batch: Padded) -> Any:
        torch = self._torch
        with torch.inference_mode():
            states = self._model(*batch).float()
            weights = (~batch.is_padding).unsqueeze(2).float()
            pooled = (states * weights).sum(dim=1) / weights.sum(dim=1)
            return torch.nn.functional.normalize(pooled, dim=1)


class SentenceTransformerEncoder:
    """A model of sentence-transformers, from a local folder or from the Hub at a pinned commit."""

    def __init__(self, identity: ModelIdentity) -> None:
        location = identity.location
        is_local = Path(location).is_dir()
        if is_local:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch
        from sentence_transformers import SentenceTransformer

        self._torch = torch
        require_gpu(identity.device, torch)
        silence_transformers()
        try:
            self._model = SentenceTransformer(
                location,
                device=identity.device,
                revision=None if is_local else identity.revision,
                trust_remote_code=False,
                model_kwargs={"dtype": getattr(torch, identity.dtype), **weight_options()},
            ).eval()
        except (OSError, ValueError) as error:
            raise ModelError(f"encoder {location!r} cannot be loaded: {str(error).splitlines()[0]}") from error
        if self._model.tokenizer.is_fast:
            keep_whole(self._model.tokenizer.backend_tokenizer)

    @property
    def maximum_tokens(self) -> int:
        return int(self._model.max_seq_length or 512)

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Tokenize texts; truncation keeps the special tokens at the end."""
        tokenizer = self._model.tokenizer
        options = {"add_special_tokens": True, "truncation": False, "return_special_tokens_mask": True}
        encoded = tokenizer(list(texts), **options, verbose=False)
        pairs = [
            to_text(ids, special)
            for ids, special in zip(encoded["input_ids"], encoded["special_tokens_mask"], strict=True)
        ]
        tokens, counts = join_pairs(pairs, self.maximum_tokens)
        padding, device = int(tokenizer.pad_token_id or 0), self._model.device
        uses_segments = "token_type_ids" in tokenizer.model_input_names

        def run(batch: Padded) -> Any:
            with self._torch.inference_mode():
                vectors = self._model.forward(name_inputs(batch, uses_segments))["sentence_embedding"].float()
                return self._torch.nn.functional.normalize(vectors, dim=1)

        return Prepared(counts, lambda rows: copy_to(tokens.pad(rows, padding), device), run)


class HashingEncoder:
    """Random unit vectors seeded by the hash of the text, to measure the cost of the pipeline without a model."""

    maximum_tokens = 1 << 20

    def __init__(self, dimensions: int) -> None:
        if dimensions < 2:
            raise ModelError(f"hashing encoder needs at least 2 dimensions, got {dimensions}")
        self._dimensions = dimensions

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Count words; the vectors are seeded by the hash of each text."""
        counts = np.array([text.count(" ") + 1 for text in texts], dtype=np.int64)
        return Prepared(counts, lambda rows: [texts[row] for row in rows], self._encode)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        rows = [
            np.random.Generator(np.random.SFC64(int(hash_text(text), 16))).standard_normal(self._dimensions, np.float32)
            for text in texts
        ]
        vectors = np.stack(rows)
        normalised: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return normalised


#: Turns texts into unit vectors, shape (n, dimensions), float32; a text of more than `maximum_tokens` is truncated.
Encoder = PackagedEncoder | SentenceTransformerEncoder | HashingEncoder


@load_once
def load_encoder(identity: ModelIdentity) -> Encoder:
    """Return the encoder, which is loaded once per process."""
    if identity.location.startswith("hashing:"):
        return HashingEncoder(int(identity.location.split(":")[1]))
    return (PackagedEncoder if identity.location == "packaged" else SentenceTransformerEncoder)(identity)


def encode_texts(encoder: Encoder, texts: Sequence[str], batch_tokens: int) -> tuple[Vectors, npt.NDArray[np.int64]]:
    """Return unit vectors, shape (n, dimensions), in the order of ``texts``, and token counts, shape (n,)."""
    return start_model(encoder, batch_tokens, texts)()


def embed_texts(identity: ModelIdentity) -> Callable[[Sequence[str]], Vectors]:
    """Return a function from texts to unit vectors, shape (n, dimensions); its first call loads the encoder."""
    return lambda texts: encode_texts(load_encoder(identity), texts, embedding_tokens(identity.device))[0]


def embed_pending(pending: Any, identity: ModelIdentity, warehouse: str) -> pa.RecordBatchReader:
    """Return the embeddings of all pending texts as a stream (:func:`hcat.engine.batching.map_slices`).

    Parameters
    ----------
    pending : relation
        Columns text_id, encoder_key, encoded_text, count_characters; ordered by length.
    identity : ModelIdentity
        Encoder of this build; it is loaded only if a text is pending.
    warehouse : str
        Folder of the warehouse; the slices are in ``<warehouse>/slices``.
    """
    folder = Path(warehouse) / "slices" / identity.key
    ahead = SLICES_AHEAD.get(identity.device, 0)
    rows = SLICE_ROWS * SLICES_JOINED.get(identity.device, 1)
    embed = partial(_embed_slice, identity=identity)
    return map_slices(pending, "text_id", EMBEDDED_SCHEMA, rows, folder, embed, "embedding texts", ahead)


def _embed_slice(batch: pa.RecordBatch, identity: ModelIdentity) -> Callable[[], pa.RecordBatch]:
    encoder = load_encoder(identity)
    wait = start_model(encoder, embedding_tokens(identity.device), batch.column("encoded_text").to_pylist())

    def finish() -> pa.RecordBatch:
        vectors, counts = wait()
        offsets = np.arange(0, vectors.size + 1, vectors.shape[1], dtype=np.int32)
        named = [pa.repeat(value, batch.num_rows) for value in (identity.name, identity.revision, identity.sha256)]
        return pa.RecordBatch.from_arrays(
            [
                batch.column("text_id").cast(pa.string()),
                batch.column("encoder_key").cast(pa.string()),
                *named,
                pa.ListArray.from_arrays(pa.array(offsets), pa.array(vectors.ravel())),
                pa.array(counts, pa.int32()),
                pa.array(counts > encoder.maximum_tokens),
            ],
            schema=EMBEDDED_SCHEMA,
        )

    return finish
